/**
 * Decoders whose key/value cache is stored in states with spare capacity: no call copies the cache or is compiled for its length.
 * Tokens are processed one by one or in chunks of fixed lengths (prefill). Without a mask, the prompt runs without the cache and
 * only single tokens after it use the cache.
 */
import { LatheError } from '../base/errors.js';
import { attempt, type Stop } from '../base/stop.js';
import { elementCount } from '../base/shape.js';
import { arrayTypes } from '../tensor/dtypes.js';
import { decodeFloat16 } from '../tensor/float16.js';
import type { DataArray } from '../tensor/convert.js';
import { Tensor } from '../tensor/tensor.js';
import type { InternalOptions } from '../trace/compiled_function.js';
import type { DecoderPlan } from './decoder_plan.js';
import type { OnnxFile, Port } from './file.js';
import {
  LazyTensorValue,
  CacheTensor,
  type StateSpec,
  rowAxis,
  KvCache,
  sliceAlong,
  type TracedChunk,
} from './kv_cache.js';
import { paddedSize } from './padded_axes.js';
import { dtypeOf, type OnnxValue, cropOrPad, type TensorValue, valueOf } from './values.js';

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

/** A call of a decoder. */
interface Call {
  values: readonly TensorValue[];
  /** Cached rows before the call, and new tokens. */
  cachedRows: number;
  tokens: number;
  /** Chunk lengths; the last chunk is padded, unless outputs are of its last token only. */
  lengths: readonly number[];
}

export class Decoder {
  readonly #file: OnnxFile;
  readonly #plan: DecoderPlan;
  #states: KvCache | undefined;
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
  /** Whether all tokens of a call must be processed together, as they are quantized by their common maximum. */
  #quantizesJointly = false;
  #queue: Promise<unknown> = Promise.resolve();
  /** The token axis of each output. */
  readonly #axes: Map<number, number>;
  /** Whether an output is of the last token only, so that chunks must not be padded. */
  #returnsLastOnly: boolean;
  /** Types of the inputs of the last call. */
  #ports: { kind: 'tensor'; type: string; shape: readonly number[] }[] = [];

  constructor(
    file: OnnxFile,
    plan: DecoderPlan,
    private readonly functionOptions: InternalOptions,
  ) {
    this.#file = file;
    this.#plan = plan;
    this.#axes = new Map(plan.outputs);
    this.#returnsLastOnly = plan.returnsLastOnly;
  }

  /**
   * The outputs; undefined if the cache does not support the call or the model. `exactly` runs the call without states: first
   * results are compared with it where it is not certain that the model ignores unused capacity.
   */
  call(
    values: readonly OnnxValue[],
    stop: Stop,
    exactly: () => Promise<OnnxValue[]>,
  ): Promise<OnnxValue[] | undefined> {
    const result = this.#queue.then(() => this.#call(values, stop, exactly));
    this.#queue = result.catch(() => {});
    return result;
  }

  dispose(): void {
    this.#states?.dispose();
    this.#states = undefined;
    this.#isUnsupported = true;
  }

  async #call(
    values: readonly OnnxValue[],
    stop: Stop,
    exactly: () => Promise<OnnxValue[]>,
  ): Promise<OnnxValue[] | undefined> {
    stop.check();
    const call = this.#isUnsupported ? undefined : this.#read(values);
    if (call === undefined || !stop.within(() => this.#prepare(call))) return undefined;
    const cached = await this.#run(call, stop);
    const propertiesToVerify = this.#propertiesToVerify(call);
    const isPadded = this.#isEncoderPadded(call.values);
    const isVerified = propertiesToVerify.every((each) => this.#verified.has(each));
    if (isVerified && (!isPadded || this.#isEncoderPaddingVerified)) return cached;
    const expected = await exactly();
    const isSame = this.#isSame(cached, expected);
    if (isSame) for (const each of propertiesToVerify) this.#verified.add(each);
    this.#isEncoderPaddingVerified ||= isSame && isPadded;
    if (isSame) return cached;
    // Fully masked tokens attend to padding, too; their results are unspecified.
    if (this.#masksFrom(call, call.cachedRows)) return expected;
    if (isPadded) this.#disableEncoderPadding();
    else this.dispose();
    return expected;
  }

  /**
   * Keys of what must be verified against a call without states: for each capacity, and with a non-empty cache, as a model may
   * derive positions, windows and biases from the capacity.
   */
  #propertiesToVerify({ cachedRows, lengths }: Call): string[] {
    if (this.#plan.mask === undefined) return [''];
    const isFull = !this.#returnsLastOnly || lengths.length === 1;
    if (this.#isCapacityIndependent && !this.#concatenatesCache && isFull) return [];
    const { capacity } = this.#states!;
    return lengths.map((length, k) => `${capacity} ${length} ${cachedRows + k > 0}`);
  }

  /** Copies of the values, as calls wait for previous ones. */
  static snapshot(values: readonly OnnxValue[]): OnnxValue[] {
    return values.map((each) => {
      if (each?.kind !== 'tensor' || (each instanceof LazyTensorValue && !each.isRead)) return each;
      const { kind, type, shape, data } = each;
      return { kind, type, shape, data: data.slice() };
    });
  }

  /** The results of a call without states; encoder outputs, which are passed back as inputs, become lazy values. */
  lazyResults(results: readonly OnnxValue[]): OnnxValue[] {
    return results.map((each, at) => {
      if (each?.kind !== 'tensor' || !this.#plan.repeated.has(at)) return each;
      return new LazyTensorValue(each.type, each.shape, () => each.data as DataArray);
    });
  }

  /** Undefined: shapes not of a decoder call, or nothing to cache. */
  #read(values: readonly OnnxValue[]): Call | undefined {
    const { mask, branch, tokens, pairs } = this.#plan;
    const tensors = values.filter((each): each is TensorValue => each?.kind === 'tensor');
    if (tensors.length !== values.length) return undefined;
    const count = tensors[tokens]!.shape[1]!;
    const cachedRows = tensors[pairs[0]![0]]!.shape[rowAxis]!;
    const isAll = mask === undefined || tensors[mask]!.shape[1] === cachedRows + count;
    const fits = pairs.every(([input]) => tensors[input]!.shape[rowAxis] === cachedRows);
    if (!fits || !isAll || count === 0) return undefined;
    const isSingleToken = mask === undefined || this.#quantizesJointly;
    if (isSingleToken && (cachedRows === 0 || count > 1)) return undefined;
    if (!this.#hasConsistentEncoder(tensors)) return undefined;
    if (branch !== undefined && !(tensors[branch]!.data as DataArray)[0]) return undefined;
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
    const counts = [...(data as DataArray)].map(Number);
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

  /** The model does not respect the encoder mask: from now on the encoder axis has the exact length. */
  #disableEncoderPadding(): void {
    this.#hasExactEncoder = true;
    this.#states?.dispose();
    this.#states = undefined;
  }

  /** The shape of an input with the encoder axis padded: to the previous capacity, unless that is far too much. */
  #paddedShape(input: number, shape: readonly number[], isExact: boolean): readonly number[] {
    const axis = this.#plan.encoderAxes.get(input);
    if (axis === undefined || isExact) return shape;
    const needed = paddedSize(shape[axis]!);
    if (this.#encoderCapacity < needed || this.#encoderCapacity > 4 * needed)
      this.#encoderCapacity = needed;
    return shape.map((size, k) => (k === axis ? this.#encoderCapacity : size));
  }

  #lengths(tokens: number): number[] {
    const isLong = tokens > maxShortTokens || this.#states?.has(longChunks.length) === true;
    const { length, maxSingle } = isLong ? longChunks : shortChunks;
    const lengths: number[] = [];
    for (let left = tokens; left > 0; left -= lengths.at(-1)!) {
      const full = [longChunks.length, shortChunks.length, 1].find((each) => each <= left)!;
      lengths.push(this.#returnsLastOnly ? full : left > maxSingle ? length : 1);
    }
    return lengths;
  }

  /** Fills the states with the cache of a call, with capacity for its tokens. Returns whether the model supports it. */
  #prepare(call: Call): boolean {
    const { values, cachedRows, lengths } = call;
    const { pairs, fixed } = this.#plan;
    const needed = lengths.reduce((sum, length) => sum + length, cachedRows);
    const cacheInputs = pairs.map(([input]) => values[input]!);
    const states = this.#states;
    const isExact = this.#hasExactEncoder || this.#ignoresEncoder(values);
    this.#ports = values.map(({ type, shape }, at) => ({
      kind: 'tensor',
      type,
      shape: this.#paddedShape(at, shape, isExact),
    }));
    const isCurrent = cacheInputs.every((each, at) => {
      const isOurs = each instanceof CacheTensor && !each.isRead && each.state === at;
      return isOurs && states?.contains(each.rows) === true;
    });
    const sizes = this.#sizes();
    const isPadded =
      this.#tracedSizes === sizes && states !== undefined && states.capacity >= needed;
    const isReady = isCurrent && isPadded;
    const rows =
      isReady || cachedRows === 0 ? [] : cacheInputs.map(({ data }) => data as DataArray);
    if (!isPadded) {
      let capacity = Math.max(minCapacity, states?.capacity ?? 0);
      while (capacity < needed) capacity *= 2;
      states?.dispose();
      this.#states = this.#make(capacity);
      this.#tracedSizes = sizes;
    }
    if (!this.#compileChunks(call)) return false;
    // Operators append new rows after the valid length, so leading padding is not supported.
    if (!this.#concatenatesCache && this.#masksFrom(call, 0)) return false;
    if (!isReady) this.#states!.load(rows, cachedRows);
    for (const [at, input] of fixed.entries()) this.#states!.fix(at, values[input]!);
    return true;
  }

  /** Compiles the programs for a call's chunks. Returns whether the model supports them. */
  #compileChunks(call: Call): boolean {
    const isSupported = attempt(() => {
      this.#states!.chunk(1);
      if (call.tokens > 1 && this.#quantizesJointly) return false;
      for (const length of call.lengths) {
        const { results } = this.#states!.chunk(length);
        for (const [at, axis] of this.#axes) {
          const port = results[at];
          if (port?.kind === 'tensor' && port.shape[axis] === length) continue;
          this.#returnsLastOnly = this.#axes.delete(at);
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
    return [...(data as DataArray)].some((each, at) => at % total >= from && Number(each) === 0);
  }

  /** Key of the input types, except the numbers of rows and tokens. */
  #sizes(): string {
    const { pairs, mask, inputs } = this.#plan;
    const open = new Map<number, number>([
      ...inputs,
      ...pairs.map(([at]) => [at, rowAxis] as const),
    ]);
    if (mask !== undefined) open.set(mask, 1);
    return JSON.stringify(
      this.#ports.map(({ type, shape }, at) => [
        type,
        shape.map((n, k) => (k === open.get(at) ? 0 : n)),
      ]),
    );
  }

  #make(capacity: number): KvCache {
    const { pairs, fixed } = this.#plan;
    const stateSpec = (input: number, rows?: number): StateSpec => {
      const { type, shape } = this.#ports[input]!;
      return {
        dtype: dtypeOf(type),
        shape: shape.map((n, k) => (k === rowAxis ? (rows ?? n) : n)),
      };
    };
    const specs = pairs.map(([input]) => stateSpec(input, capacity));
    const others = fixed.map((input) => stateSpec(input));
    return new KvCache(specs, others, (tokens) => this.#write(specs, tokens), this.functionOptions);
  }

  /** Traces the model for a number of new tokens. Error: it does not support the cache. */
  #write(specs: readonly StateSpec[], tokens: number): TracedChunk {
    const capacity = specs[0]!.shape[rowAxis]!;
    if (this.#plan.mask === undefined) return this.#traceFor(specs, tokens, capacity);
    if (this.#concatenatesCache) return this.#traceFor(specs, tokens, capacity + tokens);
    const traced = attempt(() => this.#traceFor(specs, tokens, capacity));
    if (!(traced instanceof LatheError)) return traced;
    const chunk = this.#traceFor(specs, tokens, capacity + tokens);
    this.#concatenatesCache = true;
    return chunk;
  }

  /** Traces with a mask of length `seen`: the capacity, if operators append new rows after the valid length. */
  #traceFor(specs: readonly StateSpec[], tokens: number, seen: number): TracedChunk {
    const { pairs, fixed, mask, branch, inputs } = this.#plan;
    const stateOf = new Map(pairs.map(([input], at) => [input, specs[at]!.shape]));
    const ports = this.#ports.map((port, at) => {
      const axis = inputs.get(at);
      let shape = port.shape.map((size, k) => (k === axis ? tokens : size));
      if (at === mask) shape = [port.shape[0]!, seen];
      const content = at === branch ? { data: [0, 1] as const } : {};
      return { ...port, ...content, shape: stateOf.get(at) ?? shape };
    });
    const cache = [...pairs, ...fixed.map((input) => [input] as const)];
    const options = { cache, ...(mask === undefined ? { newRows: tokens } : {}) };
    const trace = this.#file.trace(ports, [], Uint8Array.of(1), options, true);
    this.#quantizesJointly ||= trace.quantizesJointly;
    this.#isCapacityIndependent = trace.isCapacityIndependent;
    const concatenatesCache = seen > specs[0]!.shape[rowAxis]!;
    if (trace.isComplete && trace.concatenatesCache === concatenatesCache) return trace;
    trace.graph.free();
    throw new LatheError('the model has data-dependent control flow');
  }

  async #run({ values, cachedRows, tokens, lengths }: Call, stop: Stop): Promise<OnnxValue[]> {
    const states = this.#states!;
    const parts: OnnxValue[][] = [];
    let from = 0;
    for (const length of lengths) {
      const { run, results } = states.chunk(length);
      if (length === longChunks.length && !this.#returnsLastOnly) states.drop(shortChunks.length);
      const count = Math.min(length, tokens - from);
      const inputs = this.#inputs(values, cachedRows + from, from, length);
      const outputs = await stop.within(() => run.runAsync(inputs));
      if (this.#states !== states) throw new LatheError('this model has been disposed');
      from += count;
      states.length = cachedRows + from;
      if (from < tokens) await stop.pause();
      parts.push(
        results.map((port, at) =>
          this.#withoutPadding(at, this.#result(port, values, outputs), count),
        ),
      );
    }
    const rows = states.snapshot();
    const results = parts.at(-1)!.map((last, at) => {
      const axis = this.#axes.get(at);
      return axis === undefined
        ? last
        : concatenated(
            parts.map((each) => each[at]!),
            axis,
          );
    });
    for (const [at, [input, result]] of this.#plan.pairs.entries()) {
      const { type, shape } = values[input]!;
      const [batch, heads, , size] = shape as [number, number, number, number];
      results[result] = new CacheTensor(rows, at, type, [batch, heads, rows.length, size]);
    }
    return results;
  }

  /** The value of an output; of a constant state the value of its input. */
  #result(port: Port, values: readonly TensorValue[], outputs: Record<string, Tensor>): OnnxValue {
    const { pairs, fixed } = this.#plan;
    const name = port?.kind === 'tensor' ? port.name : undefined;
    const input = fixed.find((_, at) => name === `cache${pairs.length + at}`);
    if (input === undefined) return valueOf(port, outputs);
    const source = values[input]!;
    if (source instanceof LazyTensorValue && !source.isRead) return source.alias();
    const { type, shape, data } = source;
    return new LazyTensorValue(type, shape, () => data as DataArray);
  }

  /** The inputs of a chunk: tokens from `from` on, after `rows` cached rows. */
  #inputs(values: readonly TensorValue[], rows: number, from: number, length: number) {
    const { mask, inputs, pairs, fixed } = this.#plan;
    const cached = new Set([...fixed, ...pairs.map(([input]) => input)]);
    const chunkInputs: Record<string, Tensor> = {
      at: new Tensor(Int32Array.of(rows), [], 'int32'),
    };
    let index = 0;
    for (const [at, value] of values.entries()) {
      if (cached.has(at)) continue;
      const dtype = dtypeOf(value.type);
      const data = value.data as DataArray;
      const axis = inputs.get(at);
      const { shape } = this.#ports[at]!;
      let tensor = new Tensor(cropOrPad(data, value.shape, shape), shape, dtype);
      if (at === mask) tensor = this.#mask(value, rows, length);
      else if (axis !== undefined) {
        const shape = value.shape.map((size, k) => (k === axis ? length : size));
        tensor = new Tensor(sliceAlong(data, value.shape, axis, from, length), shape, dtype);
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
    const dtype = dtypeOf(type);
    const all = new arrayTypes[dtype](batch * seen);
    const one = (typeof all[0] === 'bigint' ? 1n : 1) as never;
    for (let k = 0; k < batch; k++) {
      const row = (data as DataArray).subarray(k * total, (k + 1) * total);
      const fresh = row.subarray(rows, rows + length);
      all.set(row.subarray(0, rows) as never, k * seen);
      all.set(fresh as never, k * seen + freshOffset);
      all.fill(one, k * seen + freshOffset + fresh.length, k * seen + freshOffset + length);
    }
    return new Tensor(all, [batch, seen], dtype);
  }

  /** Removes the results of padding tokens from an output. */
  #withoutPadding(output: number, value: OnnxValue, count: number): OnnxValue {
    const axis = this.#axes.get(output);
    if (axis === undefined || value?.kind !== 'tensor') return value;
    const { type, shape, data } = value;
    if (shape[axis] === count) return value;
    const valid = sliceAlong(data as DataArray, shape, axis, 0, count);
    return {
      kind: 'tensor',
      type,
      shape: shape.map((n, k) => (k === axis ? count : n)),
      data: valid,
    };
  }

  #isSame(cached: readonly OnnxValue[], expected: readonly OnnxValue[]): boolean {
    return expected.every((_, at) => {
      if (this.#plan.repeated.has(at)) return true;
      const [a, b] = [cached[at] as TensorValue, expected[at] as TensorValue];
      if (b?.kind !== 'tensor' || a.shape.join() !== b.shape.join()) return false;
      const found = numbersOf(a);
      let [maxError, maxValue] = [0, 0];
      for (const [k, value] of numbersOf(b).entries()) {
        maxError = Math.max(maxError, Math.abs(Number(value) - Number(found[k])));
        maxValue = Math.max(maxValue, Math.abs(Number(value)));
      }
      return maxError <= (b.type === 'float16' ? float16Tolerance : tolerance) * maxValue;
    });
  }
}

/** Concatenates tensors along an axis. */
function concatenated(values: readonly OnnxValue[], axis: number): OnnxValue {
  const tensors = values as readonly TensorValue[];
  const [{ type, shape }] = tensors as readonly [TensorValue];
  if (tensors.length === 1) return tensors[0]!;
  const count = tensors.reduce((sum, each) => sum + each.shape[axis]!, 0);
  const inner = elementCount(shape.slice(axis + 1));
  const outer = elementCount(shape.slice(0, axis));
  const data = new arrayTypes[dtypeOf(type)](outer * count * inner);
  let at = 0;
  for (let row = 0; row < outer; row++) {
    for (const each of tensors) {
      const size = each.shape[axis]! * inner;
      data.set((each.data as DataArray).subarray(row * size, (row + 1) * size) as never, at);
      at += size;
    }
  }
  return { kind: 'tensor', type, shape: shape.map((n, k) => (k === axis ? count : n)), data };
}

/** Elements; of float16 as numbers instead of bits. */
function numbersOf({ type, data }: TensorValue): DataArray {
  return type === 'float16' ? decodeFloat16(data as Uint16Array) : (data as DataArray);
}
