// One case on WebGPU: makes buffers and pipelines, writes inputs and states, runs each entry in one submission,
// compares outputs and states, releases everything. Runs in Node and browsers.

const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** By type the arrays of elements on the host, and on the device where that differs. */
const arrays = {
  bool: [Uint8Array, Uint32Array],
  i8: [Int8Array],
  u8: [Uint8Array],
  i16: [Int16Array],
  u16: [Uint16Array],
  i32: [Int32Array],
  u32: [Uint32Array],
  i64: [BigInt64Array, Int32Array],
  u64: [BigUint64Array, Uint32Array],
  f16: [Uint16Array],
  bf16: [Uint16Array],
  f32: [Float32Array],
};

/** The elements as an array of another type. */
const converted = (To, from) => To.from(from, To.name.startsWith('Big') ? BigInt : Number);

/** The number that the bits of a float16 are, of which JavaScript has no array everywhere. */
function ofHalf(bits) {
  const sign = bits >> 15 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = (bits & 1023) / 1024;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction) : 2 ** -14 * fraction);
}

const ofBrainHalf = (bits) => new Float32Array(Uint32Array.of(bits << 16).buffer)[0];
const halves = { f16: ofHalf, bf16: ofBrainHalf };

/**
 * Tolerances, as of tests/ops/harness.cc: shaders may reorder sums, and exp, log, tanh and division are within some ulp
 * only, so short floats round to a neighbor here and there, and what is computed from them differs as well.
 */
const tolerances = { f16: 2 ** -8, bf16: 2 ** -5 };

function isNear(expected, actual, dtype, name) {
  const toNumber = halves[dtype] ?? Number;
  const [a, b] = [toNumber(expected), toNumber(actual)];
  const relative = tolerances[dtype] ?? (/f16/.test(name) ? 1e-3 : 1e-4);
  const absolute = tolerances[dtype] ?? 2e-5;
  return Object.is(a, b) || Math.abs(a - b) <= absolute + relative * Math.abs(a);
}

const wholeWords = (bytes) => Math.ceil(bytes / 4) * 4;
const bytesOf = ({ dtype, shape }) => {
  const [Host, Device = Host] = arrays[dtype];
  return wholeWords(Device.BYTES_PER_ELEMENT * elements(shape));
};

const elements = (shape) => shape.reduce((count, size) => count * size, 1);

/** The bytes of a GPU buffer, in whole words. */
function stored({ dtype }, bytes) {
  const [Host, Device] = arrays[dtype];
  if (Device) return new Uint8Array(converted(Device, new Host(bytes.buffer)).buffer);
  const words = new Uint8Array(wholeWords(bytes.length));
  words.set(bytes);
  return words;
}

class Program {
  #device;
  #metadata;
  #scratch;
  #constants;
  #arguments;
  #encoder;
  #states;
  #modules;
  #pipelines = new Map();

  constructor(device, metadata, constants) {
    this.#device = device;
    this.#metadata = metadata;
    const temporaries = Math.max(...metadata.entries.map(({ scratchBytes }) => scratchBytes));
    this.#scratch = this.#pages(temporaries);
    this.#constants = this.#pages(metadata.constantBytes);
    this.#arguments = [this.#buffer(metadata.argumentBytes, GPUBufferUsage.INDIRECT)];
    for (const { offset, data } of constants) {
      const page = this.#constants[Math.floor(offset / metadata.pageBytes)];
      const bytes = stored({ dtype: 'u8' }, fromHex(data));
      device.queue.writeBuffer(page, offset % metadata.pageBytes, bytes);
    }
    this.#states = metadata.states.map((port) => this.allocate(port));
    this.#modules = metadata.shaders.map((code) => device.createShaderModule({ code }));
  }

  get states() {
    return this.#states;
  }

  #pages(bytes) {
    const { pageBytes } = this.#metadata;
    return Array.from({ length: Math.ceil(bytes / pageBytes) }, (_, page) =>
      this.#buffer(Math.min(pageBytes, bytes - page * pageBytes)),
    );
  }

  #buffer(bytes, more = 0) {
    const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
    const size = Math.max(wholeWords(bytes), 4);
    return this.#device.createBuffer({ size, usage: STORAGE | COPY_SRC | COPY_DST | more });
  }

  allocate(port) {
    return this.#buffer(bytesOf(port));
  }

  write(buffer, port, bytes) {
    const words = stored(port, bytes);
    if (words.length > 0) this.#device.queue.writeBuffer(buffer, 0, words);
  }

  /** The layout lists what shaders declare, even if they do not use it. */
  #pipeline({ shader, bindings }) {
    let found = this.#pipelines.get(shader);
    if (!found) {
      const entries = bindings.map(({ access }, binding) => ({
        binding,
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type: access === 'read' ? 'read-only-storage' : 'storage' },
      }));
      const bindGroup = this.#device.createBindGroupLayout({ entries });
      const layout = this.#device.createPipelineLayout({ bindGroupLayouts: [bindGroup] });
      const compute = { module: this.#modules[shader] };
      found = { bindGroup, pipeline: this.#device.createComputePipeline({ layout, compute }) };
      this.#pipelines.set(shader, found);
    }
    return found;
  }

  compile() {
    for (const { kernels } of this.#metadata.entries)
      kernels.forEach((each) => this.#pipeline(each));
  }

  async run(entry, inputs, outputs) {
    const shared = {
      scratch: this.#scratch,
      constants: this.#constants,
      arguments: this.#arguments,
    };
    const values = { input: inputs, output: outputs, state: this.#states };
    const bufferOf = ({ of, index = 0 }) => (shared[of] ?? values[of])[index];
    this.#encoder = this.#device.createCommandEncoder();
    await this.#runSteps(entry.kernels, entry.steps, bufferOf);
    this.#submit();
  }

  #submit() {
    this.#device.queue.submit([this.#encoder.finish()]);
    this.#encoder = this.#device.createCommandEncoder();
  }

  /** A step is the index of a kernel, a copy, or nested steps with how often to run them. */
  async #runSteps(kernels, steps, bufferOf) {
    for (const step of steps) {
      if (typeof step === 'number') this.#dispatch(kernels[step], bufferOf);
      else if (step.copy) this.#copy(step.copy, bufferOf);
      else await this.#repeat(step, kernels, bufferOf);
    }
  }

  /** Looks at the condition after every third step only: the kernels between do nothing where it is false. */
  async #repeat({ times, steps, condition }, kernels, bufferOf) {
    for (let i = 0; i < times; ++i) {
      await this.#runSteps(kernels, steps, bufferOf);
      if (condition === undefined || i % 3 !== 2) continue;
      this.#submit();
      const [runs] = await this.#words(bufferOf(condition), condition.offset, 4);
      if (runs === 0) return;
    }
  }

  #copy({ from, to }, bufferOf) {
    this.#encoder.copyBufferToBuffer(
      bufferOf(from),
      from.offset,
      bufferOf(to),
      to.offset,
      from.bytes,
    );
  }

  #dispatch(kernel, bufferOf) {
    const [x, y] = kernel.groups;
    if (x === 0) return;
    const { pipeline, bindGroup } = this.#pipeline(kernel);
    const entries = kernel.bindings.map((region, binding) => ({
      binding,
      resource: { buffer: bufferOf(region), offset: region.offset, size: region.bytes },
    }));
    const pass = this.#encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, this.#device.createBindGroup({ layout: bindGroup, entries }));
    if (kernel.arguments === undefined) pass.dispatchWorkgroups(x, y);
    else pass.dispatchWorkgroupsIndirect(this.#arguments[0], kernel.arguments);
    pass.end();
  }

  async #words(buffer, offset, size) {
    const { COPY_DST, MAP_READ } = GPUBufferUsage;
    const staging = this.#device.createBuffer({ size, usage: COPY_DST | MAP_READ });
    const encoder = this.#device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, offset, staging, 0, size);
    this.#device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const copy = staging.getMappedRange().slice(0);
    staging.unmap();
    staging.destroy();
    return new Uint32Array(copy);
  }

  async read(buffer, port) {
    const [Host, Device] = arrays[port.dtype];
    const count = elements(port.shape);
    if (count === 0) return new Host();
    const copy = (await this.#words(buffer, 0, bytesOf(port))).buffer;
    return Device ? converted(Host, new Device(copy)) : new Host(copy, 0, count);
  }

  destroy() {
    for (const each of [...this.#scratch, ...this.#constants, ...this.#arguments, ...this.#states])
      each.destroy();
    this.#pipelines.clear();
  }
}

/** The error of a shader or pipeline, or undefined. */
export async function compileCase({ shaders, constants }, device) {
  device.pushErrorScope('validation');
  const program = new Program(device, shaders, constants);
  program.compile();
  program.destroy();
  return (await device.popErrorScope())?.message;
}

/** A description of the error, or undefined. */
export async function runWebGpuCase(test, device) {
  device.pushErrorScope('validation');
  const { shaders } = test;
  const program = new Program(device, shaders, test.constants);
  let problem;
  for (const [index, entry] of shaders.entries.entries()) {
    const allocate = (ports) => ports.map((port) => program.allocate(port));
    const [inputs, outputs] = [allocate(entry.inputs), allocate(entry.outputs)];
    entry.inputs.forEach((port, at) =>
      program.write(inputs[at], port, fromHex(test.inputs[port.name])),
    );
    shaders.states.forEach((port, at) =>
      program.write(program.states[at], port, fromHex(test.states[port.name])),
    );
    await program.run(entry, inputs, outputs);
    const expected = test.expected[index];
    problem ??=
      (await compareAll(test, program, entry.name, entry.outputs, outputs, expected.outputs)) ??
      (await compareAll(
        test,
        program,
        entry.name,
        shaders.states,
        program.states,
        expected.states,
      ));
    for (const each of [...inputs, ...outputs]) each.destroy();
  }
  program.destroy();
  const error = await device.popErrorScope();
  return error ? error.message : problem;
}

async function compareAll(test, program, entry, ports, buffers, expected) {
  for (const [at, port] of ports.entries()) {
    const { name, dtype } = port;
    const actual = await program.read(buffers[at], port);
    const expectedValues = new actual.constructor(fromHex(expected[name]).buffer);
    for (let i = 0; i < expectedValues.length; i++) {
      if (!isNear(expectedValues[i], actual[i], dtype, test.name)) {
        return `${entry}.${name}[${i}]: expected ${expectedValues[i]}, got ${actual[i]}`;
      }
    }
  }
  return undefined;
}
