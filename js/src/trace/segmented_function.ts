/** A function whose sizes depend on data: segments that run one after the other, compiled for the sizes read before. */
import { LatheError } from '../base/errors.js';
import { currentStop, Stop } from '../base/stop.js';
import type { ValueId } from '../core/abi.js';
import type { CoreGraph } from '../core/handles.js';
import {
  type Cacheable,
  CompilationCache,
  dynamicShapeCacheLimits,
} from '../runtime/compilation_cache.js';
import type { Device, Program, ProgramPort } from '../runtime/device.js';
import { DeviceValue } from '../runtime/device_value.js';
import { coreDTypes, type DType, hostDTypes } from '../tensor/dtypes.js';
import { outsideScopes, tracked } from '../tensor/live_tensors.js';
import { elements, Tensor, type TensorLike } from '../tensor/tensor.js';
import { CompiledFunction, disposedError, type FunctionOptions } from './compiled_function.js';
import { callOnTensors, copyToDevice, programBytes, tensorsOn } from './device_function.js';
import { type InputSpec, type TracedGraph, traceGraph } from './trace_graph.js';
import type { Operand, Trace, TracedTensor } from './trace.js';

/** Prefixes of src/graph/segment.h: values passed between segments, variables, and their new values. */
const [passed, before, after] = ['%', '@', '='];

class Segment implements Cacheable {
  readonly inputs: readonly ProgramPort[];
  readonly outputs: readonly string[];
  readonly bytes: number;

  /**
   * @param splitPoint the value that the next segment depends on; undefined for the last segment
   * @param ports what the trace says of its results
   */
  constructor(
    readonly program: Program,
    readonly splitPoint: ValueId | undefined,
    readonly ports: unknown,
  ) {
    this.inputs = program.ports.inputs;
    this.outputs = program.ports.outputs.map(({ name }) => name);
    this.bytes = programBytes(program.stats);
  }

  dispose(): void {
    this.program.dispose();
  }
}

/** Limit of cached segments, and of sets of additional outputs. */
const maxSegments = 256;
/** Limit of retries, each of which adds outputs to an earlier segment. */
const maxRetries = 100;

const syncRunError = (device: string) =>
  new LatheError(
    `run: sizes depend on elements on ${device}, which cannot be read synchronously: await runAsync`,
  );

const nondeterministicError = () =>
  new LatheError('compile: a function must do the same each time it is traced');

/** The cache key for values at split points. */
const splitKey = (splitValues: readonly Tensor[]) =>
  splitValues.map((each) => `${each.dataSync<DType>()} `).join('');

const nameOf = (value: ValueId) => `${passed}${value - 1}`;
const valueOf = (name: string): ValueId => Number(name.slice(1)) + 1;

/** Tensors by the names of buffers. */
type Values = Map<string, Tensor>;

/** The trace of a function up to the first split point whose value is unknown. */
export interface SegmentTrace extends Omit<TracedGraph, 'assigned'> {
  splitPoints: readonly ValueId[];
  /** Returned with the results of the function. */
  ports?: unknown;
}

/** Options of segments. */
interface SegmentOptions extends Pick<FunctionOptions, 'timeLimit'> {
  /** Compiles them. Default: the device. */
  compile?: (graph: CoreGraph) => Program;
}

/** Traces a function for the values at the split points so far; undefined ends the run without results. */
export type SegmentTracer = (splitValues: readonly Tensor[]) => SegmentTrace | undefined;

/** As `compile` with `segments`. */
export function segmented<Inputs extends string, Outputs extends string>(
  device: Device,
  specs: Record<Inputs, InputSpec>,
  build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
  { dumps, origins, timeLimit }: FunctionOptions = {},
): SegmentedFunction<Inputs, Outputs> {
  if (dumps !== undefined || origins !== undefined) {
    throw new LatheError(
      'compile: dumps and origins do not go with segments, which are several modules',
    );
  }
  const buffers = Object.entries<InputSpec>(specs).map(([name, spec]) => {
    const { shape, dtype = 'float32' } = 'shape' in spec ? spec : { shape: spec };
    return { name, shape: [...shape], dtype: coreDTypes[dtype] };
  });
  const checked: typeof build = (inputs, g) => {
    const results = build(inputs, g);
    for (const name of [...Object.keys(specs), ...Object.keys(results)]) {
      if ([passed, before, after].includes(name[0])) {
        throw new LatheError(`compile: with segments no name begins with ${name[0]}: ${name}`);
      }
    }
    return results;
  };
  const trace = (splitValues: readonly Tensor[]) =>
    traceGraph(specs, checked, splitValues.map(sizeOf));
  return new SegmentedFunction(
    device,
    buffers,
    trace,
    timeLimit === undefined ? {} : { timeLimit },
  );
}

function sizeOf(splitValue: Tensor): number {
  const size = splitValue.dataSync<'int32'>()[0]!;
  if (size < 0) throw new LatheError(`size: expects an integer ≥ 0, got ${size}`);
  return size;
}

/** The results of a run and the `ports` of their trace. */
interface Finished<Outputs extends string> {
  results: Record<Outputs, Tensor>;
  ports: unknown;
}

/** Yields the values at split points, whose elements it needs next. */
type Steps<Result> = Generator<Tensor, Result, void>;

/**
 * A function whose sizes depend on data, as `compile` with `segments` makes it. Caches up to 256 segments and 64 MB in
 * total. Results are tensors of the device.
 */
export class SegmentedFunction<
  Inputs extends string = string,
  Outputs extends string = string,
> extends CompiledFunction<Inputs, Outputs> {
  readonly #cache = new CompilationCache<Segment>({
    ...dynamicShapeCacheLimits,
    builds: maxSegments,
  });
  readonly #variables = new Map<string, Tensor>();
  /** Additional outputs of segments that later segments read, by the key of the segment. */
  readonly #additional = new Map<string, Set<ValueId>>();
  #isDisposed = false;
  /** The last of the asynchronous runs. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly device: Device,
    private readonly ports: readonly ProgramPort[],
    private readonly trace: SegmentTracer,
    private readonly options: SegmentOptions = {},
  ) {
    super();
    const first = this.#compile([], new Map());
    if (!(first instanceof Segment)) throw nondeterministicError();
    this.#cache.insert('', first);
  }

  /** Errors: also whatever compiling for new sizes throws; the device cannot wait for sizes: `runAsync` does. */
  run(inputs: Record<Inputs, TensorLike>): Record<Outputs, Tensor> {
    const [steps, within] = this.#begin(inputs);
    return within(() => {
      for (;;) {
        const { done, value } = steps.next();
        if (done) return resultsOf(value);
        const { awaitedFrom } = value[elements] as DeviceValue;
        if (awaitedFrom !== undefined) steps.throw(syncRunError(awaitedFrom));
      }
    });
  }

  /** Errors: also whatever compiling for new sizes throws. */
  override async runAsync(inputs: Record<Inputs, TensorLike>): Promise<Record<Outputs, Tensor>> {
    return resultsOf(await this.runWithPorts(inputs));
  }

  /** @internal As `runAsync`, with the `ports` of the last trace; undefined if a trace ended the run. */
  runWithPorts(inputs: Record<Inputs, TensorLike>): Promise<Finished<Outputs> | undefined> {
    let steps: Steps<Finished<Outputs> | undefined>;
    let within: <T>(action: () => T) => T;
    try {
      [steps, within] = outsideScopes(() => this.#begin(inputs));
    } catch (error) {
      return Promise.reject(error as Error);
    }
    const run = async () => {
      for (;;) {
        const { done, value } = within(() => outsideScopes(() => steps.next()));
        if (done) return value;
        await value.data<DType>();
      }
    };
    const result = this.#queue.then(run);
    this.#queue = result.catch(() => {});
    return result;
  }

  /** A run on copies of the inputs, or on tensors that share them; and what runs its steps within the limits of the call. */
  #begin(inputs: Record<Inputs, TensorLike>) {
    this.#check();
    const temporary = new Set<Tensor>();
    const copies = { push: (copy: Tensor) => void temporary.add(copy) };
    const namedInputs: Values = new Map();
    try {
      const tensors = tensorsOn(this.device, this.ports, inputs, copies);
      for (const [at, { name }] of this.ports.entries()) {
        const tensor = tensors[at]!;
        const input = temporary.has(tensor) ? tensor : shareOn(this.device, tensor);
        temporary.add(input);
        namedInputs.set(name, input);
      }
    } catch (error) {
      for (const each of temporary) each.dispose();
      throw error;
    }
    const { timeLimit } = this.options;
    const stop = timeLimit === undefined ? currentStop() : new Stop('run', { timeLimit });
    const within = <T>(action: () => T): T => (stop === undefined ? action() : stop.within(action));
    return [this.#steps(namedInputs, temporary), within] as const;
  }

  *#steps(namedInputs: Values, temporary: Set<Tensor>): Steps<Finished<Outputs> | undefined> {
    try {
      let finished = yield* this.#runSegments(namedInputs, temporary);
      for (let attempt = 0; finished === 'retry' && attempt < maxRetries; attempt++) {
        finished = yield* this.#runSegments(namedInputs, temporary);
      }
      if (finished === 'retry') throw nondeterministicError();
      if (finished === undefined) return undefined;
      for (const each of finished.named.values()) temporary.delete(each);
      return { results: this.#assign(finished.named), ports: finished.ports };
    } finally {
      for (const each of temporary) each.dispose();
    }
  }

  /** Error: also no segment has used it yet. */
  variable(name: string): Tensor {
    return shareOn(this.device, this.#variable(name))[tracked](true);
  }

  /** Errors: also as `variable`. */
  setVariable(name: string, values: TensorLike): void {
    const found = this.#variable(name);
    const port = { name, shape: found.shape, dtype: coreDTypes[found.dtype] };
    this.#variables.set(name, copyToDevice(this.device, `variable ${name}`, port, values));
    found.dispose();
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#cache.free();
    for (const each of this.#variables.values()) each.dispose();
  }

  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  #check(): void {
    if (this.#isDisposed) throw disposedError();
  }

  #variable(name: string): Tensor {
    this.#check();
    const found = this.#variables.get(name);
    if (found !== undefined) return found;
    const names = [...this.#variables.keys()].join(', ');
    throw new LatheError(`there is no variable ${name}; known: ${names}`);
  }

  /** The results of the last segment; otherwise as `#compile`. */
  *#runSegments(
    namedInputs: Values,
    temporary: Set<Tensor>,
  ): Steps<{ named: Values; ports: unknown } | 'retry' | undefined> {
    const values: Values = new Map(namedInputs);
    const splitValues: Tensor[] = [];
    for (;;) {
      this.#check();
      const key = splitKey(splitValues);
      const segment = this.#segment(key, splitValues, values);
      if (!(segment instanceof Segment)) return segment;
      const { inputs, outputs, program, splitPoint, ports } = segment;
      try {
        const operands = inputs.map((port) => {
          const value = this.#valueOf(port.name, values)!;
          const isSame =
            value.dtype === hostDTypes[port.dtype] && value.shape.join() === port.shape.join();
          if (isSame) return value;
          throw nondeterministicError();
        });
        const results = callOnTensors(this.device, program, operands);
        for (const each of results) temporary.add(each);
        for (const [at, name] of outputs.entries()) values.set(name, results[at]!);
        if (splitPoint === undefined)
          return { named: new Map(outputs.map((name, at) => [name, results[at]!])), ports };
      } finally {
        this.#cache.insert(key, segment);
      }
      const value = values.get(nameOf(splitPoint))!;
      yield value;
      splitValues.push(new Tensor(value.dataSync<DType>().slice(), value.shape, value.dtype));
    }
  }

  #valueOf(name: string, values: Values): Tensor | undefined {
    return (
      values.get(name) ?? (name[0] === before ? this.#variables.get(name.slice(1)) : undefined)
    );
  }

  #segment(
    key: string,
    splitValues: readonly Tensor[],
    values: Values,
  ): Segment | 'retry' | undefined {
    const cached = this.#cache.remove(key);
    if (cached?.inputs.every((buffer) => this.#valueOf(buffer.name, values) !== undefined))
      return cached;
    cached?.dispose();
    return this.#compile(splitValues, values);
  }

  /** The segment for these values; 'retry' if earlier ones were recompiled with more outputs; undefined if the trace ends the run. */
  #compile(splitValues: readonly Tensor[], values: Values): Segment | 'retry' | undefined {
    const trace = this.trace(splitValues);
    if (trace === undefined) return undefined;
    const { graph, variables, splitPoints } = trace;
    try {
      if (splitPoints.length < splitValues.length || splitPoints.length > splitValues.length + 1)
        throw nondeterministicError();
      for (const [name, { initial }] of variables) {
        const existing = this.#variables.get(name);
        if (existing === undefined) this.#variables.set(name, initial);
        else if (existing.type !== initial.type) {
          throw new LatheError(
            `variable ${name}: is ${existing.type}, and for the sizes ${splitKey(splitValues)}${initial.type}; it must have one type`,
          );
        }
      }
      const segment = this.#segmentOf(trace, splitValues);
      if (this.#isDisposed) {
        segment.dispose();
        throw disposedError();
      }
      const missing = segment.inputs
        .map(({ name }) => name)
        .filter((name) => this.#valueOf(name, values) === undefined);
      if (missing.length === 0 || splitValues.length === 0) return segment;
      for (const index of splitValues.keys()) {
        const key = splitKey(splitValues.slice(0, index));
        this.#request(key, missing.map(valueOf), splitPoints[index - 1] ?? 0, splitPoints[index]!);
        this.#cache.remove(key)?.dispose();
        this.#cache.insert(key, this.#segmentOf(trace, splitValues.slice(0, index)));
      }
      this.#cache.insert(splitKey(splitValues), segment);
      return 'retry';
    } finally {
      graph.free();
    }
  }

  /** Records which of the values between two split points a segment has to output. */
  #request(key: string, values: readonly ValueId[], above: ValueId, last: ValueId): void {
    const additional = this.#additional.get(key) ?? new Set();
    for (const value of values) if (above < value && value <= last) additional.add(value);
    this.#additional.delete(key);
    this.#additional.set(key, additional);
    if (this.#additional.size > maxSegments)
      this.#additional.delete(this.#additional.keys().next().value!);
  }

  #segmentOf({ graph, splitPoints, ports }: SegmentTrace, before: readonly Tensor[]): Segment {
    const additional = this.#additional.get(splitKey(before)) ?? [];
    const graphSegment = graph.segment(before.length, splitPoints, [...additional]);
    try {
      const { compile, ...options } = this.options;
      const program = compile?.(graphSegment) ?? this.device.compile(graphSegment, options);
      return new Segment(program, splitPoints[before.length], ports);
    } finally {
      graphSegment.free();
    }
  }

  /** Assigns the variables; returns the other results. */
  #assign(results: Values): Record<Outputs, Tensor> {
    const named: [string, Tensor][] = [];
    for (const [name, value] of results) {
      if (name[0] !== after) {
        named.push([name, value]);
        continue;
      }
      this.#variables.get(name.slice(1))!.dispose();
      this.#variables.set(name.slice(1), value);
    }
    return Object.fromEntries(named) as Record<Outputs, Tensor>;
  }
}

/** Another tensor of its elements on a device. Error: it is on another one. */
function shareOn(device: Device, tensor: Tensor): Tensor {
  const value = DeviceValue.of(tensor, device).on(device);
  value.share();
  return new Tensor(value, tensor.shape, tensor.dtype);
}

/** Error: the trace ended the run. */
function resultsOf<Outputs extends string>(finished: Finished<Outputs> | undefined) {
  if (finished === undefined) throw nondeterministicError();
  for (const each of Object.values<Tensor>(finished.results)) each[tracked]();
  return finished.results;
}
