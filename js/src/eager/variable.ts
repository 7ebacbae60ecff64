/** Tensors with assignable elements, registered by name. */
import { LatheError } from '../base/errors.js';
import type { DeviceValue } from '../runtime/device_value.js';
import type { DType } from '../tensor/dtypes.js';
import type { Rank } from '../tensor/ranks.js';
import { tracked, trackElements, untrackElements } from '../tensor/live_tensors.js';
import { elements, Tensor } from '../tensor/tensor.js';
import { engine, valueOf } from './engine.js';
import { isPending, lazyNodeOf } from './graph/lazy_nodes.js';
import { operationValue } from './values.js';

/** Live variables by name. */
export const variables = () => engine.variables as Map<string, Variable>;

/** Previous values of variables. */
export type PreviousValues = ReadonlyMap<Variable, readonly DeviceValue[]>;

/** Passes to an action the values that variables have had since it began; released when it ends. */
export function withPreviousValues<T>(action: (earlier: PreviousValues) => T): T {
  const earlier = new Map<Variable, DeviceValue[]>();
  const { histories } = engine;
  histories.push(earlier);
  try {
    return action(earlier);
  } finally {
    histories.splice(histories.indexOf(earlier), 1);
    for (const values of earlier.values()) for (const each of values) each.release();
  }
}

/**
 * The value that a variable gets, and whether it is a new one. While gradients are recorded it is detached, as in
 * TensorFlow.js: no gradient flows through the assignment.
 */
function detachedOnTape(value: DeviceValue): [DeviceValue, boolean] {
  if (!engine.tape.isRecording || !value.dtype.includes('float')) return [value, false];
  return [operationValue('detach', [value]), true];
}

/** The value of a tensor; constants are materialized, so that all plans that read the variable are equal. */
function materialized(x: Tensor): DeviceValue {
  const value = valueOf(x);
  if (value.constant !== undefined) value.materialize();
  return value;
}

/** A tensor whose elements `assign` replaces. Created by `variable`; `tidy` does not dispose of it. */
export class Variable<R extends Rank = any> extends Tensor<R> {
  readonly name: string;

  /** Error: a live variable of this name. */
  constructor(
    initial: Tensor<R>,
    public trainable: boolean,
    name?: string,
  ) {
    const unique = name ?? String(engine.unnamedVariables++);
    if (engine.variables.has(unique)) {
      throw new LatheError(`Variable with name ${unique} was already registered`);
    }
    const [value, isNew] = detachedOnTape(materialized(initial));
    if (!isNew) value.share();
    super(value, initial.shape, initial.dtype);
    this.name = unique;
    engine.variables.set(this.name, this);
    this.kept = true;
    this[tracked](!isNew);
    if (engine.trace === undefined) return;
    // Initial values without symbolic arguments are computed once and read at each call of the trace.
    if (isPending(value) && !Number.isNaN(lazyNodeOf(value)!.depth)) value.materialize();
    value.retain();
    engine.trace.variables.set(value, this);
  }

  /** Assigns the elements of a tensor, which the caller still disposes of. Errors: another dtype or shape. */
  assign(value: Tensor<R>): void {
    this.#become(value, detachedOnTape);
  }

  /** As `assign`, with gradients flowing through the assignment: for states of layers. */
  follow(value: Tensor<R>): void {
    this.#become(value, (each) => [each, false]);
  }

  /** Replaces the value by one of its dtype and shape that no tensor references. Not while gradients are recorded. */
  replace(value: DeviceValue): void {
    trackElements(this);
    const old = this[elements] as DeviceValue;
    this[elements] = value;
    if (old.free()) untrackElements(this);
  }

  #become(value: Tensor<R>, convert: typeof detachedOnTape): void {
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
    const [next, isNew] = convert(materialized(value));
    if (isNew) trackElements(this);
    else next.share();
    const old = this[elements] as DeviceValue;
    for (const earlier of engine.histories) {
      old.retain();
      earlier.set(this, [...(earlier.get(this) ?? []), old]);
    }
    this[elements] = next;
    if (old.free()) untrackElements(this);
  }

  /** Frees the elements and the name. */
  override dispose(): void {
    if (variables().get(this.name) === this) variables().delete(this.name);
    super.dispose();
  }
}

/**
 * A variable with the elements of a tensor.
 *
 * @param trainable whether optimizers update it
 * @param name unique. Default: a number
 * @param dtype Default: that of `initial`
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
  for (const each of [...engine.variables.values()]) each.dispose();
}
