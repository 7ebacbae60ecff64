// CSV datasets and loaders in programs written for TensorFlow.js: `iterator()` and `columnNames()` reject with its error
// texts, a CR within a line is part of a field, closing an iterator closes its source, and loaders use the platform's
// fetch.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tf from 'tensorlathe/tfjs';

await tf.ready();
const table = (text, config, chunkSize = 2) =>
  new tf.data.CSVDataset(new tf.data.FileDataSource(Buffer.from(text), { chunkSize }), config);

test('iterator() and columnNames() reject with the texts of TensorFlow.js if the header is wrong', async () => {
  const cases = [
    ['1,2\n', { hasHeader: false }, 'Column names must be provided if there is no header line.'],
    ['', {}, 'No data was found for CSV parsing.'],
    ['a,b,a,b\n', {}, 'Duplicate column names found: a,b'],
    [
      'a,b\n',
      { columnConfigs: { c: {} } },
      'The key "c" provided in columnConfigs does not match any of the column names (a,b).',
    ],
    [
      'a,b\n',
      { columnNames: ['x'] },
      'The length of provided columnNames (1) does not match the length of the header line read from file (2).',
    ],
  ];
  for (const [text, config, message] of cases) {
    const error = { name: 'LatheError', message };
    await assert.rejects(table(text, config).iterator(), error);
    await assert.rejects(table(text, config).columnNames(), error);
    await assert.rejects(tf.data.csv(new Blob([text]), config).iterator(), error);
  }
  const file = tf.data.csv(new Blob(['1,2\n']), { hasHeader: false, columnNames: ['a', 'b'] });
  assert.deepEqual(await (await file.iterator()).next(), { value: { a: 1, b: 2 }, done: false });
  const message = 'Delimiter should not be provided when delimWhitespace is true.';
  assert.throws(() => table('a', { delimiter: ',', delimWhitespace: true }), { message });
  assert.deepEqual(await table('a\n1\n', null).toArray(), [{ a: 1 }]);
});

test('an iterator that is closed before its first row closes its source', async () => {
  let isClosed = false;
  const source = {
    iterator: async () => ({
      next: async () => ({ value: new TextEncoder().encode('a\n1\n2\n'), done: false }),
      return: async () => ((isClosed = true), { value: undefined, done: true }),
    }),
  };
  const rows = await new tf.data.CSVDataset(source).iterator();
  await rows.return();
  assert.ok(isClosed);
});

test('a CR within a line is part of a field, wherever chunks end', async () => {
  const text = 'A,B,C\r\n1,2,3\r\nv,\rw,x\r\r\n\r,"q\r",y\rz\n\r\n5,6,7\r';
  const expected = [
    { A: 1, B: 2, C: 3 },
    { A: 'v', B: '\rw', C: 'x\r' },
    { A: '\r', B: 'q\r', C: 'y\rz' },
    { A: 5, B: 6, C: 7 },
  ];
  for (let size = 1; size <= text.length; ++size)
    assert.deepEqual(await table(text, {}, size).toArray(), expected, `chunks of ${size}`);
  const withFinalCR = 'A,B\r1,2\r\r3,"4\r5"\r';
  for (let size = 1; size <= withFinalCR.length; ++size)
    assert.deepEqual(await table(withFinalCR, {}, size).toArray(), [
      { A: 1, B: 2 },
      { A: 3, B: '4\r5' },
    ]);
});

test('CSV datasets and loadLayersModel use the fetch of the platform', async (t) => {
  const requested = [];
  const { platform, platformName } = tf.env();
  t.after(() => tf.setPlatform(platformName, platform));
  const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [1] })] });
  const { modelTopology, weightSpecs, weightData } = await new Promise((resolve) =>
    model.save(tf.io.withSaveHandler(async (artifacts) => (resolve(artifacts), {}))),
  );
  const json = {
    modelTopology,
    weightsManifest: [{ paths: ['w.bin'], weights: weightSpecs }],
  };
  const files = { 'm.json': JSON.stringify(json), 'w.bin': weightData, 't.csv': 'a\n1\n' };
  tf.setPlatform(
    'test',
    Object.assign(Object.create(platform), {
      fetch: async (address) => {
        requested.push(String(address));
        return new Response(files[String(address).split('/').at(-1)]);
      },
    }),
  );
  assert.deepEqual(await tf.data.csv('http://it.test/t.csv').toArray(), [{ a: 1 }]);
  const source = new tf.data.URLDataSource('http://it.test/t.csv');
  assert.deepEqual(await new tf.data.CSVDataset(source).toArray(), [{ a: 1 }]);
  const loaded = await tf.loadLayersModel('http://it.test/m.json');
  assert.deepEqual(loaded.predict(tf.ones([2, 1])).shape, [2, 1]);
  assert.deepEqual(requested, [
    'http://it.test/t.csv',
    'http://it.test/t.csv',
    'http://it.test/m.json',
    'http://it.test/w.bin',
  ]);
});
