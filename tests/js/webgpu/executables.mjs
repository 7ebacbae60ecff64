// Executables written by hand, and values as the package has them.
import { arrayOn } from '../../../js/dist/tensor/convert.js';

/** A value on a device: as tensors own them. */
export class Value {
  #storage;

  constructor(device, dtype, shape) {
    this.device = device;
    this.dtype = dtype;
    this.size = shape.reduce((a, b) => a * b, 1);
  }

  static of(device, dtype, values) {
    const data = arrayOn(dtype, new ArrayBuffer(8 * values.length), 0, values.length);
    data.set(values);
    const made = new Value(device, dtype, [values.length]).allocate();
    device.write(made.materialize(), dtype, data);
    return made;
  }

  hostCopy = undefined;

  materialize() {
    return this.#storage;
  }

  allocate() {
    this.#storage ??= this.device.allocate(this.dtype, this.size);
    return this;
  }

  deallocate() {
    if (this.#storage !== undefined) this.device.free(this.#storage);
    this.#storage = undefined;
  }

  get isAllocated() {
    return this.#storage !== undefined;
  }

  read() {
    return this.device.read(this.#storage, this.dtype, this.size);
  }
}

const types = { f32: 'f32', i32: 'i32', bool: 'u32' };

/** WGSL with the bindings b0, b1, …: `dtypes` in order, the last of which is written. */
export function shader(dtypes, body, { accesses } = {}) {
  const declarations = dtypes.map((dtype, at) => {
    const access = accesses?.[at] ?? (at === dtypes.length - 1 ? 'read_write' : 'read');
    return `@group(0) @binding(${at}) var<storage, ${access}> b${at}: array<${types[dtype]}>;`;
  });
  return `${declarations.join('\n')}
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  ${body}
}`;
}

export const port = (name, dtype, size) => ({
  name,
  dtype,
  shape: size === undefined ? [] : [size],
});

/** An executable of one entry. */
export function executable(parts) {
  const { kernels, shaders, inputs = [], outputs = [], states = [], constants = [] } = parts;
  const { scratchBytes = 0, constantBytes = 0, pageBytes = 2 ** 27 } = parts;
  const steps = parts.steps ?? kernels.map((_, at) => at);
  const entries = [{ name: 'run', inputs, outputs, scratchBytes, kernels, steps }];
  const metadata = { version: 1, target: 'webgpu', constantBytes, pageBytes, states, shaders };
  return { metadata: { ...metadata, entries }, constants };
}

export const region = (of, index, bytes, access) => ({ of, index, offset: 0, bytes, access });

/** One kernel over `size` elements: inputs to one output. */
export function map(size, dtypes, body, extra = {}) {
  const inputs = dtypes.slice(0, -1).map((dtype, at) => port(`x${at}`, dtype, size));
  const bindings = inputs.map((_, at) => region('input', at, 4 * size, 'read'));
  bindings.push(region('output', 0, 4 * size, 'read_write'));
  const groups = [Math.ceil(size / 64), 1];
  const kernel = { name: extra.name ?? 'map', shader: 0, groups, bindings };
  return executable({
    shaders: [shader(dtypes, `if (i >= ${size}) { return; }\n  ${body}`)],
    kernels: [kernel],
    inputs,
    outputs: [port('y', dtypes.at(-1), size)],
    ...extra,
  });
}
