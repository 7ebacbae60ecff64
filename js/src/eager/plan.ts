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
  planned(roots, { later });

/**
 * What leads to the roots, and nothing that later plans would have to compute again: of values that nobody shows but that
 * others still wait for, these follow at once where tensors show them; what only waits for more is kept.
 */
export const wholePlanOf = (roots: readonly HeapValue[], later?: ReadonlySet<HeapValue>): Plan =>
  planned(roots, { later, keepsAwaited: true });

const isHidden = (value: HeapValue): boolean => !value.isThere && value.tensors === 0;

interface Options {
  readonly later?: ReadonlySet<HeapValue> | undefined;
  /** Whether what is read by more than the plan itself is among its outputs. */
  readonly keepsAwaited?: boolean;
}

function planned(roots: readonly HeapValue[], options: Options): Plan {
  const planner = new Planner(options);
  planner.lead(roots);
  for (;;) {
    const next = options.keepsAwaited === true ? planner.following() : [];
    if (next.length === 0) return planner.plan(roots);
    if (!planner.lead(next)) return planned([...roots, ...next], options);
  }
}

class Planner {
  readonly #inputs: Source[] = [];
  readonly #inputTypes: ValueType[] = [];
  readonly #steps: { value: HeapValue; formula: Held; places: number[] }[] = [];
  /** Inputs are counted from 0 up, steps from -1 down, until the number of inputs is known. */
  readonly #places = new Map<HeapValue, number>();
  /** On the way to a gradient: written down although they may be there. */
  readonly #paths = new Map<HeapValue, Held>();
  readonly #seen = new Set<HeapValue>();

  /** What belongs to the same ones is computed at once. */
  readonly #pullBacks = new Set<PullBack>();
  /** Values that nobody shows and that formulas outside of the plan read. */
  readonly #awaited = new Set<HeapValue>();

  constructor(private readonly options: Options) {}

  /** Adds what leads to values. False, and nothing is added: a gradient does that makes steps of what are inputs. */
  lead(values: readonly HeapValue[]): boolean {
    const known = this.#pullBacks.size;
    for (const each of values) this.#findPaths(each);
    if (this.#places.size > 0 && this.#pullBacks.size > known) return false;
    for (const each of values) this.#placeOf(each, each);
    for (const each of this.#pullBacks) {
      for (const result of each.results) {
        if (result !== undefined && this.#isShown(result)) this.#placeOf(result, result);
      }
    }
    return true;
  }

  plan(roots: readonly HeapValue[]): Plan {
    const wanted = new Set(roots);
    const outputs: HeapValue[] = [];
    const results: number[] = [];
    const count = this.#inputs.length;
    const absolute = (place: number) => (place < 0 ? count - 1 - place : place);
    let key = this.#inputTypes.map(({ type }) => type).join();
    const steps = this.#steps.map(({ value, formula, places: found }, at) => {
      const places = found.map(absolute);
      if (
        this.#isShown(value) ||
        this.#awaited.has(value) ||
        (!value.isThere && wanted.has(value))
      ) {
        outputs.push(value);
        results.push(count + at);
      }
      key += `;${formula.key}:${places.join()}`;
      return { formula, places };
    });
    key += `>${results.join()}`;
    return { key, inputs: this.#inputs, inputTypes: this.#inputTypes, steps, outputs, results };
  }

  /** Whether it is computed because a tensor shows it. */
  #isShown(value: HeapValue): boolean {
    return !value.isThere && value.tensors > 0 && this.options.later?.has(value) !== true;
  }

  #findAwaited(): void {
    this.#awaited.clear();
    // Mostly nothing is: then what reads hidden values here is all that does, which is counted faster than for each by itself.
    let outside = 0;
    for (const { value } of this.#steps) if (isHidden(value)) outside += value.readers;
    this.#visitReads((each) => (outside -= isHidden(each) ? 1 : 0));
    if (outside === 0) return;
    const reads = new Map<HeapValue, number>();
    this.#visitReads((each) => reads.set(each, (reads.get(each) ?? 0) + 1));
    for (const { value } of this.#steps) {
      if (isHidden(value) && value.readers > (reads.get(value) ?? 0)) this.#awaited.add(value);
    }
  }

  /** All that formulas of the plan hold, as often as they do. */
  #visitReads(visit: (value: HeapValue) => void): void {
    const look = (each: Source) => {
      if (typeof each !== 'number') visit(each);
    };
    for (const { formula } of this.#steps) formula.held.forEach(look);
    for (const { sources } of this.#pullBacks) sources.forEach(look);
  }

  /** What tensors show of all that follows from values that nobody shows and others still wait for. */
  following(): HeapValue[] {
    this.#findAwaited();
    const seen = new Set<HeapValue>();
    const found: HeapValue[] = [];
    const look = (value: HeapValue): void => {
      if (seen.has(value)) return;
      seen.add(value);
      // What follows from arguments of a function that is being written down has no numbers.
      if (Number.isNaN(formulaOf(value)!.depth)) return;
      if (!this.#isShown(value)) value.followers.forEach(look);
      else if (!this.#places.has(value)) found.push(value);
    };
    for (const each of this.#awaited) each.followers.forEach(look);
    return found;
  }

  #findPaths(value: Source): void {
    if (typeof value === 'number' || this.#seen.has(value)) return;
    this.#seen.add(value);
    const formula = this.#paths.get(value) ?? (value.isThere ? undefined : formulaOf(value));
    const look = (each: Source) => this.#findPaths(each);
    if (formula instanceof GradientPart) {
      const { path, sources } = formula.pullBack;
      if (this.#pullBacks.has(formula.pullBack)) return;
      this.#pullBacks.add(formula.pullBack);
      for (const [on, how] of path) {
        this.#paths.set(on, how);
        this.#seen.delete(on);
      }
      sources.forEach(look);
      for (const on of path.keys()) look(on);
    } else {
      formula?.sources.forEach(look);
    }
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
