/** The operations that lead to some values, in order, and the key under which their module is found. */
import type { HeapValue } from '../runtime/heap_value.js';
import {
  formulaOf,
  GradientPart,
  type Held,
  Operation,
  type PullBack,
  type Source,
} from './formulas.js';
import type { ValueType } from './signature.js';

/** An operation on inputs and results of earlier steps, by their places. */
export interface Step {
  readonly formula: Held;
  readonly places: readonly number[];
}

/** Places count the inputs first, then the steps. */
export interface Plan {
  readonly key: string;
  readonly inputs: readonly Source[];
  readonly inputTypes: readonly ValueType[];
  readonly steps: readonly Step[];
  /** What is computed, and where. */
  readonly outputs: readonly HeapValue[];
  readonly results: readonly number[];
}

/** What leads to the roots. `later`: values that stay pending although tensors show them. */
export const planOf = (roots: readonly HeapValue[], later?: ReadonlySet<HeapValue>): Plan =>
  new Planner(roots, { later }).plan();

/**
 * What leads to the roots, and nothing that later plans would have to compute again: of values that nobody shows but that
 * others still wait for, these follow at once where tensors show them; what only waits for more is kept.
 */
export function wholePlanOf(roots: readonly HeapValue[], later?: ReadonlySet<HeapValue>): Plan {
  const all = new Set(roots);
  for (;;) {
    const planner = new Planner([...all], { later, keepsAwaited: true });
    const plan = planner.plan();
    const count = all.size;
    for (const each of planner.following()) all.add(each);
    if (all.size === count) return plan;
  }
}

interface Options {
  readonly later?: ReadonlySet<HeapValue> | undefined;
  /** Whether what is read by more than the plan itself is among its outputs. */
  readonly keepsAwaited?: boolean;
}

class Planner {
  readonly #inputs: Source[] = [];
  readonly #inputTypes: ValueType[] = [];
  readonly #steps: { value: HeapValue; formula: Held; places: number[] }[] = [];
  /** Inputs are counted from 0 up, steps from -1 down, until the number of inputs is known. */
  readonly #places = new Map<HeapValue, number>();
  /** On the way to a gradient: written down although they may be there. */
  readonly #paths = new Map<HeapValue, Held>();

  /** What belongs to the same ones is computed at once. */
  readonly #pullBacks = new Set<PullBack>();
  /** Values that nobody shows and that formulas outside of the plan read. */
  #awaited = new Set<HeapValue>();

  constructor(
    private readonly roots: readonly HeapValue[],
    private readonly options: Options,
  ) {}

  plan(): Plan {
    this.#findPaths();
    for (const each of this.roots) this.#placeOf(each, each);
    for (const each of this.#pullBacks) {
      for (const result of each.results) {
        if (result !== undefined && this.#isShown(result)) this.#placeOf(result, result);
      }
    }
    const wanted = new Set(this.roots);
    if (this.options.keepsAwaited === true) this.#findAwaited();
    const outputs: HeapValue[] = [];
    const results: number[] = [];
    const count = this.#inputs.length;
    const absolute = (place: number) => (place < 0 ? count - 1 - place : place);
    let key = this.#inputTypes.map(({ type }) => type).join();
    const steps = this.#steps.map(({ value, formula, places }, at) => {
      if (
        this.#isShown(value) ||
        this.#awaited.has(value) ||
        (!value.isThere && wanted.has(value))
      ) {
        outputs.push(value);
        results.push(count + at);
      }
      key += `;${formula.key}:${places.map(absolute).join()}`;
      return { formula, places: places.map(absolute) };
    });
    key += `>${results.join()}`;
    return { key, inputs: this.#inputs, inputTypes: this.#inputTypes, steps, outputs, results };
  }

  /** Whether it is computed because a tensor shows it. */
  #isShown(value: HeapValue): boolean {
    return !value.isThere && value.tensors > 0 && this.options.later?.has(value) !== true;
  }

  #findAwaited(): void {
    const reads = new Map<Source, number>();
    const count = (each: Source) => reads.set(each, (reads.get(each) ?? 0) + 1);
    for (const { formula } of this.#steps) formula.held.forEach(count);
    for (const { sources } of this.#pullBacks) sources.forEach(count);
    for (const { value } of this.#steps) {
      const isHidden = !value.isThere && value.tensors === 0;
      if (isHidden && value.readers > (reads.get(value) ?? 0)) this.#awaited.add(value);
    }
  }

  /** What tensors show of all that follows from those that are awaited. */
  following(): HeapValue[] {
    const seen = new Set<HeapValue>();
    const found: HeapValue[] = [];
    const look = (value: HeapValue): void => {
      if (seen.has(value)) return;
      seen.add(value);
      // What follows from arguments of a function that is being written down has no numbers.
      if (Number.isNaN(formulaOf(value)!.depth)) return;
      if (this.#isShown(value)) found.push(value);
      else value.followers.forEach(look);
    };
    for (const each of this.#awaited) each.followers.forEach(look);
    return found;
  }

  #findPaths(): void {
    const seen = new Set<HeapValue>();
    const look = (value: Source): void => {
      if (typeof value === 'number' || seen.has(value)) return;
      seen.add(value);
      const formula = this.#paths.get(value) ?? (value.isThere ? undefined : formulaOf(value));
      if (formula instanceof GradientPart) {
        const { path, sources } = formula.pullBack;
        if (this.#pullBacks.has(formula.pullBack)) return;
        this.#pullBacks.add(formula.pullBack);
        for (const [on, how] of path) {
          this.#paths.set(on, how);
          seen.delete(on);
        }
        sources.forEach(look);
        for (const on of path.keys()) look(on);
      } else {
        formula?.sources.forEach(look);
      }
    };
    this.roots.forEach(look);
  }

  #placeOf(value: Source, type: ValueType): number {
    if (typeof value === 'number') return this.#input(value, type);
    const known = this.#places.get(value);
    if (known !== undefined) return known;
    const formula = this.#paths.get(value) ?? (value.isThere ? undefined : formulaOf(value));
    const place = formula === undefined ? this.#input(value, value) : this.#step(value, formula);
    this.#places.set(value, place);
    return place;
  }

  #input(source: Source, type: ValueType): number {
    this.#inputTypes.push(type);
    return this.#inputs.push(source) - 1;
  }

  #step(value: HeapValue, formula: Held): number {
    const { operands } = formula;
    const types = formula instanceof Operation ? formula.signature.inputs : operands;
    const places = operands.map((each, at) => this.#placeOf(each, types[at] as HeapValue));
    return -this.#steps.push({ value, formula, places });
  }
}
