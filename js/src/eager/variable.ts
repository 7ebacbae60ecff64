/** Tensors that can be given other elements, and known by name to optimisers. */
import { LatheError } from '../base/errors.js';
import { HeapValue } from '../runtime/heap_value.js';
import type { DType } from '../tensor/dtypes.js';
import type { Rank } from '../tensor/ranks.js';
import { trackElements, tracked, untrackElements } from '../tensor/scopes.js';
import { elements, Tensor } from '../tensor/tensor.js';
import { isPending, isRecording } from './compute.js';
import { formulaOf } from './formulas.js';
import { operation } from './values.js';

/** Those that are alive, by name. */
export const variables = new Map<string, Variable>();
let last = 0;
let collected: Map<HeapValue, Variable> | undefined;

/** Adds the variables that are made meanwhile, by their first values, which are held. */
export function collecting<T>(into: Map<HeapValue, Variable>, action: () => T): T {
  const around = collected;
  collected = into;
  try {
    return action();
  } finally {
    collected = around;
  }
}

/** What variables were before they were assigned something else. */
export type Earlier = ReadonlyMap<Variable, readonly HeapValue[]>;
const histories: Map<Variable, HeapValue[]>[] = [];

/** Gives an action what variables were before it changed them, as long as it runs. */
export function withEarlier<T>(action: (earlier: Earlier) => T): T {
  const earlier = new Map<Variable, HeapValue[]>();
  histories.push(earlier);
  try {
    return action(earlier);
  } finally {
    histories.splice(histories.indexOf(earlier), 1);
    for (const values of earlier.values()) for (const each of values) each.release();
  }
}

/**
 * What a variable becomes. While gradients are recorded none flows from it to what it was computed from, as in
 * TensorFlow.js, whose tape knows variables by themselves: it is a value of its own then. Whether it is.
 */
function taken(value: HeapValue): [HeapValue, boolean] {
  if (!isRecording() || !value.dtype.includes('float')) return [value, false];
  return [operation('detach', [value]), true];
}

/** What a tensor shows; stored, if it is a constant: so the first plan that reads the variable is that of all later ones. */
function stored(x: Tensor): HeapValue {
  const value = HeapValue.of(x);
  if (value.constant !== undefined) void value.address;
  return value;
}

/** A tensor whose elements `assign` changes. Made by `variable`; `tidy` leaves it alone. */
export class Variable<R extends Rank = any> extends Tensor<R> {
  readonly name: string;

  /** Error: another one that is alive has the name. */
  constructor(
    initial: Tensor<R>,
    public trainable: boolean,
    name?: string,
  ) {
    const unique = name ?? String(last++);
    if (variables.has(unique)) {
      throw new LatheError(`Variable with name ${unique} was already registered`);
    }
    const [value, isOwn] = taken(stored(initial));
    if (!isOwn) value.share();
    super(value, initial.shape, initial.dtype);
    this.name = unique;
    variables.set(this.name, this);
    this.kept = true;
    this[tracked](!isOwn);
    if (collected === undefined) return;
    // What follows from no argument is made once, and read at each call of what is recorded.
    if (isPending(value) && !Number.isNaN(formulaOf(value)!.depth)) void value.address;
    value.hold();
    collected.set(value, this);
  }

  /** Gives it the elements of a tensor, which goes on to be the caller's. Errors: another dtype or shape. */
  assign(value: Tensor<R>): void {
    this.#become(value, taken);
  }

  /** As `assign`, but gradients flow on to what the tensor was computed from: what layers keep from one call to the next. */
  follow(value: Tensor<R>): void {
    this.#become(value, (each) => [each, false]);
  }

  /** Gives it elements of its own, of its dtype and shape, that nobody else has. Not while gradients are recorded. */
  replace(value: HeapValue): void {
    trackElements(this);
    const old = this[elements] as HeapValue;
    this[elements] = value;
    if (old.free()) untrackElements(this);
  }

  #become(value: Tensor<R>, take: typeof taken): void {
    if (value.dtype !== this.dtype) {
      throw new LatheError(
        `dtype of the new value (${value.dtype}) and previous value (${this.dtype}) must match`,
      );
    }
    if (value.shape.join() !== this.shape.join()) {
      throw new LatheError(
        `shape of the new value (${value.shape.join(',')}) and previous value (${this.shape.join(',')}) must match`,
      );
    }
    const [next, isOwn] = take(stored(value));
    if (isOwn) trackElements(this);
    else next.share();
    const old = this[elements] as HeapValue;
    for (const earlier of histories) {
      old.hold();
      earlier.set(this, [...(earlier.get(this) ?? []), old]);
    }
    this[elements] = next;
    if (old.free()) untrackElements(this);
  }

  /** Lets the elements and the name go. */
  override dispose(): void {
    if (variables.get(this.name) === this) variables.delete(this.name);
    super.dispose();
  }
}

/**
 * A tensor that can be changed, with the elements of another one.
 *
 * @param trainable whether optimisers change it
 * @param name left out: a number
 * @param dtype that of `initial`, unless said
 */
export function variable<R extends Rank = any>(
  initial: Tensor<R>,
  trainable = true,
  name?: string,
  dtype?: DType,
): Variable<R> {
  if (!(initial instanceof Tensor)) {
    throw new LatheError(`variable: the initial value must be a tensor, got ${String(initial)}`);
  }
  const source = dtype === undefined || dtype === initial.dtype ? initial : initial.cast(dtype);
  return new Variable<R>(source as Tensor<R>, trainable, name);
}

/** Disposes of all variables. */
export function disposeVariables(): void {
  for (const each of [...variables.values()]) each.dispose();
}
