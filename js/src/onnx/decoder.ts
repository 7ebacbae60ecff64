/**
 * Decoders whose keys and values stay where they are computed, in states with room for more: no call copies them or is compiled
 * for their number. Tokens go in alone or in pieces of a fixed length; where there is no mask, those of a prompt as if nothing
 * were kept, and alone behind it.
 */
import { LatheError } from '../base/errors.js';
import type { Stop } from '../base/stop.js';
import { elementCount } from '../base/shape.js';
import { arrayTypes } from '../tensor/dtypes.js';
import { fromHalves } from '../tensor/half.js';
import type { DataArray } from '../tensor/convert.js';
import { Tensor } from '../tensor/tensor.js';
import type { Terms } from '../trace/compiled_function.js';
import type { DecoderPlan } from './decoder_plan.js';
import type { OnnxFile, Port } from './file.js';
import {
  HeldTensor,
  KeptTensor,
  type Place,
  rowAxis,
  RowStates,
  slices,
  type WrittenPiece,
} from './kept_rows.js';
import { roomFor } from './rooms.js';
import { dtypeOf, type OnnxValue, resized, type TensorValue, valueOf } from './values.js';

/** Rows that states have room for at first; twice as many whenever they are full. */
const leastRows = 128;
/**
 * How many tokens go in together, and up to how many go alone. Each piece has the weights in its memory, so a decoder that has
 * seen a long prompt has the long ones instead of the short.
 */
const short = { length: 16, alone: 4 };
const long = { length: 128, alone: 32 };
/** Of the tokens of a prompt that is not long. */
const mostInShort = 64;
/** How far results with kept rows may be off, relative to the largest element. */
const tolerance = 1e-3;
/** The same of halves. */
const halfTolerance = 1e-2;

/** A call, as far as it matters what is kept. */
interface Call {
  values: readonly TensorValue[];
  /** Rows that are there before it, and new tokens. */
  before: number;
  tokens: number;
  /** Of the pieces that the tokens go in with; others fill the last one, unless outputs are of that alone. */
  lengths: readonly number[];
}

export class Decoder {
  readonly #file: OnnxFile;
  readonly #plan: DecoderPlan;
  #states: RowStates | undefined;
  /** The sizes that they are for. */
  #writtenFor = '';
  /** For what an encoder gave. */
  #heardRoom = 0;
  /** Whether the model has been seen to leave out the room, or not to. */
  #isHeardProven = false;
  #isHeardExactly = false;
  /** Whether the model concatenates rows, and must be told by the mask which of them count. */
  #isJoined = false;
  /** Whether it goes by its mask, and by how many rows there are, only where operators know which of them count. */
  #isSure = false;
  /** Pieces that have been seen to give the same as without states. */
  readonly #proven = new Set<string>();
  #isRefused = false;
  /** Whether all tokens of a call must go in together, as where they are quantised by the largest number in them. */
  #isMixed = false;
  #turn: Promise<unknown> = Promise.resolve();
  /** The axes of new tokens, by the numbers of outputs. */
  readonly #axes: Map<number, number>;
  /** Whether an output is of the last token alone, so that nothing may fill a piece behind it. */
  #isCut: boolean;
  /** Types of the inputs, as they were given last. */
  #ports: { kind: 'tensor'; type: string; shape: readonly number[] }[] = [];

  constructor(
    file: OnnxFile,
    plan: DecoderPlan,
    private readonly terms: Terms,
  ) {
    this.#file = file;
    this.#plan = plan;
    this.#axes = new Map(plan.outputs);
    this.#isCut = plan.isCut;
  }

  /**
   * The outputs; nothing where the call, or the model, is none of which rows can be kept. `exactly`: the call without states,
   * with which the first one is compared where only its results tell that the model may be given rows in another order.
   */
  call(
    values: readonly OnnxValue[],
    stop: Stop,
    exactly: () => Promise<OnnxValue[]>,
  ): Promise<OnnxValue[] | undefined> {
    const result = this.#turn.then(() => this.#call(values, stop, exactly));
    this.#turn = result.catch(() => {});
    return result;
  }

  dispose(): void {
    this.#states?.dispose();
    this.#states = undefined;
    this.#isRefused = true;
  }

  async #call(
    values: readonly OnnxValue[],
    stop: Stop,
    exactly: () => Promise<OnnxValue[]>,
  ): Promise<OnnxValue[] | undefined> {
    stop.check();
    const call = this.#isRefused ? undefined : this.#read(values);
    if (call === undefined || !this.#prepare(call)) return undefined;
    const kept = await this.#run(call, stop);
    const claims = this.#claims(call);
    const hasRoom = this.#leavesRoom(call.values);
    const isProven = claims.every((each) => this.#proven.has(each));
    if (isProven && (!hasRoom || this.#isHeardProven)) return kept;
    const wanted = await exactly();
    const isSame = this.#isSame(kept, wanted);
    if (isSame) for (const each of claims) this.#proven.add(each);
    this.#isHeardProven ||= isSame && hasRoom;
    if (isSame) return kept;
    // Tokens that see nothing see room, too, which nobody reads.
    if (this.#leavesOut(call, call.before)) return wanted;
    if (hasRoom) this.#goWithoutRoom();
    else this.dispose();
    return wanted;
  }

  /**
   * What must have been seen to give the same as without states. A model may count room among its rows, in positions, windows and
   * biases of its own: that shows when there are rows before, and anew in states of another size.
   */
  #claims({ before, lengths }: Call): string[] {
    if (this.#plan.mask === undefined) return [''];
    const isWhole = !this.#isCut || lengths.length === 1;
    if (this.#isSure && !this.#isJoined && isWhole) return [];
    const { capacity } = this.#states!;
    return lengths.map((length, k) => `${capacity} ${length} ${before + k > 0}`);
  }

  /** The values as they are now: calls wait for those before them. */
  static taken(values: readonly OnnxValue[]): OnnxValue[] {
    return values.map((each) => {
      if (each?.kind !== 'tensor' || (each instanceof HeldTensor && !each.isRead)) return each;
      const { kind, type, shape, data } = each;
      return { kind, type, shape, data: data.slice() };
    });
  }

  /** The results of a call without states, of which those that stay as they are come back as inputs. */
  held(results: readonly OnnxValue[]): OnnxValue[] {
    return results.map((each, at) => {
      if (each?.kind !== 'tensor' || !this.#plan.repeated.has(at)) return each;
      return new HeldTensor(each.type, each.shape, () => each.data as DataArray);
    });
  }

  /** Nothing: of other shapes than a decoder's, or nothing to keep states for. */
  #read(values: readonly OnnxValue[]): Call | undefined {
    const { mask, branch, tokens, pairs } = this.#plan;
    const tensors = values.filter((each): each is TensorValue => each?.kind === 'tensor');
    if (tensors.length !== values.length) return undefined;
    const count = tensors[tokens]!.shape[1]!;
    const before = tensors[pairs[0]![0]]!.shape[rowAxis]!;
    const isAll = mask === undefined || tensors[mask]!.shape[1] === before + count;
    const fits = pairs.every(([input]) => tensors[input]!.shape[rowAxis] === before);
    if (!fits || !isAll || count === 0) return undefined;
    const isAlone = mask === undefined || this.#isMixed;
    if (isAlone && (before === 0 || count > 1)) return undefined;
    if (!this.#isHeard(tensors)) return undefined;
    if (branch !== undefined && !(tensors[branch]!.data as DataArray)[0]) return undefined;
    return { values: tensors, before, tokens: count, lengths: this.#lengths(count) };
  }

  /** Whether all that an encoder gave is of one length. */
  #isHeard(values: readonly TensorValue[]): boolean {
    const { heard, heardMask } = this.#plan;
    return [...heard].every(
      ([at, axis]) => values[at]!.shape[axis] === values[heardMask!]!.shape[1],
    );
  }

  /** Whether nothing of it counts for a sample, which then hears all of it evenly, room included. */
  #hearsEvenly(values: readonly TensorValue[]): boolean {
    const { heard, heardMask } = this.#plan;
    if (heard.size === 0) return false;
    const { shape, data } = values[heardMask!]!;
    const [batch, length] = shape as [number, number];
    const counts = [...(data as DataArray)].map(Number);
    return Array.from({ length: batch }, (_, k) => k).some((k) =>
      counts.slice(k * length, (k + 1) * length).every((each) => each === 0),
    );
  }

  /** Whether there is room behind what an encoder gave. */
  #leavesRoom(values: readonly TensorValue[]): boolean {
    const { heardMask, heard } = this.#plan;
    return heard.size > 0 && values[heardMask!]!.shape[1]! < this.#ports[heardMask!]!.shape[1]!;
  }

  /** The model does not go by the mask of what it has heard: it must have just that. */
  #goWithoutRoom(): void {
    this.#isHeardExactly = true;
    this.#states?.dispose();
    this.#states = undefined;
  }

  /** The shape of an input, with room behind what an encoder gave: as there was, where that is not far too much. */
  #roomy(input: number, shape: readonly number[], isExact: boolean): readonly number[] {
    const axis = this.#plan.heard.get(input);
    if (axis === undefined || isExact) return shape;
    const least = roomFor(shape[axis]!);
    if (this.#heardRoom < least || this.#heardRoom > 4 * least) this.#heardRoom = least;
    return shape.map((size, k) => (k === axis ? this.#heardRoom : size));
  }

  #lengths(tokens: number): number[] {
    const isLong = tokens > mostInShort || this.#states?.has(long.length) === true;
    const { length, alone } = isLong ? long : short;
    const lengths: number[] = [];
    for (let left = tokens; left > 0; left -= lengths.at(-1)!) {
      const full = [long.length, short.length, 1].find((each) => each <= left)!;
      lengths.push(this.#isCut ? full : left > alone ? length : 1);
    }
    return lengths;
  }

  /** Brings the states to hold the rows of a call, with room for its tokens. Whether the model can be written so. */
  #prepare(call: Call): boolean {
    const { values, before, lengths } = call;
    const { pairs, fixed } = this.#plan;
    const needed = lengths.reduce((sum, length) => sum + length, before);
    const given = pairs.map(([input]) => values[input]!);
    const states = this.#states;
    const isExact = this.#isHeardExactly || this.#hearsEvenly(values);
    this.#ports = values.map(({ type, shape }, at) => ({
      kind: 'tensor',
      type,
      shape: this.#roomy(at, shape, isExact),
    }));
    const isKept = given.every((each, at) => {
      const isOurs = each instanceof KeptTensor && !each.isRead && each.state === at;
      return isOurs && states?.hold(each.rows) === true;
    });
    const sizes = this.#sizes();
    const hasRoom = this.#writtenFor === sizes && states !== undefined && states.capacity >= needed;
    const isReady = isKept && hasRoom;
    const rows = isReady || before === 0 ? [] : given.map(({ data }) => data as DataArray);
    if (!hasRoom) {
      let capacity = Math.max(leastRows, states?.capacity ?? 0);
      while (capacity < needed) capacity *= 2;
      states?.dispose();
      this.#states = this.#make(capacity);
      this.#writtenFor = sizes;
    }
    if (!this.#takes(call)) return false;
    // Operators put new rows behind as many as count, wherever those are.
    if (!this.#isJoined && this.#leavesOut(call, 0)) return false;
    if (!isReady) this.#states!.load(rows, before);
    for (const [at, input] of fixed.entries()) this.#states!.fix(at, values[input]!);
    return true;
  }

  /** Whether the model can be written so that this many tokens go in. What is of the last one alone must end a piece. */
  #takes(call: Call): boolean {
    try {
      this.#states!.piece(1);
      if (call.tokens > 1 && this.#isMixed) return false;
      for (const length of call.lengths) {
        const { results } = this.#states!.piece(length);
        for (const [at, axis] of this.#axes) {
          const port = results[at];
          if (port?.kind === 'tensor' && port.shape[axis] === length) continue;
          this.#isCut = this.#axes.delete(at);
        }
      }
      call.lengths = this.#lengths(call.tokens);
    } catch {
      this.dispose();
      return false;
    }
    return true;
  }

  /** Whether the mask leaves out tokens from this one on. */
  #leavesOut({ values }: Call, from: number): boolean {
    const { mask } = this.#plan;
    if (mask === undefined) return false;
    const { shape, data } = values[mask]!;
    const total = shape[1]!;
    return [...(data as DataArray)].some((each, at) => at % total >= from && Number(each) === 0);
  }

  /** What else than the number of rows and of tokens a model is written down for. */
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

  #make(capacity: number): RowStates {
    const { pairs, fixed } = this.#plan;
    const place = (input: number, rows?: number): Place => {
      const { type, shape } = this.#ports[input]!;
      return {
        dtype: dtypeOf(type),
        shape: shape.map((n, k) => (k === rowAxis ? (rows ?? n) : n)),
      };
    };
    const places = pairs.map(([input]) => place(input, capacity));
    const others = fixed.map((input) => place(input));
    return new RowStates(places, others, (tokens) => this.#write(places, tokens), this.terms);
  }

  /** The model for so many new tokens. Error: it cannot be written so. */
  #write(places: readonly Place[], tokens: number): WrittenPiece {
    const capacity = places[0]!.shape[rowAxis]!;
    if (this.#plan.mask === undefined) return this.#writeFor(places, tokens, capacity);
    if (this.#isJoined) return this.#writeFor(places, tokens, capacity + tokens);
    try {
      return this.#writeFor(places, tokens, capacity);
    } catch {
      const written = this.#writeFor(places, tokens, capacity + tokens);
      this.#isJoined = true;
      return written;
    }
  }

  /** With a mask of so many tokens: of as many as there are rows, where operators put new rows behind those that count. */
  #writeFor(places: readonly Place[], tokens: number, seen: number): WrittenPiece {
    const { pairs, fixed, mask, branch, inputs } = this.#plan;
    const stateOf = new Map(pairs.map(([input], at) => [input, places[at]!.shape]));
    const ports = this.#ports.map((port, at) => {
      const axis = inputs.get(at);
      let shape = port.shape.map((size, k) => (k === axis ? tokens : size));
      if (at === mask) shape = [port.shape[0]!, seen];
      const known = at === branch ? { data: [0, 1] as const } : {};
      return { ...port, ...known, shape: stateOf.get(at) ?? shape };
    });
    const cache = [...pairs, ...fixed.map((input) => [input] as const)];
    const options = { cache, ...(mask === undefined ? { freshRows: tokens } : {}) };
    const trace = this.#file.trace(ports, [], Uint8Array.of(1), options, true);
    this.#isMixed ||= trace.mixed;
    this.#isSure = trace.sure;
    const isJoined = seen > places[0]!.shape[rowAxis]!;
    if (trace.whole && trace.joined === isJoined) return trace;
    trace.graph.free();
    throw new LatheError('the model decides by what it is given how to go on');
  }

  async #run({ values, before, tokens, lengths }: Call, stop: Stop): Promise<OnnxValue[]> {
    const states = this.#states!;
    const parts: OnnxValue[][] = [];
    let from = 0;
    for (const length of lengths) {
      const { run, results } = states.piece(length);
      if (length === long.length && !this.#isCut) states.drop(short.length);
      const count = Math.min(length, tokens - from);
      const outputs = await run.runAsync(this.#inputs(values, before + from, from, length));
      if (this.#states !== states) throw new LatheError('this model has been disposed');
      from += count;
      states.length = before + from;
      if (from < tokens) await stop.pause();
      parts.push(
        results.map((port, at) => this.#cut(at, this.#result(port, values, outputs), count)),
      );
    }
    const rows = states.give();
    const joined = parts.at(-1)!.map((last, at) => {
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
      joined[result] = new KeptTensor(rows, at, type, [batch, heads, rows.length, size]);
    }
    return joined;
  }

  /** An output; one that is a state which stays as it is: what was given for that. */
  #result(port: Port, values: readonly TensorValue[], outputs: Record<string, Tensor>): OnnxValue {
    const { pairs, fixed } = this.#plan;
    const name = port?.kind === 'tensor' ? port.name : undefined;
    const input = fixed.find((_, at) => name === `cache${pairs.length + at}`);
    if (input === undefined) return valueOf(port, outputs);
    const given = values[input]!;
    if (given instanceof HeldTensor && !given.isRead) return given.again();
    const { type, shape, data } = given;
    return new HeldTensor(type, shape, () => data as DataArray);
  }

  /** What a piece is run with: tokens from `from` on, when there are rows of so many. */
  #inputs(values: readonly TensorValue[], rows: number, from: number, length: number) {
    const { mask, inputs, pairs, fixed } = this.#plan;
    const kept = new Set([...fixed, ...pairs.map(([input]) => input)]);
    const given: Record<string, Tensor> = { at: new Tensor(Int32Array.of(rows), [], 'int32') };
    let number = 0;
    for (const [at, value] of values.entries()) {
      if (kept.has(at)) continue;
      const dtype = dtypeOf(value.type);
      const data = value.data as DataArray;
      const axis = inputs.get(at);
      const { shape } = this.#ports[at]!;
      let tensor = new Tensor(resized(data, value.shape, shape), shape, dtype);
      if (at === mask) tensor = this.#mask(value, rows, length);
      else if (axis !== undefined) {
        const shape = value.shape.map((size, k) => (k === axis ? length : size));
        tensor = new Tensor(slices(data, value.shape, axis, from, length), shape, dtype);
      }
      given[`i${number++}`] = tensor;
    }
    return given;
  }

  /** Which of the rows and the new tokens count; tokens that fill a piece do, as none that counts sees them. */
  #mask({ type, shape, data }: TensorValue, rows: number, length: number): Tensor {
    const [batch, total] = shape as [number, number];
    const { capacity } = this.#states!;
    const seen = this.#isJoined ? capacity + length : capacity;
    const behind = this.#isJoined ? capacity : rows;
    const dtype = dtypeOf(type);
    const all = new arrayTypes[dtype](batch * seen);
    const one = (typeof all[0] === 'bigint' ? 1n : 1) as never;
    for (let k = 0; k < batch; k++) {
      const given = (data as DataArray).subarray(k * total, (k + 1) * total);
      const fresh = given.subarray(rows, rows + length);
      all.set(given.subarray(0, rows) as never, k * seen);
      all.set(fresh as never, k * seen + behind);
      all.fill(one, k * seen + behind + fresh.length, k * seen + behind + length);
    }
    return new Tensor(all, [batch, seen], dtype);
  }

  /** What an output has of the tokens that fill no piece. */
  #cut(output: number, value: OnnxValue, count: number): OnnxValue {
    const axis = this.#axes.get(output);
    if (axis === undefined || value?.kind !== 'tensor') return value;
    const { type, shape, data } = value;
    if (shape[axis] === count) return value;
    const cut = slices(data as DataArray, shape, axis, 0, count);
    return {
      kind: 'tensor',
      type,
      shape: shape.map((n, k) => (k === axis ? count : n)),
      data: cut,
    };
  }

  #isSame(kept: readonly OnnxValue[], wanted: readonly OnnxValue[]): boolean {
    return wanted.every((_, at) => {
      if (this.#plan.repeated.has(at)) return true;
      const [a, b] = [kept[at] as TensorValue, wanted[at] as TensorValue];
      if (b?.kind !== 'tensor' || a.shape.join() !== b.shape.join()) return false;
      const found = numbersOf(a);
      let [worst, most] = [0, 0];
      for (const [k, value] of numbersOf(b).entries()) {
        worst = Math.max(worst, Math.abs(Number(value) - Number(found[k])));
        most = Math.max(most, Math.abs(Number(value)));
      }
      return worst <= (b.type === 'float16' ? halfTolerance : tolerance) * most;
    });
  }
}

/** Tensors one behind the other along an axis. */
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

/** Elements, of halves as numbers instead of their bits. */
function numbersOf({ type, data }: TensorValue): DataArray {
  return type === 'float16' ? fromHalves(data as Uint16Array) : (data as DataArray);
}
