/** Switches V8's revectorization in this Node process, which combines adjacent vectors. */
import { LatheError } from '../base/errors.js';
import { nodeModule, nodeProcess } from '../base/node.js';
import { CoreGraph } from '../core/handles.js';

const flag = 'experimental-wasm-revectorize';

/** Errors: not Node 22.3 or later on x86-64; V8 computes different results with it. */
export function revectorize(on: boolean, relaxedSimd: boolean): void {
  const version = Number.parseInt(String(nodeProcess?.versions.node), 10);
  if (!(version >= 22) || nodeProcess!.arch !== 'x64') {
    throw new LatheError('NODE_REVECTORIZE needs Node 22.3 or later on x86-64');
  }
  const v8 = nodeModule('node:v8');
  if (!on) return v8.setFlagsFromString(`--no-${flag}`);
  const bytes = probeModule(relaxedSimd);
  const plain = results(bytes);
  v8.setFlagsFromString(`--${flag}`);
  // Without the baseline compiler the single call below runs optimized code.
  v8.setFlagsFromString('--no-liftoff');
  try {
    // An empty custom section "x" makes it a different module to caches only.
    const wide = results(new Uint8Array([...bytes, 0, 2, 1, 0x78]));
    if (plain.every((value, at) => value === wide[at])) return;
  } finally {
    v8.setFlagsFromString('--liftoff');
  }
  v8.setFlagsFromString(`--no-${flag}`);
  throw new LatheError('NODE_REVECTORIZE stays off: V8 computes other results');
}

/** A matrix product in wide tiles with the operations that often follow one. */
function probeModule(relaxedSimd: boolean): Uint8Array<ArrayBuffer> {
  const graph = new CoreGraph();
  try {
    graph.beginEntry('run');
    const x = graph.input('x', { dtype: 'f32', shape: [32, 32] });
    const product = graph.operation('matMul', [x.id, x.id], []);
    const sum = graph.operation('add', [product.id, x.id], []);
    graph.output('y', graph.operation('tanh', [sum.id], []).id);
    const executable = graph.compile({
      features: { simd: true, relaxedSimd, wideLanes: true, threads: false },
      worthSplitting: 1,
    });
    const bytes = executable.bytes();
    executable.free();
    return bytes;
  } finally {
    graph.free();
  }
}

function results(bytes: Uint8Array<ArrayBuffer>): Float32Array {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  const { buffer } = exports.memory as WebAssembly.Memory;
  const [x, y] = ['run.x', 'run.y'].map(
    (name) => new Float32Array(buffer, (exports[name] as WebAssembly.Global).value, 1024),
  );
  x!.forEach((_, i) => (x![i] = Math.sin(i) / 4));
  (exports.run as () => void)();
  return y!;
}
