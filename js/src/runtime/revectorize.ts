/** Turns V8's joining of neighbouring vectors on and off in this process of Node. */
import { LatheError } from '../base/errors.js';
import { nodeProcess } from '../base/node.js';
import { CoreGraph } from '../core/handles.js';

const flag = 'experimental-wasm-revectorize';
const elements = 1024;

/** Errors: not Node 22.3 or later on x86-64; V8 then computes something else. */
export function revectorize(on: boolean, relaxedSimd: boolean): void {
  const isNew = Number.parseInt(nodeProcess?.versions.node ?? '0', 10) >= 22;
  const v8 = isNew ? nodeProcess!.getBuiltinModule?.('node:v8') : undefined;
  if (v8 === undefined || nodeProcess!.arch !== 'x64') {
    throw new LatheError('NODE_REVECTORIZE needs Node 22.3 or later on x86-64');
  }
  if (!on) return v8.setFlagsFromString(`--no-${flag}`);
  const bytes = probeModule(relaxedSimd);
  const plain = results(bytes);
  v8.setFlagsFromString(`--${flag}`);
  // Without the baseline compiler the one call below already runs optimised code.
  v8.setFlagsFromString('--no-liftoff');
  try {
    const wide = results(renamed(bytes));
    if (plain.every((value, at) => Object.is(value, wide[at]))) return;
  } finally {
    v8.setFlagsFromString('--liftoff');
  }
  v8.setFlagsFromString(`--no-${flag}`);
  throw new LatheError('NODE_REVECTORIZE stays off: V8 computes other results with it');
}

/** A product in wide tiles with what usually follows one. */
function probeModule(relaxedSimd: boolean): Uint8Array<ArrayBuffer> {
  const graph = new CoreGraph();
  try {
    graph.beginEntry('run');
    const x = graph.input('x', { dtype: 'f32', shape: [32, 32] });
    const rows = graph.input('y', { dtype: 'f32', shape: [32] });
    const product = graph.operation('matMul', [x.id, x.id], []);
    const sum = graph.operation('add', [product.id, rows.id], []);
    graph.output('z', graph.operation('tanh', [sum.id], []).id);
    const executable = graph.compile({
      features: { simd: true, relaxedSimd, wideLanes: true, threads: false },
      worthSplitting: 1,
    });
    try {
      return executable.bytes();
    } finally {
      executable.free();
    }
  } finally {
    graph.free();
  }
}

function results(bytes: Uint8Array<ArrayBuffer>): Float32Array {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  const at = (name: string) => (exports[name] as WebAssembly.Global).value as number;
  const { buffer } = exports.memory as WebAssembly.Memory;
  for (const name of ['run.x', 'run.y']) {
    const count = name === 'run.x' ? elements : 32;
    new Float32Array(buffer, at(name), count).forEach((_, i, all) => (all[i] = Math.sin(i) / 4));
  }
  (exports.run as () => void)();
  return new Float32Array(buffer, at('run.z'), elements);
}

/** The same module to everyone but a cache of modules: with an empty custom section at its end. */
function renamed(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return new Uint8Array([...bytes, 0, 2, 1, 'x'.charCodeAt(0)]);
}
