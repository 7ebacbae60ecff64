// CSV datasets: values as in TensorFlow.js, quotes of RFC 4180, any chunk boundaries, errors with line numbers.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { throws, rejects } from '../../lib.mjs';
import { mutations } from '../../mutate.mjs';

const texts = {
  numbers: 'a,b,c\n1,2,3\n4.5,-6,7e3\n',
  words: 'name,age\r\nAda,36\r\n"Hopper, Grace",85\r\n',
  gaps: 'a,b\n1,\n,2\n',
  flags: 'a,b\ntrue,1\nFALSE,0\n',
  semicolons: 'a;b\n1;2\n',
  headless: '1,2\n3,4\n',
  spaces: 'a  b c\n 1 2   3\n"x y"  5 6\n',
};
let server, url, folder;

before(async () => {
  server = createServer((request, response) => {
    const text = texts[request.url.slice(1)];
    response.writeHead(text === undefined ? 404 : 200).end(text);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${server.address().port}/`;
  folder = mkdtempSync(join(tmpdir(), 'tensorlathe-'));
});
after(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const blob = (text) => new Blob([text]);
const rows = (text, config) => tl.data.csv(blob(text), config).toArray();

const comparisons = {
  'a header and numbers': ['numbers'],
  'a label': ['numbers', { columnConfigs: { c: { isLabel: true } } }],
  'only columns with a config': [
    'numbers',
    { columnConfigs: { b: {}, c: { isLabel: true } }, configuredColumnsOnly: true },
  ],
  dtypes: ['numbers', { columnConfigs: { a: { dtype: 'int32' }, b: { dtype: 'float32' } } }],
  'words and quotes': ['words'],
  'other names': ['numbers', { columnNames: ['x', 'y', 'z'] }],
  'empty fields': ['gaps', { columnConfigs: { a: { default: 9 }, b: { required: false } } }],
  booleans: ['flags', { columnConfigs: { a: { dtype: 'bool' }, b: { dtype: 'bool' } } }],
  'another delimiter': ['semicolons', { delimiter: ';' }],
  'any number of spaces': ['spaces', { delimWhitespace: true }],
  'columns with a config in another order': [
    'numbers',
    { columnConfigs: { c: {}, a: {} }, configuredColumnsOnly: true },
  ],
  'no header': ['headless', { hasHeader: false, columnNames: ['x', 'y'] }],
};

for (const [name, [text, config]] of Object.entries(comparisons)) {
  test(`${name}: rows equal those of TensorFlow.js`, async () => {
    const ours = tl.data.csv(url + text, config);
    const theirs = tf.data.csv(url + text, config);
    assert.deepEqual(await ours.toArray(), await theirs.toArray());
    assert.deepEqual(await ours.columnNames(), await theirs.columnNames());
    assert.deepEqual(await rows(texts[text], config), await theirs.toArray(), 'from a Blob');
  });
}

test('batches of rows become tensors by column', async () => {
  const config = { columnConfigs: { c: { isLabel: true } } };
  const [batch] = await tl.data.csv(blob(texts.numbers), config).batch(2).toArray();
  assert.deepEqual([...batch.xs.a.dataSync()], [1, 4.5]);
  assert.deepEqual([...batch.ys.c.dataSync()], [3, 7000]);
});

test('files are read by path and by URL', async () => {
  const path = join(folder, 'table.csv');
  writeFileSync(path, texts.numbers);
  const expected = await rows(texts.numbers);
  assert.deepEqual(await tl.data.csv(path).toArray(), expected);
  assert.deepEqual(await tl.data.csv(pathToFileURL(path)).toArray(), expected);
  assert.deepEqual(await tl.data.csv(pathToFileURL(path).href).toArray(), expected);
});

test('quoted fields may contain commas, quotes and line ends', async () => {
  const text = 'a,b\n"1,5","two\r\nlines"\n"","say ""x"""\n"é\u{1f600}",plain "quote"\n';
  assert.deepEqual(await rows(text), [
    { a: '1,5', b: 'two\r\nlines' },
    { a: undefined, b: 'say "x"' },
    { a: 'é\u{1f600}', b: 'plain "quote"' },
  ]);
});

test('spaces around a line are not fields', async () => {
  const text = 'a b\n  1   2  \n   \n3 4';
  const expected = [
    { a: 1, b: 2 },
    { a: 3, b: 4 },
  ];
  assert.deepEqual(await rows(text, { delimWhitespace: true }), expected);
});

test('line ends and empty lines do not matter', async () => {
  const expected = [
    { a: 1, b: 2 },
    { a: 3, b: undefined },
  ];
  for (const end of ['\n', '\r\n', '\r']) {
    for (const last of ['', end, end + end]) {
      assert.deepEqual(await rows(['a,b', '1,2', '', '3,'].join(end) + last), expected);
    }
  }
  assert.deepEqual(await rows('\ufeffa\n1\n'), [{ a: 1 }]);
});

/** A Blob whose stream delivers chunks of `length` bytes. */
const inPieces = (text, length) =>
  Object.assign(new Blob([text]), {
    stream: () => {
      const bytes = new TextEncoder().encode(text);
      let at = 0;
      return new ReadableStream({
        pull(controller) {
          if (at >= bytes.length) controller.close();
          else controller.enqueue(bytes.subarray(at, (at += length)));
        },
      });
    },
  });

test('chunks of any size yield equal rows', async () => {
  const text = 'a,"b ""q""",c\r\n1,"x,\r\ny",é\r\n\r\n"""",,"ü\u{1f600}"\r\n7,8,9';
  const expected = await rows(text);
  assert.equal(expected.length, 3);
  for (let length = 1; length < 12; ++length) {
    assert.deepEqual(await tl.data.csv(inPieces(text, length)).toArray(), expected);
  }
});

test('take(3) reads only the first chunks of the table', async () => {
  let pieces = 0;
  const source = inPieces('a\n' + '1\n'.repeat(5000), 10);
  const { stream } = source;
  source.stream = () =>
    stream().pipeThrough(
      new TransformStream({
        transform(piece, controller) {
          ++pieces;
          controller.enqueue(piece);
        },
      }),
    );
  const first = await tl.data.csv(source).take(3).toArray();
  assert.equal(first.length, 3);
  assert.ok(pieces < 10, String(pieces));
});

test('any column name is supported', async () => {
  const text = '__proto__,constructor,toString\n1,2,\n';
  const [row] = await rows(text);
  assert.deepEqual(Object.entries(row), [
    ['__proto__', 1],
    ['constructor', 2],
    ['toString', undefined],
  ]);
  assert.equal(Object.getPrototypeOf(row), Object.prototype);
  const columnConfigs = { ['__proto__']: { isLabel: true, dtype: 'int32' } };
  const [{ xs, ys }] = await rows(text, { columnConfigs });
  assert.deepEqual(
    [Object.keys(xs), Object.entries(ys)],
    [['constructor', 'toString'], [['__proto__', 1]]],
  );
  const config = { columnConfigs, configuredColumnsOnly: true };
  assert.deepEqual(await tl.data.csv(blob(text), config).columnNames(), ['__proto__']);
  const [batch] = await tl.data.csv(blob('__proto__\n5\n6\n')).batch(2).toArray();
  const [[name, column]] = Object.entries(batch);
  assert.deepEqual([name, ...column.dataSync()], ['__proto__', 5, 6]);
});

test('the rows before a malformed line are delivered, for any chunk size', async () => {
  const malformed = {
    'a,b\n1,2\n3,4\n"5"x,6\n7,8\n': 'csv: line 4: x after a closing quote',
    'a,b\n1,2\r\n3,4\n5,"6\n7,8\n': 'csv: the quote that begins in line 4 never ends',
    'a,b\n1,2\n3,4\n5\n7,8\n':
      'Invalid row in csv file. Should have 2 elements in a row, but got 5',
  };
  for (const [text, message] of Object.entries(malformed)) {
    for (let length = 1; length <= text.length; ++length) {
      const delivered = [];
      const read = async () => {
        for await (const row of tl.data.csv(inPieces(text, length))) delivered.push(row);
      };
      await rejects(read(), message);
      assert.deepEqual(delivered, [
        { a: 1, b: 2 },
        { a: 3, b: 4 },
      ]);
    }
  }
});

test('errors name the line and the column', async () => {
  const required = { columnConfigs: { a: { required: true } } };
  await assert.rejects(rows('a,b\n1,2\n\n,3\n', required), {
    message: 'Required column a is empty in this line: ,3',
    cause: 'line 4',
  });
  await assert.rejects(rows('a,b\n1,2,3\n'), {
    message: 'Invalid row in csv file. Should have 2 elements in a row, but got 1,2,3',
    cause: 'line 2',
  });
  await rejects(rows('a,b\n1,"2\n'), 'csv: the quote that begins in line 2 never ends');
  await rejects(rows('a,b\n"1"x,2\n'), 'csv: line 2: x after a closing quote');
  await rejects(rows(''), 'No data was found for CSV parsing.');
  await rejects(rows('a,a\n'), 'Duplicate column names found: a');
  await rejects(
    rows('a\n1\n', { columnConfigs: { z: {} } }),
    /The key "z" .* any of the column names \(a\)/,
  );
  await rejects(
    rows('a\n1\n', { columnNames: ['x', 'y'] }),
    /provided columnNames \(2\) .* read from file \(1\)/,
  );
  const label = { columnConfigs: { b: { isLabel: true } } };
  await rejects(rows('a,b\n1,\n', label), 'Required column b is empty in this line: 1,');
  const numeric = { columnConfigs: { a: { dtype: 'float32' } } };
  await rejects(rows('a\nsix\n', numeric), 'csv: line 2: the column a is float32, got "six"');
  await rejects(
    tl.data.csv(`${url}none`).toArray(),
    `csv: cannot read ${url}none: HTTP status 404`,
  );
  await rejects(tl.data.csv(join(folder, 'none.csv')).toArray(), /cannot read .*ENOENT/);
  throws(() => tl.data.csv(blob(''), { delimiter: '::' }), /delimiter must be one character/);
  const both = { delimiter: ',', delimWhitespace: true };
  throws(() => tl.data.csv(blob(''), both), /should not be provided when delimWhitespace is true/);
  throws(() => tl.data.csv(7), /source must be/);
});

test('damaged tables yield rows or a LatheError', async () => {
  const text = 'name,"a b",c\r\n"x ""y""",1,2\r\n"l\nm",,3\r\n4,5,6\r\n';
  const config = { columnConfigs: { c: { isLabel: true, dtype: 'float32' } } };
  let rejected = 0;
  for (const bytes of mutations(Buffer.from(text), 400)) {
    try {
      await tl.data.csv(new Blob([bytes]), config).toArray();
    } catch (error) {
      assert.equal(error.name, 'LatheError', error.stack);
      assert.match(error.message, /^(csv: |Invalid row in csv|Required column|The key|Duplicate)/);
      ++rejected;
    }
  }
  assert.ok(rejected > 50 && rejected < 400, String(rejected));
});
