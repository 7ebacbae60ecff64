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

export const planOf = (roots: readonly HeapValue[]): Plan => new Planner(roots).plan();

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

  constructor(private readonly roots: readonly HeapValue[]) {}

  plan(): Plan {
    this.#findPaths();
    for (const each of this.roots) this.#placeOf(each, each);
    for (const each of this.#pullBacks) {
      for (const result of each.results) {
        if (result?.isThere === false && result.tensors > 0) this.#placeOf(result, result);
      }
    }
    const wanted = new Set(this.roots);
    const outputs: HeapValue[] = [];
    const results: number[] = [];
    const count = this.#inputs.length;
    const absolute = (place: number) => (place < 0 ? count - 1 - place : place);
    let key = this.#inputTypes.map(({ type }) => type).join();
    const steps = this.#steps.map(({ value, formula, places }, at) => {
      if (!value.isThere && (value.tensors > 0 || wanted.has(value))) {
        outputs.push(value);
        results.push(count + at);
      }
      key += `;${formula.key}:${places.map(absolute).join()}`;
      return { formula, places: places.map(absolute) };
    });
    key += `>${results.join()}`;
    return { key, inputs: this.#inputs, inputTypes: this.#inputTypes, steps, outputs, results };
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
