// One case on WebGPU: makes buffers and pipelines, writes inputs and states, runs each entry in one submission,
// compares outputs and states, releases everything. Runs in Node and browsers.

const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

const views = { f32: Float32Array, i32: Int32Array, bool: Uint8Array };

/** Shaders may reorder sums, and exp, log, tanh and division are within some ulp only. */
const near = (expectedValues, actual) =>
  Math.abs(expectedValues - actual) <= 2e-5 + 1e-4 * Math.abs(expectedValues);

/** The bytes of a GPU buffer: four an element. */
function widened({ dtype }, bytes) {
  return dtype === 'bool' ? new Uint8Array(Uint32Array.from(bytes).buffer) : bytes;
}

class Program {
  #device;
  #table;
  #memories;
  #pipelines = new Map();

  constructor(device, table) {
    this.#device = device;
    this.#table = table;
    const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
    this.#memories = table.memories.map((elements) =>
      device.createBuffer({
        size: 4 * Math.max(elements, 1),
        usage: STORAGE | COPY_SRC | COPY_DST,
      }),
    );
    table.buffers.forEach(({ data }, id) => this.write(id, fromHex(data)));
  }

  write(id, bytes) {
    const buffer = this.#table.buffers[id];
    const wide = widened(buffer, bytes);
    if (wide.length === 0) return;
    this.#device.queue.writeBuffer(this.#memories[buffer.memory], 4 * buffer.at, wide);
  }

  #pipeline(kernel) {
    let pipeline = this.#pipelines.get(kernel);
    if (!pipeline) {
      const module = this.#device.createShaderModule({ code: kernel.code });
      pipeline = this.#device.createComputePipeline({ layout: 'auto', compute: { module } });
      this.#pipelines.set(kernel, pipeline);
    }
    return pipeline;
  }

  run(entry) {
    const encoder = this.#device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    this.#runSteps(pass, entry.kernels, entry.steps);
    pass.end();
    this.#device.queue.submit([encoder.finish()]);
  }

  /** A step is the number of a kernel, or nested steps with how often to run them. */
  #runSteps(pass, kernels, steps) {
    for (const step of steps) {
      if (typeof step === 'number') this.#dispatch(pass, kernels[step]);
      else for (let i = 0; i < step.times; ++i) this.#runSteps(pass, kernels, step.steps);
    }
  }

  #dispatch(pass, kernel) {
    const [x, y] = kernel.groups;
    if (x === 0) return;
    const pipeline = this.#pipeline(kernel);
    const entries = kernel.memories.map((id, binding) => ({
      binding,
      resource: { buffer: this.#memories[id] },
    }));
    pass.setPipeline(pipeline);
    pass.setBindGroup(
      0,
      this.#device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }),
    );
    pass.dispatchWorkgroups(x, y);
  }

  async read(id) {
    const { dtype, elements, memory, at } = this.#table.buffers[id];
    if (elements === 0) return new views[dtype]();
    const size = 4 * elements;
    const { COPY_DST, MAP_READ } = GPUBufferUsage;
    const staging = this.#device.createBuffer({ size, usage: COPY_DST | MAP_READ });
    const encoder = this.#device.createCommandEncoder();
    encoder.copyBufferToBuffer(this.#memories[memory], 4 * at, staging, 0, size);
    this.#device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const copy = staging.getMappedRange().slice(0);
    staging.unmap();
    staging.destroy();
    return dtype === 'bool' ? Uint8Array.from(new Uint32Array(copy)) : new views[dtype](copy);
  }

  destroy() {
    for (const memory of this.#memories) memory.destroy();
    this.#pipelines.clear();
  }
}

/** A description of the error, or undefined. */
export async function runWebGpuCase(test, device) {
  device.pushErrorScope('validation');
  const program = new Program(device, test.shaders);
  let problem;
  for (const [index, entry] of test.shaders.entries.entries()) {
    for (const { name, buffer } of entry.inputs) program.write(buffer, fromHex(test.inputs[name]));
    for (const { name, buffer } of test.shaders.states) {
      program.write(buffer, fromHex(test.states[name]));
    }
    program.run(entry);
    const { outputs, states } = test.expected[index];
    problem ??=
      (await compareAll(program, entry.name, entry.outputs, outputs)) ??
      (await compareAll(program, entry.name, test.shaders.states, states));
  }
  program.destroy();
  const error = await device.popErrorScope();
  return error ? error.message : problem;
}

async function compareAll(program, entry, ports, expected) {
  for (const { name, buffer } of ports) {
    const actual = await program.read(buffer);
    const expectedValues = new actual.constructor(fromHex(expected[name]).buffer);
    for (let i = 0; i < expectedValues.length; i++) {
      if (!near(expectedValues[i], actual[i]) && !Object.is(expectedValues[i], actual[i])) {
        return `${entry}.${name}[${i}]: expected ${expectedValues[i]}, got ${actual[i]}`;
      }
    }
  }
  return undefined;
}
