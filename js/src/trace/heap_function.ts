/** Functions whose inputs, results and variables lie in the heap, where other functions find them. */
import type { BufferPlace, CompileRequest, Dump } from '../core/abi.js';
import { type CoreExecutable, CoreGraph } from '../core/handles.js';
import { copyInto } from '../tensor/convert.js';
import { type DType, hostDTypes } from '../tensor/dtypes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import type { CompileStats } from '../runtime/build.js';
import { env } from '../runtime/env.js';
import { heap } from '../runtime/heap.js';
import { HeapModule } from '../runtime/heap_module.js';
import { HeapValue } from '../runtime/heap_value.js';
import { features, target } from '../tune/target.js';
import {
  checkShape,
  disposed,
  elementsFor,
  type FunctionOptions,
  inOrder,
  type InputSpec,
  record,
  stateOf,
} from './compiled_function.js';
import type { Operand, Trace, TracedTensor } from './trace.js';

/** The entry of a graph as a module for so many threads at most; `look` sees the executable before it is freed. */
export function compileForHeap(
  graph: CoreGraph,
  { dumps, origins }: FunctionOptions = {},
  look?: (executable: CoreExecutable) => void,
  threads = Infinity,
): HeapModule {
  const executable = graph.compile({ ...heapRequest(), dumps, origins });
  try {
    look?.(executable);
    return new HeapModule(executable, threads);
  } finally {
    executable.free();
  }
}

/** What modules for the heap are compiled with. */
export const heapRequest = () => ({ ...target(), ...threadsOfHeap(), relocatable: true });

/** Modules in a heap that threads share import it as such, though these may be of no use to them. */
function threadsOfHeap(): Pick<CompileRequest, 'features' | 'worthSplitting'> {
  const isOne = env().threads.count === 1;
  const worthSplitting = isOne ? Number.MAX_VALUE : env().get('THREADS_MIN_WORK');
  return { features: { ...features(), threads: heap().isShared }, worthSplitting };
}

/** A function compiled with `heap`: its results stay where other such functions read them. */
export class HeapFunction<Inputs extends string = string, Outputs extends string = string> {
  #module: HeapModule | undefined;
  readonly #stats: CompileStats;
  #code!: Uint8Array<ArrayBuffer>;
  #dumps!: Dump[];

  /** As `compile`. */
  constructor(
    specs: Record<Inputs, InputSpec>,
    build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
    options: FunctionOptions = {},
  ) {
    const start = performance.now();
    let compiled = start;
    const graph = new CoreGraph();
    try {
      const { variables } = record(graph, specs, build);
      const module = compileForHeap(graph, options, (executable) => {
        this.#code = executable.bytes();
        this.#dumps = executable.dumps();
        compiled = performance.now();
      });
      for (const place of module.metadata.states) {
        copyInto(module.state(place), variables.get(place.name)!.initial.dataSync<DType>());
      }
      this.#module = module;
      const { memoryBytes, temporaryBytes } = module.metadata;
      const { moduleBytes } = module;
      const [compileMs, instantiateMs] = [compiled - start, performance.now() - compiled];
      const { threads } = module.metadata.entries[0]!;
      this.#stats = {
        compileMs,
        instantiateMs,
        moduleBytes,
        memoryBytes,
        temporaryBytes,
        threads,
      };
    } finally {
      graph.free();
    }
  }

  /**
   * Runs the function. Tensors of the right dtype are read where they lie; those in JavaScript
   * memory move to the heap, for good. All else is copied, as by `CompiledFunction.run`. Errors: an
   * input that is missing, unknown or of the wrong shape; no memory left.
   */
  run(inputs: Record<Inputs, TensorLike>): Record<Outputs, Tensor> {
    const module = this.#live();
    const { inputs: places, outputs } = module.metadata.entries[0]!;
    const copies: Tensor[] = [];
    const given = inOrder(places, inputs).map(([place, values]) => {
      const what = `input ${place.name}`;
      if (values instanceof Tensor && values.dtype === hostDTypes[place.dtype]) {
        checkShape(what, place, values);
        return values;
      }
      const copy = copied(what, place, values);
      copies.push(copy);
      return copy;
    });
    const results = module.call(given);
    for (const each of copies) each.dispose();
    const named = outputs.map(({ name }, at) => [name, results[at]!]);
    return Object.fromEntries(named) as Record<Outputs, Tensor>;
  }

  /** A variable as it is now. Error: there is none of this name. */
  variable(name: string): Tensor {
    const module = this.#live();
    const place = stateOf(module.metadata, name);
    return new Tensor(module.state(place).slice(), place.shape, hostDTypes[place.dtype]);
  }

  /** Gives a variable another content. Errors: no such variable, another number of elements. */
  setVariable(name: string, values: TensorLike): void {
    const module = this.#live();
    const place = stateOf(module.metadata, name);
    const data = elementsFor(`variable ${name}`, place, values);
    copyInto(module.state(place), data);
  }

  /** What compiling cost and gave. */
  stats(): CompileStats {
    return { ...this.#stats };
  }

  /** The intermediate forms that the options asked for. */
  dumps(): Dump[] {
    return this.#dumps;
  }

  /** The bytes of the generated module, without its constants. */
  module(): Uint8Array<ArrayBuffer> {
    this.#live();
    return this.#code;
  }

  /** Lets constants and variables go; results stay. Using the function afterwards is an error. */
  dispose(): void {
    this.#module?.dispose();
    this.#module = undefined;
  }

  #live(): HeapModule {
    if (this.#module === undefined) throw disposed();
    return this.#module;
  }
}

/** The elements of `values` as a tensor in the heap. */
export function copied(what: string, place: BufferPlace, values: TensorLike): Tensor {
  const data = elementsFor(what, place, values);
  const value = new HeapValue(hostDTypes[place.dtype], place.shape).place();
  copyInto(value.window(), data);
  return new Tensor(value, place.shape, value.dtype);
}
