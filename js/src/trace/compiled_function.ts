/** What `compile` returns. */
import { LatheError } from '../base/errors.js';
import { Stop } from '../base/stop.js';
import type { Dump } from '../core/abi.js';
import type { CompileStats } from '../runtime/build.js';
import type { DeviceName } from '../runtime/device.js';
import type { NumberDType } from '../tensor/convert.js';
import type { DataTypeMap, DType } from '../tensor/dtypes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import { type Tunable, tunable } from '../tune/tunable.js';

/** Options of `compile`. */
export interface FunctionOptions {
  /**
   * Whether the function runs in the memory of tensors: results stay there, and other such functions and
   * operations on tensors read them without a copy. Single-threaded.
   */
  heap?: boolean;
  /**
   * Whether sizes depend on data, by `g.size` or `x.nonZero()`: the function is split after each, and the
   * rest is compiled for the sizes that occur. Results are in the memory of tensors.
   */
  segments?: boolean;
  /**
   * Whether `module` has a custom section "tensorlathe.origins": JSON that maps every position in
   * the code to the kernel, statement and graph node that it computes.
   */
  origins?: boolean;
  /** 'before:PASS', 'after:PASS' or 'after:*': the intermediate forms in `dumps`. */
  dumps?: string[];
  /**
   * Milliseconds after which a run ends with an error, with variables as before it. Such a function checks the time
   * between its kernels and the iterations of its loops.
   */
  timeLimit?: number;
  /** Where it runs, 'webgpu' or 'wasm', instead of in a module of its own: results are tensors of the device. */
  device?: DeviceName;
}

/** Runs an action under the limits of a function. */
export function limited<T>({ timeLimit }: FunctionOptions, action: () => T): T {
  return timeLimit === undefined ? action() : new Stop('run', { timeLimit }).within(action);
}

/** The error of calls of a disposed function. */
export const disposedError = (otherwise?: string) =>
  new LatheError(['this function has been disposed', ...(otherwise ? [otherwise] : [])].join(', '));

/**
 * A function of tensors on a device, or in a module of its own (`FunctionOptions`). Only the latter has inputs and outputs at fixed
 * addresses: elsewhere `input`, `output`, `call` and `callAsync` throw.
 */
export abstract class CompiledFunction<
  Inputs extends string = string,
  Outputs extends string = string,
> implements Tunable {
  /**
   * Runs the function. Typed arrays of the right length fit any shape, and are converted to the input's dtype as by
   * `tl.tensor`; for bool inputs all but 0 is true. On a device, tensors of the right dtype are read without a copy, those in
   * JavaScript memory move to the device permanently, and results are tensors of the device.
   *
   * Errors: an input that is missing, unknown, of the wrong size or on another device; an index out of range in an input that directly
   * indexes rows; out of memory.
   */
  abstract run(inputs: Record<Inputs, TensorLike>): Record<Outputs, Tensor>;

  /**
   * As `run`, asynchronously while threads are working or elements of a device are awaited. Overlapping calls run in order, each on
   * its inputs as they are at the call. Errors: as `run`; `dispose` before its turn.
   */
  async runAsync(inputs: Record<Inputs, TensorLike>): Promise<Record<Outputs, Tensor>> {
    return this.run(inputs);
  }

  /**
   * The elements of an input in the function's memory, of bool 0 or 1, of float16 the bits: write
   * them, then `call`.
   */
  input<D extends DType = NumberDType>(_name: Inputs): DataTypeMap[D] {
    throw noViewsError('input');
  }

  /** Runs on the current inputs. */
  call(): void {
    throw noViewsError('call');
  }

  /**
   * As `call`, asynchronously while threads are working. Overlapping calls run in order on the
   * inputs at the call; until they are over, `input` blocks.
   */
  async callAsync(): Promise<void> {
    throw noViewsError('callAsync');
  }

  /** The elements of an output in the function's memory, which the next call overwrites. */
  output<D extends DType = NumberDType>(_name: Outputs): DataTypeMap[D] {
    throw noViewsError('output');
  }

  /** The current value of a variable. Error: there is none of this name. */
  abstract variable(name: string): Tensor;

  /** Sets the value of a variable. Errors: no such variable; a different number of elements. */
  abstract setVariable(name: string, values: TensorLike): void;

  /** Statistics of the compilation. Error: it is several modules. */
  stats(): CompileStats {
    throw noModuleError('stats');
  }

  /** The intermediate forms that the options requested. Error: it is several modules. */
  dumps(): Dump[] {
    throw noModuleError('dumps');
  }

  /** The bytes of the generated module. Error: there is none, or there are several. */
  module(): Uint8Array<ArrayBuffer> {
    throw noModuleError('module');
  }

  /** Frees constants and variables, but not results; later uses and pending calls throw. */
  abstract dispose(): void;

  /** Whether it has been disposed. */
  abstract get isDisposed(): boolean;

  /** @internal */
  get [tunable](): Tunable[typeof tunable] {
    throw new LatheError(
      'only functions with a module of their own can be tuned or exported: compile it without device, heap and segments',
    );
  }
}

const noViewsError = (what: string) =>
  new LatheError(
    `${what}: a function on a device has no memory of its own: use run, whose arguments and results are tensors`,
  );

const noModuleError = (what: string) =>
  new LatheError(`${what}: a function with segments has several modules`);
