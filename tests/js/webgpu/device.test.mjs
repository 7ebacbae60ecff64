// The device `webgpu` on programs written by hand: values, runs, errors, limits, memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { env } from '../../../js/dist/runtime/env.js';
import { WebGpuDevice } from '../../../js/dist/runtime/webgpu/device.js';
import { executable, map, port, region, shader, Value } from './executables.mjs';

const device = new WebGpuDevice();
const f32 = (...values) => Value.of(device, 'float32', values);
const double = (size, extra) => map(size, ['f32', 'f32'], 'b1[i] = 2 * b0[i];', extra);

/** Runs a program with one output, frees it, and reads the output. */
async function run(program, inputs, dtype, size) {
  const output = new Value(device, dtype, [size]);
  program.run(inputs, [output]);
  const read = output.read();
  output.deallocate();
  return Array.from(await read);
}

test('values of all dtypes are read as written, also without elements', async () => {
  const dtypes = ['float32', 'int32', 'uint32', 'bool', 'int8', 'uint8', 'float16', 'int64'];
  for (const dtype of dtypes) {
    for (const size of [0, 1, 3, 1000]) {
      const values = Array.from({ length: size }, (_, at) => at % 2);
      const value = Value.of(device, dtype, dtype === 'int64' ? values.map(BigInt) : values);
      const read = await value.read();
      assert.deepEqual(Array.from(read, Number), values, `${dtype} ${size}`);
      value.deallocate();
    }
  }
});

test('the elements written are those at the time of the call', async () => {
  const fresh = new WebGpuDevice(); // acquires its GPU later
  const data = Float32Array.of(1, 2);
  const value = new Value(fresh, 'float32', [2]).allocate();
  fresh.write(value.materialize(), 'float32', data);
  data.fill(7);
  assert.deepEqual(Array.from(await value.read()), [1, 2]);
});

test('a program runs in the order of calls, before its pipelines are compiled', async () => {
  const program = device.loadExecutable(double(4));
  const x = f32(1, 2, 3, 4);
  const [first, second] = [0, 1].map(() => new Value(device, 'float32', [4]));
  program.run([x], [first]);
  program.run([first], [second]);
  device.write(x.materialize(), 'float32', Float32Array.of(0, 0, 0, 0));
  first.deallocate();
  assert.deepEqual(Array.from(await second.read()), [4, 8, 12, 16]);
  assert.deepEqual(await run(program, [x], 'float32', 4), [0, 0, 0, 0]);
  program.dispose();
});

test('one value may be two inputs, and numbers are scalars', async () => {
  await device.ready();
  const sum = device.loadExecutable(map(3, ['f32', 'f32', 'f32'], 'b2[i] = b0[i] + b1[i];'));
  const x = f32(1, 2, 3);
  assert.deepEqual(await run(sum, [x, x], 'float32', 3), [2, 4, 6]);
  const scaled = executable({
    shaders: [
      shader(
        ['f32', 'f32', 'i32', 'bool', 'f32'],
        'if (i < 3) { b4[i] = select(0f, b0[i] * b1[0] + f32(b2[0]), b3[0] != 0); }',
      ),
    ],
    kernels: [
      {
        name: 'scaled',
        shader: 0,
        groups: [1, 1],
        bindings: [
          region('input', 0, 12, 'read'),
          region('input', 1, 4, 'read'),
          region('input', 2, 4, 'read'),
          region('input', 3, 4, 'read'),
          region('output', 0, 12, 'read_write'),
        ],
      },
    ],
    inputs: [port('x', 'f32', 3), port('a', 'f32'), port('b', 'i32'), port('c', 'bool')],
    outputs: [port('y', 'f32', 3)],
  });
  const program = device.loadExecutable(scaled);
  for (const [a, b, c] of [
    [2, 1, 1],
    [2, 5, 1],
    [0.5, -1, 1],
    [2, 1, 0],
  ]) {
    const expected = [1, 2, 3].map((each) => (c === 0 ? 0 : each * a + b));
    assert.deepEqual(await run(program, [x, a, b, c], 'float32', 3), expected);
  }
  sum.dispose();
  program.dispose();
});

test('elements of bool are words in shaders', async () => {
  const program = device.loadExecutable(map(5, ['bool', 'bool'], 'b1[i] = u32(b0[i] == 0);'));
  const x = Value.of(device, 'bool', [1, 0, 0, 1, 1]);
  assert.deepEqual(await run(program, [x], 'bool', 5), [0, 1, 1, 0, 0]);
});

test('values without elements start no kernel', async () => {
  const program = device.loadExecutable(map(0, ['f32', 'f32'], 'b1[i] = 2 * b0[i];'));
  assert.deepEqual(await run(program, [Value.of(device, 'float32', [])], 'float32', 0), []);
});

test('constants, states, temporaries, repeated steps and copies', async () => {
  // Each iteration: scratch = state + constant; state = scratch. The output is a copy of the state.
  const add = shader(['f32', 'f32', 'f32'], 'if (i < 2) { b2[i] = b0[i] + b1[i]; }');
  const set = shader(['f32', 'f32'], 'if (i < 2) { b1[i] = b0[i]; }', {
    accesses: ['read_write', 'read_write'],
  });
  const temporary = { of: 'scratch', offset: 256, bytes: 8, access: 'read_write' };
  const constant = { of: 'constants', offset: 256, bytes: 8, access: 'read' };
  const copied = { of: 'constants', offset: 0, bytes: 8 };
  const program = device.loadExecutable(
    executable({
      scratchBytes: 1024,
      constantBytes: 512,
      constants: [{ offset: 260, data: new Uint8Array(Float32Array.of(3).buffer) }],
      states: [port('s', 'f32', 2)],
      outputs: [port('y', 'f32', 2), port('zeros', 'f32', 2)],
      shaders: [add, set],
      kernels: [
        {
          name: 'add',
          shader: 0,
          groups: [1, 1],
          bindings: [region('state', 0, 8, 'read'), constant, temporary],
        },
        {
          name: 'set',
          shader: 1,
          groups: [1, 1],
          bindings: [temporary, region('state', 0, 8, 'read_write')],
        },
      ],
      steps: [
        { times: 15, steps: [{ times: 20, steps: [0, 1] }] },
        { copy: { from: region('state', 0, 8), to: region('output', 0, 8) } },
        { copy: { from: copied, to: { of: 'scratch', offset: 0, bytes: 8 } } },
        {
          copy: {
            from: { of: 'scratch', offset: 0, bytes: 8 },
            to: { of: 'scratch', offset: 512, bytes: 8 },
          },
        },
        { copy: { from: { of: 'scratch', offset: 512, bytes: 8 }, to: region('output', 1, 8) } },
      ],
    }),
  );
  device.write(program.state(0), 'float32', Float32Array.of(1, 2));
  const outputs = [0, 1].map(() => new Value(device, 'float32', [2]));
  program.run([], outputs);
  assert.deepEqual(Array.from(await outputs[0].read()), [1, 902]);
  assert.deepEqual(Array.from(await outputs[1].read()), [0, 0]);
  outputs.forEach((each) => each.deallocate());
  program.run([], outputs);
  assert.deepEqual(Array.from(await device.read(program.state(0), 'float32', 2)), [1, 1802]);
  program.dispose();
});

test('an invalid shader is the error of reads of what depends on it', async () => {
  const wrong = map(4, ['f32', 'f32'], 'b1[i] = unknown(b0[i]);', { name: 'wrong_kernel' });
  const program = device.loadExecutable(wrong);
  const right = device.loadExecutable(double(4));
  const x = f32(1, 2, 3, 4);
  const [first, second] = [0, 1].map(() => new Value(device, 'float32', [4]));
  program.run([x], [first]);
  right.run([first], [second]);
  const expected = {
    name: 'LatheError',
    message:
      /kernel wrong_kernel does not compile: line 6: .*unknown.*\n {2}b1\[i\] = unknown\(b0\[i\]\);/,
  };
  await assert.rejects(first.read(), expected);
  await assert.rejects(second.read(), expected);
  assert.deepEqual(await run(right, [x], 'float32', 4), [2, 4, 6, 8]);
});

test('an error of WebGPU in a run is the error of what it wrote', async () => {
  const outside = { of: 'scratch', offset: 2 ** 20, bytes: 16, access: 'read' };
  const base = double(4);
  const [kernel] = base.metadata.entries[0].kernels;
  const kernels = [{ ...kernel, bindings: [outside, kernel.bindings[1]] }];
  const program = device.loadExecutable({
    ...base,
    metadata: {
      ...base.metadata,
      entries: [{ ...base.metadata.entries[0], scratchBytes: 256, kernels }],
    },
  });
  const [first, second] = [0, 1].map(() => new Value(device, 'float32', [4]));
  program.run([f32(1, 2, 3, 4)], [first]);
  device.loadExecutable(double(4)).run([first], [second]);
  await assert.rejects(first.read(), /WebGPU: run: .*"map"/s);
  await assert.rejects(second.read(), /WebGPU: run: .*"map"/s);
});

test('limits of the GPU are errors that name what was asked', async () => {
  await device.ready();
  const { limits } = device.gpuDevice;
  const size = 4 * (limits.maxStorageBuffersPerShaderStage + 1);
  assert.throws(() => device.allocate('float32', limits.maxBufferSize), {
    name: 'LimitError',
    message: `bytes of ${limits.maxBufferSize} elements of float32: ${4 * limits.maxBufferSize}, but maxBufferSize of this GPU is ${limits.maxBufferSize}`,
  });
  const before = device.memory();
  const many = map(
    4,
    Array(limits.maxStorageBuffersPerShaderStage + 1).fill('f32'),
    'b1[i] = b0[i];',
    { name: 'many' },
  );
  assert.throws(() => device.loadExecutable(many), {
    name: 'LimitError',
    message: new RegExp(
      `storage buffers of kernel many: ${size / 4}, but maxStorageBuffersPerShaderStage .* ${size / 4 - 1}`,
    ),
  });
  const tall = double(4);
  tall.metadata.entries[0].kernels[0].groups = [1, 1e6];
  assert.throws(() => device.loadExecutable(tall), {
    name: 'LimitError',
    message: /workgroups of kernel map: 1000000/,
  });
  assert.deepEqual(device.memory(), before);
});

test('out of memory is an error of that value', async () => {
  const size = device.gpuDevice.limits.maxBufferSize / 4;
  const huge = new Value(device, 'float32', [size]).allocate();
  const small = new Value(device, 'float32', [4]);
  device.write(huge.materialize(), 'float32', Float32Array.of(1));
  const program = device.loadExecutable(double(4));
  program.run([huge], [small]);
  const expected = {
    name: 'OutOfMemoryError',
    message: new RegExp(`no memory for ${4 * size} bytes more than the \\d+ in use`),
  };
  await assert.rejects(small.read(), expected);
  await assert.rejects(huge.read(), expected);
  huge.deallocate();
  const again = f32(1, 2, 3, 4);
  assert.deepEqual(await run(program, [again], 'float32', 4), [2, 4, 6, 8]);
});

test('a budget is checked at once', async () => {
  const program = device.loadExecutable(double(1000));
  const x = f32(...Array(1000).fill(1));
  const { bytes } = device.memory();
  env().set('MEMORY_BUDGET', bytes + 3999);
  const output = new Value(device, 'float32', [1000]);
  assert.throws(() => program.run([x], [output]), {
    name: 'OutOfMemoryError',
    message: new RegExp(
      `4000 bytes for 1000 elements of float32 .* budget of ${bytes + 3999} allows, of which ${bytes} are`,
    ),
  });
  assert.equal(output.isAllocated, false);
  const before = device.memory();
  const expected = { name: 'OutOfMemoryError', message: /8000 bytes for temporaries/ };
  const temporaries = device.loadExecutable(double(4, { scratchBytes: 8000 }));
  const small = new Value(device, 'float32', [4]);
  assert.throws(() => temporaries.run([x], [small]), expected);
  temporaries.dispose();
  assert.deepEqual(device.memory(), before);
  env().set('MEMORY_BUDGET', Infinity);
  program.run([x], [output]);
  assert.equal((await output.read())[999], 2);
});

test('temporaries and constants are in pages', async () => {
  const before = device.memory();
  const add = shader(['f32', 'f32', 'f32'], 'if (i < 64) { b2[i] = b0[i] + b1[i]; }');
  const bytes = 256;
  const scratch = { of: 'scratch', index: 1, offset: 256, bytes, access: 'read_write' };
  const constant = { of: 'constants', index: 1, offset: 0, bytes, access: 'read' };
  const three = new Uint8Array(new Float32Array(64).fill(3).buffer);
  const paged = device.loadExecutable(
    executable({
      pageBytes: 512,
      scratchBytes: 1024,
      constantBytes: 768,
      constants: [{ offset: 512, data: three }],
      inputs: [port('x', 'f32', 64)],
      outputs: [port('y', 'f32', 64)],
      shaders: [add],
      kernels: [
        {
          name: 'add',
          shader: 0,
          groups: [1, 1],
          bindings: [region('input', 0, bytes, 'read'), constant, scratch],
        },
      ],
      steps: [0, { copy: { from: scratch, to: region('output', 0, bytes) } }],
    }),
  );
  const x = Value.of(device, 'float32', Array(64).fill(1));
  assert.deepEqual(await run(paged, [x], 'float32', 64), Array(64).fill(4));
  paged.dispose();
  x.deallocate();
  assert.ok(device.memory().bytes - before.bytes <= 2 * 256 + 1024);
});

test('an error outside of scopes is that of the next read', async () => {
  const x = f32(1);
  await x.read();
  device.gpuDevice.createBuffer({ label: 'stray', size: 4, usage: 0x8000 });
  await assert.rejects(x.read(), {
    name: 'LatheError',
    message: /^WebGPU: an earlier command failed: [^]*stray/,
  });
  assert.equal((await x.read())[0], 1);
});

test("an error of the program's own commands is none of ours", async () => {
  const shared = new WebGpuDevice({ device: device.gpuDevice });
  const x = Value.of(shared, 'float32', [1]);
  await x.read();
  device.gpuDevice.createBuffer({ size: 4, usage: 0x8000 });
  assert.equal((await x.read())[0], 1);
  await assert.rejects(f32(1).read(), /an earlier command failed/);
});

test('Node cannot wait for a read', () => {
  const value = f32(1);
  assert.throws(
    () => device.readSync(value.materialize(), 'float32', 1),
    /await tensor.data\(\) before/,
  );
});
