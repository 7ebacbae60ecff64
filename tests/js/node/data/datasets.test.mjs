// Datasets: the elements, batches and sizes of TensorFlow.js; sources are read lazily and always closed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { array, Dataset } from 'tensorlathe/data';
import { throws, rejects } from '../../lib.mjs';

const numbers = (count) => Array.from({ length: count }, (_, at) => at);

/** Elements of either library as plain arrays and numbers, to compare them. */
const plain = (value) => {
  if (typeof value?.dataSync === 'function') {
    const { dtype, shape } = value;
    return { dtype, shape: [...shape], data: [...value.dataSync()] };
  }
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
};

/** Datasets as functions of the library, tensorlathe or TensorFlow.js. */
const datasets = {
  array: ({ data }) => data.array(numbers(5)),
  map: ({ data }) => data.array(numbers(5)).map((x) => x * x),
  mapAsync: ({ data }) => data.array(numbers(5)).mapAsync(async (x) => [x, -x]),
  filter: ({ data }) => data.array(numbers(9)).filter((x) => x % 3 === 1),
  'batch of numbers': ({ data }) => data.array(numbers(7)).batch(3),
  'batch without the rest': ({ data }) => data.array(numbers(7)).batch(3, false),
  'batch that fits': ({ data }) => data.array(numbers(6)).batch(3, false),
  'batch of nested arrays': ({ data }) =>
    data
      .array(numbers(4))
      .map((x) => [
        [x, 1],
        [2, x],
      ])
      .batch(3),
  'batch of objects': ({ data }) =>
    data
      .array(numbers(4))
      .map((x) => ({ xs: { a: x, b: [x, x] }, ys: x > 1 }))
      .batch(2),
  'batch of tensors': ({ data, tensor }) =>
    data
      .array(numbers(4))
      .map((x) => ({ t: tensor([x, 2], [1, 2], 'int32') }))
      .batch(4),
  'batch of typed arrays': ({ data }) =>
    data.array([Float32Array.of(1, 2), Float32Array.of(3, 4)]).batch(2),
  'batch of batches': ({ data }) => data.array(numbers(8)).batch(2).batch(2),
  zip: ({ data }) => {
    const one = data.array(numbers(3));
    return data.zip({ a: one, b: [data.array(numbers(5)), one.map((x) => [x])] });
  },
  concatenate: ({ data }) => data.array(numbers(2)).concatenate(data.array([7])),
  repeat: ({ data }) => data.array(numbers(2)).repeat(3),
  'repeat, none': ({ data }) => data.array(numbers(2)).repeat(0),
  'repeat, then take': ({ data }) => data.array(numbers(2)).repeat().take(5),
  take: ({ data }) => data.array(numbers(5)).take(2),
  'take, too many': ({ data }) => data.array(numbers(5)).take(8),
  'take, none': ({ data }) => data.array(numbers(5)).take(0),
  skip: ({ data }) => data.array(numbers(5)).skip(2),
  'skip, too many': ({ data }) => data.array(numbers(5)).skip(8),
  prefetch: ({ data }) => data.array(numbers(5)).prefetch(3),
  generator: ({ data }) =>
    data.generator(function* () {
      yield 1;
      yield 2;
    }),
};

for (const [name, build] of Object.entries(datasets)) {
  test(`${name} equals that of TensorFlow.js`, async () => {
    const [ours, theirs] = [build(tl), build(tf)];
    assert.deepEqual(plain(await ours.toArray()), plain(await theirs.toArray()));
    if (name !== 'zip') assert.equal(ours.size, theirs.size ?? null);
    assert.deepEqual(
      plain(await ours.toArray()),
      plain(await theirs.toArray()),
      'a second iteration',
    );
  });
}

test('size is a number where it can be computed, otherwise null', () => {
  const five = array(numbers(5));
  assert.equal(five.repeat().size, Infinity);
  assert.equal(five.repeat().batch(2).size, Infinity);
  assert.equal(five.repeat().filter(Boolean).size, Infinity);
  assert.equal(five.repeat().take(7).size, 7);
  assert.equal(five.filter(Boolean).batch(2).size, null);
  assert.equal(five.filter(Boolean).repeat(2).size, null);
  assert.equal(tl.data.zip([five, array([1, 2])]).size, 2);
  assert.equal(five.take().size, 5);
  assert.equal(five.skip().size, 0);
});

test('shuffle returns every element, in an order determined by its seed', async () => {
  const shuffled = (buffer, seed, reshuffle) =>
    array(numbers(100)).shuffle(buffer, seed, reshuffle);
  const first = await shuffled(100, 3).toArray();
  assert.notDeepEqual(first, numbers(100));
  assert.deepEqual(
    [...first].sort((a, b) => a - b),
    numbers(100),
  );
  assert.deepEqual(await shuffled(100, 3).toArray(), first);
  assert.notDeepEqual(await shuffled(100, 4).toArray(), first);
  const named = await shuffled(100, 'a').toArray();
  assert.deepEqual(await shuffled(100, 'a').toArray(), named);
  assert.notDeepEqual(await shuffled(100, 'b').toArray(), named);
  const changing = shuffled(100, 3);
  assert.notDeepEqual(await changing.toArray(), await changing.toArray());
  const steady = shuffled(100, 3, false);
  assert.deepEqual(await steady.toArray(), await steady.toArray());
  const near = await shuffled(4, 1).toArray();
  assert.ok(
    near.every((value, at) => value - at <= 4),
    'no element comes before its turn',
  );
});

test('shuffle is uniform over positions', async () => {
  const counts = Array.from({ length: 4 }, () => [0, 0, 0, 0]);
  const dataset = array(numbers(4)).shuffle(4, 1);
  for (let round = 0; round < 4000; ++round) {
    (await dataset.toArray()).forEach((value, at) => ++counts[value][at]);
  }
  for (const row of counts) for (const count of row) assert.ok(Math.abs(count - 1000) < 120);
});

/** A dataset that counts its openings, reads and closings. */
function watched(count = Infinity) {
  const seen = { opened: 0, read: 0, closed: 0 };
  const dataset = tl.data.generator(async function* () {
    ++seen.opened;
    try {
      for (let at = 0; at < count; ++at) {
        ++seen.read;
        yield at;
      }
    } finally {
      ++seen.closed;
    }
  });
  return { dataset, seen };
}

test('elements are read only when requested', async () => {
  const { dataset, seen } = watched();
  const batches = dataset
    .map((x) => x + 1)
    .filter((x) => x % 2 === 0)
    .batch(2);
  assert.equal(seen.opened, 0);
  const iterator = await batches.iterator();
  assert.equal(seen.read, 0);
  assert.deepEqual([...(await iterator.next()).value.dataSync()], [2, 4]);
  assert.equal(seen.read, 4);
  await new Promise((done) => setTimeout(done, 5));
  assert.equal(seen.read, 4);
  await iterator.return();
  assert.deepEqual(seen, { opened: 1, read: 4, closed: 1 });
});

test('prefetch(n) buffers n elements', async () => {
  const { dataset, seen } = watched();
  const iterator = await dataset.prefetch(3).iterator();
  assert.equal((await iterator.next()).value, 0);
  await new Promise((done) => setTimeout(done, 5));
  assert.ok(seen.read <= 4, String(seen.read));
  assert.equal((await iterator.next()).value, 1);
  await iterator.return();
  assert.equal(seen.closed, 1);
});

test('stopping early closes every source', async () => {
  const changes = {
    take: (d) => d.take(2),
    zip: (d) => tl.data.zip([d, array([1, 2])]),
    concatenate: (d) => d.concatenate(d).take(3),
    repeat: (d) => d.repeat().take(3),
    shuffle: (d) => d.take(5).shuffle(2),
    prefetch: (d) => d.prefetch(2).take(3),
    batch: (d) => d.batch(2).take(1),
  };
  for (const [name, change] of Object.entries(changes)) {
    const { dataset, seen } = watched();
    await change(dataset).toArray();
    assert.equal(seen.opened, seen.closed, name);
    assert.ok(seen.opened > 0, name);
  }
  const { dataset, seen } = watched();
  await assert.rejects(dataset.forEachAsync((x) => assert.notEqual(x, 3)));
  assert.deepEqual(seen, { opened: 1, read: 4, closed: 1 });
});

test('an error in one source of zip closes the others', async () => {
  const { dataset, seen } = watched();
  const failing = tl.data.generator(function* () {
    yield 1;
    throw new Error('no more');
  });
  await rejects(tl.data.zip([dataset, failing]).toArray(), /no more/);
  assert.equal(seen.closed, 1);
});

test('errors of a generator contain the index of the element', async () => {
  const failing = () =>
    tl.data.generator(function* () {
      yield 1;
      yield 2;
      throw new Error('the disk is full');
    });
  const message = 'generator: it failed at element 2: the disk is full';
  await rejects(failing().toArray(), message);
  await rejects(
    failing()
      .map((x) => x)
      .batch(2)
      .toArray(),
    message,
  );
  await rejects(failing().shuffle(9, 1).toArray(), message);
  await rejects(
    failing().prefetch(9).repeat().toArray(),
    'Can not convert infinite data stream to array.',
  );
  await rejects(failing().prefetch(9).toArray(), message);
  await rejects(tl.data.generator(() => 3).toArray(), /must return an iterator/);
  await rejects(
    tl.data.generator(() => Promise.reject(new Error('closed'))).toArray(),
    'generator: it failed at element 0: closed',
  );
});

test('a generator may return any kind of iterator', async () => {
  const by = (open) => tl.data.generator(open).toArray();
  assert.deepEqual(await by(() => [1, 2]), [1, 2]);
  assert.deepEqual(await by(() => [1, 2].values()), [1, 2]);
  assert.deepEqual(await by(async () => new Set([4])), [4]);
  let at = 0;
  const bare = { next: () => ({ done: ++at > 2, value: at }) };
  assert.deepEqual(await by(() => bare), [1, 2]);
});

test('batch names the column whose shapes differ', async () => {
  const batch = (rows) => array(rows).batch(rows.length).toArray();
  await rejects(
    batch([{ a: 1 }, { a: undefined }]),
    /column a must be numbers, got undefined in row 1/,
  );
  await rejects(
    batch([{ a: [1, 2] }, { a: [1] }]),
    /column a have different shapes: float32 \[2\].*float32 \[1\] in row 1/,
  );
  await rejects(batch([{ a: 1 }, { b: 1 }]), /must all have the columns a; row 1 has b/);
  await rejects(batch([{ x: { a: 'k' } }, { x: { a: 2 } }]), /column x.a must be strings, got 2/);
  await rejects(batch([() => 1]), /the elements must be numbers/);
  await rejects(batch([[[1], [2, 3]]]), /row 0 of a batch: tensor: nested arrays/);
});

test('strings become tensors of strings in a batch', async () => {
  const batch = async (rows) => (await array(rows).batch(rows.length).toArray())[0];
  const { s, x } = await batch([
    { s: 'a', x: 1 },
    { s: 'b', x: 2 },
  ]);
  assert.deepEqual([s.dtype, s.shape, s.arraySync()], ['string', [2], ['a', 'b']]);
  assert.deepEqual([x.dtype, x.arraySync()], ['float32', [1, 2]]);
  const words = [
    ['a', 'b'],
    ['c', 'd'],
    ['e', 'f'],
  ];
  // Each row stays a row, as an array and as a tensor.
  for (const rows of [words, words.map((each) => tl.tensor(each))]) {
    const batched = await batch(rows);
    assert.deepEqual([batched.dtype, batched.shape], ['string', [3, 2]]);
    assert.deepEqual(batched.arraySync(), words);
  }
  await rejects(batch([{ s: ['a'] }, { s: ['b', 'c'] }]), /batch: column s: tensor: /);
});

test('invalid arguments are rejected', async () => {
  const one = array([1]);
  throws(() => one.batch(0), 'batch: batchSize must be an integer ≥ 1, got 0');
  throws(
    () => one.shuffle(),
    /`Dataset.shuffle\(\)` requires bufferSize to be specified\. .*\(1 elements\)/,
  );
  throws(() => one.prefetch(0), /bufferSize must be an integer ≥ 1/);
  throws(() => one.take(1.5), /take: count must be an integer, got 1.5/);
  throws(() => one.map(), /map: a function is needed/);
  throws(() => one.concatenate([1]), /a dataset is needed/);
  throws(() => array(7), /an array is needed/);
  throws(() => tl.data.zip({ a: one, b: 3 }), /Leaves of the structure .* must be Datasets/);
  throws(() => tl.data.zip({}), /no dataset/);
  await rejects(one.repeat().toArray(), 'Can not convert infinite data stream to array.');
  assert.ok(one instanceof Dataset);
});
