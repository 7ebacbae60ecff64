// Tensors and env of tensorlathe/onnxruntime: what onnxruntime-common promises. LATHE_ORT=onnxruntime-web runs the same on it.
import assert from 'node:assert/strict';
import { test } from 'node:test';

const ort = await import(process.env.LATHE_ORT ?? 'tensorlathe/onnxruntime');
const isOurs = process.env.LATHE_ORT === undefined;
const { Tensor, env } = ort;
const Float16Data = globalThis.Float16Array ?? Uint16Array;

const numbers = {
  float32: Float32Array,
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  int32: Int32Array,
  float64: Float64Array,
  uint32: Uint32Array,
};
const bigints = { int64: BigInt64Array, uint64: BigUint64Array };
const inferred = { ...numbers, ...bigints };
const arrays = { ...inferred, bool: Uint8Array, float16: Float16Data };

/** Test data of a type: each element is its index. */
function dataOf(type, length) {
  const indices = Array.from({ length }, (_, at) => at);
  if (type === 'string') return indices.map((at) => `text ${at}`);
  return arrays[type].from(indices, type in bigints ? BigInt : undefined);
}

/** Calls with the type by name, and without it where the data determines it. */
function* calls(type, data) {
  yield (...dims) => new Tensor(type, data, ...dims);
  if (type in inferred || type === 'string') yield (...dims) => new Tensor(data, ...dims);
}

for (const type of [...Object.keys(arrays), 'string']) {
  test(`${type}: data, type, dims and size`, () => {
    const data = dataOf(type, 60);
    for (const make of calls(type, data)) {
      const tensor = make();
      assert.equal(tensor.data, data);
      assert.equal(tensor.type, type);
      assert.deepEqual(tensor.dims, [60]);
      assert.equal(tensor.size, 60);
      assert.equal(tensor.location, 'cpu');
      assert.deepEqual(make([3, 4, 5]).dims, [3, 4, 5]);
      assert.ok(tensor instanceof Tensor);
    }
  });

  test(`${type}: invalid dims`, () => {
    for (const make of calls(type, dataOf(type, 100))) {
      const assertThrows = (dims, name, message) =>
        assert.throws(() => make(dims), { name, message });
      assertThrows({}, 'TypeError', /must be a number array/);
      assertThrows(100, 'TypeError', /must be a number array/);
      assertThrows([1, 2, ''], 'TypeError', /dims\[2\] must be an integer/);
      assertThrows([1, 2, 1.5], 'TypeError', /dims\[2\] must be an integer/);
      assertThrows([1, 2, -1], 'RangeError', /dims\[2\] must be a non-negative integer/);
      assertThrows([10, 8], 'Error', /size\(80\) does not match data length\(100\)/);
    }
  });

  if (type === 'string') continue;
  test(`${type}: invalid data`, () => {
    for (const data of [{}, new ArrayBuffer(100), 'text', undefined, null]) {
      assert.throws(() => new Tensor(type, data, [2, 2]), TypeError);
    }
  });
}

test('numbers in an array', () => {
  for (const type of Object.keys(numbers)) {
    const tensor = new Tensor(type, [1, 2, 3, 4], [2, 2]);
    assert.deepEqual(tensor.data, arrays[type].of(1, 2, 3, 4));
  }
  for (const [type, ArrayOf] of Object.entries(bigints)) {
    assert.deepEqual(new Tensor(type, [1, 2]).data, ArrayOf.of(1n, 2n));
    assert.deepEqual(new Tensor(type, [1n, 2n]).data, ArrayOf.of(1n, 2n));
  }
  for (const type of ['uint4', 'int4']) {
    assert.throws(() => new Tensor(type, [1, 2], [2]), {
      name: 'TypeError',
      message: /not supported/,
    });
  }
});

test('booleans', () => {
  for (const tensor of [new Tensor('bool', [true, false]), new Tensor([true, false])]) {
    assert.equal(tensor.type, 'bool');
    assert.deepEqual(tensor.data, Uint8Array.of(1, 0));
  }
});

test('clamped bytes become bytes', () => {
  for (const tensor of [
    new Tensor('uint8', Uint8ClampedArray.of(1, 2)),
    new Tensor(Uint8ClampedArray.of(1, 2)),
  ]) {
    assert.equal(tensor.type, 'uint8');
    assert.deepEqual(tensor.data, Uint8Array.of(1, 2));
  }
  assert.throws(() => new Tensor('int8', Uint8ClampedArray.of(1)), TypeError);
});

test('data that determines no type', () => {
  for (const data of [[], [1, 2], [{}], new DataView(new ArrayBuffer(4)), {}]) {
    assert.throws(() => new Tensor(data), TypeError);
  }
  assert.throws(() => new Tensor('float', [1]), {
    name: 'TypeError',
    message: /Unsupported tensor type: float/,
  });
  assert.throws(() => new Tensor('string', 'text'), { name: 'TypeError', message: /string array/ });
});

test('float16', () => {
  const bits = Uint16Array.of(0x3c00, 0xc000);
  const tensor = new Tensor('float16', bits, [2]);
  assert.equal(tensor.data.buffer, bits.buffer);
  assert.equal(tensor.data.constructor, Float16Data);
  if (Float16Data === Uint16Array) {
    assert.throws(() => new Tensor('float16', [1, 2]), TypeError);
  } else {
    assert.deepEqual(tensor.data, Float16Data.of(1, -2));
    assert.equal(new Tensor(Float16Data.of(1)).type, 'float16');
    assert.deepEqual(new Tensor('float16', [1, -2]).data, Float16Data.of(1, -2));
  }
});

test('two elements of four bits share a byte', () => {
  for (const type of ['uint4', 'int4']) {
    assert.equal(new Tensor(type, new Uint8Array(3), [5]).size, 5);
    assert.equal(new Tensor(type, new Uint8Array(3), [2, 3]).size, 6);
    assert.throws(() => new Tensor(type, new Uint8Array(3), [8]), /does not match/);
  }
});

test('no elements', () => {
  const tensor = new Tensor('float32', new Float32Array(0), [2, 0]);
  assert.equal(tensor.size, 0);
  assert.equal(tensor.data.length, 0);
});

test('a scalar', () => assert.equal(new Tensor('int64', [7n], []).size, 1));

test('reshape shares the data', async () => {
  const tensor = new Tensor('float32', new Float32Array(6), [2, 3]);
  const other = tensor.reshape([3, 2]);
  assert.deepEqual(other.dims, [3, 2]);
  assert.equal(other.data, tensor.data);
  assert.equal(await other.getData(), tensor.data);
  assert.throws(() => tensor.reshape([4]), {
    name: 'Error',
    message: /does not match data length/,
  });
  assert.throws(() => tensor.reshape([-6]), RangeError);
});

test('a tensor that was disposed of', async () => {
  const tensor = new Tensor('float32', [1, 2]);
  tensor.dispose();
  assert.equal(tensor.location, 'none');
  assert.throws(() => tensor.data, { name: 'Error', message: /disposed/ });
  await assert.rejects(tensor.getData(), { name: 'Error', message: /disposed/ });
  assert.throws(() => tensor.reshape([2]), /disposed/);
  tensor.dispose();
});

test('memory of the caller', () => {
  const data = new Int32Array(6);
  const tensor = Tensor.fromPinnedBuffer('int32', data, [2, 3]);
  assert.equal(tensor.location, 'cpu-pinned');
  assert.equal(tensor.data, data);
  assert.deepEqual(Tensor.fromPinnedBuffer('int32', data).dims, [6]);
  assert.equal(tensor.reshape([6]).location, 'cpu-pinned');
  const parts = { location: 'cpu-pinned', type: 'int32', data, dims: [6] };
  assert.equal(new Tensor(parts).data, data);
  assert.throws(() => new Tensor({ ...parts, type: 'string' }), TypeError);
  assert.throws(() => new Tensor({ ...parts, type: 'float32' }), TypeError);
  assert.throws(() => new Tensor({ ...parts, location: 'moon' }), /unsupported location 'moon'/);
});

test('nothing is a texture or in WebNN', { skip: isOurs ? false : 'of this package' }, () => {
  const tensor = new Tensor('float32', [1]);
  for (const name of ['texture', 'gpuBuffer', 'mlTensor'])
    assert.throws(() => tensor[name], /not stored/);
  for (const name of ['fromTexture', 'fromMLTensor']) {
    assert.throws(() => Tensor[name]({}, {}), { name: 'Error', message: /in memory/ });
  }
});

test('tensors in buffers of the GPU', async () => {
  const buffer = {};
  let [downloads, disposals] = [0, 0];
  const options = {
    dataType: 'int32',
    dims: [2],
    download: async () => (downloads++, Int32Array.of(3, 4)),
    dispose: () => disposals++,
  };
  const tensor = Tensor.fromGpuBuffer(buffer, options);
  assert.deepEqual(
    [tensor.location, tensor.type, tensor.dims, tensor.size],
    ['gpu-buffer', 'int32', [2], 2],
  );
  assert.equal(tensor.gpuBuffer, buffer);
  assert.throws(() => tensor.data, /not on CPU.*getData\(\)/);
  assert.throws(() => tensor.reshape([1, 2]), /owns GPU resource/);
  const first = tensor.getData();
  assert.throws(() => tensor.dispose(), /being downloaded/);
  await assert.rejects(tensor.getData(), /being downloaded/);
  assert.deepEqual(await first, Int32Array.of(3, 4));
  assert.equal(tensor.location, 'cpu');
  assert.equal(await tensor.getData(), await first);
  tensor.dispose();
  assert.deepEqual([tensor.location, downloads, disposals], ['none', 1, 1]);
  assert.throws(() => tensor.gpuBuffer, /disposed/);

  const released = Tensor.fromGpuBuffer(buffer, options);
  await released.getData(true);
  assert.equal(disposals, 2);
  const plain = Tensor.fromGpuBuffer(buffer, { dims: [2, 3] });
  assert.equal(plain.type, 'float32');
  await assert.rejects(plain.getData(), /data downloader/);
  assert.equal(plain.reshape([3, 2]).gpuBuffer, buffer);
  assert.throws(
    () => Tensor.fromGpuBuffer(buffer, { dataType: 'float64', dims: [1] }),
    /unsupported type "float64" to create tensor from gpu buffer/,
  );
});

test('programs assign dims and replace the array', () => {
  const tensor = new Tensor('float16', new Uint16Array(6), [6]);
  tensor.dims = [2, 3];
  assert.deepEqual(tensor.dims, [2, 3]);
  tensor.cpuData = new Uint16Array(6);
  assert.equal(tensor.data.constructor, Uint16Array);
});

test('images need a canvas', async () => {
  await assert.rejects(Tensor.fromImage({}), /not supported/);
  const tensor = new Tensor('float32', new Float32Array(12), [1, 3, 2, 2]);
  assert.throws(() => tensor.toImageData(), isOurs ? /Canvas is not supported/ : Error);
  assert.throws(() => tensor.toDataURL(), isOurs ? /Canvas is not supported/ : Error);
});

test('levels of logging', () => {
  assert.equal(env.logLevel, 'warning');
  env.logLevel = undefined;
  assert.equal(env.logLevel, 'warning');
  env.logLevel = 'error';
  assert.equal(env.logLevel, 'error');
  assert.throws(() => (env.logLevel = 'loud'), {
    name: 'Error',
    message: /Unsupported logging level: loud/,
  });
  env.logLevel = 'warning';
});

test('settings are shared by a copy of env', () => {
  const copy = { ...env };
  copy.wasm.proxy = false;
  copy.webgpu.powerPreference = 'high-performance';
  assert.equal(env.wasm.proxy, false);
  assert.equal(env.webgpu.powerPreference, 'high-performance');
  assert.match(env.versions.common, /^1\.30\./);
});

test('nothing is fetched for wasmPaths', { skip: isOurs ? false : 'of this package' }, () => {
  env.wasm.wasmPaths = { mjs: 'https://x.invalid/a.mjs', wasm: 'https://x.invalid/a.wasm' };
  assert.equal(typeof env.wasm.wasmPaths, 'string');
});

test('the same under a default name', () => {
  assert.equal(ort.default.Tensor, Tensor);
  assert.equal(ort.default.env, env);
});
