// Graph models of a few hundred bytes whose data request endless lists, shapes, rows, letters, calls or rounds: each ends with
// an error that can be caught and names the operator, within seconds and without much memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tf from 'tensorlathe/tfjs';

import { countingNodes } from './support/counting_nodes.mjs';
import { endsIn, graphs } from './support/graphs.mjs';
import { runInChildProcess } from './support/child_process.mjs';

const leaks =
  /Invalid (array|string|typed)|call stack|Cannot read|is not a function|core stopped|out of memory/;

/** Runs a source that calls `run` in a child process; all must end well. */
async function ends(source, { seconds = 120, maxGigabytes = 0.9 } = {}) {
  const ended = await runInChildProcess(`${graphs}${source}\nprocess.exit(0);`, { seconds });
  const all = endsIn(ended.output);
  const last = `${all.at(-1)?.name}: ${ended.output.slice(-300)}`;
  assert.equal(ended.stopped, false, `runs without end after ${last}`);
  assert.equal(ended.code, 0, `the process ends after ${last}`);
  for (const { name, kind, error, gigabytes } of all) {
    if (error !== undefined) assert.equal(kind, 'LatheError', `${name}: ${error}`);
    assert.doesNotMatch(error ?? '', leaks, name);
    assert.ok(gigabytes < maxGigabytes, `${name}: ${gigabytes} GiB`);
  }
  return all;
}

const ofAll = (count) =>
  `${countingNodes} for (const [name, make] of Object.entries(kinds)) await run(name, ...make(${count}));`;

for (const count of [2147483647, 1500000000, -1, -2147483648, 0]) {
  test(`every operator with a count operand, of ${count}`, async () => {
    const all = await ends(ofAll(count));
    assert.ok(all.length > 70, `${all.length} ended`);
    if (count < 2 ** 30) return;
    const made = all.filter(({ shape }) => shape?.some((size) => size > 2 ** 20));
    assert.deepEqual(made, []);
  });
}

test('a count just above the limit of lists, and one below', async () => {
  const lists = `${countingNodes} for (const name of Object.keys(kinds).filter((each) => /^Tensor(List|Array)|Unpack|Split/.test(each))) await run(name, ...kinds[name](COUNT));`;
  await ends(lists.replace('COUNT', 262145));
  await ends(lists.replace('COUNT', 3000));
});

const functions = `
const arg = (name) => ({ name, type: 'DT_FLOAT' });
const def = (name, nodeDef, result) => ({ signature: { name, inputArg: [arg('a')], outputArg: [arg('b')] }, nodeDef, ret: { b: result } });
const call = (name, f, input) => node(name, 'PartitionedCall', [input], { f: { func: { name: f } } });
const branch = (name, f, t, input) => node(name, 'StatelessIf', [t, input], { then_branch: { func: { name: f } }, else_branch: { func: { name: f } } });
`;

test('functions and branches nested deeper than 256 levels', async () => {
  const all = await ends(`${functions}
    await run('itself', [call('y', 'F', 'x')], { x: floats(1) }, 'y', { function: [def('F', [call('c', 'F', 'a')], 'c:output:0')] });
    const t = node('t', 'Greater', ['a', 'a']);
    await run('branches', [branch('y', 'F', 't', 'x')], { x: floats(1), t: ['bool', [], [1]] }, 'y', { function: [def('F', [t, branch('c', 'F', 't', 'a')], 'c:output:0')] });
    const chain = (n) => ({ function: Array.from({ length: n }, (_, k) => def('F' + k, [k + 1 < n ? call('c', 'F' + (k + 1), 'a') : node('c', 'Neg', ['a'])], 'c:output:0')) });
    await run('256 deep', [call('y', 'F0', 'x')], { x: floats(1) }, 'y', chain(256));
    await run('257 deep', [call('y', 'F0', 'x')], { x: floats(1) }, 'y', chain(257));
    const twice = { function: Array.from({ length: 60 }, (_, k) => def('F' + k, k < 59 ? [call('c', 'F' + (k + 1), 'a'), call('d', 'F' + (k + 1), 'c:output:0')] : [node('d', 'Identity', ['a'])], 'd:output:0')) };
    await run('each calls the next twice', [call('y', 'F0', 'x')], { x: floats(1) }, 'y', twice);
    const enters = [];
    for (let k = 0; k < 1000; k++) enters.push(node('e' + (k + 1), 'Enter', ['e' + k], { frame_name: { s: btoa('f' + k) } }));
    enters.push(node('y', 'Exit', ['e1000']));
    await run('frames in frames', enters, { e0: floats(1) });
  `);
  const by = new Map(all.map((each) => [each.name, each]));
  for (const name of ['itself', 'branches', '257 deep']) {
    assert.match(by.get(name).error, /nested deeper than 256 levels/, name);
  }
  assert.deepEqual(by.get('256 deep').shape, [1]);
  assert.match(by.get('each calls the next twice').error, /calls of functions/);
  assert.match(by.get('frames in frames').error, /nested deeper than 256 levels/);
});

test('loops without an end', async () => {
  const all = await ends(`${functions}
    const forever = def('C', [node('c', 'GreaterEqual', ['a', 'a'])], 'c:z:0');
    const loop = [node('y', 'StatelessWhile', ['x'], { cond: { func: { name: 'C' } }, body: { func: { name: 'B' } } })];
    await run('of the same values', loop, { x: float(1) }, 'y', { function: [forever, def('B', [node('c', 'Identity', ['a'])], 'c:output:0')] });
    await run('that counts', loop, { x: float(1) }, 'y', { function: [forever, def('B', [node('c', 'Add', ['a', 'a'])], 'c:z:0')] });
    const frames = { frame_name: { s: btoa('f') } };
    await run('of frames', [
      node('e', 'Enter', ['x'], frames), node('m', 'Merge', ['e', 'n']), node('c', 'GreaterEqual', ['m', 'm']), node('l', 'LoopCond', ['c']),
      node('s', 'Switch', ['m', 'l']), node('n', 'NextIteration', ['s:1']), node('y', 'Exit', ['s']),
    ], { x: float(1) });
  `);
  for (const { name, error } of all) assert.match(error, /rounds of loops; from 0 to 262144/, name);
});

test('strings that grow', async () => {
  const all = await ends(`
    const replace = (rewrite, pattern = '.+') => ({ pattern: { s: btoa(pattern) }, rewrite: { s: btoa(rewrite) }, replace_global: { b: true } });
    const doubling = Array.from({ length: 60 }, (_, k) => node('s' + (k + 1), 'StaticRegexReplace', ['s' + k], replace('$&$&')));
    await run('doubled', [...doubling, node('y', 'StringToHashBucketFast', ['s60'], { num_buckets: { i: '9' } })], { s0: texts('ab') });
    await run('no pattern', [node('y', 'StaticRegexReplace', ['s'], replace('', '('))], { s: texts('a') });
    await run('rewritten', [node('y', 'StaticRegexReplace', ['s'], replace('x'.repeat(100000), ''))], { s: texts('y'.repeat(100000)) });
    await run('ngrams of long padding', [node('y', 'StringNGrams', ['a', 'b'], { ngram_widths: { list: { i: ['5000'] } }, pad_width: { i: '-1' }, left_pad: { s: btoa('z'.repeat(9000)) } })], { a: texts('a'), b: ints(0, 1) });
    await run('widths below 1', [node('y', 'StringNGrams', ['a', 'b'], { ngram_widths: { list: { i: ['-5', '0'] } } })], { a: texts('a'), b: ints(0, 1) });
  `);
  for (const { name, error } of all) assert.ok(error, name);
});

test('parts of another type, and attributes nested deeply', async () => {
  const all = await ends(`
    const tries = async (name, modelTopology, more = {}) => {
      const ended = { name, gigabytes: 0 };
      await Promise.resolve().then(() => loadGraphModel({ load: async () => ({ format: 'graph-model', modelTopology, weightSpecs: [], weightData: new ArrayBuffer(0), ...more }) })).catch((error) => Object.assign(ended, { kind: error.name, error: error.message }));
      console.log(JSON.stringify(ended));
    };
    const withAttribute = (f) => ({ node: [{ name: 'a', op: 'Neg', attr: { f } }] });
    let list = { list: { i: [1] } };
    for (let k = 0; k < 20000; k++) list = { list: { list: [list.list] } };
    await tries('nested', withAttribute(list));
    for (const f of [{ func: null }, { s: '***' }, { shape: { dim: 5 } }]) await tries(JSON.stringify(f), withAttribute(f));
    for (const each of [null, {}, { signature: null }]) await tries('function ' + JSON.stringify(each), { node: [], library: { function: [each] } });
    await tries('no node', { node: [null] });
    await tries('specs', { node: [] }, { weightSpecs: [null] });
    await tries('negative', { node: [] }, { weightSpecs: [{ name: 'x', shape: [-1], dtype: 'complex64' }] });
  `);
  assert.equal(all.length, 10);
  for (const { name, kind } of all) assert.equal(kind, 'LatheError', name);
});

test('operators without their operands or attributes', () => {
  const names =
    'Add Abs AvgPool Cast ClipByValue Concat ConcatV2 Conv2D DepthwiseConv2dNative Einsum Enter Exit ExpandDims Fill FusedBatchNormV3 ' +
    'GatherV2 GatherNd LeakyRelu MatMul Max MaxPool Mean Merge MirrorPad NextIteration OneHot Pack Pad PadV2 Prod Range Reshape ' +
    'ResizeBilinear Reverse ReverseV2 ScatterNd Select SelectV2 Shape Slice Softmax SpaceToBatchND Split SplitV Squeeze ' +
    'StridedSlice StringSplit Sum Switch TensorListStack Tile TopKV2 Transpose Unique UnsortedSegmentSum Where ZerosLike';
  for (const op of names.split(' ')) {
    for (const input of [[], ['x'], ['x', 'x', 'x']]) {
      const loaded = tf.loadGraphModelSync({
        modelTopology: {
          node: [
            { name: 'x', op: 'Placeholder', input: [], attr: { dtype: { type: 'DT_FLOAT' } } },
            { name: 'y', op, input, attr: {} },
          ],
          versions: { producer: 1, minConsumer: 2 },
        },
        weightSpecs: [],
        weightData: new ArrayBuffer(0),
      });
      try {
        tf.tidy(() => loaded.execute({ x: tf.tensor2d([[1, 2]]) }, 'y'));
      } catch (error) {
        assert.equal(error.name, 'LatheError', `${op} of ${input.length}: ${error.stack}`);
        assert.doesNotMatch(error.message, leaks, `${op} of ${input.length}`);
      }
      loaded.dispose();
    }
  }
});
