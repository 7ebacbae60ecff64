// A graph model was rejected for one unknown operator that no requested output needs, and `registerOp` had to come before
// loading. Neighbors: nodes within loops, handlers of a custom `tfio`, weight files with bytes left over.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tf from 'tensorlathe/tfjs';

await tf.ready();

const node = (name, op, input = [], attr = {}) => ({ name, op, input, attr });
const float = { dtype: { type: 'DT_FLOAT' } };
const placeholder = (name) => node(name, 'Placeholder', [], float);
const artifacts = (nodes, rest = {}) => ({
  modelTopology: { node: nodes, versions: { producer: 1, minConsumer: 3 } },
  weightSpecs: [],
  weightData: new ArrayBuffer(0),
  ...rest,
});
const modelOf = (...nodes) => tf.loadGraphModelSync(artifacts(nodes));
const strange = () =>
  modelOf(
    placeholder('x'),
    node('odd', 'Odd', ['x'], { scale: { f: 3 } }),
    node('square', 'Square', ['odd']),
    node('root', 'Sqrt', ['x']),
  );

test('an unknown operator matters where it is needed', async () => {
  const model = strange();
  const x = tf.tensor1d([4]);
  assert.equal(model.execute({ x }, 'root').dataSync()[0], 2);
  assert.equal(model.execute({ odd: x }, 'square').dataSync()[0], 16);
  assert.equal((await model.executeAsync({ odd: x }, 'square')).dataSync()[0], 16);
  const error = { name: 'LatheError', message: /^Unknown op 'Odd'\. .*tf\.registerOp\(\)$/ };
  assert.throws(() => model.execute({ x }, 'square'), error);
  await assert.rejects(model.executeAsync({ x }, ['root', 'square']), error);
  model.dispose();
});

test('registerOp after loading counts, and deregisterOp', () => {
  const model = strange();
  const x = tf.tensor1d([4]);
  assert.throws(() => model.execute({ x }, 'square'), /Unknown op/);
  tf.registerOp('Odd', ({ inputs: [value], attrs }) => value.mul(attrs.scale));
  assert.equal(model.execute({ x }, 'square').dataSync()[0], 144);
  tf.registerOp('Odd', ({ inputs: [value] }) => value.neg());
  assert.equal(model.execute({ x }, 'odd').dataSync()[0], -4);
  tf.deregisterOp('Odd');
  assert.throws(() => model.execute({ x }, 'odd'), /Unknown op/);
  model.dispose();
});

test('functions and loops with unknown operators load, too', () => {
  const model = tf.loadGraphModelSync(
    artifacts([placeholder('x'), node('y', 'Relu', ['x'])], {
      modelTopology: {
        node: [placeholder('x'), node('y', 'Relu', ['x'])],
        library: {
          function: [
            {
              signature: {
                name: 'unused',
                inputArg: [{ name: 'a', type: 'DT_FLOAT' }],
                outputArg: [{ name: 'b', type: 'DT_FLOAT' }],
              },
              nodeDef: [node('z', 'Odd', ['a'])],
              ret: { b: 'z:0' },
            },
          ],
        },
      },
    }),
  );
  assert.equal(model.predict(tf.scalar(-1)).dataSync()[0], 0);
  model.dispose();
});

test('a node within a loop has its last value in executeAsync, and none in execute', async () => {
  const model = modelOf(placeholder('x'), node('enter', 'Enter', ['x']));
  const x = tf.tensor1d([4]);
  assert.equal((await model.executeAsync({ x })).dataSync()[0], 4);
  assert.throws(() => model.execute({ x }), {
    name: 'LatheError',
    message: /contains the node 'enter', which has the dynamic op 'Enter' .* model.executeAsync/,
  });
  model.dispose();
});

test('executeAsync warns once where execute is enough', async (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  const model = modelOf(placeholder('x'), node('y', 'Relu', ['x']));
  await model.executeAsync(tf.scalar(1));
  await model.executeAsync(tf.scalar(1));
  model.execute(tf.scalar(1));
  assert.equal(warn.mock.callCount(), 1);
  assert.match(warn.mock.calls[0].arguments[0], /You can use model.execute\(\) instead/);
});

test('a tfio of the program finds handlers', async () => {
  const model = artifacts([placeholder('x'), node('y', 'Relu', ['x'])]);
  const handlerCalls = [];
  const handler = { load: async () => model, save: async () => ({ isSaved: true }) };
  const tfio = {
    getLoadHandlers: (url, options) => (handlerCalls.push(['load', url, options]), [handler]),
    browserHTTPRequest: (url, options) => (handlerCalls.push(['http', url, options]), handler),
    getSaveHandlers: (url) => (handlerCalls.push(['save', url]), [handler]),
  };
  const fetchFunc = async () => new Response();
  const loaded = await tf.loadGraphModel('any://m', { fetchFunc }, tfio);
  assert.deepEqual(await loaded.save('any://n'), { isSaved: true });
  await tf.loadGraphModel('any://m', { requestInit: {} }, tfio);
  assert.deepEqual(handlerCalls, [
    ['load', 'any://m', { fetchFunc }],
    ['save', 'any://n'],
    ['http', 'any://m', { requestInit: {} }],
  ]);
  const two = { ...tfio, getLoadHandlers: () => [handler, handler] };
  await assert.rejects(tf.loadGraphModel('any://m', {}, two), /more than one \(2\) load handlers/);
  const bare = await tf.loadGraphModel(handler, null);
  assert.equal(bare.modelSignature, undefined);
});

test('loadGraphModelSync names what is missing', () => {
  const [modelTopology, weightsManifest] = [{ node: [placeholder('x')] }, []];
  const bytes = new ArrayBuffer(0);
  const wrong = [
    [null, /modelUrl in loadGraphModelSync\(\) cannot be null/],
    [[undefined, bytes], /modelJSON must be the first element/],
    [[{ modelTopology, weightsManifest }], /weights must be the second element/],
    [[{ weightsManifest }, bytes], /missing 'modelTopology'/],
    [[{ modelTopology }, bytes], /missing 'weightsManifest'/],
    [{ foo: 'bar' }, /Unknown model format/],
  ];
  for (const [source, message] of wrong)
    assert.throws(() => tf.loadGraphModelSync(source), { name: 'LatheError', message });
});

test('trailing bytes of weights are ignored, missing ones are an error', () => {
  const specs = [
    [{ name: 'w', shape: [1], dtype: 'int32' }],
    [
      { name: 's', shape: [1], dtype: 'string' },
      { name: 'w', shape: [1], dtype: 'int32' },
    ],
  ];
  for (const weightSpecs of specs) {
    const nodes = [node('w', 'Const', [], { dtype: { type: 'DT_INT32' } })];
    const weightData = new ArrayBuffer(16);
    const at = weightSpecs.length === 2 ? 1 : 0;
    new Int32Array(weightData)[at] = 7;
    const model = tf.loadGraphModelSync(artifacts(nodes, { weightSpecs, weightData }));
    assert.deepEqual([...model.weights.w[0].dataSync()], [7]);
    const short = { weightSpecs, weightData: new ArrayBuffer(4 * at + 2) };
    assert.throws(() => tf.loadGraphModelSync(artifacts(nodes, short)), /it ends after/);
  }
});

test('the graph that fills tables runs before the first run, by then with registered operators', () => {
  const nodes = [placeholder('x'), node('y', 'Relu', ['x'])];
  const modelInitializer = { node: [node('seven', 'Odd')] };
  let calls = 0;
  const model = tf.loadGraphModelSync(artifacts(nodes, { modelInitializer }));
  assert.throws(() => model.predict(tf.scalar(-1)), /Unknown op 'Odd'/);
  tf.registerOp('Odd', () => ((calls += 1), tf.scalar(7)));
  assert.equal(model.predict(tf.scalar(-1)).dataSync()[0], 0);
  assert.equal(model.predict(tf.scalar(2)).dataSync()[0], 2);
  tf.deregisterOp('Odd');
  assert.equal(calls, 1);
  model.dispose();
});
