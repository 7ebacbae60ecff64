// Programs for TensorFlow.js derive classes from tf.data.Dataset that override `iterator`, which was ignored; `map` of such
// a class threw a bare TypeError. Training on one leaked every batch.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tf from 'tensorlathe/tfjs';

await tf.ready();

/** An iterator as small as it may be. */
const counter = (count, make) => {
  let next = 0;
  return {
    next: async () =>
      next < count ? { value: make(next++), done: false } : { value: null, done: true },
  };
};

class Numbers extends tf.data.Dataset {
  async iterator() {
    return counter(5, (at) => at);
  }
}
class Lines extends tf.data.TextLineDataset {
  async iterator() {
    return (await super.iterator()).map((line) => line.toUpperCase());
  }
}
class Generated extends tf.data.Dataset {
  async iterator() {
    return (async function* () {
      yield* [3, 4];
    })();
  }
}

test('every method goes by the iterator of the subclass', async () => {
  const numbers = new Numbers();
  assert.equal(numbers.size, null);
  assert.deepEqual(await numbers.toArray(), [0, 1, 2, 3, 4]);
  const found = async (dataset) => dataset.toArray();
  assert.deepEqual(await found(numbers.map((x) => 2 * x)), [0, 2, 4, 6, 8]);
  assert.deepEqual(await found(numbers.mapAsync(async (x) => x + 1)), [1, 2, 3, 4, 5]);
  assert.deepEqual(await found(numbers.filter((x) => x % 2 === 1)), [1, 3]);
  assert.deepEqual(await found(numbers.skip(3)), [3, 4]);
  assert.deepEqual(await found(numbers.take(2)), [0, 1]);
  assert.deepEqual(await found(numbers.repeat(2).take(7)), [0, 1, 2, 3, 4, 0, 1]);
  assert.deepEqual(await found(numbers.prefetch(2)), [0, 1, 2, 3, 4]);
  assert.deepEqual((await found(numbers.shuffle(9, 1))).sort(), [0, 1, 2, 3, 4]);
  const both = numbers.concatenate(new Generated());
  assert.deepEqual([both.size, await found(both)], [null, [0, 1, 2, 3, 4, 3, 4]]);
  const zipped = tf.data.zip({ a: numbers, b: [tf.data.array(['x', 'y'])] });
  assert.deepEqual(await found(zipped), [
    { a: 0, b: ['x'] },
    { a: 1, b: ['y'] },
  ]);
  const [batch, rest] = await found(numbers.batch(3));
  assert.deepEqual([...batch.dataSync(), ...rest.dataSync()], [0, 1, 2, 3, 4]);
  const each = [];
  await numbers.forEachAsync((x) => each.push(x));
  for await (const x of numbers) each.push(x);
  assert.deepEqual(each, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
});

test('a subclass may change the elements of its base', async () => {
  const lines = new Lines(new tf.data.FileDataSource(Buffer.from('a\nb')));
  assert.deepEqual(await lines.toArray(), ['A', 'B']);
  assert.deepEqual(await lines.map((line) => `${line}!`).toArray(), ['A!', 'B!']);
});

test('a subclass without an iterator is an error', async () => {
  class Nothing extends tf.data.Dataset {}
  const message = 'a subclass of Dataset must override iterator()';
  await assert.rejects(new Nothing().iterator(), { name: 'LatheError', message });
  await assert.rejects(new Nothing().map((x) => x).toArray(), { name: 'LatheError', message });
});

class Batches extends tf.data.Dataset {
  constructor(make) {
    super();
    this.make = make;
  }
  async iterator() {
    return counter(3, this.make(3));
  }
}
const batch = () => ({ xs: tf.ones([4, 2]), ys: tf.ones([4, 1]) });
const ways = {
  'at each step': () => batch,
  'all at the first step': (count) => {
    let all;
    return (at) => (all ??= Array.from({ length: count }, batch))[at];
  },
  'when the iterator is made': (count) => {
    const all = Array.from({ length: count }, batch);
    return (at) => all[at];
  },
};

for (const [when, make] of Object.entries(ways)) {
  test(`training ends tensors that are made ${when}`, async () => {
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2] })] });
    model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
    await model.fitDataset(new Batches(() => batch), { epochs: 1, verbose: 0 });
    const before = tf.memory().numTensors;
    const dataset = new Batches(make);
    await model.fitDataset(dataset, { epochs: 2, verbose: 0, validationData: new Batches(make) });
    assert.equal(tf.memory().numTensors, before);
    const doubled = dataset.map(({ xs, ys }) => ({ xs: xs.add(1).sub(1), ys }));
    await model.fitDataset(doubled, { epochs: 2, verbose: 0 });
    assert.equal(tf.memory().numTensors, before);
    tf.dispose(await model.evaluateDataset(dataset, {}));
    assert.equal(tf.memory().numTensors, before);
  });
}

test('tensors from before training: data.array retains them, user iterators pass theirs on', async () => {
  const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2] })] });
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  const [retained, yielded] = [batch(), batch()];
  await model.fitDataset(tf.data.array([retained]), { epochs: 2, verbose: 0 });
  await model.evaluateDataset(tf.data.array([retained]), {});
  assert.ok(!retained.xs.isDisposed && !retained.ys.isDisposed);
  await model.fitDataset(
    { iterator: async () => counter(1, () => yielded) },
    { epochs: 1, verbose: 0 },
  );
  assert.ok(yielded.xs.isDisposed && yielded.ys.isDisposed);
});

test('map and filter leak no tensors', async () => {
  const before = tf.memory().numTensors;
  const mapped = await tf.data
    .array([1, 2, 3])
    .map((x) => tf.scalar(x).mul(2).add(1))
    .filter((x) => x.sub(1).dataSync()[0] > 2)
    .toArray();
  assert.deepEqual(
    mapped.map((each) => each.dataSync()[0]),
    [5, 7],
  );
  assert.equal(tf.memory().numTensors, before + 2);
  const later = await tf.data.array([1]).map(async (x) => {
    const one = tf.scalar(x);
    await null;
    return one.add(1);
  });
  assert.equal((await later.toArray())[0].dataSync()[0], 2);
});
