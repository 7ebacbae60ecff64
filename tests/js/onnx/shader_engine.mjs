// The engine of conformance.mjs --shaders: ONNX models traced to one graph, compiled to shaders. Errors: "no graph: …" where there is
// none, as control flow or shapes depend on data; "no shaders: …" with the reason of the compiler.
import 'tensorlathe';
import { OnnxFile } from '../../../js/dist/onnx/file.js';
import { portOf, tensorsOf, valueOf } from '../../../js/dist/onnx/values.js';
import { loadWebGpuCompiler } from '../../../js/dist/core/webgpu_compiler.js';
import { WebGpuDevice } from '../../../js/dist/runtime/webgpu/device.js';
import { hostDTypes } from '../../../js/dist/tensor/dtypes.js';
import { Value } from '../webgpu/executables.mjs';

/** An engine as those of engines.mjs, on the GPU of this process; its models can also `compile` without running. */
export async function webgpu() {
  const device = new WebGpuDevice({}, await loadWebGpuCompiler());
  await device.ready();
  return async (bytes) => {
    const file = await OnnxFile.open({ bytes }).catch(failing('no graph'));
    const { inputs, outputs } = file.description;
    const compile = (feeds) => {
      const values = inputs.map((port) => toOnnx(feeds[port.name] ?? null, port));
      return compiled(device, file, values);
    };
    const run = async (feeds) => {
      const results = await resultsOf(device, compile(feeds));
      return Object.fromEntries(outputs.map(({ name }, at) => [name, fromOnnx(results[at])]));
    };
    return {
      compile: (feeds) => compile(feeds).program.dispose(),
      run,
      dispose: () => file.free(),
    };
  };
}

const failing = (what) => (error) => {
  throw new Error(`${what}: ${error.message}`);
};

/** What `run` returns; its errors begin with `what`. */
function attempt(what, run) {
  try {
    return run();
  } catch (error) {
    return failing(what)(error);
  }
}

function toOnnx(value, type) {
  if (value === null) return null;
  if (type.kind === 'optional') return toOnnx(value, type.element);
  if (Array.isArray(value)) {
    const elements = value.map((each) => toOnnx(each, type.element));
    return { kind: 'sequence', type: type.element?.type ?? '', elements };
  }
  const { dtype, shape, data } = value;
  return { kind: 'tensor', type: type.type ?? dtype, shape, data };
}

function fromOnnx(value) {
  if (value === null) return null;
  if (value.kind === 'sequence') return value.elements.map(fromOnnx);
  return { dtype: value.type, shape: value.shape, data: value.data };
}

/** Traces with the contents of inputs that the model requires. */
function traced(file, values, tensors) {
  const required = new Set();
  for (;;) {
    const data = [];
    let number = 0;
    const withContents = (port) => {
      if (port === null) return null;
      if (port.kind !== 'tensor') return { ...port, elements: port.elements.map(withContents) };
      if (port.type === 'string') return port;
      const at = number++;
      if (!required.has(at)) return port;
      const { buffer, byteOffset, byteLength } = tensors[at].dataSync();
      const offset = data.length;
      data.push(...new Uint8Array(buffer, byteOffset, byteLength));
      return { ...port, data: [offset, byteLength] };
    };
    const ports = values.map(portOf).map(withContents);
    const trace = file.trace(ports, [], Uint8Array.from(data), {}, true);
    const { requiredContents: more, splitPoints } = trace;
    if (more.length === 0 && splitPoints.length === 0) return trace;
    trace.graph.free();
    if (splitPoints.length > 0 || more.every((each) => required.has(each)))
      throw new Error('it depends on data');
    for (const each of more) required.add(each);
  }
}

function compiled(device, file, values) {
  const tensors = values.flatMap((each) => [...tensorsOf(each)]);
  const { graph, results } = attempt('no graph', () => traced(file, values, tensors));
  const program = attempt('no shaders', () => device.compile(graph));
  graph.free();
  return { program, results, tensors };
}

async function resultsOf(device, { program, results, tensors }) {
  const { inputs, outputs } = program.ports;
  const read = inputs.map(({ name, dtype, shape }) => {
    const value = new Value(device, hostDTypes[dtype], shape).allocate();
    device.write(value.materialize(), value.dtype, tensors[Number(name.slice(1))].dataSync());
    return value;
  });
  const written = outputs.map(({ dtype, shape }) => new Value(device, hostDTypes[dtype], shape));
  try {
    program.run(read, written);
    const data = await Promise.all(written.map((each) => each.read()));
    const tensorOf = (array) => ({ size: array.length, dataSync: () => array });
    const byName = Object.fromEntries(outputs.map(({ name }, at) => [name, tensorOf(data[at])]));
    return results.map((port) => valueOf(port, byName));
  } finally {
    for (const each of [...read, ...written]) each.deallocate();
    program.dispose();
  }
}
