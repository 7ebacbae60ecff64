// sklearn-onnx#478, #45: text pipelines are exported with Tokenizer of com.microsoft, neighbors and Gaussian processes with
// CDist, torch.inverse with Inverse. These and their kin compute what they do in ONNX Runtime.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { model, node, random, tensor, value } from '../js/onnx/write.mjs';
import { attempt, differs, engines } from './onnx_lib.mjs';

const domain = 'com.microsoft';
const single = (op, attributes, feeds, outputs) =>
  model({
    opset: 17,
    ir: 8,
    opsets: { [domain]: 1 },
    nodes: [node(op, Object.keys(feeds), Object.keys(outputs), attributes, { domain })],
    inputs: Object.entries(feeds).map(([name, { dtype, shape }]) => value(name, dtype, shape)),
    outputs: Object.entries(outputs).map(([name, dtype]) => value(name, dtype)),
  });
async function check(op, attributes, feeds, outputs) {
  const shapes = Object.values(feeds).map(({ dtype, shape }) => `${dtype}[${shape}]`);
  const what = `${op} ${JSON.stringify(attributes)} ${shapes}`;
  assert.equal(await differs(single(op, attributes, feeds, outputs), feeds), undefined, what);
}
const strings = (data, shape = [data.length]) => ({ dtype: 'string', data, shape });
const numbers = (dtype, shape, seed) => tensor(dtype, [...random(seed, shape).data], shape);

const ways = [
  ...['[a-z]+', '[a-z0-9]+?', 'a|ab|[^ ]+', '\\w+', '.', '(a|b)*', '^.|l+', '\\b[a-z]{1,3}'].map(
    (tokenexp) => ({ tokenexp }),
  ),
  ...[[''], [' '], [' ', ','], ['[,;]', ' +'], ['b*'], ['$']].map((separators) => ({ separators })),
];
for (const [name, x] of Object.entries({
  words: strings(['hello world', 'a b c', '']),
  rows: strings(['x,y;z', 'one', 'a1b22', 'ü été'], [2, 2]),
  empty: strings(['', '']),
  spaces: strings(['  lead', 'trail  ', 'a  b']),
})) {
  test(`Tokenizer of ${name}`, async () => {
    for (const way of ways) {
      for (const mark of [0, 1]) {
        for (const mincharnum of [1, 2]) {
          const attributes = { mark, mincharnum, pad_value: '#', ...way };
          await check('Tokenizer', attributes, { x }, { y: 'string' });
        }
      }
    }
  });
}

test('CDist', async () => {
  for (const metric of ['sqeuclidean', 'euclidean']) {
    for (const dtype of ['float32', 'float64']) {
      for (const [m, n, k] of [
        [2, 3, 2],
        [1, 1, 1],
        [33, 17, 9],
      ]) {
        const feeds = { a: numbers(dtype, [m, k], 1), b: numbers(dtype, [n, k], 2) };
        await check('CDist', { metric }, feeds, { y: dtype });
      }
    }
  }
});

test('Inverse', async () => {
  for (const dtype of ['float32', 'float64']) {
    for (const shape of [
      [1, 1],
      [2, 2],
      [5, 5],
      [2, 3, 3],
      [2, 2, 4, 4],
      [16, 16],
    ]) {
      const x = numbers(dtype, shape, 3);
      await check('Inverse', {}, { x }, { y: dtype });
    }
  }
  for (const rows of [
    [0, 1, 0, 0, 0, 1, 1, 0, 0],
    [0, 2, 0, 1, 1, 0, 0, 0, 0, 0, 0, 4, 3, 0, 5, 0],
  ]) {
    const n = Math.sqrt(rows.length);
    await check('Inverse', {}, { x: tensor('float32', rows, [n, n]) }, { y: 'float32' });
  }
  await check('Inverse', {}, { x: numbers('float32', [2, 3], 1) }, { y: 'float32' });
});

test('MurmurHash3', async () => {
  const values = { u: [0, 1, 3, 123456], i: [0, 1, -3, 123456], f: [0, 1.5, -3.25, 1e10] };
  for (const positive of [0, 1]) {
    const outputs = { y: positive ? 'uint32' : 'int32' };
    for (const seed of [0, 7]) {
      for (const dtype of ['int32', 'uint32', 'int64', 'uint64', 'float32', 'float64']) {
        const x = tensor(dtype, values[dtype[0]], [2, 2]);
        await check('MurmurHash3', { positive, seed }, { x }, outputs);
      }
      const x = strings(['', 'a', 'ab', 'abc', 'abcd', 'hello wörld', 'foo bar baz 123']);
      await check('MurmurHash3', { positive, seed }, { x }, outputs);
    }
  }
});

test('NGramRepeatBlock', async () => {
  for (const ngram_size of [1, 2, 3, 5, 9]) {
    for (const length of [1, 4, 8, 12]) {
      const tokens = Array.from({ length: 2 * length }, (_, at) => (at * at) % 3);
      const feeds = { ids: tensor('int64', tokens, [2, length]), scores: random(1, [2, 5]) };
      await check('NGramRepeatBlock', { ngram_size }, feeds, { y: 'float32' });
    }
  }
});

test('Unique and SampleOp', async () => {
  for (const list of [[2, 1, 2, 3, 1, 5], [1], [3, 3, 3], [0, -1, 0.5, -1]]) {
    const outputs = { y: 'float32', index: 'int64', count: 'int64' };
    await check('Unique', {}, { x: tensor('float32', list) }, outputs);
  }
  await check('SampleOp', {}, { x: random(1, [3]) }, { y: 'float32' });
});

test('MultiHeadAttention with unidirectional, more or fewer keys than queries, with a past', async () => {
  for (const unidirectional of [0, 1]) {
    for (const [queries, keys, past] of [
      [2, 4, 0],
      [3, 4, 0],
      [4, 2, 0],
      [3, 3, 0],
      [1, 5, 0],
      [2, 2, 3],
      [1, 1, 4],
    ]) {
      const feeds = {
        q: random(1, [1, queries, 8], 2),
        k: random(2, [1, keys, 8], 2),
        v: random(3, [1, keys, 8], 2),
        ...(past > 0 && { pk: random(4, [1, 2, past, 4]), pv: random(5, [1, 2, past, 4]) }),
      };
      const inputs = past > 0 ? ['q', 'k', 'v', '', '', '', 'pk', 'pv'] : ['q', 'k', 'v'];
      const outputs = past > 0 ? ['y', 'k2', 'v2'] : ['y'];
      const attributes = { num_heads: 2, unidirectional };
      const bytes = model({
        opset: 17,
        ir: 8,
        opsets: { [domain]: 1 },
        nodes: [node('MultiHeadAttention', inputs, outputs, attributes, { domain })],
        inputs: Object.entries(feeds).map(([name, { shape }]) => value(name, 'float32', shape)),
        outputs: outputs.map((name) => value(name, 'float32')),
      });
      const what = `${unidirectional}: ${queries} queries, ${keys} keys, ${past} before`;
      assert.equal(await differs(bytes, feeds), undefined, what);
    }
  }
});

test('rejects attributes that contradict each other', async () => {
  const x = strings(['a']);
  for (const [attributes, message] of [
    [{ mincharnum: 1, pad_value: '' }, /separators and tokenexp/],
    [{ mincharnum: 0, pad_value: '', tokenexp: 'a' }, /mincharnum 0/],
    [{ mincharnum: 2, pad_value: '', separators: [''] }, /mincharnum 2/],
    [{ mincharnum: 1, pad_value: '', tokenexp: '(' }, /Tokenizer/],
  ]) {
    const bytes = single('Tokenizer', { mark: 0, ...attributes }, { x }, { y: 'string' });
    const { error } = await attempt(engines.ours, bytes, { x });
    assert.match(error, message);
  }
  const feeds = { a: random(1, [2, 3]), b: random(2, [2, 4]) };
  const bytes = single('CDist', { metric: 'cosine' }, feeds, { y: 'float32' });
  assert.match((await attempt(engines.ours, bytes, feeds)).error, /metric 'cosine'/);
});
