// Models and functions whose loops do not end, servers that never send the rest of a model, long prompts: calls with a signal or limit
// stop, and what they ran on goes on.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import * as tl from 'tensorlathe';
import * as ort from 'tensorlathe/onnxruntime';
import * as tf from 'tensorlathe/tfjs';
import { largestDifference, rejects, throws } from '../js/lib.mjs';
import { llama } from '../js/onnx/llama.mjs';
import { graph, model, node, random, tensor, value } from '../js/onnx/write.mjs';

before(() => tl.ready());

/** How long after its limit a call may go on: machines that do other work too are slow. */
const lateMs = 400;

const attr = (attribute) => {
  if (typeof attribute === 'boolean') return { b: attribute };
  if (attribute.startsWith('DT_')) return { type: attribute };
  return attribute.startsWith('func ')
    ? { func: { name: attribute.slice(5) } }
    : { s: btoa(attribute) };
};
const graphNode = (name, op, input = [], attributes = {}) => ({
  name,
  op,
  input,
  attr: Object.fromEntries(Object.entries(attributes).map(([key, each]) => [key, attr(each)])),
});
const placeholder = graphNode('x', 'Placeholder', [], { dtype: 'DT_FLOAT' });

function graphModel(nodes, functions = []) {
  return tf.loadGraphModelSync({
    modelTopology: {
      node: [graphNode('limit', 'Const'), placeholder, ...nodes],
      library: { function: functions },
      versions: { producer: 1, minConsumer: 2 },
    },
    weightSpecs: [{ name: 'limit', shape: [], dtype: 'float32' }],
    weightData: Float32Array.of(100).buffer,
  });
}

const func = (name, nodeDef, ret) => ({
  signature: { name, inputArg: [{ name: 'v' }], outputArg: [{ name: 'r' }] },
  nodeDef,
  ret: { r: ret },
});
const small = func('small', [graphNode('less', 'Less', ['v', 'limit'])], 'less:z:0');
const grow = func('grow', [graphNode('add', 'AddV2', ['v', 'v'])], 'add:z:0');
const same = func('same', [graphNode('id', 'Identity', ['v'])], 'id:output:0');
const whileLoop = (body) =>
  graphNode('y', 'StatelessWhile', ['x'], { cond: 'func small', body: `func ${body}` });

/** 0 stays small for ever; 1 does not. */
const frame = { frame_name: 'loop' };
const loops = {
  'a While': [[whileLoop('grow')], [small, grow]],
  'a While whose body does nothing': [[whileLoop('same')], [small, same], true],
  'a While within one': [
    [whileLoop('inner')],
    [
      small,
      grow,
      func('inner', [{ ...whileLoop('grow'), name: 'repeated', input: ['v'] }], 'repeated:0'),
    ],
  ],
  'frames of TensorFlow 1': [
    [
      graphNode('v0', 'Enter', ['x'], frame),
      graphNode('limit0', 'Enter', ['limit'], { ...frame, is_constant: true }),
      graphNode('v', 'Merge', ['v0', 'next']),
      graphNode('less', 'Less', ['v', 'limit0']),
      graphNode('goes', 'LoopCond', ['less']),
      graphNode('switch', 'Switch', ['v', 'goes']),
      graphNode('add', 'AddV2', ['switch:1', 'switch:1']),
      graphNode('next', 'NextIteration', ['add']),
      graphNode('y', 'Exit', ['switch']),
    ],
    [],
  ],
};

for (const [what, [nodes, functions, isEndless]] of Object.entries(loops)) {
  test(`${what} without end is stopped at a timeLimit`, async () => {
    const loaded = graphModel(nodes, functions);
    const [zero, one] = [tf.scalar(0), tf.scalar(1)];
    const { numTensors } = tf.memory();
    const calls = {
      execute: () => loaded.execute({ x: zero }, 'y', { timeLimit: 50 }),
      executeAsync: () => loaded.executeAsync({ x: zero }, 'y', { timeLimit: 50 }),
      predict: () => loaded.predict(zero, { timeLimit: 50 }),
      predictAsync: () => loaded.predictAsync(zero, { timeLimit: 50, batchSize: 1 }),
    };
    for (const [name, call] of Object.entries(calls)) {
      const start = performance.now();
      await rejects((async () => call())(), /^execute(Async)?: stopped at its timeLimit of 50 ms$/);
      assert.ok(
        performance.now() - start < 50 + lateMs,
        `${name}: ${performance.now() - start} ms`,
      );
      assert.equal(tf.memory().numTensors, numTensors, name);
    }
    if (isEndless) return;
    const y = loaded.execute({ x: one }, 'y', { timeLimit: 60_000 });
    assert.equal(y.dataSync()[0], 128);
    assert.equal(loaded.execute({ x: one }, 'y').dataSync()[0], 128, 'no limit is left');
    loaded.dispose();
  });
}

test('limits that are none, and signals that came before', async () => {
  const loaded = graphModel([graphNode('y', 'Neg', ['x'])]);
  const x = tf.scalar(1);
  for (const timeLimit of [0, -1, NaN, 'later']) {
    throws(
      () => loaded.execute({ x }, 'y', { timeLimit }),
      /^execute: timeLimit must be milliseconds above 0, got /,
    );
  }
  throws(() => loaded.execute({ x }, 'y', { signal: 'stop' }), /signal must be an AbortSignal/);
  const signal = AbortSignal.abort();
  await assert.rejects(loaded.executeAsync({ x }, 'y', { signal }), { name: 'AbortError' });
  assert.equal(loaded.execute({ x }, 'y', null).dataSync()[0], -1);
});

const product = () =>
  model({
    inputs: [value('x', 'float32', ['rows', 4])],
    outputs: [value('y', 'float32', ['rows', 4])],
    nodes: [node('MatMul', ['x', 'w'], ['y'])],
    initializers: { w: tensor('float32', new Float32Array(16).fill(2), [4, 4]) },
  });

test('runs of ONNX models that are to stop have no result, and others have theirs', async () => {
  const loaded = await tl.loadModel(product());
  const x = tl.ones([2, 4]);
  const reason = new Error('closed');
  await assert.rejects(loaded.run({ x }, { signal: AbortSignal.abort(reason) }), reason);
  await rejects(loaded.run({ x }, { timeLimit: 1e-6 }), /^run: stopped at its timeLimit/);
  await rejects(loaded.run({ x }, { timelimit: 5 }), /did you mean timeLimit/);
  const { y } = await loaded.run({ x }, { signal: new AbortController().signal, timeLimit: 6e4 });
  assert.equal(y.dataSync()[0], 8);
  loaded.dispose();
});

test('sessions of tensorlathe/onnxruntime accept the same options', async () => {
  const session = await ort.InferenceSession.create(product());
  const feeds = { x: new ort.Tensor('float32', new Float32Array(8).fill(1), [2, 4]) };
  const run = (options) => session.run(feeds, options);
  await assert.rejects(run({ signal: AbortSignal.abort() }), { name: 'AbortError' });
  await assert.rejects(run({ timeLimit: 1e-6 }), /^Error: failed to run: run: stopped at its time/);
  await assert.rejects(run({ timeLimit: -1 }), /timeLimit must be milliseconds above 0/);
  await assert.rejects(run({ signal: 'now' }), /'signal' must be an object/);
  assert.equal((await run({ timeLimit: 60_000 })).y.data[0], 8);
});

test('a model whose sizes data decides stops between its parts', async () => {
  const parts = Array.from({ length: 40 }, (_, at) => [
    node('NonZero', [`x${at}`], [`n${at}`]),
    node('Cast', [`n${at}`], [`c${at}`], { to: 1 }),
    node('Reshape', [`c${at}`, 'all'], [`x${at + 1}`]),
  ]).flat();
  const loaded = await tl.loadModel(
    model({
      inputs: [value('x0', 'float32', [7])],
      outputs: [value('x40', 'float32', ['n'])],
      nodes: parts,
      initializers: { all: tensor('int64', [-1]) },
    }),
  );
  const start = performance.now();
  await rejects(
    loaded.run({ x0: tl.ones([7]) }, { timeLimit: 20 }),
    /^run: stopped at its timeLimit of 20 ms$/,
  );
  const elapsed = performance.now() - start;
  assert.ok(elapsed < 20 + lateMs, `${elapsed} ms`);
  loaded.dispose();
});

test('a long prompt is stopped by a signal between its chunks, and can be requested again', async () => {
  const config = {
    width: 64,
    heads: 4,
    groups: 2,
    layers: 2,
    hidden: 40,
    vocabulary: 29,
    positions: 4096,
  };
  const weights = (name, shape) =>
    name.includes('norm')
      ? new Float32Array(shape[0]).fill(1)
      : random(name.length, shape, 0.4).data;
  const loaded = await tl.loadModel(llama(config, weights));
  const int64 = (values) =>
    tl.tensor(BigInt64Array.from(values, BigInt), [1, values.length], 'int64');
  const feeds = (count) =>
    Object.fromEntries(
      loaded.inputs.map(({ name }) => {
        const tokenPositions = Array.from({ length: count }, (_, at) => at);
        if (name.startsWith('past')) return [name, tl.tensor(new Float32Array(0), [1, 2, 0, 16])];
        if (name === 'attention_mask') return [name, int64(tokenPositions.map(() => 1))];
        return [
          name,
          int64(name === 'position_ids' ? tokenPositions : tokenPositions.map((at) => at % 29)),
        ];
      }),
    );
  const expected = (await loaded.run(feeds(300))).logits.dataSync();
  const stop = new AbortController();
  const run = loaded.run(feeds(3000), { signal: stop.signal });
  setTimeout(() => stop.abort(), 5);
  await assert.rejects(run, { name: 'AbortError' });
  const repeated = (await loaded.run(feeds(300))).logits.dataSync();
  assert.ok(largestDifference(repeated, expected) < 1e-3);
  loaded.dispose();
});

test('loading ends where a server never sends the rest', async () => {
  const bytes = product();
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    response.write(bytes.subarray(0, 100));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  after(() => server.closeAllConnections());
  const address = `http://127.0.0.1:${server.address().port}/model.onnx`;
  for (const onProgress of [undefined, () => {}]) {
    const start = performance.now();
    const signal = AbortSignal.timeout(50);
    await assert.rejects(tl.loadModel(address, { signal, onProgress }), { name: 'TimeoutError' });
    assert.ok(performance.now() - start < 50 + lateMs);
  }
  const aborted = { signal: AbortSignal.abort() };
  for (const source of [address, bytes]) {
    await assert.rejects(tl.loadModel(source, aborted), { name: 'AbortError' });
  }
  server.close();
});

test('loading ends between files of weights', async () => {
  const external = (at) => ({ dtype: 'float32', shape: [4], external: { location: `w${at}.bin` } });
  const bytes = model({
    inputs: [value('x', 'float32', [4])],
    outputs: [value('y', 'float32', [4])],
    nodes: [node('Add', ['w0', 'w1'], ['w']), node('Add', ['x', 'w'], ['y'])],
    initializers: { w0: external(0), w1: external(1) },
  });
  const stop = new AbortController();
  const requests = [];
  const externalData = async (path) => {
    requests.push(path);
    stop.abort();
    return new Uint8Array(16);
  };
  await assert.rejects(tl.loadModel(bytes, { externalData, signal: stop.signal }), {
    name: 'AbortError',
  });
  assert.equal(requests.length, 1);
});

/** `y = x` added to itself for as long as its first element is below 1e30: forever if it is 0. */
function onnxLoop(size, isNested = false) {
  const body = graph({
    inputs: [value('i', 'int64', []), value('goes', 'bool', []), value('v', 'float32', [size])],
    outputs: [value('more', 'bool', []), value('twice', 'float32', [size])],
    nodes: [
      node('Add', ['v', 'v'], ['twice']),
      node('ReduceMax', ['twice'], ['largest'], { keepdims: 0 }),
      node('Less', ['largest', 'limit'], ['more']),
    ],
  });
  const outer = graph({
    inputs: [value('j', 'int64', []), value('goes2', 'bool', []), value('u', 'float32', [size])],
    outputs: [value('more2', 'bool', []), value('w', 'float32', [size])],
    nodes: [
      node('Loop', ['', 'true', 'u'], ['w'], { body }),
      node('ReduceMax', ['w'], ['largest2'], { keepdims: 0 }),
      node('Less', ['largest2', 'limit'], ['more2']),
    ],
  });
  return model({
    inputs: [value('x', 'float32', [size])],
    outputs: [value('y', 'float32', [size])],
    nodes: [node('Loop', ['', 'true', 'x'], ['y'], { body: isNested ? outer : body })],
    initializers: {
      limit: tensor('float32', [1e30], []),
      true: tensor('bool', [1], []),
    },
  });
}

const setThreads = (count) => tl.env().set('THREADS_COUNT', count);
after(() => tl.env().reset());

for (const threads of [1, 2, 4]) {
  for (const [size, isNested] of [
    [1, false],
    [3, true],
    [400_000, false],
  ]) {
    const what = `${isNested ? 'loops in a loop' : 'a loop'} over ${size} numbers on ${threads} threads`;
    test(`ONNX: ${what} without end is stopped`, async () => {
      setThreads(threads);
      const loaded = await tl.loadModel(onnxLoop(size, isNested));
      const zeros = tl.zeros([size]);
      const ones = tl.ones([size]);
      const runs = [{ timeLimit: 60 }, { timeLimit: 60 }];
      // A signal comes by the event loop, which a run on the calling thread keeps waiting.
      if (threads > 1) runs.push('signal', 'signal');
      for (const each of runs) {
        const start = performance.now();
        if (each === 'signal') {
          const signal = AbortSignal.timeout(60);
          await assert.rejects(loaded.run({ x: zeros }, { signal }), { name: 'TimeoutError' });
        } else {
          await rejects(loaded.run({ x: zeros }, each), /^run: stopped at its timeLimit of 60 ms$/);
        }
        const elapsed = performance.now() - start;
        assert.ok(elapsed < 60 + lateMs, `${elapsed} ms`);
      }
      const { y } = await loaded.run({ x: ones }, { timeLimit: 60_000 });
      assert.equal(y.dataSync()[size - 1], 2 ** 100);
      assert.equal((await loaded.run({ x: ones })).y.dataSync()[0], 2 ** 100, 'without a limit');
      loaded.dispose();
    });
  }
}

test('runs that wait for one that is stopped have their results', async () => {
  setThreads(2);
  const [endless, other] = await Promise.all([tl.loadModel(onnxLoop(1)), tl.loadModel(product())]);
  const stop = new AbortController();
  const run = endless.run({ x: tl.zeros([1]) }, { signal: stop.signal });
  const waits = endless.run({ x: tl.ones([1]) });
  setTimeout(() => stop.abort(), 30);
  const concurrent = other.run({ x: tl.ones([2, 4]) });
  await assert.rejects(run, { name: 'AbortError' });
  assert.equal((await waits).y.dataSync()[0], 2 ** 100);
  assert.equal((await concurrent).y.dataSync()[0], 8);
});

/** Adds to a variable, then loops for as long as `x` is below 1. */
const counts = ({ x }, g) => {
  const count = g.variable('count', [3]);
  const next = count.add(1);
  g.assign(count, next);
  const [last] = g.whileLoop(
    (v) => v.less(1),
    (v) => [v.add(x)],
    [x],
  );
  return { last, count: next };
};

for (const options of [{}, { heap: true }, { segments: true }]) {
  test(`functions with a timeLimit leave variables as they were, ${JSON.stringify(options)}`, async () => {
    const f = tl.compile({ x: [] }, counts, { ...options, timeLimit: 40 });
    const run = (x) => f.run({ x: tl.scalar(x) });
    assert.deepEqual([...run(0.5).count.dataSync()], [1, 1, 1]);
    const start = performance.now();
    throws(() => run(0), /^run: stopped at its timeLimit of 40 ms$/);
    assert.ok(performance.now() - start < 40 + lateMs);
    assert.deepEqual([...f.variable('count').dataSync()], [1, 1, 1]);
    assert.equal(run(0.25).last.dataSync()[0], 1);
    assert.deepEqual([...f.variable('count').dataSync()], [2, 2, 2]);
    if (f.runAsync) await rejects(f.runAsync({ x: tl.scalar(0) }), /timeLimit of 40 ms/);
    f.dispose();
  });
}

test('modules of those who ask for no limit import nothing', () => {
  const importsOf = (options) => {
    const f = tl.compile({ x: [8] }, ({ x }) => ({ y: x.exp() }), options);
    const names = WebAssembly.Module.imports(new WebAssembly.Module(f.module())).map((i) => i.name);
    f.dispose();
    return names.filter((name) => name !== 'memory');
  };
  assert.deepEqual(importsOf({}), []);
  assert.deepEqual(importsOf({ timeLimit: 1000 }), ['check']);
});
