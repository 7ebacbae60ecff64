/**
 * Decoders whose states are in the program, rows with spare capacity: no call copies the cache or is compiled for its length.
 * Tokens are processed one by one or in chunks of fixed lengths (prefill). Without a mask, the prompt runs without the states and
 * only single tokens after it use them.
 */
import { LatheError } from '../base/errors.js';
import { attempt, type Stop } from '../base/stop.js';
import { arrayTypes, type DType } from '../tensor/dtypes.js';
import { decodeFloat16 } from '../tensor/float16.js';
import type { DataArray } from '../tensor/convert.js';
import { concatenateAlong, cropOrPad, sliceAlong, withSize } from '../tensor/parts.js';
import { Tensor } from '../tensor/tensor.js';
import { paddedSize } from './buckets.js';
import { deviceOf, DeviceTensor, isOnHost, shareOf } from './device_tensor.js';
import { LazyTensorValue } from './lazy_value.js';
import type {
  DecodableModel,
  DecoderTrace,
  TensorValue,
  TracedResult,
  TracedState,
} from './model.js';
import type { DecoderPlan } from './plan.js';
import { type MakeStateMemory, stateName, type StateSpec } from './state_memory.js';
import { DecoderStates, StateTensor } from './states.js';

/** Initial capacity of the states; it doubles when they are full. */
const minCapacity = 128;
/**
 * Lengths of prefill chunks; up to `maxSingle` tokens are processed one by one. Each chunk program has the weights in its memory,
 * so after a long prompt a decoder has the long chunk instead of the short one.
 */
const shortChunks = { length: 16, maxSingle: 4 };
const longChunks = { length: 128, maxSingle: 32 };
/** Longest prompt that uses short chunks. */
const maxShortTokens = 64;
/** Tolerance of results with the cache, relative to the largest element. */
const tolerance = 1e-3;
/** The same for float16. */
const float16Tolerance = 1e-2;

/** A value of a call or a result that is no tensor of numbers. */
type Other = { readonly kind: string } | null;
/** A value of a call. */
export type Value = TensorValue | Other;

export const isNumeric = (value: Value): value is TensorValue =>
  value?.kind === 'tensor' && (value as TensorValue).type !== 'string';

/** A call of a decoder. */
interface Call {
  values: readonly TensorValue[];
  /** Cached rows before the call, and new tokens. */
  cachedRows: number;
  tokens: number;
  /** Chunk lengths; the last chunk may be padded. */
  lengths: readonly number[];
}

/** What states are to be filled with before a call. */
interface Loads {
  /** Undefined: they are those of the call. */
  tensors: readonly Tensor[] | undefined;
  /** The number of their rows. */
  rows: number;
  /** By index among the constant states. */
  constants: ReadonlyMap<number, readonly [TensorValue, Tensor]>;
}

/** What traces of all chunks have in common: types of states, the number of rows, contents of inputs. */
interface TraceTypes {
  specs: readonly StateSpec[];
  capacity: number;
  contents: ReadonlyMap<number, DataArray>;
}

export class Decoder {
  readonly #model: DecodableModel;
  readonly #plan: DecoderPlan;
  #states: DecoderStates | undefined;
  /** Key of the sizes for which they were traced. */
  #tracedSizes = '';
  /** Capacity of the encoder axis. */
  #encoderCapacity = 0;
  /** Whether the model was verified to mask encoder padding, or found not to. */
  #isEncoderPaddingVerified = false;
  #hasExactEncoder = false;
  /** Whether the model concatenates cache rows, so that the mask must exclude unused capacity. */
  #concatenatesCache = false;
  /** Whether only operators with a valid length read the mask and the cache length. */
  #isCapacityIndependent = false;
  /** Configurations whose results were verified against a call without states. */
  readonly #verified = new Set<string>();
  #isUnsupported = false;
  /** Whether only single tokens use the states: tokens of a call are quantized by their common maximum, or chunks are wrong. */
  #isSingleToken: boolean;
  #queue: Promise<unknown> = Promise.resolve();
  /** The token axis of each output. */
  readonly #axes: Map<number, number>;
  /** Whether chunks must not be padded: an output is of the last token only, or padding would change a state. */
  #hasFullChunks: boolean;
  /** Types of the inputs of the last call. */
  #ports: { type: string; shape: readonly number[] }[] = [];

  constructor(
    model: DecodableModel,
    plan: DecoderPlan,
    private readonly makeMemory: MakeStateMemory,
  ) {
    this.#model = model;
    this.#plan = plan;
    this.#axes = new Map(plan.outputs);
    this.#isSingleToken = plan.mask === undefined;
    this.#hasFullChunks =
      plan.returnsLastOnly || plan.states.some(({ axis }) => axis === undefined);
  }

  /**
   * The outputs; undefined if the cache does not support the call or the model. `exactly` runs the call without states: first
   * results are compared with it where it is not certain that the model ignores unused capacity.
   */
  call<Result extends Value>(
    values: readonly Value[],
    stop: Stop,
    exactly: () => Promise<Result[]>,
  ): Promise<(Result | TensorValue)[] | undefined> {
    const result = this.#queue.then(() => this.#call(values, stop, exactly));
    this.#queue = result.catch(() => {});
    return result;
  }

  dispose(): void {
    this.#free();
    this.#isUnsupported = true;
  }

  #free(): void {
    this.#states?.dispose();
    this.#states = undefined;
  }

  async #call<Result extends Value>(
    values: readonly Value[],
    stop: Stop,
    exactly: () => Promise<Result[]>,
  ): Promise<(Result | TensorValue)[] | undefined> {
    stop.check();
    const call = this.#isUnsupported ? undefined : this.#read(await this.#onHost(values));
    const loads = call && stop.within(() => this.#prepare(call));
    if (call === undefined || loads === undefined) return undefined;
    await this.#load(loads);
    const cached = await this.#run(call, stop);
    const propertiesToVerify = this.#propertiesToVerify(call);
    const isPadded = this.#isEncoderPadded(call.values);
    const isVerified = propertiesToVerify.every((each) => this.#verified.has(each));
    if (isVerified && (!isPadded || this.#isEncoderPaddingVerified)) return cached;
    const expected = await exactly();
    const isSame = await this.#isSame(cached, expected);
    if (isSame) for (const each of propertiesToVerify) this.#verified.add(each);
    this.#isEncoderPaddingVerified ||= isSame && isPadded;
    for (const each of isSame ? expected : cached) release(each);
    if (isSame) return cached;
    // Fully masked tokens attend to padding, too; their results are unspecified.
    if (this.#masksFrom(call, call.cachedRows)) return expected;
    if (isPadded) this.#hasExactEncoder = true;
    else if (call.tokens > 1 && !this.#isSingleToken) this.#isSingleToken = true;
    else this.#isUnsupported = true;
    this.#free();
    return expected;
  }

  /**
   * Keys of what must be verified against a call without states: chunks of each length with and without past rows, and again for each
   * capacity from which a model may derive positions, windows and biases.
   */
  #propertiesToVerify({ cachedRows, lengths }: Call): string[] {
    if (this.#plan.mask === undefined) return [''];
    const isFull = !this.#plan.returnsLastOnly || lengths.length === 1;
    const ignoresCapacity = this.#isCapacityIndependent && !this.#concatenatesCache;
    const hasRowsOnly = this.#plan.states.every(({ axis }) => axis !== undefined);
    if (ignoresCapacity && hasRowsOnly && isFull) return [];
    const capacity = ignoresCapacity ? '' : this.#states!.capacity;
    return lengths.map((length, k) => `${capacity} ${length} ${cachedRows + k > 0}`);
  }

  /** The values, with the elements of all but states on the host. */
  async #onHost(values: readonly Value[]): Promise<readonly Value[]> {
    const { states, fixed } = this.#plan;
    const cached = new Set([...fixed, ...states.map(({ input }) => input)]);
    const reads = values.map((each, at) =>
      isNumeric(each) && !cached.has(at) && each.tensor !== undefined ? read(each) : each,
    );
    return reads.some((each) => each instanceof Promise)
      ? Promise.all(reads)
      : (reads as readonly Value[]);
  }

  /** Undefined: shapes not of a decoder call, or nothing to cache. */
  #read(values: readonly Value[]): Call | undefined {
    const { mask, contents, inputs, rows, states } = this.#plan;
    const tensors = values.filter(isNumeric);
    if (tensors.length !== values.length) return undefined;
    const [[tokens, tokenAxis]] = inputs as unknown as [[number, number]];
    const count = tensors[tokens]!.shape[tokenAxis]!;
    const cachedRows = tensors[rows.input]!.shape[rows.axis]!;
    const isAll = mask === undefined || tensors[mask]!.shape[1] === cachedRows + count;
    const fits = states.every(({ input, axis }) => {
      return axis === undefined || tensors[input]!.shape[axis] === cachedRows;
    });
    if (!fits || !isAll || count === 0) return undefined;
    if (this.#isSingleToken && (cachedRows === 0 || count > 1)) return undefined;
    if (!this.#hasConsistentEncoder(tensors)) return undefined;
    if (contents.some((at) => tensors[at]!.type === 'bool' && tensors[at]!.data[0] === 0))
      return undefined;
    return { values: tensors, cachedRows, tokens: count, lengths: this.#lengths(count) };
  }

  /** Whether all encoder inputs have the length of the encoder mask. */
  #hasConsistentEncoder(values: readonly TensorValue[]): boolean {
    const { encoderAxes, encoderMask } = this.#plan;
    return [...encoderAxes].every(
      ([at, axis]) => values[at]!.shape[axis] === values[encoderMask!]!.shape[1],
    );
  }

  /** Whether a sample's encoder mask is all zeros, so that it attends to everything uniformly, padding included. */
  #ignoresEncoder(values: readonly TensorValue[]): boolean {
    const { encoderAxes, encoderMask } = this.#plan;
    if (encoderAxes.size === 0) return false;
    const { shape, data } = values[encoderMask!]!;
    const [batch, length] = shape as [number, number];
    const counts = [...data].map(Number);
    return Array.from({ length: batch }, (_, k) => k).some((k) =>
      counts.slice(k * length, (k + 1) * length).every((each) => each === 0),
    );
  }

  /** Whether the encoder axis is padded. */
  #isEncoderPadded(values: readonly TensorValue[]): boolean {
    const { encoderMask, encoderAxes } = this.#plan;
    return (
      encoderAxes.size > 0 && values[encoderMask!]!.shape[1]! < this.#ports[encoderMask!]!.shape[1]!
    );
  }

  /** The shape of an input with the encoder axis padded: to the previous capacity, unless that is far too much. */
  #paddedShape(input: number, shape: readonly number[], isExact: boolean): readonly number[] {
    const axis = this.#plan.encoderAxes.get(input);
    if (axis === undefined || isExact) return shape;
    const needed = paddedSize(shape[axis]!);
    if (this.#encoderCapacity < needed || this.#encoderCapacity > 4 * needed)
      this.#encoderCapacity = needed;
    return withSize(shape, axis, this.#encoderCapacity);
  }

  #lengths(tokens: number): number[] {
    const isLong = tokens > maxShortTokens || this.#states?.has(longChunks.length) === true;
    const { length, maxSingle } = isLong ? longChunks : shortChunks;
    const lengths: number[] = [];
    for (let left = tokens; left > 0; left -= lengths.at(-1)!) {
      const full = [longChunks.length, shortChunks.length, 1].find((each) => each <= left)!;
      lengths.push(this.#hasFullChunks ? full : left > maxSingle ? length : 1);
    }
    return lengths;
  }

  /** Makes states with capacity for the tokens of a call. Returns what they are to be filled with; undefined: the model does not support it. */
  #prepare(call: Call): Loads | undefined {
    const { values, cachedRows, lengths } = call;
    const { states: links, fixed } = this.#plan;
    const needed = lengths.reduce((sum, length) => sum + length, cachedRows);
    const stateInputs = links.map(({ input }) => values[input]!);
    if (this.#states?.memory.isLost) this.#free();
    const states = this.#states;
    const isExact = this.#hasExactEncoder || this.#ignoresEncoder(values);
    this.#ports = values.map(({ type, shape }, at) => ({
      type,
      shape: this.#paddedShape(at, shape, isExact),
    }));
    const isCurrent = stateInputs.every((each, at) => {
      const isOurs = each instanceof StateTensor && !each.isRead && each.stateIndex === at;
      return isOurs && states?.contains(each.snapshot) === true;
    });
    const sizes = this.#sizes(values);
    const isPadded =
      this.#tracedSizes === sizes && states !== undefined && states.capacity >= needed;
    const isReady = isCurrent && isPadded;
    const tensors = isReady ? undefined : stateInputs.map((each) => this.#tensorOf(each));
    if (!isPadded) {
      let capacity = Math.max(minCapacity, states?.capacity ?? 0);
      while (capacity < needed) capacity *= 2;
      states?.dispose();
      this.#states = this.#make(values, capacity);
      this.#tracedSizes = sizes;
    }
    if (!this.#compileChunks(call)) return undefined;
    // Operators append new rows after the valid length, so leading padding is not supported.
    if (!this.#concatenatesCache && this.#masksFrom(call, 0)) return undefined;
    const constants = new Map<number, [TensorValue, Tensor]>();
    for (const [at, input] of fixed.entries()) {
      const value = values[input]!;
      if (!this.#states!.hasConstant(at, value)) constants.set(at, [value, this.#tensorOf(value)]);
    }
    return { tensors, rows: cachedRows, constants };
  }

  /** Fills the states. */
  async #load({ tensors, rows, constants }: Loads): Promise<void> {
    const states = this.#states!;
    const all = [...(tensors ?? []), ...[...constants.values()].map(([, tensor]) => tensor)];
    const unread = all.filter((each) => !states.memory.accepts(each));
    if (unread.length > 0) await Promise.all(unread.map((each) => each.data()));
    this.#check(states);
    if (tensors !== undefined) states.load(tensors, rows);
    for (const [at, [value, tensor]] of constants) states.setConstant(at, value, tensor);
  }

  /** Error: the decoder has been disposed of while a call ran. */
  #check(states: DecoderStates): void {
    if (this.#states !== states) throw new LatheError('this model has been disposed');
  }

  /** The elements of a value, which owns them. */
  #tensorOf(value: TensorValue): Tensor {
    const { tensor, type, shape } = value;
    return tensor ?? new Tensor(value.data, shape, this.#model.dtypeOf(type));
  }

  /** Compiles the programs for a call's chunks. Returns whether the model supports them. */
  #compileChunks(call: Call): boolean {
    const isSupported = attempt(() => {
      this.#states!.chunk(1);
      if (call.tokens > 1 && this.#isSingleToken) return false;
      for (const length of call.lengths) {
        const { results } = this.#states!.chunk(length);
        for (const [at, axis] of this.#axes) {
          if (results[at]?.shape[axis] === length) continue;
          this.#hasFullChunks = this.#axes.delete(at);
        }
      }
      call.lengths = this.#lengths(call.tokens);
      return true;
    });
    if (!(isSupported instanceof LatheError)) return isSupported;
    this.dispose();
    return false;
  }

  /** Whether the mask excludes a token from this index on. */
  #masksFrom({ values }: Call, from: number): boolean {
    const { mask } = this.#plan;
    if (mask === undefined) return false;
    const { shape, data } = values[mask]!;
    const total = shape[1]!;
    return [...data].some((each, at) => at % total >= from && Number(each) === 0);
  }

  /** Key of the input types, except the numbers of rows and tokens, and of the contents of which traces depend. */
  #sizes(values: readonly TensorValue[]): string {
    const { states, mask, inputs, contents } = this.#plan;
    const open = new Map<number, number | undefined>(inputs);
    for (const { input, axis } of states) open.set(input, axis);
    if (mask !== undefined) open.set(mask, 1);
    const types = this.#ports.map(({ type, shape }, at) => [
      type,
      shape.map((n, k) => (k === open.get(at) ? 0 : n)),
    ]);
    return JSON.stringify([types, contents.map((at) => values[at]!.data.join())]);
  }

  #make(values: readonly TensorValue[], capacity: number): DecoderStates {
    const { states, fixed } = this.#plan;
    const specOf = (input: number, axis?: number): StateSpec => {
      const { type, shape } = this.#ports[input]!;
      const all = axis === undefined ? shape : withSize(shape, axis, capacity);
      return { dtype: this.#model.dtypeOf(type), shape: all, axis };
    };
    const specs = states.map(({ input, axis }) => specOf(input, axis));
    const others = fixed.map((input) => specOf(input));
    const contents = new Map(this.#plan.contents.map((at) => [at, values[at]!.data]));
    const trace = (tokens: number) => this.#write({ specs, capacity, contents }, tokens);
    const memory = this.makeMemory([...specs, ...others], specs.length);
    return new DecoderStates(memory, specs, capacity, trace);
  }

  /** Traces the model for a number of new tokens. Error: it does not support the states. */
  #write(how: TraceTypes, tokens: number): DecoderTrace {
    const { capacity } = how;
    if (this.#plan.mask === undefined) return this.#traceFor(how, tokens, capacity);
    if (this.#concatenatesCache) return this.#traceFor(how, tokens, capacity + tokens);
    const traced = attempt(() => this.#traceFor(how, tokens, capacity));
    if (!(traced instanceof LatheError)) return traced;
    const chunk = this.#traceFor(how, tokens, capacity + tokens);
    this.#concatenatesCache = true;
    return chunk;
  }

  /** Traces with a mask of length `seen`: the capacity, if operators append new rows after the valid length. */
  #traceFor({ specs, capacity, contents }: TraceTypes, tokens: number, seen: number): DecoderTrace {
    const { states, fixed, mask, inputs } = this.#plan;
    const stateOf = new Map(states.map(({ input }, at) => [input, specs[at]!.shape]));
    const ports = this.#ports.map(({ type, shape }, at) => {
      const axis = inputs.get(at);
      const chunk = axis === undefined ? shape : withSize(shape, axis, tokens);
      const all = at === mask ? [shape[0]!, seen] : (stateOf.get(at) ?? chunk);
      return { type, shape: all, content: contents.get(at) };
    });
    const traced = [
      ...states.map(({ input, result, axis }): TracedState => {
        return axis === undefined ? [input, result] : [input, result, axis];
      }),
      ...fixed.map((input): TracedState => [input]),
    ];
    const rows = mask === undefined ? { newRows: tokens } : { mask };
    const trace = this.#model.trace(ports, traced, rows);
    this.#isSingleToken ||= trace.quantizesJointly;
    this.#isCapacityIndependent = trace.isCapacityIndependent;
    if (trace.concatenatesCache === seen > capacity) return trace;
    trace.graph.free();
    throw new LatheError('the model appends rows in another way');
  }

  async #run({ values, cachedRows, tokens, lengths }: Call, stop: Stop): Promise<TensorValue[]> {
    const states = this.#states!;
    const parts: (TensorValue | null)[][] = [];
    let from = 0;
    for (const length of lengths) {
      const { program, results } = states.chunk(length);
      if (length === longChunks.length && !this.#hasFullChunks) states.drop(shortChunks.length);
      const count = Math.min(length, tokens - from);
      const inputs = this.#inputs(values, cachedRows + from, from, length);
      states.beginRun();
      const outputs = await stop.within(() => program.run(inputs));
      this.#check(states);
      from += count;
      states.rows = cachedRows + from;
      if (from < tokens) await stop.pause();
      const part = results.map((each) => each && this.#result(each, values, outputs));
      if (count === tokens && count === length) parts.push(part);
      else {
        const read = part.map((each, at) => each && this.#partOf(at, each, count, from === tokens));
        parts.push(await Promise.all(read));
        this.#check(states);
      }
    }
    const snapshot = states.snapshot();
    const results = parts.at(-1)!.map((last, at) => {
      const axis = this.#axes.get(at);
      return axis === undefined || last === null || parts.length === 1
        ? last
        : concatenated(
            parts.map((each) => each[at]!),
            axis,
          );
    });
    for (const [at, { input, result, axis }] of this.#plan.states.entries()) {
      const { type, shape } = values[input]!;
      const all = axis === undefined ? shape : withSize(shape, axis, snapshot.rows);
      results[result] = new StateTensor(snapshot, at, type, all, states.memory.device);
    }
    return results as TensorValue[];
  }

  /** The value of an output; of a constant state the value of its input. */
  #result(
    { name, type, shape }: TracedResult,
    values: readonly TensorValue[],
    outputs: Record<string, Tensor>,
  ): TensorValue {
    const { states, fixed } = this.#plan;
    const input = fixed.find((_, at) => name === stateName(states.length + at));
    if (input === undefined) {
      const output = outputs[name]!;
      if (!isOnHost(output)) return new DeviceTensor(type, output);
      return { kind: 'tensor', type, shape, data: output.dataSync() };
    }
    const source = values[input]!;
    if (source instanceof LazyTensorValue && !source.isRead) return source.alias();
    const { type: as, shape: all, tensor } = source;
    const made = shareOf(this.#tensorOf(source));
    return new LazyTensorValue(as, all, made, { device: tensor && deviceOf(tensor) });
  }

  /** The inputs of a chunk: tokens from `from` on, after `rows` cached rows. */
  #inputs(values: readonly TensorValue[], rows: number, from: number, length: number) {
    const { mask, inputs, states, fixed } = this.#plan;
    const cached = new Set([...fixed, ...states.map(({ input }) => input)]);
    const chunkInputs: Record<string, Tensor> = {
      at: new Tensor(Int32Array.of(rows), [], 'int32'),
    };
    let index = 0;
    for (const [at, value] of values.entries()) {
      if (cached.has(at)) continue;
      const dtype = this.#model.dtypeOf(value.type);
      const { data } = value;
      const axis = inputs.get(at);
      const { shape } = this.#ports[at]!;
      let tensor = new Tensor(cropOrPad(data, value.shape, shape), shape, dtype);
      if (at === mask) tensor = this.#mask(value, rows, length);
      else if (axis !== undefined) {
        const part = sliceAlong(data, value.shape, axis, from, length);
        tensor = new Tensor(part, withSize(value.shape, axis, length), dtype);
      }
      chunkInputs[`i${index++}`] = tensor;
    }
    return chunkInputs;
  }

  /** The attention mask for the capacity and the new tokens; padding tokens are unmasked, as no valid token attends to them. */
  #mask({ type, shape, data }: TensorValue, rows: number, length: number): Tensor {
    const [batch, total] = shape as [number, number];
    const { capacity } = this.#states!;
    const seen = this.#concatenatesCache ? capacity + length : capacity;
    const freshOffset = this.#concatenatesCache ? capacity : rows;
    const dtype = this.#model.dtypeOf(type);
    const all = new arrayTypes[dtype](batch * seen);
    const one = (typeof all[0] === 'bigint' ? 1n : 1) as never;
    for (let k = 0; k < batch; k++) {
      const row = data.subarray(k * total, (k + 1) * total);
      const fresh = row.subarray(rows, rows + length);
      all.set(row.subarray(0, rows) as never, k * seen);
      all.set(fresh as never, k * seen + freshOffset);
      all.fill(one, k * seen + freshOffset + fresh.length, k * seen + freshOffset + length);
    }
    return new Tensor(all, [batch, seen], dtype);
  }

  /** The output of a chunk on the host, if it is of tokens, without the results of padding. `isLast`: of the last chunk. */
  async #partOf(
    output: number,
    value: TensorValue,
    count: number,
    isLast: boolean,
  ): Promise<TensorValue> {
    const axis = this.#axes.get(output);
    if (axis === undefined) {
      if (!isLast) release(value);
      return value;
    }
    const whole = await read(value);
    if (whole !== value) release(value);
    const { kind, type, shape } = whole;
    if (shape[axis] === count) return whole;
    const data = sliceAlong(whole.data, shape, axis, 0, count);
    return { kind, type, shape: withSize(shape, axis, count), data };
  }

  async #isSame(cached: readonly TensorValue[], expected: readonly Value[]): Promise<boolean> {
    for (const [at, b] of expected.entries()) {
      if (this.#plan.repeated.has(at)) continue;
      const a = cached[at]!;
      if (!isNumeric(b) || a.shape.join() !== b.shape.join()) return false;
      const [found, right] = (await Promise.all([read(a), read(b)])).map(numbersOf);
      let [maxError, maxValue] = [0, 0];
      for (const [k, value] of right!.entries()) {
        maxError = Math.max(maxError, Math.abs(Number(value) - Number(found![k])));
        maxValue = Math.max(maxValue, Math.abs(Number(value)));
      }
      if (maxError > (b.type === 'float16' ? float16Tolerance : tolerance) * maxValue) return false;
    }
    return true;
  }
}

/** A value with its elements on the host. */
async function read(value: TensorValue): Promise<TensorValue> {
  const { tensor, kind, type, shape } = value;
  return tensor === undefined ? value : { kind, type, shape, data: await tensor.data<DType>() };
}

/** Frees the elements of a result that nobody gets. */
function release(value: Value): void {
  if (value instanceof LazyTensorValue) value.release();
  else if (value instanceof DeviceTensor) value.tensor.dispose();
}

function concatenated(values: readonly TensorValue[], axis: number): TensorValue {
  const { kind, type, shape } = values[0]!;
  const count = values.reduce((sum, each) => sum + each.shape[axis]!, 0);
  return { kind, type, shape: withSize(shape, axis, count), data: concatenateAlong(values, axis) };
}

/** Elements; of float16 as numbers instead of bits. */
function numbersOf({ type, data }: TensorValue): DataArray {
  return type === 'float16' ? decodeFloat16(data as Uint16Array) : data;
}
