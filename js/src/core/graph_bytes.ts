/** Graphs on their way from one module of the compiler to another. */
import type { Handle, ModuleExports, Pointer } from './abi.js';
import type { Core } from './core.js';

/** A graph in the memory of a module: where its bytes and those of its constants are. */
export interface GraphBytes {
  readonly from: Core<ModuleExports>;
  readonly bytes: Pointer;
  readonly size: number;
  readonly constants: readonly (readonly [at: Pointer, bytes: number])[];
}

/** Reads what lathe_graph_encode and lathe_onnx_graph return; `more`: the number of arrays after the constants. */
export function graphBytesAt(from: Core<ModuleExports>, at: Pointer, more = 0) {
  const { buffer } = from.exports.memory;
  const [bytes, size, count] = [...new Uint32Array(buffer, at, 3)] as [Pointer, number, number];
  const words = new Uint32Array(buffer, at + 12, 2 * (count + more));
  const ranges = Array.from(
    { length: count + more },
    (_, k) => [words[2 * k]!, words[2 * k + 1]!] as const,
  );
  const graph: GraphBytes = { from, bytes, size, constants: ranges.slice(0, count) };
  return { graph, others: ranges.slice(count) };
}

/** Copies a graph to another module, whose `decode` takes the arguments of lathe_graph_decode. */
export function sendGraph(
  { from, bytes, size, constants }: GraphBytes,
  to: Core<ModuleExports>,
  decode: (code: Pointer, size: number, constants: Pointer, count: number) => Handle,
): Handle {
  const copies = constants.flatMap(([at, length]) => [
    to.copy('constant', from.view(at, length)),
    length,
  ]);
  const list = to.copy('constants', new Uint8Array(Uint32Array.from(copies).buffer));
  try {
    return to.withBytes('graph', from.view(bytes, size), (code, length) =>
      decode(code, length, list, constants.length),
    );
  } finally {
    if (!to.dead) to.exports.lathe_free(list);
  }
}
