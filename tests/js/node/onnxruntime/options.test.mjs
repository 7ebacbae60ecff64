// Options of sessions and runs of tensorlathe/onnxruntime: which values are rejected, with which class of error, and which accepted.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as tl from 'tensorlathe';
import { InferenceSession, Tensor, env } from 'tensorlathe/onnxruntime';
import { registerDevice } from '../../../../js/dist/devices/registry.js';
import { model, node, value } from '../../onnx/write.mjs';

const folder = mkdtempSync(join(tmpdir(), 'onnxruntime-'));
after(() => rmSync(folder, { recursive: true }));
env.wasm.numThreads = 1;
registerDevice('webgpu', async () => {
  throw new Error('no GPU in tests');
});

const double = model({
  nodes: [node('Add', ['x', 'x'], ['y'])],
  inputs: [value('x', 'float32', ['n', 'm'])],
  outputs: [value('y', 'float32', ['n', 'm'])],
});
const x = new Tensor('float32', [1, 2], [1, 2]);

/** Arguments of console.warn while `work` runs. */
async function warnings(work) {
  const { warn } = console;
  const printed = [];
  console.warn = (text) => printed.push(text);
  try {
    await work();
  } finally {
    console.warn = warn;
  }
  return printed;
}

const assertAccepted = async (options) => {
  const session = await InferenceSession.create(double, options);
  const { y } = await session.run({ x });
  assert.deepEqual(y.data, Float32Array.of(2, 4));
  await session.release();
};

const rejectedValues = {
  executionProviders: [
    ['bad', 'TypeError'],
    [[3], 'TypeError'],
    [['moon'], 'Error', /executionProviders here are webgpu, wasm and cpu/],
    [[{ name: 'webgpu' }], 'Error', /no available backend found.*\[webgpu\].* no GPU in tests/],
  ],
  intraOpNumThreads: [
    ['one', 'TypeError'],
    [1.5, 'RangeError'],
    [-1, 'RangeError'],
  ],
  interOpNumThreads: [
    ['one', 'TypeError'],
    [1.5, 'RangeError'],
    [-1, 'RangeError'],
  ],
  graphOptimizationLevel: [
    [0, 'TypeError'],
    ['maximum', 'TypeError'],
  ],
  enableCpuMemArena: [[0, 'TypeError']],
  enableMemPattern: [[0, 'TypeError']],
  executionMode: [
    [0, 'TypeError'],
    ['backwards', 'TypeError'],
  ],
  optimizedModelFilePath: [['a.onnx', 'Error', /no optimized file/]],
  enableProfiling: [[1, 'TypeError']],
  profileFilePrefix: [[1, 'TypeError']],
  logId: [[1, 'TypeError']],
  logSeverityLevel: [
    ['error', 'TypeError'],
    [8, 'RangeError'],
    [-1, 'RangeError'],
  ],
  logVerbosityLevel: [
    ['much', 'TypeError'],
    [0.5, 'RangeError'],
  ],
  preferredOutputLocation: [
    ['texture', 'Error', /'texture'/],
    [{ y: 'ml-tensor' }, 'Error'],
  ],
  enableGraphCapture: [[1, 'TypeError']],
  extra: [['session', 'TypeError']],
  freeDimensionOverrides: [
    [3, 'TypeError'],
    [{ n: 'one' }, 'TypeError'],
    [{ n: 1.5 }, 'RangeError'],
  ],
  externalData: [
    ['a.bin', 'TypeError'],
    [[3], 'TypeError'],
    [[{ path: 'a' }], 'TypeError'],
  ],
  onProgress: [[true, 'TypeError']],
};

for (const [name, cases] of Object.entries(rejectedValues)) {
  test(`${name}: rejected`, async () => {
    for (const [setting, kind, message = new RegExp(`${name}|executionProviders`)] of cases) {
      const created = InferenceSession.create(double, { [name]: setting });
      await assert.rejects(created, { name: kind, message }, JSON.stringify(setting));
    }
  });
}

const accepted = {
  executionProviders: [['cpu'], ['wasm'], [{ name: 'cpu' }], []],
  intraOpNumThreads: [0, 1],
  interOpNumThreads: [0, 1],
  graphOptimizationLevel: ['disabled', 'basic', 'extended', 'layout', 'all'],
  enableCpuMemArena: [true],
  enableMemPattern: [true],
  executionMode: ['sequential', 'parallel'],
  logSeverityLevel: [0, 4],
  preferredOutputLocation: ['cpu', { y: 'cpu' }, {}, 'gpu-buffer'],
  extra: [{ session: { set_denormal_as_zero: '1' } }],
  enableGraphCapture: [false, undefined, true],
  externalData: [[]],
};

for (const [name, values] of Object.entries(accepted)) {
  test(`${name}: accepted`, async () => {
    const printed = await warnings(async () => {
      for (const setting of values) await assertAccepted({ [name]: setting });
    });
    assert.deepEqual(printed, []);
  });
}

test('unavailable providers are skipped with a warning', async () => {
  const executionProviders = ['webgpu', { name: 'webnn' }, 'wasm'];
  const printed = await warnings(() => assertAccepted({ executionProviders }));
  assert.equal(printed.length, 2);
  assert.match(printed[0], /removing execution provider webgpu, .* no GPU in tests/);
  assert.match(printed[1], /removing execution provider webnn/);
  assert.deepEqual(
    await warnings(() => assertAccepted({ executionProviders, logSeverityLevel: 3 })),
    [],
  );
});

test('an unknown option causes a warning', async () => {
  const [printed] = await warnings(() => assertAccepted({ graphOptimisationLevel: 'all' }));
  assert.match(printed, /no option graphOptimisationLevel; did you mean graphOptimizationLevel\?/);
  env.logLevel = 'error';
  assert.deepEqual(await warnings(() => assertAccepted({ nothing: 1 })), []);
  env.logLevel = 'warning';
});

test('options of runs', async () => {
  const session = await InferenceSession.create(double);
  const cases = [
    ['logSeverityLevel', 'error', 'TypeError'],
    ['logSeverityLevel', 8, 'RangeError'],
    ['logVerbosityLevel', 'much', 'TypeError'],
    ['tag', 1, 'TypeError'],
    ['extra', 1, 'TypeError'],
    ['terminate', true, 'Error'],
  ];
  for (const [name, setting, kind] of cases) {
    const run = session.run({ x }, { [name]: setting });
    await assert.rejects(run, { name: kind, message: new RegExp(name) });
  }
  const { y } = await session.run(
    { x },
    { logSeverityLevel: 4, terminate: false, tag: 'x', extra: {} },
  );
  assert.deepEqual(y.data, Float32Array.of(2, 4));
  await session.release();
});

test('sizes of axes by name', async () => {
  const session = await InferenceSession.create(double, { freeDimensionOverrides: { n: 1, k: 7 } });
  assert.deepEqual(session.inputMetadata[0].shape, [1, 'm']);
  assert.deepEqual(session.outputMetadata[0].shape, [1, 'm']);
  await session.run({ x });
  const two = new Tensor('float32', [1, 2], [2, 1]);
  await assert.rejects(session.run({ x: two }), /invalid dimensions for input: x/);
  await session.release();
});

test('a named axis without elements', async () => {
  const session = await InferenceSession.create(double, { freeDimensionOverrides: { n: 0 } });
  assert.deepEqual(session.inputMetadata[0].shape, [0, 'm']);
  const { y } = await session.run({ x: new Tensor('float32', [], [0, 2]) });
  assert.deepEqual([y.dims, y.size], [[0, 2], 0]);
  await session.release();
});

/** y = x + w, with w in another file. */
const split = (location) =>
  model({
    nodes: [node('Add', ['x', 'w'], ['y'])],
    inputs: [value('x', 'float32', ['n', 2])],
    outputs: [value('y', 'float32', ['n', 2])],
    initializers: {
      w: { dtype: 'float32', shape: [2], external: { location, offset: 4, length: 8 } },
    },
  });
const weights = new Uint8Array(Float32Array.of(9, 10, 20).buffer);

test('weights in another file', async () => {
  const model = split('w.bin');
  writeFileSync(join(folder, 'model.onnx'), model);
  writeFileSync(join(folder, 'w.bin'), weights);
  const path = join(folder, 'w.bin');
  const sources = [
    [model, [{ path: 'w.bin', data: weights }]],
    [model, [{ path: './w.bin', data: weights.slice().buffer }]],
    [model, [{ path: 'w.bin', data: new Blob([weights]) }]],
    [model, [{ path: 'w.bin', data: path }]],
    [model, [path]],
    [join(folder, 'model.onnx'), undefined],
  ];
  for (const [source, externalData] of sources) {
    const session = await InferenceSession.create(source, { externalData });
    const { y } = await session.run({ x });
    assert.deepEqual(y.data, Float32Array.of(11, 22));
    await session.release();
  }
});

test('onProgress is called with the loaded fraction of each file', async () => {
  const address = join(folder, 'model.onnx');
  const bytes = split('w.bin');
  writeFileSync(address, bytes);
  writeFileSync(join(folder, 'w.bin'), weights);
  const seen = [];
  const onProgress = (...args) => seen.push(args);
  const options = { onProgress };
  await (await InferenceSession.create(address, options)).release();
  const ofFiles = [
    [1, address],
    [1, 'w.bin'],
  ];
  assert.deepEqual(seen.splice(0), ofFiles);
  (await tl.loadModel(address, options)).dispose();
  assert.deepEqual(seen.splice(0), ofFiles);

  const chunks = [bytes.subarray(0, 10), bytes.subarray(10)];
  const body = () => new Response(ReadableStream.from(chunks), { headers });
  let headers = { 'content-length': String(bytes.length) };
  const more = { ...options, externalData: { 'w.bin': weights } };
  (await tl.loadModel(body(), more)).dispose();
  assert.deepEqual(seen.splice(0), [
    [10 / bytes.length, 'the model'],
    [1, 'the model'],
  ]);
  headers = {};
  (await tl.loadModel(body(), more)).dispose();
  assert.deepEqual(
    seen.map(([fraction]) => fraction),
    [undefined, undefined],
  );
});

test('weights in a missing file', async () => {
  const assertRejected = (message, ...args) =>
    assert.rejects(InferenceSession.create(...args), { name: 'Error', message });
  await assertRejected(/"w\.bin".*externalData names none/, split('w.bin'));
  await assertRejected(/"w\.bin".*names v\.bin/, split('w.bin'), {
    externalData: [{ path: 'v.bin', data: weights }],
  });
  await assertRejected(/failed to load/, split('w.bin'), {
    externalData: [{ path: 'w.bin', data: weights.subarray(0, 8) }],
  });
});

test('every name of ONNX Runtime Web is exported; other backends are checked and have no effect', async () => {
  const web = await import('onnxruntime-web');
  const ours = await import('tensorlathe/onnxruntime');
  assert.deepEqual(Object.keys(ours).sort(), Object.keys(web).sort());
  for (const each of Object.keys(web.default)) assert.ok(each in ours.default, each);
  for (const { registerBackend } of [web, ours]) {
    for (const wrong of [undefined, null, {}, { init() {} }]) {
      assert.throws(() => registerBackend('mine', wrong, 1), TypeError('not a valid backend'));
    }
  }
  const notCalled = () => assert.fail('it must not be called');
  ours.registerBackend('wasm', { init: notCalled, createInferenceSessionHandler: notCalled }, 100);
  for (const name of ['TRACE', 'TRACE_FUNC_BEGIN', 'TRACE_EVENT_END']) ours[name]('CPU', 'mark');
  await assertAccepted({});
});

test('types that programs for ONNX Runtime Web name', () => {
  const folder = mkdtempSync(fileURLToPath(new URL('../../../../build/types-', import.meta.url)));
  const ofSessions = [
    ...['ExecutionProviderConfig', 'FeedsType', 'FetchesType', 'NullableOnnxValueMapType'],
    ...['Cpu', 'WebAssembly', 'WebGpu', 'WebNN', 'WebGL', 'Cuda', 'CoreML', 'Dml', 'Xnnpack'].map(
      (provider) => `${provider}ExecutionProviderOption`,
    ),
  ];
  const ofTensors = ['GpuBufferType', 'GpuBufferDataTypes', 'MLTensorType', 'TextureType'];
  const names = [
    ...ofSessions.map((each) => `InferenceSession.${each}`),
    ...ofTensors.map((each) => `Tensor.${each}`),
    ...['WasmFilePaths', 'WasmPrefixOrFilePaths', 'WebGpuFlags'].map((each) => `Env.${each}`),
    ...['OnnxValueDataLocation', 'FileData', 'ExternalDataFileDescription', 'OnnxModelOptions'],
    ...[
      'TensorFromImageElementOptions',
      'TensorToDataUrlOptions',
      'CpuPinnedConstructorParameters',
    ],
  ];
  const program = (library) => `
    import * as ort from '${library}';
    export type All = [${names.map((each) => `ort.${each}`).join(', ')}];
    const gpu: ort.InferenceSession.WebGpuExecutionProviderOption =
      { name: 'webgpu', preferredLayout: 'NHWC' };
    const executionProviders: ort.InferenceSession.ExecutionProviderConfig[] = [gpu, 'wasm'];
    const options: ort.InferenceSession.SessionOptions = { executionProviders };
    const paths: ort.Env.WasmFilePaths = { wasm: new URL('https://a.b/c.wasm') };
    ort.env.wasm.wasmPaths = paths;
    export const session = ort.InferenceSession.create('model.onnx', options);
  `;
  const files = ['onnxruntime-web', 'tensorlathe/onnxruntime'].map((library, at) => {
    writeFileSync(join(folder, `${at}.ts`), program(library));
    return join(folder, `${at}.ts`);
  });
  const usual =
    '--ignoreConfig --noEmit --skipLibCheck --module esnext --moduleResolution bundler --target es2022';
  const tsc = fileURLToPath(new URL('../../../../node_modules/.bin/tsc', import.meta.url));
  const { stdout } = spawnSync(tsc, [...usual.split(' '), ...files], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  assert.equal(stdout, '');
});
