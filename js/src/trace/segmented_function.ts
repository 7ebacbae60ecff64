/** A function whose sizes depend on data: segments that run one after the other, compiled for the sizes read before. */
import { LatheError } from '../base/errors.js';
import type { BufferInfo, ValueId } from '../core/abi.js';
import {
  type Cacheable,
  CompilationCache,
  dynamicShapeCacheLimits,
} from '../runtime/compilation_cache.js';
import { compileForWasm } from '../runtime/wasm/compile.js';
import { wasmDevice } from '../runtime/wasm/device.js';
import type { WasmProgram } from '../runtime/wasm/program.js';
import { coreDTypes, type DType, hostDTypes } from '../tensor/dtypes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import {
  checkShape,
  disposedError,
  type FunctionOptions,
  inputsInOrder,
  type InputSpec,
  limited,
  type TracedGraph,
  traceGraph,
} from './compiled_function.js';
import { callOnTensors, copyToDevice } from './device_function.js';
import type { Operand, Trace, TracedTensor } from './trace.js';

/** Prefixes of src/graph/segment.h: values passed between segments, variables, and their new values. */
const [passed, before, after] = ['%', '@', '='];

class Segment implements Cacheable {
  readonly inputs: readonly BufferInfo[];
  readonly outputs: readonly string[];

  /**
   * @param splitPoint the value that the next segment depends on; undefined for the last segment
   * @param ports what the trace says of its results
   */
  constructor(
    readonly module: WasmProgram,
    readonly splitPoint: ValueId | undefined,
    readonly ports: unknown,
  ) {
    const entry = module.metadata.entries[0]!;
    this.inputs = entry.inputs;
    this.outputs = entry.outputs.map(({ name }) => name);
  }

  get bytes(): number {
    return this.module.moduleBytes + (this.module.metadata.constantBytes ?? 0);
  }

  dispose(): void {
    this.module.dispose();
  }
}

/** Limit of cached segments, and of sets of additional outputs. */
const maxSegments = 256;
/** Limit of retries, each of which adds outputs to an earlier segment. */
const maxRetries = 100;

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

/** Traces a function for the values at the split points so far; undefined ends the run without results. */
export type SegmentTracer = (splitValues: readonly Tensor[]) => SegmentTrace | undefined;

/** As `compile` with `segments`. */
export function segmented<Inputs extends string, Outputs extends string>(
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
    return { name, shape: [...shape], dtype: coreDTypes[dtype], offset: 0 };
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
  return new SegmentedFunction(buffers, trace, timeLimit === undefined ? {} : { timeLimit });
}

function sizeOf(splitValue: Tensor): number {
  const size = splitValue.dataSync<'int32'>()[0]!;
  if (size < 0) throw new LatheError(`size: expects an integer ≥ 0, got ${size}`);
  return size;
}

/**
 * A function whose sizes depend on data, as `compile` with `segments` makes it. Caches up to 256 segments and 64 MB in
 * total. Results are in the memory of tensors.
 */
export class SegmentedFunction<Inputs extends string = string, Outputs extends string = string> {
  readonly #buffers: readonly BufferInfo[];
  readonly #trace: SegmentTracer;
  readonly #cache = new CompilationCache<Segment>({
    ...dynamicShapeCacheLimits,
    builds: maxSegments,
  });
  readonly #variables = new Map<string, Tensor>();
  /** Additional outputs of segments that later segments read, by the key of the segment. */
  readonly #additional = new Map<string, Set<ValueId>>();
  #isDisposed = false;

  constructor(
    buffers: readonly BufferInfo[],
    trace: SegmentTracer,
    private readonly options: Pick<FunctionOptions, 'timeLimit'> = {},
  ) {
    this.#buffers = buffers;
    this.#trace = trace;
    const first = this.#compile([], new Map());
    if (!(first instanceof Segment)) throw nondeterministicError();
    this.#cache.insert('', first);
  }

  /** As `run` of a function with `heap`. Errors: also whatever compiling for new sizes throws. */
  run(inputs: Record<Inputs, TensorLike>): Record<Outputs, Tensor> {
    const finished = limited(this.options, () => this.runWithPorts(inputs));
    if (finished === undefined) throw nondeterministicError();
    return finished.results;
  }

  /** @internal The results and the `ports` of their trace; undefined if a trace ended the run. */
  runWithPorts(
    inputs: Record<Inputs, TensorLike>,
  ): { results: Record<Outputs, Tensor>; ports: unknown } | undefined {
    this.#check();
    const temporary = new Set<Tensor>();
    try {
      const namedInputs: Values = new Map();
      for (const [buffer, values] of inputsInOrder(this.#buffers, inputs)) {
        const what = `input ${buffer.name}`;
        if (values instanceof Tensor && values.dtype === hostDTypes[buffer.dtype]) {
          checkShape(what, buffer, values);
          namedInputs.set(buffer.name, values);
        } else {
          const copy = copyToDevice(wasmDevice, what, buffer, values);
          temporary.add(copy);
          namedInputs.set(buffer.name, copy);
        }
      }
      let finished = this.#runSegments(namedInputs, temporary);
      for (let attempt = 0; finished === 'retry' && attempt < maxRetries; attempt++) {
        finished = this.#runSegments(namedInputs, temporary);
      }
      if (finished === 'retry') throw nondeterministicError();
      if (finished === undefined) return undefined;
      for (const each of finished.named.values()) temporary.delete(each);
      return { results: this.#assign(finished.named), ports: finished.ports };
    } finally {
      for (const each of temporary) each.dispose();
    }
  }

  /** The current value of a variable. Error: there is none of this name, or no segment has used it yet. */
  variable(name: string): Tensor {
    const found = this.#variable(name);
    return new Tensor(found.dataSync<DType>().slice(), found.shape, found.dtype);
  }

  /** Sets the value of a variable. Errors: as `variable`; a different number of elements. */
  setVariable(name: string, values: TensorLike): void {
    const found = this.#variable(name);
    const buffer = { name, shape: [...found.shape], dtype: coreDTypes[found.dtype], offset: 0 };
    this.#variables.set(name, copyToDevice(wasmDevice, `variable ${name}`, buffer, values));
    found.dispose();
  }

  /** Frees segments and variables, but not results. Later uses throw. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#cache.free();
    for (const each of this.#variables.values()) each.dispose();
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
  #runSegments(
    namedInputs: Values,
    temporary: Set<Tensor>,
  ): { named: Values; ports: unknown } | 'retry' | undefined {
    const values: Values = new Map(namedInputs);
    const splitValues: Tensor[] = [];
    for (;;) {
      const key = splitKey(splitValues);
      const segment = this.#segment(key, splitValues, values);
      if (!(segment instanceof Segment)) return segment;
      const { inputs, outputs, module, splitPoint, ports } = segment;
      try {
        const operands = inputs.map((buffer) => {
          const value = this.#valueOf(buffer.name, values)!;
          const isSame =
            value.dtype === hostDTypes[buffer.dtype] && value.shape.join() === buffer.shape.join();
          if (isSame) return value;
          throw nondeterministicError();
        });
        const results = callOnTensors(wasmDevice, module, operands);
        for (const each of results) temporary.add(each);
        const named = new Map(outputs.map((name, at) => [name, results[at]!]));
        if (splitPoint === undefined) return { named, ports };
        for (const [name, value] of named) values.set(name, value);
        const value = values.get(nameOf(splitPoint))!;
        splitValues.push(new Tensor(value.dataSync<DType>().slice(), value.shape, value.dtype));
      } finally {
        this.#cache.insert(key, segment);
      }
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
    const trace = this.#trace(splitValues);
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
      const module = compileForWasm(graphSegment, this.options);
      return new Segment(module, splitPoints[before.length], ports);
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
