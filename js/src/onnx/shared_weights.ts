/**
 * Models that are called with ever other shapes: what is compiled for each takes the large weights as inputs, which lie once in the
 * memory of tensors.
 */
import type { HeapModule } from '../runtime/heap_module.js';
import { HeapValue } from '../runtime/heap_value.js';
import type { Tensor } from '../tensor/tensor.js';
import { compileForHeap } from '../trace/heap_function.js';
import type { OnnxFile, OnnxTrace, Port } from './file.js';
import { hasRoom } from './rooms.js';
import { dtypeOf, type OnnxValue, valueOf } from './values.js';

/** Something compiled for some types of inputs. */
export interface Program {
  readonly bytes: number;
  /** `count`: of what was compiled with room for more, how much there is. */
  run(inputs: Record<string, Tensor>, count?: number): Promise<OnnxValue[]>;
  dispose(): void;
}

/** Files for which it is worth it, and which the memory of tensors has room for. */
const [leastBytes, mostBytes] = [2 ** 20, 2 ** 29];
/** Of them. */
const leastShare = 0.5;

export class SharedWeights {
  #weights: HeapValue[] | undefined;
  #isRefused = false;
  /** Whether a program reads the weights. */
  #isUsed = false;

  constructor(
    private readonly file: OnnxFile,
    private readonly threads: number | undefined,
  ) {}

  /** What runs the model for these inputs; nothing where it must know its weights, or data decides how it goes on. */
  program(ports: readonly Port[], data: Uint8Array): Program | undefined {
    const { bytes } = this.file;
    if (this.#isRefused || bytes < leastBytes || bytes > mostBytes) return undefined;
    // What is wrong with room for more says nothing of other calls.
    const isExact = !hasRoom(ports);
    try {
      return this.#program(ports, data, isExact);
    } catch (error) {
      if (!isExact) throw error;
      // Whoever compiles it with its weights gets the error, if there is one then.
      this.#refuse();
      return undefined;
    }
  }

  /** Other shapes may do where one has. */
  #refuse(): void {
    if (!this.#isUsed) this.dispose();
  }

  /** Lets the weights go. */
  dispose(): void {
    for (const each of this.#weights ?? []) each.free();
    this.#weights = undefined;
    this.#isRefused = true;
  }

  #program(ports: readonly Port[], data: Uint8Array, isExact: boolean): Program | undefined {
    const options = { weightInputs: 'large' } as const;
    const trace = this.file.trace(ports, [], data, options, true, (contents, weights) => {
      const shared = contents.reduce((sum, { length }) => sum + length, 0);
      if (shared > leastShare * this.file.bytes) this.#weights ??= valuesOf(weights, contents);
    });
    const { graph, results } = trace;
    try {
      if (!trace.whole || this.#weights === undefined) {
        // What it asks for is told next.
        if (trace.asked.length === 0 && (isExact || trace.whole)) this.#refuse();
        return undefined;
      }
      this.#isUsed = true;
      const module = compileForHeap(graph, {}, undefined, this.threads);
      return onHeap(module, this.#weights, results);
    } finally {
      graph.free();
    }
  }
}

function valuesOf(weights: OnnxTrace['weights'], contents: readonly Uint8Array[]): HeapValue[] {
  return weights.map(({ type, shape }, at) => {
    const value = new HeapValue(dtypeOf(type), shape).place();
    const { buffer, byteOffset, byteLength } = value.window() as Uint8Array;
    new Uint8Array(buffer, byteOffset, byteLength).set(contents[at]!);
    return value;
  });
}

function onHeap(
  module: HeapModule,
  weights: readonly HeapValue[],
  results: readonly Port[],
): Program {
  const [{ inputs, outputs }] = module.metadata.entries as [(typeof module.metadata.entries)[0]];
  return {
    bytes: module.moduleBytes + (module.metadata.constantBytes ?? 0),
    async run(given, count) {
      const values = inputs.map(({ name }) =>
        name.startsWith('w') ? weights[Number(name.slice(1))]! : given[name]!,
      );
      const computed = module.call(values);
      const named = Object.fromEntries(outputs.map(({ name }, at) => [name, computed[at]!]));
      try {
        return results.map((each) => valueOf(each, named, count));
      } finally {
        for (const each of computed) each.dispose();
      }
    },
    dispose: () => module.dispose(),
  };
}
