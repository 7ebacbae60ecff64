/** A function written down once and compiled to one WebAssembly module. */
import { LatheError } from '../base/errors.js';
import { own } from '../base/own.js';
import { elementCount } from '../base/shape.js';
import type { BufferPlace, Dump, ModuleMetadata, ValueId } from '../core/abi.js';
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
import type { Instance } from '../runtime/instance.js';
import { checkIndices } from '../runtime/index_ranges.js';
import { noticeNew } from '../tune/auto_tune.js';
import { schedules } from '../tune/schedules.js';
import { target } from '../tune/target.js';
import { type Tunable, tunable } from '../tune/tunable.js';
import type { SharedVariables } from './shared_variables.js';
import { type Operand, Trace, type TracedTensor, UnknownSize } from './trace.js';

/** The shape of an argument, with its dtype where that is not float32. */
export type InputSpec = readonly number[] | { shape: readonly number[]; dtype?: DType };

/** Options of `compile`. */
export interface FunctionOptions {
  /**
   * Whether the function works in the memory that all tensors share: results stay there, and other
   * such functions and operations on tensors take them without a copy. Runs on one thread.
   */
  heap?: boolean;
  /**
   * Whether data gives sizes, by `g.size` or `x.nonZero()`: the function is cut behind each, and the
   * rest compiled for the sizes that come. Results lie in the memory that all tensors share.
   */
  segments?: boolean;
  /**
   * Whether `module` has a custom section "tensorlathe.origins": JSON that says for every place of
   * the code which kernel, statement and node of the graph it computes.
   */
  origins?: boolean;
  /** 'before:PASS', 'after:PASS' or 'after:*': intermediate forms to keep for `dumps`. */
  dumps?: string[];
}

/** What owners of functions say of them. */
export interface Terms {
  /** Whether the core keeps nothing of it: it cannot be tuned. */
  isLean?: boolean;
  /** Threads that a run keeps busy at most. Default: as many as there are. */
  threads?: number | undefined;
  /** Whether a run may follow on what one left that was broken off: then no run copies its variables first. */
  isRepeatable?: boolean;
}

export const entryName = 'run';

/** Promises of one's own cost Firefox as much as a small model. */
const done = /* @__PURE__ */ Promise.resolve();

/** A compiled function. Its memory holds inputs, outputs and variables at fixed places. */
export class CompiledFunction<
  Inputs extends string = string,
  Outputs extends string = string,
> implements Tunable {
  /** Nothing once a lean one is compiled. */
  #graph: CoreGraph | undefined;
  /** Traces it again where the core has stopped. */
  #write: (() => Written) | undefined;
  readonly #options: FunctionOptions;
  readonly #terms: Terms;
  readonly #shared: SharedVariables | undefined;
  readonly #assigned: ReadonlySet<string>;
  #build!: Build;
  #dumps: Dump[] = [];
  #revision = 0;
  #entry: Entry<DataArray> | undefined;
  /** What `input` and `output` show: places in the memory, or where they were before `tune`. */
  #shown!: Pick<Entry<DataArray>, 'inputs' | 'outputs'>;
  /** Whether somebody may have kept one of them. */
  #isShown = false;

  /** Takes over the graph that `write` gives; functions of the same variables may share them. */
  constructor(
    write: () => Written,
    options: FunctionOptions = {},
    shared?: SharedVariables,
    terms: Terms = {},
  ) {
    const start = performance.now();
    this.#options = options;
    this.#shared = shared;
    this.#terms = terms;
    const { graph, variables, assigned } = write();
    this.#graph = graph;
    if (terms.isLean !== true) this.#write = write;
    this.#assigned = assigned;
    try {
      shared?.check(variables);
      this.#rebuild(start, (instance) => {
        for (const place of instance.metadata.states) {
          const { initial } = variables.get(place.name)!;
          copyInto(instance.elements<DataArray>(place), initial.dataSync<DType>());
        }
      });
    } catch (error) {
      graph.free();
      throw error;
    }
    if (terms.isLean !== true) return;
    graph.free();
    this.#graph = undefined;
  }

  /**
   * Runs the function. Typed arrays are taken by their elements, whatever their shape, and converted
   * to the input's dtype as by `tl.tensor`; for bool inputs all but 0 is true. Errors: an input that is missing, unknown or of the wrong size;
   * an element of one that picks rows as it is, and of which there is no row.
   */
  run(inputs: Record<Inputs, TensorLike>): Record<Outputs, Tensor> {
    const entry = this.#live();
    this.#load(this.#checked(inputs));
    entry.run();
    this.#show();
    return results(entry) as Record<Outputs, Tensor>;
  }

  /**
   * As `run`, without keeping a page waiting while threads are at work. Calls that overlap run in
   * their order, each on its inputs as they are now. Errors: as `run`; `dispose` before its turn.
   */
  async runAsync(inputs: Record<Inputs, TensorLike>): Promise<Record<Outputs, Tensor>> {
    const entry = this.#usable();
    const given = this.#checked(inputs, this.#instance.isBusy);
    const write = () => this.#load(given);
    return this.#instance.call(entryName, write, () => {
      this.#show();
      return results(entry) as Record<Outputs, Tensor>;
    });
  }

  /**
   * The elements of an input in the function's memory, of bool 0 or 1, of halves their bits: write
   * them, then `call`.
   */
  input<D extends DType = NumberDType>(name: Inputs): DataTypeMap[D] {
    this.#live();
    this.#isShown = true;
    return window('input', name, this.#shown.inputs) as DataTypeMap[D];
  }

  /** Runs on what the inputs hold now. */
  call(): void {
    const entry = this.#live();
    if (entry === this.#shown) {
      checkInputs(entry);
      entry.run();
      return;
    }
    this.#load(this.#shown.inputs);
    entry.run();
    this.#show();
  }

  /**
   * As `call`, without keeping a page waiting while threads are at work. Calls that overlap run in
   * their order on what the inputs hold now; until they are over, `input` waits for them.
   */
  callAsync(): Promise<void> {
    try {
      const entry = this.#usable();
      let { inputs } = this.#shown;
      if (this.#instance.isBusy) {
        inputs = new Map([...inputs].map(([name, data]) => [name, data.slice()]));
      } else if (entry.place.threads < 2) {
        this.call();
        return done;
      }
      const write = () => this.#load(inputs);
      return this.#instance.call(entryName, write, () => this.#show());
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /** The elements of an output in the function's memory, which the next call overwrites. */
  output<D extends DType = NumberDType>(name: Outputs): DataTypeMap[D] {
    this.#live();
    this.#isShown = true;
    return window('output', name, this.#shown.outputs) as DataTypeMap[D];
  }

  /** A variable as it is now. Error: there is none of this name. */
  variable(name: string): Tensor {
    const place = this.#state(name);
    const data = this.#instance.elements<DataArray>(place).slice();
    return new Tensor(data, place.shape, hostDTypes[place.dtype]);
  }

  /** Gives a variable another content. Errors: no such variable, another number of elements. */
  setVariable(name: string, values: TensorLike): void {
    const place = this.#state(name);
    copyInto(
      this.#instance.elements<DataArray>(place),
      elementsFor(`variable ${name}`, place, values),
    );
  }

  /** What compiling cost and gave. */
  stats(): CompileStats {
    return { ...this.#build.stats };
  }

  /** The intermediate forms that the options asked for. */
  dumps(): Dump[] {
    return this.#dumps;
  }

  /** The bytes of the generated module. */
  module(): Uint8Array<ArrayBuffer> {
    this.#live();
    return this.#build.moduleCode(() => this.#compile());
  }

  /** Lets the memory go; using the function afterwards is an error, and calls that wait fail. */
  dispose(): void {
    if (this.#entry === undefined) return;
    if (this.#shared === undefined) this.#instance.drop(disposed());
    this.#build.dispose();
    this.#entry = undefined;
    this.#graph?.free();
    this.#write = undefined;
  }

  /** Whether it has been disposed. */
  get isDisposed(): boolean {
    return this.#entry === undefined;
  }

  /** @internal Of code and memory. */
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
    const { origins } = this.#options;
    const request = { ...target(), dumps, origins };
    if (this.#terms.threads === 1) request.features.threads = false;
    if (!this.#graph!.alive && this.#write !== undefined) this.#graph = this.#write().graph;
    return this.#graph!.compile(request, this.#terms.isLean);
  }

  /** Errors leave the function as it was. `fill` gives the variables their content. */
  #rebuild(start: number, fill: (instance: Instance) => void): void {
    const compile = () => this.#compile();
    const begin = (instance: Instance, executable: CoreExecutable) => {
      fill(instance);
      this.#shared?.bringTo(instance);
      this.#dumps = executable.dumps();
    };
    const [runs, { threads, isLean, isRepeatable }] = [this.#shared?.runs, this.#terms];
    const kept = isRepeatable === true ? undefined : this.#assigned;
    this.#build = new Build(compile, begin, { start, kept, runs, threads });
    this.#entry = this.#instance.entry(entryName);
    if (!this.#isShown) this.#shown = this.#entry;
    this.#revision = schedules.revision;
    if (isLean === true) this.#build.forget();
    else noticeNew(this);
  }

  #reschedule(): void {
    if (this.#entry === undefined || this.#revision === schedules.revision) return;
    const [before, entry] = [this.#build, this.#live()];
    this.#rebuild(performance.now(), (next) => void next.carryStates(before.instance));
    copyAll(entry.inputs, this.#entry.inputs);
    copyAll(entry.outputs, this.#entry.outputs);
    before.dispose();
  }

  get #instance(): Instance {
    return this.#build.instance;
  }

  /** Copies inputs to where the entry reads them, and to where callers see them, at the turn of a run. */
  #load(inputs: ReadonlyMap<string, DataArray>): void {
    this.#shared?.bringTo(this.#instance);
    copyAll(inputs, this.#shown.inputs);
    copyAll(this.#shown.inputs, this.#entry!.inputs);
    checkInputs(this.#entry!);
  }

  /** Copies the outputs to where callers see them. */
  #show(): void {
    copyAll(this.#entry!.outputs, this.#shown.outputs);
  }

  /** The entry, nothing at work on it, and the newest variables. */
  #live(): Entry<DataArray> {
    const entry = this.#usable();
    this.#instance.settle();
    this.#shared?.bringTo(this.#instance);
    return entry;
  }

  #usable(): Entry<DataArray> {
    if (this.#entry !== undefined) return this.#entry;
    throw disposed(this.#shared && 'or has made room for other sizes; bind them again');
  }

  /** The elements of all inputs, or copies of them. */
  #checked(inputs: Record<Inputs, TensorLike>, copies = false): Map<string, DataArray> {
    const given = inOrder(this.#usable().place.inputs, inputs);
    return new Map(
      given.map(([place, values]) => {
        const data = elementsFor(`input ${place.name}`, place, values);
        return [place.name, copies ? copyOf(data, hostDTypes[place.dtype]) : data];
      }),
    );
  }

  #state(name: string): BufferPlace {
    this.#live();
    return stateOf(this.#instance.metadata, name);
  }
}

/** A graph with one entry: its variables, and the names of those that a run changes. */
export interface Written {
  graph: CoreGraph;
  variables: Trace['variables'];
  assigned: ReadonlySet<string>;
}

/** A function as a graph of its own. */
export function written<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, InputSpec>,
  build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
  sizes?: readonly number[],
): Written & { cuts: readonly ValueId[] } {
  const graph = new CoreGraph();
  try {
    const { variables, assigned, cuts } = record(graph, specs, build, sizes);
    return { graph, variables, assigned, cuts };
  } catch (error) {
    graph.free();
    throw error;
  }
}

/** Writes a function down as the entry of a graph. */
export function record<Inputs extends string, Outputs extends string>(
  graph: CoreGraph,
  specs: Record<Inputs, InputSpec>,
  build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
  sizes?: readonly number[],
): Trace {
  graph.beginEntry(entryName);
  const trace = new Trace(graph, sizes);
  const inputs = Object.entries<InputSpec>(specs).map(([name, spec]) => {
    const { shape, dtype } = 'shape' in spec ? spec : { shape: spec, dtype: undefined };
    return [name, trace.input(name, shape, dtype)];
  });
  try {
    const results = build(Object.fromEntries(inputs) as Record<Inputs, TracedTensor>, trace);
    for (const [name, value] of Object.entries<Operand>(results)) trace.output(name, value);
  } catch (error) {
    if (!(error instanceof UnknownSize)) throw error;
  }
  return trace;
}

function checkInputs({ place, inputs }: Entry<DataArray>): void {
  for (const each of place.inputs) {
    if (each.ranges) checkIndices(each, inputs.get(each.name)!);
  }
}

const names = (places: readonly BufferPlace[]) => places.map(({ name }) => name).join(', ');

/** What is given for every input. Errors: one is missing or unknown. */
export function inOrder(
  places: readonly BufferPlace[],
  inputs: Readonly<Record<string, TensorLike>>,
): [BufferPlace, TensorLike][] {
  for (const name of Object.keys(inputs)) {
    if (!places.some((each) => each.name === name)) {
      throw new LatheError(`run: there is no input ${name}; known: ${names(places)}`);
    }
  }
  return places.map((place) => {
    const values = own(inputs, place.name);
    if (values === undefined) throw new LatheError(`run: input ${place.name} is missing`);
    return [place, values];
  });
}

/** Where a variable is. Error: there is none of this name. */
export function stateOf({ states }: ModuleMetadata, name: string): BufferPlace {
  const place = states.find((each) => each.name === name);
  if (place !== undefined) return place;
  throw new LatheError(`there is no variable ${name}; known: ${names(states)}`);
}

function window(what: string, name: string, all: ReadonlyMap<string, DataArray>): DataArray {
  const found = all.get(name);
  if (found !== undefined) return found;
  throw new LatheError(`there is no ${what} ${name}; known: ${[...all.keys()].join(', ')}`);
}

/**
 * The elements of `values`, not always a copy. Errors: not as many as the place has, or another
 * shape; numbers that the dtype cannot be.
 */
export function elementsFor(what: string, place: BufferPlace, values: TensorLike): DataArray {
  const dtype = hostDTypes[place.dtype];
  const isArray = ArrayBuffer.isView(values);
  if (isArray) checkArray(values);
  const source = isArray ? values : borrow(values, undefined, dtype);
  checkShape(what, place, source);
  if (source instanceof Tensor) return source.dataSync<DType>();
  return fits(source, dtype) ? source : convert(source, dtype);
}

/** Error: a tensor of another shape than the place, or not as many elements. */
export function checkShape(
  what: string,
  { shape }: BufferPlace,
  source: Tensor | ArrayLike<unknown>,
): void {
  const isTensor = source instanceof Tensor;
  const wrongShape = isTensor && source.shape.join() !== shape.join();
  const count = isTensor ? source.size : source.length;
  if (count === elementCount(shape) && !wrongShape) return;
  const got = isTensor ? `[${source.shape.join(',')}]` : `${count} values`;
  throw new LatheError(`${what}: wants shape [${shape.join(',')}], got ${got}`);
}

/** Copies what is not there already. */
function copyAll(from: ReadonlyMap<string, DataArray>, to: ReadonlyMap<string, DataArray>): void {
  if (from === to) return;
  for (const [name, data] of from) copyInto(to.get(name)!, data);
}

/** Copies of what the last run of the entry gave. */
function results({ place, outputs }: Entry<DataArray>): Record<string, Tensor> {
  const each = place.outputs.map(({ name, shape, dtype }) => {
    return [name, new Tensor(outputs.get(name)!.slice(), shape, hostDTypes[dtype])];
  });
  return Object.fromEntries(each) as Record<string, Tensor>;
}

/** What calls of a function that is gone throw. */
export const disposed = (otherwise?: string) =>
  new LatheError(['this function has been disposed', ...(otherwise ? [otherwise] : [])].join(', '));
