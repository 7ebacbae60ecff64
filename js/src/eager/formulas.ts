/** Operations on tensors that are not computed yet: each knows its operands, so what is pending is a graph. */
import { type Formula, HeapValue } from '../runtime/heap_value.js';
import { compute } from './compute.js';
import type { Signature } from './signature.js';

/** Of what an operation is applied to; numbers stand for tensors without axes. */
export type Source = HeapValue | number;

let last = 0;
/** The number of the formula that was written down last. */
export const lastFormula = (): number => last;

abstract class Held implements Formula {
  /** They are counted in the order in which they are written down. */
  readonly number = ++last;
  #holders = 1;

  /** Values that it reads. */
  abstract readonly sources: readonly Source[];

  compute(value: HeapValue): void {
    compute([value]);
  }

  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    for (const each of this.sources) if (typeof each !== 'number') each.release();
    this.drop();
  }

  protected drop(): void {}
}

/** An operation of the core. */
export class Operation extends Held {
  /** Operations one behind the other that lead here. */
  readonly depth: number;

  constructor(
    readonly signature: Signature,
    readonly sources: readonly Source[],
  ) {
    super();
    let depth = 0;
    for (const each of sources) {
      if (typeof each === 'number') continue;
      each.hold();
      if (!each.isThere) depth = Math.max(depth, (each.formula as AnyFormula).depth);
    }
    this.depth = depth + 1;
  }
}

/**
 * Sums of the derivatives of targets, each multiplied by its seed, by each of `wrt`; without seeds of one float. What
 * leads from these to the targets is written down here, since values forget how they were computed.
 */
export class PullBack {
  readonly depth: number;
  readonly sources: readonly HeapValue[];
  /** The results, as long as somebody may want them. */
  readonly results: (HeapValue | undefined)[];

  constructor(
    readonly targets: readonly HeapValue[],
    readonly seeds: readonly HeapValue[],
    readonly wrt: readonly HeapValue[],
    readonly path: ReadonlyMap<HeapValue, AnyFormula>,
  ) {
    this.sources = [...targets, ...seeds, ...wrt];
    for (const each of this.sources) each.hold();
    for (const each of path.values()) each.hold();
    this.depth = 1;
    for (const { depth } of path.values()) this.depth = Math.max(this.depth, depth + 1);
    this.results = wrt.map(
      ({ dtype, shape }, at) => new HeapValue(dtype, shape, new GradientPart(this, at)),
    );
  }

  leave(item: number): void {
    this.results[item] = undefined;
    if (this.results.some((each) => each !== undefined)) return;
    for (const each of this.sources) each.release();
    for (const each of this.path.values()) each.release();
  }
}

/** One of the gradients of a `PullBack`. */
export class GradientPart extends Held {
  readonly sources = [];
  readonly depth: number;

  constructor(
    readonly pullBack: PullBack,
    readonly item: number,
  ) {
    super();
    this.depth = pullBack.depth;
  }

  protected override drop(): void {
    this.pullBack.leave(this.item);
  }
}

/** What `customGrad` says of its function: gradients of its inputs by the gradient of its value. */
export type GradientRule = (dy: HeapValue) => readonly HeapValue[];

/** A value whose gradient is somebody's function; through it no other gradient flows. */
export class Custom extends Held {
  readonly sources: readonly HeapValue[];
  readonly depth: number;

  constructor(
    readonly value: HeapValue,
    readonly inputs: readonly HeapValue[],
    readonly rule: GradientRule,
  ) {
    super();
    this.sources = [value, ...inputs];
    for (const each of this.sources) each.hold();
    this.depth = value.isThere ? 1 : (value.formula as AnyFormula).depth + 1;
  }
}

export type AnyFormula = Operation | GradientPart | Custom;

/** How a value is computed, if that is known. */
export const formulaOf = (value: HeapValue) => value.formula as AnyFormula | undefined;
