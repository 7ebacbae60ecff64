/** Functions that are one WebAssembly module with a memory of its own. */
import { LatheError } from '../base/errors.js';
import { currentStop } from '../base/stop.js';
import type { BufferInfo, Dump } from '../core/abi.js';
import type { CoreExecutable, CoreGraph } from '../core/handles.js';
import { copyInto, copyOf, type DataArray, type NumberDType } from '../tensor/convert.js';
import { type DataTypeMap, type DType, hostDTypes } from '../tensor/dtypes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import { Build, type CompileStats } from '../runtime/build.js';
import type { Entry } from '../runtime/entry.js';
import type { Instance } from '../runtime/instance.js';
import { checkIndices } from '../runtime/index_ranges.js';
import { queueForTuning } from '../tune/auto_tune.js';
import { schedules } from '../tune/schedules.js';
import { target } from '../tune/target.js';
import { type Tunable, tunable } from '../tune/tunable.js';
import {
  CompiledFunction,
  disposedError,
  type FunctionOptions,
  limited,
} from './compiled_function.js';
import { elementsFor, inputsInOrder, stateOf } from './function_inputs.js';
import type { SharedVariables } from './shared_variables.js';
import { entryName, type TracedGraph } from './trace_graph.js';

/** Internal options. */
export interface InternalOptions {
  /** Whether the core frees the executable: the function cannot be tuned then. */
  isLean?: boolean;
  /** Maximum number of threads of a run. Default: all. */
  threads?: number | undefined;
  /** Whether a run may follow an aborted one without a rollback: no run copies its variables first then. */
  isRepeatable?: boolean;
}

/** Creating a promise costs Firefox as much as a small model. */
const done = /* @__PURE__ */ Promise.resolve();

/** A function without `device`, `heap` and `segments`. Its memory contains inputs, outputs and variables at fixed addresses. */
export class ModuleFunction<
  Inputs extends string = string,
  Outputs extends string = string,
> extends CompiledFunction<Inputs, Outputs> {
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
    super();
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

  run(inputs: Record<Inputs, TensorLike>): Record<Outputs, Tensor> {
    const entry = this.#live();
    this.#load(this.#checked(inputs));
    limited(this.#options, () => entry.run());
    this.#show();
    return results(entry) as Record<Outputs, Tensor>;
  }

  override async runAsync(inputs: Record<Inputs, TensorLike>): Promise<Record<Outputs, Tensor>> {
    const entry = this.#usable();
    const values = this.#checked(inputs, this.#instance.isBusy || currentStop() !== undefined);
    const write = () => this.#load(values);
    const read = () => {
      this.#show();
      return results(entry) as Record<Outputs, Tensor>;
    };
    return limited(this.#options, () => this.#instance.call(entryName, write, read));
  }

  override input<D extends DType = NumberDType>(name: Inputs): DataTypeMap[D] {
    this.#live();
    this.#isExposed = true;
    return window('input', name, this.#exposed.inputs) as DataTypeMap[D];
  }

  override call(): void {
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

  override callAsync(): Promise<void> {
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

  override output<D extends DType = NumberDType>(name: Outputs): DataTypeMap[D] {
    this.#live();
    this.#isExposed = true;
    return window('output', name, this.#exposed.outputs) as DataTypeMap[D];
  }

  variable(name: string): Tensor {
    const buffer = this.#state(name);
    const data = this.#instance.elements<DataArray>(buffer).slice();
    return new Tensor(data, buffer.shape, hostDTypes[buffer.dtype]);
  }

  setVariable(name: string, values: TensorLike): void {
    const buffer = this.#state(name);
    copyInto(
      this.#instance.elements<DataArray>(buffer),
      elementsFor(`variable ${name}`, buffer, values),
    );
  }

  override stats(): CompileStats {
    return { ...this.#build.stats };
  }

  override dumps(): Dump[] {
    return this.#dumps;
  }

  override module(): Uint8Array<ArrayBuffer> {
    this.#live();
    return this.#build.moduleCode(() => this.#compile());
  }

  dispose(): void {
    if (this.#entry === undefined) return;
    if (this.#shared === undefined) this.#instance.drop(disposedError());
    this.#build.dispose();
    this.#entry = undefined;
    this.#graph?.free();
    this.#trace = undefined;
  }

  get isDisposed(): boolean {
    return this.#entry === undefined;
  }

  /** @internal Bytes of code and memory. */
  get bytes(): number {
    return this.#build.bytes;
  }

  override get [tunable](): Tunable[typeof tunable] {
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

function checkInputs({ info, inputs }: Entry<DataArray>): void {
  for (const each of info.inputs) {
    if (each.ranges) checkIndices(each, inputs.get(each.name)!);
  }
}

function window(what: string, name: string, all: ReadonlyMap<string, DataArray>): DataArray {
  const found = all.get(name);
  if (found !== undefined) return found;
  throw new LatheError(`there is no ${what} ${name}; known: ${[...all.keys()].join(', ')}`);
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
