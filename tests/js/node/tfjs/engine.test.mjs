// The engine API of TensorFlow.js as programs use it.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as wasm from '@tensorflow/tfjs-backend-wasm';
import * as tl from 'tensorlathe/tfjs';

await tl.ready();

test('backends are found by name', async () => {
  assert.equal(tl.getBackend(), 'lathe');
  assert.equal(await tl.setBackend('webgl'), false);
  assert.equal(tl.getBackend(), 'lathe');
  assert.equal(await tl.setBackend('wasm'), true);
  assert.equal(tl.getBackend(), 'wasm');
  await assert.rejects(tl.setBackend('abacus'), /Backend name 'abacus' not found in registry/);
  assert.equal(await tl.setBackend('lathe'), true);
  assert.equal(tl.backend().epsilon(), 1e-7);
});

test('exports of backend packages that programs use exist', () => {
  const expected = ['setWasmPath', 'setWasmPaths', 'setThreadsCount', 'getThreadsCount'];
  assert.deepEqual(
    expected.filter((name) => typeof wasm[name] !== 'function'),
    [],
  );
  assert.equal(tl.setWasmPaths('https://localhost/'), undefined);
  assert.equal(tl.setWasmPath('https://localhost/file.wasm'), undefined);
  const usual = tl.getThreadsCount();
  tl.setThreadsCount(1);
  assert.equal(tl.getThreadsCount(), 1);
  assert.equal(tl.env().get('THREADS_COUNT'), 1);
  tl.setThreadsCount(usual);
  assert.ok(!(tl.backend() instanceof tl.WebGPUBackend));
});

test('memory counts tensors, with additional fields', () => {
  const before = tl.memory();
  const x = tl.tensor([1, 2, 3]);
  const after = tl.memory();
  assert.equal(after.numTensors - before.numTensors, 1);
  assert.equal(after.numBytes - before.numBytes, 12);
  assert.equal(after.unreliable, false);
  assert.ok(after.coreBytes > 0);
  x.dispose();
});

test('a profile lists every operation', async () => {
  const x = tl.tensor([1, 2, 3]);
  const { kernels, newTensors, result } = await tl.profile(() => tl.tidy(() => x.square().abs()));
  assert.deepEqual(
    kernels.map(({ name, outputShapes }) => [name, outputShapes]),
    [
      ['Square', [[3]]],
      ['Abs', [[3]]],
    ],
  );
  assert.equal(newTensors, 1);
  tl.dispose([x, result]);
});

test('time includes pending operations', async () => {
  let y;
  const { kernelMs, wallMs } = await tl.time(() => (y = tl.ones([50]).square()));
  assert.ok(kernelMs > 0 && kernelMs <= wallMs);
  y.dispose();
});

test('debug mode throws where a number is not finite', (context) => {
  context.mock.method(console, 'warn', () => {});
  const log = context.mock.method(console, 'log', () => {});
  const x = tl.tensor([1, 0]);
  tl.enableDebugMode();
  try {
    x.square().dispose();
    assert.match(
      log.mock.calls[0].arguments[0],
      /^Square [\d.]+ ms float32 \[2\] <- float32 \[2\]$/,
    );
    assert.throws(() => x.log(), /Found -Infinity in the result of 'Log', float32 \[2\]/);
    assert.throws(() => tl.tensor([NaN]), /A tensor of type float32 being made contains NaN/);
  } finally {
    tl.env().set('DEBUG', false);
  }
  x.log().dispose();
  x.dispose();
});

test('the variables of the engine, by name', () => {
  const v = tl.variable(tl.scalar(3), true, 'three');
  assert.equal(tl.engine().registeredVariables.three, v);
  assert.throws(() => tl.variable(tl.scalar(4), true, 'three'), /already registered/);
  tl.disposeVariables();
  assert.deepEqual(tl.engine().registeredVariables, {});
});

/** Asserts that a program has equal results in both libraries. */
const sameIn = (program) => {
  const [ours, theirs] = [tl, tf].map((lib) =>
    [program(lib)].flat().map((x) => [x.dtype, x.shape, ...x.dataSync()]),
  );
  assert.deepEqual(ours, theirs);
};

const kernels = {
  Add: (lib, x) => [{ a: x, b: lib.scalar(2) }],
  Sum: (_, x) => [{ x }, { axis: 1, keepDims: true }],
  Concat: (_, x) => [[x, x], { axis: 0 }],
  Reshape: (_, x) => [{ x }, { shape: [-1] }],
  Identity: (_, x) => [{ x }],
  SplitV: (_, x) => [{ x }, { numOrSizeSplits: [1, 1], axis: 0 }],
  Cast: (_, x) => [{ x }, { dtype: 'int32' }],
};

test('kernels by their names', async () => {
  await tf.setBackend('cpu');
  for (const [name, args] of Object.entries(kernels)) {
    sameIn((lib) => lib.engine().runKernel(name, ...args(lib, lib.tensor2d([[1, -2], [3, 4]])))); // prettier-ignore
  }
  const square = (lib) => (x) => lib.engine().runKernel(lib.Square, { x });
  sameIn((lib) => lib.grad(square(lib))(lib.tensor1d([1, -2])));
  const x = tl.ones([2]);
  assert.throws(
    () => tl.engine().runKernel('Nought', { x }),
    /Kernel 'Nought' not registered for backend 'lathe'/,
  );
});

test('kernels and gradients that a program registers', () => {
  const [kernelName, triple] = ['Triple', 'TripleAtOnce'];
  for (const lib of [tl, tf]) {
    const backendName = lib.getBackend();
    const kernelFunc = ({ inputs: { x }, attrs }) => x.mul(attrs?.by ?? 3);
    lib.registerKernel({ kernelName, backendName, kernelFunc });
    lib.registerKernel({ kernelName: triple, backendName, kernelFunc });
    lib.registerGradient({
      kernelName,
      inputsToSave: ['x'],
      outputsToSave: [true],
      gradFunc: (dy, [x, y], { by }) => ({ x: () => dy.mul(x).add(y).mul(by) }),
    });
  }
  const run = (lib) => (x) => lib.engine().runKernel(kernelName, { x }, { by: 5 });
  sameIn((lib) => run(lib)(lib.tensor1d([1, 2])));
  sameIn((lib) => lib.grad(run(lib))(lib.tensor1d([1, 2])));
  const plain = tl.grad((x) => tl.engine().runKernel(triple, { x }));
  assert.deepEqual([...plain(tl.ones([2])).dataSync()], [3, 3], 'as its operations are');

  const { numTensors } = tl.memory();
  run(tl)(tl.scalar(1)).dispose();
  assert.equal(tl.memory().numTensors, numTensors + 1);
  tl.registerKernel({ kernelName: 'Wrong', backendName: tl.getBackend(), kernelFunc: () => ({}) });
  assert.throws(() => tl.engine().runKernel('Wrong', {}), /the kernel 'Wrong' must return tensors/);
  for (const lib of [tl, tf]) lib.unregisterGradient(kernelName);
});

test('members of the engine and its flags that programs use exist', () => {
  for (const lib of [tl, tf]) {
    const engine = lib.engine();
    assert.ok(lib.getBackend() in engine.registryFactory);
    assert.ok(lib.getBackend() in engine.registry);
    assert.equal(engine.ENV, lib.env());
    const { evaluationFn } = lib.env().flagRegistry.IS_NODE;
    assert.equal(evaluationFn(), true);
    lib.env().getBool('IS_NODE');
    assert.equal(lib.env().flags.IS_NODE, true);

    const variables = engine.registeredVariables;
    const v = lib.variable(lib.scalar(1), true, 'live');
    assert.equal(variables.live, v);
    assert.deepEqual([Object.keys(variables), 'live' in variables], [['live'], true]);
    v.dispose();
    assert.deepEqual([Object.keys(variables), 'live' in variables], [[], false]);

    const x = engine.makeTensor(new Float32Array([1, 2]), [2, 1], 'float32');
    assert.deepEqual(x.arraySync(), [[1], [2]]);
    const calls = [];
    const note = (name) => () => calls.push(name);
    assert.throws(() =>
      engine.scopedRun(note('start'), note('end'), () => {
        throw new Error('within');
      }),
    );
    assert.deepEqual(calls, ['start', 'end']);
    assert.ok(engine.nextVariableId() < engine.nextVariableId());
  }
});

test('flags of WebGL can be set, and report that there is none', () => {
  for (const lib of [tl, tf]) {
    const flags = lib.env();
    assert.equal(flags.getNumber('WEBGL_VERSION'), 0);
    assert.equal(flags.getBool('HAS_WEBGL'), false);
    assert.equal(flags.getBool('WEBGL_RENDER_FLOAT32_ENABLED'), false);
    flags.set('WEBGL_PACK', false);
    flags.set('WEBGL_DELETE_TEXTURE_THRESHOLD', 256);
    assert.equal(flags.get('WEBGL_DELETE_TEXTURE_THRESHOLD'), 256);
    assert.throws(() => flags.set('WEB_PACK', false), /has not been registered/);
  }
});

test('the kernels of a backend are those that it computes', () => {
  const names = new Set(tl.getKernelsForBackend('lathe').map(({ kernelName }) => kernelName));
  for (const name of ['Add', 'FlipLeftRight', 'FusedConv2D', 'Reshape']) assert.ok(names.has(name));
  assert.deepEqual(tl.getKernelsForBackend('abacus'), []);
  const { kernelFunc } = tl.getKernel('Add', tl.getBackend());
  const inputs = { a: tl.scalar(1), b: tl.scalar(2) };
  assert.equal(kernelFunc({ inputs, backend: tl.backend() }).dataSync()[0], 3);
  tl.copyRegisteredKernels('lathe', 'mine');
  assert.equal(tl.getKernelsForBackend('mine').length, names.size);
  for (const { kernelName } of tl.getKernelsForBackend('mine'))
    tl.unregisterKernel(kernelName, 'mine');
});

test('flags of missing features can be set', () => {
  for (const lib of [tl, tf]) {
    const flags = lib.env();
    for (const name of ['KEEP_INTERMEDIATE_TENSORS', 'ENGINE_COMPILE_ONLY']) {
      assert.equal(flags.getBool(name), false);
      flags.set(name, false);
    }
    flags.set('CPU_HANDOFF_SIZE_THRESHOLD', 64);
    assert.equal(flags.getNumber('CPU_HANDOFF_SIZE_THRESHOLD'), 64);
  }
});

test('invalid shapes are rejected', () => {
  const notOne = /shape .*(got|-1)/;
  for (const make of [tl.zeros, tl.ones, tl.randomUniform, tl.randomNormal, tl.fill, tl.buffer])
    for (const shape of [undefined, 3, [-1]])
      assert.throws(() => make(shape), { name: 'LatheError', message: notOne }, make.name);
});
