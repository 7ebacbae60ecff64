/** A function with names for input sizes, compiled for every combination of sizes that it is called with. */
import { LatheError } from '../base/errors.js';
import { orderInputs } from '../base/records.js';
import {
  formatSizes,
  namesIn,
  type Size,
  type Sizes,
  sizesOf,
  substituteSizes,
} from '../base/sizes.js';
import type { Dump } from '../core/abi.js';
import { CompilationCache, dynamicShapeCacheLimits } from '../runtime/compilation_cache.js';
import type { CompileStats } from '../runtime/build.js';
import type { Device } from '../runtime/device.js';
import type { DType } from '../tensor/dtypes.js';
import { checkArray, shapeOf, Tensor, type TensorLike } from '../tensor/tensor.js';
import { engine } from '../tune/target.js';
import { type Tunable, tunable } from '../tune/tunable.js';
import { CompiledFunction, disposedError, type FunctionOptions } from './compiled_function.js';
import { DeviceFunction } from './device_function.js';
import { ModuleFunction } from './module_function.js';
import { SharedVariables } from './shared_variables.js';
import { traceGraph } from './trace_graph.js';
import type { Operand, Trace, TracedTensor } from './trace.js';

/** The shape of an argument, with names for the sizes that calls choose, and its dtype. Default: float32. */
export type SizedInputSpec = readonly Size[] | { shape: readonly Size[]; dtype?: DType };

/** A function of fixed sizes. */
type Fixed<Inputs extends string, Outputs extends string> =
  ModuleFunction<Inputs, Outputs> | DeviceFunction<Inputs, Outputs>;

/** The function compiled for some sizes. */
interface Bound<Inputs extends string, Outputs extends string> {
  key: string;
  sizes: Sizes;
  fixed: Fixed<Inputs, Outputs>;
}

/**
 * A function with names for sizes: one compiled function for each combination of sizes, compiled at its first call.
 * Caches up to 16 of them and 64 MB in total. All share the variables.
 */
export class SizedFunction<
  Inputs extends string = string,
  Outputs extends string = string,
> extends CompiledFunction<Inputs, Outputs> {
  readonly #inputs: { name: Inputs; shape: readonly Size[]; dtype: DType }[];
  /** @internal The names of sizes. */
  readonly names: readonly string[];
  readonly #build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>;
  readonly #options: FunctionOptions;
  readonly #shared = new SharedVariables();
  readonly #cache = new CompilationCache<Fixed<Inputs, Outputs>>(dynamicShapeCacheLimits);
  #current: Bound<Inputs, Outputs> | undefined;
  #isDisposed = false;

  /** As `compile`. `device`: undefined for functions with modules of their own. */
  constructor(
    specs: Record<Inputs, SizedInputSpec>,
    build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
    options: FunctionOptions = {},
    private readonly device?: Device,
  ) {
    super();
    this.#inputs = Object.entries<SizedInputSpec>(specs).map(([name, spec]) => {
      const { shape, dtype = 'float32' } = 'shape' in spec ? spec : { shape: spec };
      return { name: name as Inputs, shape: [...shape], dtype };
    });
    this.names = namesIn(this.#inputs.map(({ shape }) => shape));
    const wrong = this.names.find((name) => !/^[\p{L}_]/u.test(name));
    if (wrong !== undefined) {
      throw new LatheError(
        `compile: the name ${JSON.stringify(wrong)} of a size must begin with a letter`,
      );
    }
    this.#build = build;
    this.#options = options;
  }

  /**
   * The shapes of tensors and nested arrays determine the sizes, typed arrays if their length is unambiguous. Errors: also shapes
   * that do not fit the declaration or each other; whatever compiling for new sizes throws.
   */
  run(inputs: Record<Inputs, TensorLike>): Record<Outputs, Tensor> {
    return this.#at(this.#sizesOf(inputs)).run(inputs);
  }

  /** Overlapping calls run in order, whatever their sizes; the first call with new sizes waits for those before it. */
  override async runAsync(inputs: Record<Inputs, TensorLike>): Promise<Record<Outputs, Tensor>> {
    return this.#at(this.#sizesOf(inputs)).runAsync(inputs);
  }

  /**
   * The function for these sizes, with its views `input` and `output`, `call` and the like. It may
   * be used together with this one and others like it, on the same variables, until it is disposed or
   * evicted for other sizes. Errors: a name that is missing or unknown; a size that is no
   * integer ≥ 0; whatever compiling throws.
   */
  bind(sizes: Readonly<Record<string, number>>): CompiledFunction<Inputs, Outputs> {
    this.#check();
    const names = this.names.join(', ');
    for (const name of Object.keys(sizes)) {
      if (!this.names.includes(name)) {
        throw new LatheError(`bind: there is no size ${name}; known: ${names}`);
      }
    }
    const values = this.names.map((name): [string, number] => {
      const size: unknown = Object.hasOwn(sizes, name) ? sizes[name] : undefined;
      if (typeof size === 'number') return [name, size];
      throw new LatheError(`bind: ${name} must be a number, got ${String(size)}`);
    });
    return this.#at(new Map(values));
  }

  /** Error: also no `run` or `bind` yet. */
  variable(name: string): Tensor {
    return this.#bound('variable').variable(name);
  }

  /** Errors: also as `variable`. */
  setVariable(name: string, values: TensorLike): void {
    this.#bound('setVariable').setVariable(name, values);
  }

  /** For the current sizes. Error: no `run` or `bind` yet. */
  override stats(): CompileStats {
    return this.#bound('stats').stats();
  }

  /** As `stats`. */
  override dumps(): Dump[] {
    return this.#bound('dumps').dumps();
  }

  /** As `stats`. Error: also it is on another device than 'wasm'. */
  override module(): Uint8Array<ArrayBuffer> {
    return this.#bound('module').module();
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#shared.runs.drop(disposedError());
    this.#current?.fixed.dispose();
    this.#cache.free();
  }

  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  /** @internal For the current sizes. */
  override get [tunable](): Tunable[typeof tunable] {
    return this.#bound('tune')[tunable];
  }

  #check(): void {
    if (this.#isDisposed) throw disposedError();
  }

  #bound(what: string): Fixed<Inputs, Outputs> {
    this.#check();
    if (this.#current !== undefined) return this.#at(this.#current.sizes);
    throw new LatheError(`${what}: no sizes are known yet; call run or bind before`);
  }

  #sizesOf(inputs: Record<Inputs, TensorLike>): Sizes {
    this.#check();
    const values = orderInputs<TensorLike>(this.#inputs, inputs);
    return sizesOf(
      this.#inputs.map(({ name, shape }, at) => ({
        name,
        shape,
        actual: shapeOrLength(values[at]!),
      })),
    );
  }

  #at(sizes: Sizes): Fixed<Inputs, Outputs> {
    const values = this.names.map((name) => sizes.get(name));
    const key = `${values.join()} ${JSON.stringify(engine())}`;
    const before = this.#current;
    if (before?.key === key && !before.fixed.isDisposed) return before.fixed;
    const cached = this.#cache.remove(key);
    const fixed = cached === undefined || cached.isDisposed ? this.#compile(sizes) : cached;
    this.#current = { key, sizes, fixed };
    if (before !== undefined && !before.fixed.isDisposed)
      this.#cache.insert(before.key, before.fixed);
    return fixed;
  }

  #compile(sizes: Sizes): Fixed<Inputs, Outputs> {
    const specs = this.#inputs.map(({ name, shape, dtype }) => {
      return [name, { shape: substituteSizes(shape, sizes), dtype }] as const;
    });
    const fixed = Object.fromEntries(specs) as Record<Inputs, { shape: number[]; dtype: DType }>;
    try {
      const trace = () => traceGraph(fixed, this.#build);
      return this.device === undefined
        ? new ModuleFunction(trace, this.#options, this.#shared)
        : new DeviceFunction(this.device, trace, this.#options, this.#shared);
    } catch (error) {
      const where = ` (with ${formatSizes(sizes)})`;
      if (error instanceof Error && !error.message.endsWith(where)) error.message += where;
      throw error;
    }
  }
}

function shapeOrLength(values: TensorLike): readonly number[] | number {
  if (values instanceof Tensor) return values.shape;
  if (!ArrayBuffer.isView(values)) return shapeOf(values);
  checkArray(values);
  return values.length;
}
