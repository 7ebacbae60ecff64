// Data sources and datasets that only tensorlathe/tfjs has, compared with TensorFlow.js.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as there from '@tensorflow/tfjs';
import * as here from 'tensorlathe/tfjs';

const text = 'a,b\r\n1,2\n\n3,é€\u{1f600}\r\n';
const bytes = new TextEncoder().encode(text);
let server, url, folder, file;

before(async () => {
  server = createServer((request, response) => {
    if (request.headers.accept === 'text/csv') response.end('from,a Request\n');
    else if (request.url === '/table') response.end(text);
    else response.writeHead(404).end();
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${server.address().port}/table`;
  folder = mkdtempSync(join(tmpdir(), 'tensorlathe-'));
  file = join(folder, 'table.csv');
  writeFileSync(file, text);
});
after(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

async function chunksOf(source) {
  const iterator = await source.iterator();
  const chunks = [];
  for (;;) {
    const { done, value } = await iterator.next();
    if (done) return chunks;
    chunks.push([...value]);
  }
}

const sources = {
  bytes: ({ FileDataSource }, options) => new FileDataSource(bytes, options),
  'a file': ({ FileDataSource }, options) => new FileDataSource(`file://${file}`, options),
  'a local file': ({ FileDataSource }, options) =>
    new FileDataSource(`file://${relative(process.cwd(), file)}`, options),
  'a file by its address': ({ URLDataSource }, options) =>
    new URLDataSource(pathToFileURL(file).href, options),
  'an address': ({ URLDataSource }, options) => new URLDataSource(url, options),
  'a Request': ({ URLDataSource }, options) =>
    new URLDataSource(new Request(url, { headers: { accept: 'text/csv' } }), options),
};

for (const [name, open] of Object.entries(sources)) {
  test(`${name}: chunks, lines and rows are those of TensorFlow.js`, async () => {
    for (const options of [undefined, { chunkSize: 5 }, { chunkSize: 7, offset: 4 }]) {
      const sourceOf = (lib) => open(lib.data, options);
      assert.deepEqual(await chunksOf(sourceOf(here)), await chunksOf(sourceOf(there)));
      const linesOf = (lib) => new lib.data.TextLineDataset(sourceOf(lib)).toArray();
      assert.deepEqual(await linesOf(here), await linesOf(there));
    }
    const lines = new here.data.TextLineDataset(open(here.data));
    assert.deepEqual(await lines.toArray(), await lines.toArray(), 'a second walk');
    const columns = (lib) => new lib.data.CSVDataset(open(lib.data)).columnNames();
    assert.deepEqual(await columns(here), await columns(there));
  });
}

test('rows of a source', async () => {
  const source = ({ FileDataSource }) => new FileDataSource(new TextEncoder().encode('a,b\n1,2\n'));
  const config = { columnConfigs: { b: { isLabel: true } } };
  const rows = (lib) => new lib.data.CSVDataset(source(lib.data), config).toArray();
  assert.deepEqual(await rows(here), await rows(there));
});

test('a Blob is a source in Node too', async () => {
  const source = new here.data.FileDataSource(new Blob([bytes]), { chunkSize: 9, offset: 2 });
  const expected = new here.data.FileDataSource(bytes, { chunkSize: 9, offset: 2 });
  assert.deepEqual(await chunksOf(source), await chunksOf(expected));
});

test('what cannot be read is an error', async () => {
  const { CSVDataset, FileDataSource, TextLineDataset, URLDataSource } = here.data;
  await assert.rejects(new URLDataSource(`${url}-`).iterator(), /URLDataSource: Not Found/);
  await assert.rejects(new FileDataSource('table.csv').iterator(), /got table\.csv/);
  await assert.rejects(new FileDataSource(`file://${file}-`).iterator(), /ENOENT/);
  const missing = new URLDataSource(`${url}-`);
  await assert.rejects(
    new TextLineDataset(missing).toArray(),
    /TextLineDataset: cannot read the data source: URLDataSource: Not Found/,
  );
  await assert.rejects(new CSVDataset(missing).toArray(), /csv: cannot read the data source/);
});

test('func calls a function for each element, and later iterators continue', async () => {
  for (const lib of [there, here]) {
    let count = 0;
    const numbers = lib.data.func(() => ({ value: ++count, done: count > 5 }));
    assert.deepEqual(await numbers.take(2).toArray(), [1, 2]);
    assert.deepEqual(await numbers.map((each) => each * 2).toArray(), [6, 8, 10]);
  }
  let count = 0;
  const later = here.data.func(async () => ({ value: ++count, done: count > 3 }));
  assert.deepEqual(await later.toArray(), [1, 2, 3]);
});

test('rows of a file at a relative path', async () => {
  const rows = (address) => here.data.csv(address).toArray();
  const relativeRows = await rows(`file://${relative(process.cwd(), file)}`);
  assert.ok(relativeRows.length > 0);
  assert.deepEqual(relativeRows, await rows(pathToFileURL(file).href));
});

test('forEachAsync disposes of what functions of the dataset made', async () => {
  for (const tf of [there, here]) {
    const rows = tf.data.array([1, 2, 3, 4]).map((x) => ({ xs: tf.tensor1d([x]), ys: x }));
    const before = tf.memory().numTensors;
    const squares = [];
    await rows.forEachAsync(({ xs }) => void xs.square().dispose());
    await rows.batch(2).forEachAsync(({ xs }) => squares.push(tf.keep(xs.mul(2)).dataSync()));
    assert.deepEqual(squares.map((each) => [...each]).flat(), [2, 4, 6, 8]);
    assert.equal(tf.memory().numTensors, before + 2);
  }
});

/** Batches of one row, the last of which comes with the end. */
const ending = (tf, count) => () => {
  let at = 0;
  const next = () => {
    const value = { xs: tf.fill([1, 1], at), ys: tf.fill([1, 1], 2 * at + 1) };
    return { value, done: ++at === count };
  };
  return { next };
};

async function trained(tf, dataset, options) {
  const kernelInitializer = 'ones';
  const layer = tf.layers.dense({ units: 1, inputShape: [1], kernelInitializer });
  const model = tf.sequential({ layers: [layer] });
  model.compile({ loss: 'meanAbsoluteError', optimizer: tf.train.sgd(0.01) });
  const { warn } = console;
  console.warn = () => {};
  try {
    const { history } = await model.fitDataset(dataset, { epochs: 2, ...options });
    const loss = await model.evaluateDataset(dataset, {});
    return [...history.loss, ...history.val_loss, loss.dataSync()[0]];
  } finally {
    console.warn = warn;
  }
}

for (const [name, made] of Object.entries({
  generator: (tf) => tf.data.generator(ending(tf, 4)),
  prefetch: (tf) => tf.data.generator(ending(tf, 4)).prefetch(2),
  'an object with only an iterator': (tf) => ({
    *iterator() {
      for (let at = 0; at < 3; at += 1) yield ending(tf, 9)().next().value;
    },
  }),
})) {
  test(`${name}: training uses the value returned with done: true`, async () => {
    for (const options of [{}, { batchesPerEpoch: 1 }, { validationBatches: 2 }]) {
      const of = (tf) => trained(tf, made(tf), { ...options, validationData: made(tf) });
      const [actual, expected] = [await of(here), await of(there)];
      assert.equal(actual.length, expected.length);
      for (const [at, each] of expected.entries())
        assert.ok(Math.abs(actual[at] - each) < 1e-5, name);
    }
  });
}

const iterators = {
  'next() returns null after the end, repeatedly': async (it) => {
    const found = [];
    for (let step = 0; step < 8; ++step) found.push(await it.next());
    return found;
  },
  toArray: (it) => it.toArray(),
  'take, then the remaining elements': async (it) => [
    await it.take(2).toArray(),
    await it.take(-1).toArray(),
  ],
  skip: (it) => it.skip(3).toArray(),
  'map and filter': (it) =>
    it
      .map((x) => x * 2)
      .filter((x) => x > 4)
      .toArray(),
  mapAsync: (it) => it.mapAsync(async (x) => x + 1).toArray(),
  serialMapAsync: (it) => it.serialMapAsync(async (x) => x + 1).toArray(),
  flatmap: (it) => it.flatmap((x) => Array(x % 3).fill(x)).toArray(),
  rowMajorBatch: (it) => it.rowMajorBatch(2).toArray(),
  'rowMajorBatch without the rest': (it) => it.rowMajorBatch(2, false).toArray(),
  columnMajorBatch: (it) => it.columnMajorBatch(2).toArray(),
  'columnMajorBatch of nested elements': (it) =>
    it
      .map((x) => ({ a: [x, { b: x * 2 }], text: `${x}`, bytes: Uint8Array.of(x) }))
      .columnMajorBatch(2, false)
      .toArray(),
  'columnMajorBatch with a custom zip function': (it) =>
    it
      .map((x) => ({ a: [x, -x] }))
      .columnMajorBatch(3, true, (rows) =>
        Array.isArray(rows[0])
          ? { value: rows.flat(), recurse: false }
          : { value: null, recurse: true },
      )
      .toArray(),
  'concatenate and prefetch': async (it, dataset) =>
    it
      .concatenate(await dataset.iterator())
      .prefetch(2)
      .toArray(),
  shuffle: async (it) => (await it.shuffle(9, 'seed').toArray()).sort(),
  serial: (it) => it.serial().toArray(),
  forEachAsync: async (it) => {
    const seen = [];
    await it.forEachAsync((x) => seen.push(x));
    return seen;
  },
  serialForEach: async (it) => {
    const seen = [];
    await it.serialForEach((x) => seen.push(x) < 3);
    return [seen, await it.next()];
  },
  resolveWhile: async (it) => [await it.resolveWhile((x) => x < 3), await it.next()],
  resolveFully: async (it) => [await it.resolveFully(), await it.next()],
  'handleErrors goes on': (it) =>
    it
      .map(failing)
      .handleErrors(() => true)
      .toArray(),
  'handleErrors ends': (it) =>
    it
      .map(failing)
      .handleErrors((error) => error.message !== 'at 3')
      .toArray(),
};
function failing(x) {
  if (x === 3) throw new Error('at 3');
  return x;
}
for (const [name, use] of Object.entries(iterators)) {
  test(`iterators of datasets: ${name}`, async () => {
    const of = async (tf) => {
      const dataset = tf.data.array([1, 2, 3, 4, 5]);
      return use(await dataset.iterator(), dataset);
    };
    assert.deepEqual(await of(here), await of(there));
  });
}
test('array accepts typed arrays', async () => {
  const of = async (tf) => {
    const dataset = tf.data.array(Float32Array.of(1, 2, 3));
    return [dataset.size, await dataset.map((x) => x + 1).toArray()];
  };
  assert.deepEqual(await of(here), await of(there));
});
test('iterators of datasets dispose of unused intermediate tensors', async () => {
  const of = async (tf) => {
    const before = tf.memory().numTensors;
    const it = await tf.data
      .array([1, 2, 3])
      .map((x) => tf.scalar(x))
      .iterator();
    const sums = await it
      .map((x) => x.add(1))
      .map((x) => x.mul(2))
      .toArray();
    return [tf.memory().numTensors - before, sums.map((each) => each.dataSync()[0])];
  };
  assert.deepEqual(await of(here), await of(there));
});
const later = () => new Promise((done) => setTimeout(done));
test('fitDataset disposes of what functions of the dataset make after they have waited', async () => {
  const of = async (tf) => {
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2] })] });
    model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
    const before = tf.memory().numTensors;
    const batch = () => ({ xs: tf.ones([2, 2]), ys: tf.ones([2, 1]) });
    const numbers = tf.data.array([1, 2]);
    const batches = [
      tf.data.generator(async function* () {
        await later();
        yield batch();
        await later();
        yield batch();
      }),
      numbers.mapAsync(() => later().then(batch)),
    ];
    for (const each of batches) await model.fitDataset(each, { epochs: 2, verbose: 0 });
    const left = tf.memory().numTensors - before;
    model.dispose();
    return left;
  };
  assert.deepEqual(await of(here), await of(there));
});
