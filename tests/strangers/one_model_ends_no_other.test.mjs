// ONNX files of some kilobytes that overflow the stack of the reader they share with other models, exhaust its memory or
// block it for minutes: each gets an error or runs, and a model that was loaded before computes on, for a new shape too.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInChildProcess } from './support/child_process.mjs';

const writer = JSON.stringify(new URL('../js/onnx/write.mjs', import.meta.url).href);

/** Each: the source of the parts of a model, over the functions of the writer and those below; the expected error, if any. */
const bombs = {
  'a pattern of 90,000 stars': [`regex('a' + '*'.repeat(90000))`],
  'a pattern of 5,000 groups': [`regex('('.repeat(5000) + ')'.repeat(5000))`, /more than 256 deep/],
  'counts of counts': [`regex('a' + '{2}'.repeat(1000))`, /more than 256 deep/],
  'nothing, a thousand times, nested': [`regex('('.repeat(200) + '){1000}'.repeat(200))`],
  'classes without case': [
    `regex('(?i)' + '[\\u0001-\\u1EFF]'.repeat(60000))`,
    /classes whose case is ignored/,
  ],
  'a pattern of many ways': [
    `regex('(a*)*'.repeat(20) + '(a?){900}', many(300, () => 'a'.repeat(30000)))`,
    /too many steps/,
  ],
  'tokens that look at all of the rest': [
    `strings(['a'.repeat(1e5)], [contrib('Tokenizer', { tokenexp: 'a.*b|a', mark: 0, mincharnum: 1, pad_value: '' })])`,
    /Tokenizer: .*too many steps/,
  ],
  'a string that doubles': [
    `strings(['a'.repeat(500)], many(40, (k) => node('StringConcat', k ? ['y' + k, 'y' + k] : ['s', 's'], [k === 39 ? 'y' : 'y' + (k + 1)])))`,
    /StringConcat: .*more than 268435456 bytes/,
  ],
  'rows as long as the longest': [
    `strings(['a '.repeat(1e5), ...many(50000, () => 'a')], [node('StringSplit', ['s'], ['y', 'n'])])`,
    /StringSplit: .*more than 268435456 bytes/,
  ],
  'a long string, a million times': [
    `strings(['a'.repeat(1e5)], [node('Expand', ['s', 'size'], ['y'])], { size: tensor('int64', [1e6], [1]) })`,
    /Expand: .*more than 268435456 bytes/,
  ],
  'n-grams of all lengths and gaps': [
    `({ ...plain, opset: 20, initializers: { s: tensor('int64', many(5000, (k) => k % 3), [5000]) }, nodes: [node('TfIdfVectorizer', ['s'], ['y'], { mode: 'TF', ngram_counts: ints([0]), ngram_indexes: ints([0, 1]), pool_int64s: ints([1, 2]), min_gram_length: 1, max_gram_length: 5000, max_skip_count: 5000 })] })`,
    /TfIdfVectorizer: .* steps/,
  ],
  'functions 250 deep': [`functions(250, (k, call) => call)`],
  'functions 300 deep': [`functions(300, (k, call) => call)`, /more than 256 deep/],
  'functions 60 deep with branches 30 deep': [
    `functions(60, (k, call) => nested(30, branch, call))`,
    /more than 256 deep/,
  ],
  'functions that call twice': [
    `functions(60, (k, call) => [{ ...call, outputs: ['z'] }, { ...call, inputs: ['z', 'b'] }])`,
    / nodes$/,
  ],
  'branches 250 deep': [`({ ...plain, nodes: [nested(250, branch, node('Neg', ['x'], ['y']))] })`],
  'branches 300 deep': [
    `({ ...plain, nodes: [nested(300, branch, node('Neg', ['x'], ['y']))] })`,
    /more than 256 deep/,
  ],
  'bodies of loops 250 deep': [
    `({ ...plain, initializers: { m: tensor('int64', [1], []) }, nodes: [nested(250, loop, node('Neg', ['x'], ['y']))] })`,
  ],
  'sequences of sequences': [
    `({ ...plain, nodes: [node('SequenceConstruct', ['x'], ['s0']), ...many(30, (k) => node('SequenceConstruct', Array(50).fill('s' + k), ['s' + (k + 1)])), node('ConcatFromSequence', ['s30'], ['y'], { axis: 0 })] })`,
    /SequenceConstruct: input 0 is no tensor/,
  ],
  '30,000 functions': [
    `({ ...plain, opsets: { f: 1 }, functions: many(30000, (k) => func({ domain: 'f', name: 'F' + k, inputs: ['x'], outputs: ['y'], nodes: [node('Neg', ['x'], ['y'])] })), nodes: many(30000, (k) => node('F' + k, [k ? 'v' + k : 'x'], [k === 29999 ? 'y' : 'v' + (k + 1)], {}, { domain: 'f' })) })`,
  ],
  'a Sum of 60,000 operands': [
    `({ ...plain, nodes: [node('Sum', Array(60000).fill('x'), ['y'])] })`,
  ],
};

const support = `
import * as ort from 'tensorlathe/onnxruntime';
import { func, graph, ints, model, node, tensor, value } from ${writer};
const many = (count, each) => Array.from({ length: count }, (_, k) => each(k));
const x = value('x', 'float32', [1]), y = value('y', 'float32');
const plain = { inputs: [x], outputs: [y] };
const regex = (pattern, s = ['a']) => ({ ...strings(s, [node('RegexFullMatch', ['s'], ['y'], { pattern })]), outputs: [value('y', 'bool')] });
const strings = (s, nodes, more = {}) => ({ ...plain, outputs: [value('y', 'string')], opset: 20, opsets: { 'com.microsoft': 1 }, initializers: { s: tensor('string', s, [s.length]), ...more }, nodes });
const contrib = (op, attributes) => node(op, ['s'], ['y'], attributes, { domain: 'com.microsoft' });
const one = tensor('float32', [1], [1]), yes = tensor('bool', [1], []);
const nested = (depth, around, inner) => { for (let k = 0; k < depth; k++) inner = around(inner); return inner; };
const branch = (inner) => node('If', ['b'], ['y'], {
  then_branch: graph({ outputs: [y], nodes: [inner], initializers: { b: yes } }),
  else_branch: graph({ outputs: [value('z', 'float32')], nodes: [], initializers: { z: one } }) });
const loop = (inner) => node('Loop', ['m', '', 'x'], ['y'], { body: graph({
  inputs: [value('i', 'int64', []), value('c', 'bool', []), x], outputs: [value('c', 'bool', []), y], nodes: [inner] }) });
const call = (k) => node('F' + k, ['x', 'b'], ['y'], {}, { domain: 'f' });
const functions = (depth, nodes) => ({ ...plain, opsets: { f: 1 }, initializers: { b: yes }, nodes: [call(depth - 1)],
  functions: many(depth, (k) => func({ domain: 'f', name: 'F' + k, inputs: ['x', 'b'], outputs: ['y'], opsets: { f: 1 },
    nodes: k === 0 ? [node('Neg', ['x'], ['y'])] : [nodes(k, call(k - 1))].flat() })) });
plain.initializers = { b: yes };
const run = (session, n) => session.run({ x: new ort.Tensor('float32', new Float32Array(n).fill(2), [n]) });
const earlier = await ort.InferenceSession.create(model({ inputs: [value('x', 'float32', ['n'])], outputs: [y], nodes: [node('Neg', ['x'], ['y'])] }));
await run(earlier, 1);
`;

for (const [name, [parts, expectedError]] of Object.entries(bombs)) {
  test(name, async () => {
    const { output, code, stopped } = await runInChildProcess(
      `${support}
      const bomb = model(${parts});
      try { await run(await ort.InferenceSession.create(bomb), 1); console.log('ran'); } catch (error) { console.log('error: ' + error.message); }
      for (const n of [1, 3]) console.log('earlier: ' + [...(await run(earlier, n)).y.data]);
      process.exit(0);`,
      { seconds: 60 },
    );
    assert.deepEqual([stopped, code], [false, 0], output.slice(-300));
    const [bomb, ...rest] = output.trim().split('\n');
    assert.deepEqual(rest, ['earlier: -2', 'earlier: -2,-2,-2'], output.slice(0, 300));
    if (expectedError) assert.match(bomb, expectedError);
    else assert.equal(bomb, 'ran');
  });
}
