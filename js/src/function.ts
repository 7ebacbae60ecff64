/** A function written down once and compiled to one WebAssembly module: `tl.compile`. */
import type { BufferPlace, Dump } from './abi.js';
import type { CompileStats } from './compiled.js';
import { noticeNew } from './auto_tune.js';
import { LatheError } from './errors.js';
import { type Entry, Instance, threadsOf } from './instance.js';
import { type CoreExecutable, CoreGraph, sizeOf } from './program.js';
import { schedules } from './schedules.js';
import { target } from './target.js';
import {
  type DataArray,
  type DType,
  hostDTypes,
  Tensor,
  tensor,
  type TensorLike,
} from './tensor.js';
import { type Operand, type TracedTensor, Trace, type Variable } from './trace.js';
import { type Tunable, tunable } from './tunable.js';

/** The shape of an argument, with its dtype where that is not float32. */
export type InputSpec = readonly number[] | { shape: readonly number[]; dtype?: DType };

/** Options of `compile`. */
export interface FunctionOptions {
  /** 'before:PASS', 'after:PASS' or 'after:*': intermediate forms to keep for `dumps`. */
  dumps?: string[];
}

const entryName = 'run';

/** Promises of one's own cost Firefox as much as a small model. */
const done = /* @__PURE__ */ Promise.resolve();

/** A compiled function. Its memory holds inputs, outputs and variables at fixed places. */
export class CompiledFunction<
  Inputs extends string = string,
  Outputs extends string = string,
> implements Tunable {
  readonly #graph = new CoreGraph();
  readonly #options: FunctionOptions;
  #executable: CoreExecutable | undefined;
  #instance!: Instance;
  #stats!: CompileStats;
  #dumps: Dump[] = [];
  #revision = 0;
  #entry: Entry | undefined;

  /** As `compile`. */
  constructor(
    specs: Record<Inputs, InputSpec>,
    build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
    options: FunctionOptions = {},
  ) {
    const start = performance.now();
    this.#options = options;
    try {
      const variables = record(this.#graph, specs, build);
      this.#build(start);
      for (const place of this.#instance.metadata.states) {
        this.#instance.elements(place).set(variables.get(place.name)!.initial.dataSync());
      }
    } catch (error) {
      this.#graph.free();
      this.#executable?.free();
      throw error;
    }
  }

  /**
   * Runs the function. Typed arrays are taken by their elements, whatever their shape. Errors: an
   * input that is missing, unknown or of the wrong size.
   */
  run(inputs: Record<Inputs, TensorLike>): Record<Outputs, Tensor> {
    this.#loadAll(inputs);
    this.call();
    return this.#results();
  }

  /** As `run`, without keeping a page waiting while threads are at work. */
  async runAsync(inputs: Record<Inputs, TensorLike>): Promise<Record<Outputs, Tensor>> {
    if (this.#instance.isBusy) await this.#instance.idle();
    this.#loadAll(inputs);
    await this.#live().runAsync();
    return this.#results();
  }

  #loadAll(inputs: Record<Inputs, TensorLike>): void {
    const { place } = this.#live();
    for (const name of Object.keys(inputs)) {
      if (!place.inputs.some((each) => each.name === name)) {
        throw new LatheError(`run: there is no input ${name}; known: ${names(place.inputs)}`);
      }
    }
    for (const each of place.inputs) this.#load(each, inputs[each.name as Inputs]);
  }

  #results(): Record<Outputs, Tensor> {
    const { place } = this.#live();
    const results = place.outputs.map((each) => {
      const data = this.output(each.name as Outputs).slice();
      return [each.name, new Tensor(data, each.shape, hostDTypes[each.dtype])];
    });
    return Object.fromEntries(results) as Record<Outputs, Tensor>;
  }

  /** The elements of an input in the function's memory: write them, then `call`. */
  input(name: Inputs): DataArray {
    return window('input', name, this.#live().inputs);
  }

  /** Runs on what the inputs hold now. */
  call(): void {
    this.#live().run();
  }

  /** As `call`, without keeping a page waiting while threads are at work. */
  callAsync(): Promise<void> {
    if (this.#instance.isBusy) return this.#callWhenIdle();
    try {
      return this.#live().runAsync() ?? done;
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  async #callWhenIdle(): Promise<void> {
    await this.#instance.idle();
    await this.#live().runAsync();
  }

  /** The elements of an output in the function's memory, which the next call overwrites. */
  output(name: Outputs): DataArray {
    return window('output', name, this.#live().outputs);
  }

  /** A variable as it is now. Error: there is none of this name. */
  variable(name: string): Tensor {
    const place = this.#state(name);
    const data = this.#instance.elements(place).slice();
    return new Tensor(data, place.shape, hostDTypes[place.dtype]);
  }

  /** Gives a variable another content. Errors: no such variable, another number of elements. */
  setVariable(name: string, values: TensorLike): void {
    const place = this.#state(name);
    fill(`variable ${name}`, this.#instance.elements(place), place, values);
  }

  /** What compiling cost and gave. */
  stats(): CompileStats {
    return { ...this.#stats };
  }

  /** The intermediate forms that the options asked for. */
  dumps(): Dump[] {
    return this.#dumps;
  }

  /** The bytes of the generated module. */
  module(): Uint8Array<ArrayBuffer> {
    this.#live();
    return this.#executable!.bytes();
  }

  /** Lets the memory go; using the function afterwards is an error. */
  dispose(): void {
    if (this.#entry === undefined) return;
    this.#entry = undefined;
    this.#graph.free();
    this.#executable?.free();
    this.#instance.dispose();
  }

  /** @internal */
  get [tunable](): Tunable[typeof tunable] {
    this.#live();
    return { executable: () => this.#compile(), reschedule: () => this.#reschedule() };
  }

  #compile(): CoreExecutable {
    return this.#graph.compile({ ...target(), ...this.#options });
  }

  #build(start: number): void {
    const executable = this.#compile();
    try {
      const metadata = executable.metadata();
      const parts = executable.parts();
      const moduleBytes = sizeOf(parts);
      const compiled = performance.now();
      this.#instance = new Instance(parts, metadata);
      this.#entry = this.#instance.entry(entryName);
      this.#dumps = executable.dumps();
      this.#revision = schedules.revision;
      noticeNew(this);
      this.#stats = {
        compileMs: compiled - start,
        instantiateMs: performance.now() - compiled,
        moduleBytes,
        memoryBytes: metadata.memoryBytes,
        temporaryBytes: metadata.temporaryBytes,
        threads: threadsOf(metadata),
      };
    } catch (error) {
      executable.free();
      throw error;
    }
    this.#executable?.free();
    this.#executable = executable;
  }

  #reschedule(): void {
    if (this.#entry === undefined || this.#revision === schedules.revision) return;
    const before = this.#instance;
    this.#build(performance.now());
    this.#instance.carryFrom(before, false);
    before.dispose();
  }

  #live(): Entry {
    if (this.#entry === undefined) throw new LatheError('this function has been disposed');
    this.#instance.settle();
    return this.#entry;
  }

  #load(place: BufferPlace, values: TensorLike | undefined): void {
    if (values === undefined) throw new LatheError(`run: input ${place.name} is missing`);
    fill(`input ${place.name}`, this.input(place.name as Inputs), place, values);
  }

  #state(name: string): BufferPlace {
    this.#live();
    const { states } = this.#instance.metadata;
    const place = states.find((each) => each.name === name);
    if (place === undefined) {
      throw new LatheError(`there is no variable ${name}; known: ${names(states)}`);
    }
    return place;
  }
}

/**
 * Compiles a function of tensors to one WebAssembly module.
 *
 *     const f = tl.compile({ x: [1, 784] }, ({ x }, g) => ({
 *       y: x.matMul(g.variable('w', [784, 10])).softmax(),
 *     }));
 *     f.run({ x: pixels }).y.dataSync();
 *
 * @param specs the shape of every argument
 * @param build called once, with tensors that stand for the arguments; returns the results by name
 *
 * Errors: whatever `build` throws; an operation whose shapes do not fit, at its call.
 */
export function compile<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, InputSpec>,
  build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
  options?: FunctionOptions,
): CompiledFunction<Inputs, Outputs> {
  return new CompiledFunction(specs, build, options);
}

function record<Inputs extends string, Outputs extends string>(
  graph: CoreGraph,
  specs: Record<Inputs, InputSpec>,
  build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
): ReadonlyMap<string, Variable> {
  graph.beginEntry(entryName);
  const trace = new Trace(graph);
  const inputs = Object.entries<InputSpec>(specs).map(([name, spec]) => {
    const { shape, dtype } = 'shape' in spec ? spec : { shape: spec, dtype: undefined };
    return [name, trace.input(name, shape, dtype)];
  });
  const results = build(Object.fromEntries(inputs) as Record<Inputs, TracedTensor>, trace);
  for (const [name, value] of Object.entries<Operand>(results)) trace.output(name, value);
  return trace.variables;
}

const names = (places: readonly BufferPlace[]) => places.map(({ name }) => name).join(', ');

function window(what: string, name: string, all: ReadonlyMap<string, DataArray>): DataArray {
  const found = all.get(name);
  if (found !== undefined) return found;
  throw new LatheError(`there is no ${what} ${name}; known: ${[...all.keys()].join(', ')}`);
}

function fill(what: string, target: DataArray, place: BufferPlace, values: TensorLike): void {
  const isTyped = ArrayBuffer.isView(values);
  const source = isTyped ? values : tensor(values, undefined, hostDTypes[place.dtype]);
  const data = source instanceof Tensor ? source.dataSync() : source;
  const wrongShape = source instanceof Tensor && source.shape.join() !== place.shape.join();
  if (data.length !== target.length || wrongShape) {
    const got = source instanceof Tensor ? `[${source.shape.join(',')}]` : `${data.length} values`;
    throw new LatheError(`${what}: wants shape [${place.shape.join(',')}], got ${got}`);
  }
  target.set(data);
}
