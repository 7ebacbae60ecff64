/** A function traced once and compiled to one WebAssembly module. */
import { LatheError, named } from '../base/errors.js';
import { describeKind } from '../base/kinds.js';
import { orderInputs } from '../base/records.js';
import { elementCount } from '../base/shape.js';
import { currentStop, Stop } from '../base/stop.js';
import type { BufferInfo, Dump, ValueId } from '../core/abi.js';
import { type CoreExecutable, CoreGraph } from '../core/handles.js';
import {
  convert,
  copyInto,
  copyOf,
  type DataArray,
  fits,
  type NumberDType,
} from '../tensor/convert.js';
import { type DataTypeMap, type DType, hostDTypes } from '../tensor/dtypes.js';
import { borrow, checkArray, Tensor, type TensorLike } from '../tensor/tensor.js';
import { Build, type CompileStats } from '../runtime/build.js';
import type { Entry } from '../runtime/entry.js';
import type { DeviceName, ProgramPort } from '../runtime/device.js';
import type { Instance } from '../runtime/instance.js';
import { checkIndices } from '../runtime/index_ranges.js';
import { queueForTuning } from '../tune/auto_tune.js';
import { schedules } from '../tune/schedules.js';
import { target } from '../tune/target.js';
import { type Tunable, tunable } from '../tune/tunable.js';
import type { SharedVariables } from './shared_variables.js';
import { type Operand, Trace, TracedTensor, UnknownSize } from './trace.js';

/** The shape of an argument, with its dtype. Default: float32. */
export type InputSpec = readonly number[] | { shape: readonly number[]; dtype?: DType };

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

/** Internal options. */
export interface InternalOptions {
  /** Whether the core frees the executable: the function cannot be tuned then. */
  isLean?: boolean;
  /** Maximum number of threads of a run. Default: all. */
  threads?: number | undefined;
  /** Whether a run may follow an aborted one without a rollback: no run copies its variables first then. */
  isRepeatable?: boolean;
}

export const entryName = 'run';

/** The shape of a spec. */
export const shapeIn = <Size>(
  spec: readonly Size[] | { shape: readonly Size[] },
): readonly Size[] => (Array.isArray(spec) ? spec : (spec as { shape: Size[] } | null)?.shape!);

/** Runs an action under the limits of a function. */
export function limited<T>({ timeLimit }: FunctionOptions, action: () => T): T {
  return timeLimit === undefined ? action() : new Stop('run', { timeLimit }).within(action);
}

/** Creating a promise costs Firefox as much as a small model. */
const done = /* @__PURE__ */ Promise.resolve();

/** A compiled function. Its memory contains inputs, outputs and variables at fixed addresses. */
export class CompiledFunction<
  Inputs extends string = string,
  Outputs extends string = string,
> implements Tunable {
  /** Undefined after compilation of a lean function. */
  #graph: CoreGraph | undefined;
  /** Traces it a second time if the core has stopped. */
  #trace: (() => TracedGraph) | undefined;
  readonly #options: FunctionOptions;
  readonly #internal: InternalOptions;
  readonly #shared: SharedVariables | undefined;
  readonly #assigned: ReadonlySet<string>;
  readonly #isStoppable = currentStop() !== undefined;
  #build!: Build;
  #dumps: Dump[] = [];
  #revision = 0;
  #entry: Entry<DataArray> | undefined;
  /** What `input` and `output` return: views of the entry's buffers, or of those before `tune`. */
  #exposed!: Pick<Entry<DataArray>, 'inputs' | 'outputs'>;
  /** Whether the program may have stored one of these views. */
  #isExposed = false;

  /** Becomes the owner of the graph that `trace` returns; functions of the same variables may share them. */
  constructor(
    trace: () => TracedGraph,
    options: FunctionOptions = {},
    shared?: SharedVariables,
    internal: InternalOptions = {},
  ) {
    const start = performance.now();
    this.#options = options;
    this.#shared = shared;
    this.#internal = internal;
    const { graph, variables, assigned } = trace();
    this.#graph = graph;
    if (internal.isLean !== true) this.#trace = trace;
    this.#assigned = assigned;
    try {
      shared?.check(variables);
      this.#rebuild(start, (instance) => {
        for (const buffer of instance.metadata.states) {
          const { initial } = variables.get(buffer.name)!;
          copyInto(instance.elements<DataArray>(buffer), initial.dataSync<DType>());
        }
      });
    } catch (error) {
      graph.free();
      throw error;
    }
    if (internal.isLean !== true) return;
    graph.free();
    this.#graph = undefined;
  }

  /**
   * Runs the function. Typed arrays of the right length fit any shape, and are converted to the input's dtype as by
   * `tl.tensor`; for bool inputs all but 0 is true. Errors: an input that is missing, unknown or of the wrong size; an
   * index out of range in an input that directly indexes rows.
   */
  run(inputs: Record<Inputs, TensorLike>): Record<Outputs, Tensor> {
    const entry = this.#live();
    this.#load(this.#checked(inputs));
    limited(this.#options, () => entry.run());
    this.#show();
    return results(entry) as Record<Outputs, Tensor>;
  }

  /**
   * As `run`, asynchronously while threads are working. Overlapping calls run in order, each on its inputs as they
   * are at the call. Errors: as `run`; `dispose` before its turn.
   */
  async runAsync(inputs: Record<Inputs, TensorLike>): Promise<Record<Outputs, Tensor>> {
    const entry = this.#usable();
    const values = this.#checked(inputs, this.#instance.isBusy || currentStop() !== undefined);
    const write = () => this.#load(values);
    const read = () => {
      this.#show();
      return results(entry) as Record<Outputs, Tensor>;
    };
    return limited(this.#options, () => this.#instance.call(entryName, write, read));
  }

  /**
   * The elements of an input in the function's memory, of bool 0 or 1, of float16 the bits: write
   * them, then `call`.
   */
  input<D extends DType = NumberDType>(name: Inputs): DataTypeMap[D] {
    this.#live();
    this.#isExposed = true;
    return window('input', name, this.#exposed.inputs) as DataTypeMap[D];
  }

  /** Runs on the current inputs. */
  call(): void {
    const entry = this.#live();
    if (entry === this.#exposed) {
      checkInputs(entry);
      limited(this.#options, () => entry.run());
      return;
    }
    this.#load(this.#exposed.inputs);
    limited(this.#options, () => entry.run());
    this.#show();
  }

  /**
   * As `call`, asynchronously while threads are working. Overlapping calls run in order on the
   * inputs at the call; until they are over, `input` blocks.
   */
  callAsync(): Promise<void> {
    try {
      const entry = this.#usable();
      let { inputs } = this.#exposed;
      if (this.#instance.isBusy) {
        inputs = new Map([...inputs].map(([name, data]) => [name, data.slice()]));
      } else if (entry.info.threads < 2) {
        this.call();
        return done;
      }
      const write = () => this.#load(inputs);
      const read = () => this.#show();
      return limited(this.#options, () => this.#instance.call(entryName, write, read));
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /** The elements of an output in the function's memory, which the next call overwrites. */
  output<D extends DType = NumberDType>(name: Outputs): DataTypeMap[D] {
    this.#live();
    this.#isExposed = true;
    return window('output', name, this.#exposed.outputs) as DataTypeMap[D];
  }

  /** The current value of a variable. Error: there is none of this name. */
  variable(name: string): Tensor {
    const buffer = this.#state(name);
    const data = this.#instance.elements<DataArray>(buffer).slice();
    return new Tensor(data, buffer.shape, hostDTypes[buffer.dtype]);
  }

  /** Sets the value of a variable. Errors: no such variable; a different number of elements. */
  setVariable(name: string, values: TensorLike): void {
    const buffer = this.#state(name);
    copyInto(
      this.#instance.elements<DataArray>(buffer),
      elementsFor(`variable ${name}`, buffer, values),
    );
  }

  /** Statistics of the compilation. */
  stats(): CompileStats {
    return { ...this.#build.stats };
  }

  /** The intermediate forms that the options requested. */
  dumps(): Dump[] {
    return this.#dumps;
  }

  /** The bytes of the generated module. */
  module(): Uint8Array<ArrayBuffer> {
    this.#live();
    return this.#build.moduleCode(() => this.#compile());
  }

  /** Frees the memory; later uses and pending calls throw. */
  dispose(): void {
    if (this.#entry === undefined) return;
    if (this.#shared === undefined) this.#instance.drop(disposedError());
    this.#build.dispose();
    this.#entry = undefined;
    this.#graph?.free();
    this.#trace = undefined;
  }

  /** Whether it has been disposed. */
  get isDisposed(): boolean {
    return this.#entry === undefined;
  }

  /** @internal Bytes of code and memory. */
  get bytes(): number {
    return this.#build.bytes;
  }

  /** @internal */
  get [tunable](): Tunable[typeof tunable] {
    this.#usable();
    return {
      executable: (dumps) => this.#compile(dumps),
      reschedule: () => this.#reschedule(),
    };
  }

  #compile(dumps = this.#options.dumps): CoreExecutable {
    const { origins, timeLimit } = this.#options;
    const stoppable = this.#isStoppable || timeLimit !== undefined;
    const request = { ...target(), dumps, origins, stoppable };
    if (this.#internal.threads === 1) request.features.threads = false;
    if (!this.#graph!.alive && this.#trace !== undefined) this.#graph = this.#trace().graph;
    return this.#graph!.compile(request, this.#internal.isLean);
  }

  /** Errors leave the function unchanged. `fill` initializes the variables. */
  #rebuild(start: number, fill: (instance: Instance) => void): void {
    const compile = () => this.#compile();
    const begin = (instance: Instance, executable: CoreExecutable) => {
      fill(instance);
      this.#shared?.bringTo(instance);
      this.#dumps = executable.dumps();
    };
    const [runs, { threads, isLean, isRepeatable }] = [this.#shared?.runs, this.#internal];
    const rollbackStates = isRepeatable === true ? undefined : this.#assigned;
    this.#build = new Build(compile, begin, { start, rollbackStates, runs, threads });
    this.#entry = this.#instance.entry(entryName);
    if (!this.#isExposed) this.#exposed = this.#entry;
    this.#revision = schedules.revision;
    if (isLean === true) this.#build.releaseExecutable();
    else queueForTuning(this);
  }

  #reschedule(): void {
    if (this.#entry === undefined || this.#revision === schedules.revision) return;
    const [before, entry] = [this.#build, this.#live()];
    this.#rebuild(performance.now(), (next) => void next.copyStatesFrom(before.instance));
    copyAll(entry.inputs, this.#entry.inputs);
    copyAll(entry.outputs, this.#entry.outputs);
    before.dispose();
  }

  get #instance(): Instance {
    return this.#build.instance;
  }

  /** Copies inputs to the entry and to the exposed views, when a run starts. */
  #load(inputs: ReadonlyMap<string, DataArray>): void {
    this.#shared?.bringTo(this.#instance);
    copyAll(inputs, this.#exposed.inputs);
    copyAll(this.#exposed.inputs, this.#entry!.inputs);
    checkInputs(this.#entry!);
  }

  /** Copies the outputs to the exposed views. */
  #show(): void {
    copyAll(this.#entry!.outputs, this.#exposed.outputs);
  }

  /** The entry, after waiting for its runs and fetching the newest variables. */
  #live(): Entry<DataArray> {
    const entry = this.#usable();
    this.#instance.settle();
    this.#shared?.bringTo(this.#instance);
    return entry;
  }

  #usable(): Entry<DataArray> {
    if (this.#entry !== undefined) return this.#entry;
    throw disposedError(this.#shared && 'or evicted for other sizes; bind them once more');
  }

  /** The elements of all inputs, or copies of them. */
  #checked(inputs: Record<Inputs, TensorLike>, copies = false): Map<string, DataArray> {
    const pairs = inputsInOrder(this.#usable().info.inputs, inputs);
    return new Map(
      pairs.map(([buffer, values]) => {
        const data = elementsFor(`input ${buffer.name}`, buffer, values);
        return [buffer.name, copies ? copyOf(data, hostDTypes[buffer.dtype]) : data];
      }),
    );
  }

  #state(name: string): BufferInfo {
    this.#live();
    return stateOf(this.#instance.metadata.states, name);
  }
}

/** A graph with one entry, its variables, and the names of those that a run assigns. */
export interface TracedGraph {
  graph: CoreGraph;
  variables: Trace['variables'];
  assigned: ReadonlySet<string>;
}

/** Traces a function into a new graph. */
export function traceGraph<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, InputSpec>,
  build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
  sizes?: readonly number[],
): TracedGraph & { splitPoints: readonly ValueId[] } {
  const graph = new CoreGraph();
  try {
    const { variables, assigned, splitPoints } = traceInto(graph, specs, build, sizes);
    return { graph, variables, assigned, splitPoints };
  } catch (error) {
    graph.free();
    throw error;
  }
}

/** Traces a function as the entry of a graph. */
export function traceInto<Inputs extends string, Outputs extends string>(
  graph: CoreGraph,
  specs: Record<Inputs, InputSpec>,
  build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
  sizes?: readonly number[],
): Trace {
  graph.beginEntry(entryName);
  const trace = new Trace(graph, sizes);
  const inputs = Object.entries<InputSpec>(specs).map(([name, spec]) => {
    const shape = shapeIn(spec);
    if (!Array.isArray(shape) || shape.includes(null as never)) {
      throw new LatheError(
        `compile: ${name} needs a shape: integers, or names such as 'rows' of sizes that calls choose`,
      );
    }
    const { dtype } = spec as { dtype?: DType };
    return [name, trace.input(name, shape, dtype)];
  });
  try {
    const results = build(Object.fromEntries(inputs) as Record<Inputs, TracedTensor>, trace);
    const got = results instanceof TracedTensor ? 'a tensor' : describeKind(results);
    if (got !== 'an object') {
      throw new LatheError(
        `compile: the function must return its results by name, such as ({ x }) => ({ y: x.mul(2) }); it returned ${got}`,
      );
    }
    for (const [name, value] of Object.entries<Operand>(results)) trace.output(name, value);
  } catch (error) {
    if (!(error instanceof UnknownSize)) throw error;
  }
  return trace;
}

function checkInputs({ info, inputs }: Entry<DataArray>): void {
  for (const each of info.inputs) {
    if (each.ranges) checkIndices(each, inputs.get(each.name)!);
  }
}

const names = (buffers: readonly { name: string }[]) => buffers.map(({ name }) => name).join(', ');

/** The inputs with their values. Errors: as `orderInputs`. */
export function inputsInOrder<Port extends ProgramPort>(
  buffers: readonly Port[],
  inputs: Readonly<Record<string, TensorLike>>,
): [Port, TensorLike][] {
  const values = orderInputs(buffers, inputs, hostDTypes);
  return buffers.map((buffer, at) => [buffer, values[at]!]);
}

/** The buffer of a variable. Error: there is none of this name. */
export function stateOf<Port extends ProgramPort>(states: readonly Port[], name: string): Port {
  const buffer = states.find((each) => each.name === name);
  if (buffer !== undefined) return buffer;
  throw new LatheError(`there is no variable ${name}; known: ${names(states)}`);
}

function window(what: string, name: string, all: ReadonlyMap<string, DataArray>): DataArray {
  const found = all.get(name);
  if (found !== undefined) return found;
  throw new LatheError(`there is no ${what} ${name}; known: ${[...all.keys()].join(', ')}`);
}

/**
 * The elements of `values`, possibly not a copy. Errors: another shape or number of elements than the buffer;
 * numbers that the dtype cannot represent.
 */
export function elementsFor(what: string, buffer: ProgramPort, values: TensorLike): DataArray {
  const dtype = hostDTypes[buffer.dtype];
  const isArray = ArrayBuffer.isView(values);
  if (isArray) checkArray(values);
  const source = isArray ? values : named(what, () => borrow(values, undefined, dtype));
  checkShape(what, buffer, source);
  if (source instanceof Tensor) return source.dataSync<DType>();
  return fits(source, dtype) ? source : convert(source, dtype);
}

/** Error: another shape or number of elements than the buffer. */
export function checkShape(
  what: string,
  { shape }: ProgramPort,
  source: Tensor | ArrayLike<unknown>,
): void {
  const isTensor = source instanceof Tensor;
  const wrongShape = isTensor && source.shape.join() !== shape.join();
  const count = isTensor ? source.size : source.length;
  if (count === elementCount(shape) && !wrongShape) return;
  const got = isTensor ? `[${source.shape.join(',')}]` : `${count} values`;
  throw new LatheError(`${what}: expects shape [${shape.join(',')}], got ${got}`);
}

/** Copies elements between different views. */
function copyAll(from: ReadonlyMap<string, DataArray>, to: ReadonlyMap<string, DataArray>): void {
  if (from === to) return;
  for (const [name, data] of from) copyInto(to.get(name)!, data);
}

/** Copies of the outputs of the last run. */
function results({ info, outputs }: Entry<DataArray>): Record<string, Tensor> {
  const each = info.outputs.map(({ name, shape, dtype }) => {
    return [name, new Tensor(outputs.get(name)!.slice(), shape, hostDTypes[dtype])];
  });
  return Object.fromEntries(each) as Record<string, Tensor>;
}

/** The error of calls of a disposed function. */
export const disposedError = (otherwise?: string) =>
  new LatheError(['this function has been disposed', ...(otherwise ? [otherwise] : [])].join(', '));
