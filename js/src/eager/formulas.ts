/** Operations on tensors that are not computed yet: each knows its operands, so what is pending is a graph. */
import type { Constant, Formula, HeapValue } from '../runtime/heap_value.js';
import type { Trace, TracedTensor } from '../trace/trace.js';
import type { Apart } from './apart.js';
import { compute, computeLater } from './compute.js';
import { constantOf } from './fill.js';
import type { Signature } from './signature.js';

/** Of what an operation is applied to; numbers stand for tensors without axes. */
export type Source = HeapValue | number;

let last = 0;
/** The number of the formula that was written down last. */
export const lastFormula = (): number => last;

/** Results of what gives several, by what that is: each is written down once. */
export type Written = Map<object, TracedTensor[]>;

export abstract class Held implements Formula {
  /** They are counted in the order in which they are written down. */
  readonly number = ++last;
  #holders = 1;

  constructor(
    /** Operations one behind the other that lead here; fewer, once some of them have been computed. */
    public depth: number,
    /** Whether a gradient is among what leads here. */
    readonly hasGradient: boolean,
  ) {}

  /** Values that it reads. */
  abstract readonly sources: readonly Source[];
  /** Equal ones of equal operands give equal results. */
  abstract get key(): string;

  /** What `write` takes. */
  get operands(): readonly Source[] {
    return this.sources;
  }

  /** All that it holds. */
  get held(): readonly Source[] {
    return this.sources;
  }

  /** The same of other sources; `known` finds again what several results share. */
  again?(sources: readonly Source[], known: Map<object, object>): Held;

  /** Adds it to a function. */
  abstract write(trace: Trace, operands: TracedTensor[], written: Written): TracedTensor;

  compute(value: HeapValue): void {
    compute([value]);
  }

  computeLater(value: HeapValue): Promise<void> | undefined {
    return computeLater(value);
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
  /** Of a constant: plans compute it wherever they read it, and it takes no memory until it is read itself. */
  readonly constant: Constant | undefined;

  constructor(
    readonly signature: Signature,
    readonly sources: readonly Source[],
  ) {
    super(depthOver(sources), haveGradient(sources));
    for (const each of sources) if (typeof each !== 'number') each.hold();
    this.constant = constantOf(signature, sources);
  }

  get key(): string {
    return String(this.signature.id);
  }

  write(trace: Trace, operands: TracedTensor[]): TracedTensor {
    const { op, values } = this.signature;
    return trace.apply(op, operands, [...values]);
  }
}

/** A gradient by several values, which `GradientPart` gives one by one. */
export interface PullBack {
  readonly depth: number;
  readonly targets: readonly HeapValue[];
  readonly seeds: readonly HeapValue[];
  /** Targets, seeds and what it is by. */
  readonly sources: readonly HeapValue[];
  /** What leads to the targets, with how it is computed. */
  readonly path: ReadonlyMap<HeapValue, Held>;
  /** The results, as long as somebody may want them. */
  readonly results: readonly (HeapValue | undefined)[];
  write(trace: Trace, operands: readonly TracedTensor[]): TracedTensor[];
  /** It with its function. `known`: those of gradients within the function, which this adds to. */
  apart(known?: Map<PullBack, Apart>): Apart;
  /** Nobody wants this result any more. */
  leave(item: number): void;
}

/** One of the gradients of a `PullBack`. */
export class GradientPart extends Held {
  readonly sources = [];

  constructor(
    readonly pullBack: PullBack,
    readonly item: number,
  ) {
    super(pullBack.depth, true);
  }

  get key(): string {
    const { targets, seeds } = this.pullBack;
    return `g${targets.length}/${seeds.length}/${this.item}`;
  }

  override get operands(): readonly HeapValue[] {
    return this.pullBack.sources;
  }

  write(trace: Trace, operands: TracedTensor[], written: Written): TracedTensor {
    return writtenOnce(written, this.pullBack, () => this.pullBack.write(trace, operands))[
      this.item
    ]!;
  }

  protected override drop(): void {
    this.pullBack.leave(this.item);
  }
}

/** How a value is computed, if that is known. */
export const formulaOf = (value: HeapValue) => value.formula as Held | undefined;

/** Operations one behind the other that lead to something that reads these; NaN where one has no formula: arguments of functions. */
export function depthOver(sources: readonly Source[]): number {
  let depth = 0;
  for (const each of sources) {
    if (typeof each === 'number' || each.isThere) continue;
    depth = Math.max(depth, formulaOf(each)?.depth ?? NaN);
  }
  return depth + 1;
}

/** Whether a gradient is among what leads to something that reads these. */
export function haveGradient(sources: readonly Source[]): boolean {
  for (const each of sources) {
    if (typeof each !== 'number' && formulaOf(each)?.hasGradient === true) return true;
  }
  return false;
}

/** Results of what gives several, which `write` writes down the first time. */
export function writtenOnce(
  written: Written,
  whole: object,
  write: () => TracedTensor[],
): TracedTensor[] {
  if (!written.has(whole)) written.set(whole, write());
  return written.get(whole)!;
}

/** What a gradient is by. */
export const wrtOf = ({ sources, targets, seeds }: PullBack): readonly HeapValue[] =>
  sources.slice(targets.length + seeds.length);

/** All values that a formula reads, those of the function of a gradient, too. */
export function visitReads(
  formula: Held,
  visit: (value: HeapValue) => void,
  seen = new Set<PullBack>(),
): void {
  for (const each of formula.operands) if (typeof each !== 'number') visit(each);
  if (!(formula instanceof GradientPart) || seen.has(formula.pullBack)) return;
  seen.add(formula.pullBack);
  for (const each of formula.pullBack.path.values()) visitReads(each, visit, seen);
}

/** A formula's key, of a gradient with its function that of both. */
export const keyOf = (formula: Held, apart: Apart | undefined): string =>
  apart === undefined ? formula.key : `a${(formula as GradientPart).item}/${apart.key}`;

/** Adds a formula to a function. */
export const writePart = (
  formula: Held,
  apart: Apart | undefined,
  trace: Trace,
  operands: TracedTensor[],
  written: Written,
): TracedTensor =>
  apart === undefined
    ? formula.write(trace, operands, written)
    : writtenOnce(written, apart.pullBack, () => apart.write(trace, operands))[
        (formula as GradientPart).item
      ]!;
