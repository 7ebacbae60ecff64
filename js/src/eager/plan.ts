/** The operations that lead to some values, in order, and the key under which their module is found. */
import { type HeapValue, nextWalk } from '../runtime/heap_value.js';
import type { Trace, TracedTensor } from '../trace/trace.js';
import type { Apart } from './apart.js';
import {
  formulaOf,
  GradientPart,
  type Held,
  keyOf,
  Operation,
  type PullBack,
  type Source,
  visitReads,
  wrtOf,
} from './formulas.js';
import type { ValueType } from './signature.js';

/** An operation on inputs and results of other steps, by their places. */
export interface Step {
  readonly value: HeapValue;
  readonly formula: Held;
  /** Of a gradient that is written down with its function. */
  readonly apart: Apart | undefined;
  readonly places: readonly number[];
  /** Adds it to a function, where the formula does not. */
  readonly write?: (trace: Trace, operands: readonly TracedTensor[]) => TracedTensor;
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
  planned(roots, { later, keepsAwaited: false, apart: new Map() });

/**
 * What leads to the roots, and nothing that later plans would have to compute again: of values that nobody shows but that
 * others still wait for, these follow at once where tensors show them; what only waits for more is kept.
 */
export const wholePlanOf = (roots: readonly HeapValue[], later?: ReadonlySet<HeapValue>): Plan =>
  planned(roots, { later, keepsAwaited: true, apart: new Map() });

interface Options {
  readonly later: ReadonlySet<HeapValue> | undefined;
  /** Whether what is read by more than the plan itself is among its outputs. */
  readonly keepsAwaited: boolean;
  /** Gradients that are written down with their functions. */
  readonly apart: Map<PullBack, Apart>;
}

/** Numbers below 0 of texts. When there are too many they are forgotten, and others follow. */
const numbers = new Map<string, number>();
const mostNumbers = 10000;
let lastNumber = 0;

function numberOf(text: string): number {
  if (numbers.size > mostNumbers) numbers.clear();
  if (!numbers.has(text)) numbers.set(text, --lastNumber);
  return numbers.get(text)!;
}

/** Adds a number to a key: a text of 16 bits each is made and found in a fifth of the time of one of digits. */
function spell(key: number[], value: number): void {
  key.push(value & 0xffff, value >>> 16);
}

/** Functions of engines take no more arguments. */
const mostUnits = 10000;

function textOf(key: readonly number[]): string {
  let text = '';
  for (let at = 0; at < key.length; at += mostUnits) {
    text += String.fromCharCode(...key.slice(at, at + mostUnits));
  }
  return text;
}

/** How often a plan grows by what follows: each time costs as much as the plan is long. */
const mostRounds = 8;

function planned(roots: readonly HeapValue[], options: Options): Plan {
  let all = roots;
  let planner = new Planner(options);
  planner.lead(all);
  for (let round = 0; ; round += 1) {
    const isNew = planner.setApart();
    if (options.keepsAwaited) planner.findAwaited();
    const next = round < mostRounds ? planner.following() : [];
    if (!isNew && next.length === 0) return planner.plan(roots);
    all = [...all, ...next];
    if (isNew || !planner.lead(next)) {
      planner = new Planner(options);
      planner.lead(all);
    }
  }
}

class Planner {
  readonly #inputs: Source[] = [];
  readonly #inputTypes: ValueType[] = [];
  readonly #steps: {
    value: HeapValue;
    formula: Held;
    apart: Apart | undefined;
    places: number[];
  }[] = [];
  /** Values note their places: inputs are counted from 0 up, steps from -1 down, until the number of inputs is known. */
  readonly #walk = nextWalk();
  /** On the way to a gradient: written down although they are there. */
  readonly #paths = new Map<HeapValue, Held>();
  readonly #seen = new Set<HeapValue>();

  /** Those of what gradients with their functions read. */
  readonly #places = new Map<Apart, number[]>();

  /** What belongs to the same ones is computed at once. */
  readonly #pullBacks = new Set<PullBack>();
  /** Values that nobody shows and that formulas outside of the plan read. */
  readonly #awaited = new Set<HeapValue>();
  /** How often formulas outside of the plan read such values of it. */
  #readOutside = 0;

  constructor(private readonly options: Options) {}

  /** Adds what leads to values. False, and the plan is of no use: a gradient makes steps of what are inputs. */
  lead(values: readonly HeapValue[]): boolean {
    const known = this.#pullBacks.size;
    for (const each of values) this.#findPaths(each);
    const isBegun = this.#inputs.length + this.#steps.length > 0;
    if (isBegun && this.#pullBacks.size > known) return false;
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
    const steps = this.#steps;
    const count = this.#inputs.length;
    const key = [count, steps.length];
    for (const { type } of this.#inputTypes) spell(key, numberOf(type));
    for (let at = 0; at < steps.length; at += 1) {
      const { value, formula, apart, places } = steps[at]!;
      spell(
        key,
        formula instanceof Operation ? formula.signature.id : numberOf(keyOf(formula, apart)),
      );
      key.push(places.length);
      for (let operand = 0; operand < places.length; operand += 1) {
        const place = places[operand]!;
        places[operand] = place < 0 ? count - 1 - place : place;
        spell(key, places[operand]!);
      }
      const isWanted = this.#isShown(value) || this.#awaited.has(value);
      if (!isWanted && (value.isThere || !wanted.has(value))) continue;
      outputs.push(value);
      results.push(count + at);
    }
    for (const each of results) spell(key, each);
    const text = textOf(key);
    return {
      key: text,
      inputs: this.#inputs,
      inputTypes: this.#inputTypes,
      steps,
      outputs,
      results,
    };
  }

  /** Whether it is computed because a tensor shows it. */
  #isShown(value: HeapValue): boolean {
    return isStored(value) && value.tensors > 0 && !this.#isLater(value);
  }

  #isLater(value: HeapValue): boolean {
    return this.options.later?.has(value) === true;
  }

  /** Whether it is not stored, unless others wait for it. */
  #isHidden(value: HeapValue): boolean {
    return isStored(value) && (value.tensors === 0 || this.#isLater(value));
  }

  findAwaited(): void {
    this.#awaited.clear();
    if (this.#readOutside === 0) return;
    const reads = new Map<HeapValue, number>();
    const count = (each: Source) => {
      if (typeof each !== 'number') reads.set(each, (reads.get(each) ?? 0) + 1);
    };
    for (const { formula } of this.#steps) formula.held.forEach(count);
    for (const { sources } of this.#pullBacks) sources.forEach(count);
    for (const { value } of this.#steps) {
      if (this.#isHidden(value) && value.readers > (reads.get(value) ?? 0))
        this.#awaited.add(value);
    }
  }

  /** The plan itself reads these. */
  #countReads(held: readonly Source[]): void {
    for (const each of held) {
      if (typeof each !== 'number' && this.#isHidden(each)) this.#readOutside -= 1;
    }
  }

  /** What tensors show of what follows from values that nobody shows and others still wait for. */
  following(): HeapValue[] {
    if (this.#awaited.size === 0) return [];
    const seen = new Set<HeapValue>();
    const numbers = new Map<HeapValue, boolean>();
    const found: HeapValue[] = [];
    const look = (value: HeapValue): void => {
      if (seen.has(value) || !hasNumbers(value, numbers)) return;
      seen.add(value);
      if (!this.#isShown(value)) value.followers.forEach(look);
      else if (!this.#has(value)) found.push(value);
    };
    for (const each of this.#awaited) each.followers.forEach(look);
    return found;
  }

  /** Finds gradients whose functions read what they must not be differentiated through. Whether there are more than before. */
  setApart(): boolean {
    const { apart } = this.options;
    const before = apart.size;
    const reached = new Map<string, readonly boolean[]>();
    for (const each of this.#pullBacks) {
      if (!apart.has(each) && this.#readsItself(each, reached)) apart.set(each, each.apart());
    }
    return apart.size > before;
  }

  /**
   * Whether a function, or what it is by, reads a step that follows from what it is by, but is no part of it. `reached`:
   * the steps that follow from what gradients are by, which many have in common.
   */
  #readsItself(pullBack: PullBack, reached: Map<string, readonly boolean[]>): boolean {
    const wrt = wrtOf(pullBack);
    const steps = new Set<number>();
    const addStep = (value: HeapValue): void => {
      if (this.#has(value) && value.note < 0 && !pullBack.path.has(value)) steps.add(value.note);
    };
    wrt.forEach(addStep);
    for (const formula of pullBack.path.values()) visitReads(formula, addStep);
    if (steps.size === 0) return false;
    const places = wrt.map((each) => (this.#has(each) ? each.note : undefined));
    const key = places.join();
    if (!reached.has(key)) reached.set(key, this.#following(places));
    const behind = reached.get(key)!;
    return [...steps].some((each) => behind[-1 - each]);
  }

  /** Which steps read these places, or what follows from them. */
  #following(from: readonly (number | undefined)[]): boolean[] {
    const given = new Set(from);
    const follow: boolean[] = [];
    const follows = (place: number) =>
      given.has(place) || (place < 0 && follow[-1 - place] === true);
    for (const { places } of this.#steps) follow.push(places.some(follows));
    return follow;
  }

  #findPaths(root: Source): void {
    const left = [root];
    for (let value = left.pop(); value !== undefined; value = left.pop()) {
      if (typeof value === 'number') continue;
      const formula = this.#formulaOf(value);
      if (!formula?.hasGradient || this.#seen.has(value)) continue;
      this.#seen.add(value);
      if (formula instanceof GradientPart) left.push(...this.#addPath(formula.pullBack));
      else left.push(...formula.sources);
    }
  }

  /** Gives what is to be looked at for it. */
  #addPath(pullBack: PullBack): readonly Source[] {
    if (this.#pullBacks.has(pullBack)) return [];
    this.#pullBacks.add(pullBack);
    this.#countReads(pullBack.sources);
    const apart = this.options.apart.get(pullBack);
    if (apart !== undefined) return apart.operands;
    const { path, sources } = pullBack;
    const further: Source[] = [...sources];
    for (const [on, how] of path) {
      if (on.isThere || formulaOf(on) !== how) this.#paths.set(on, how);
      if (!how.hasGradient) continue;
      this.#seen.delete(on);
      further.push(on);
    }
    return further;
  }

  /** Of what it leads to first: in a list, as chains of operations may be long. */
  #placeOf(value: Source, type: ValueType): number {
    if (typeof value === 'number') return this.#input(value, type);
    const left = [value];
    for (let each = left.at(-1); each !== undefined; each = left.at(-1)) {
      const formula = this.#has(each) ? undefined : this.#formulaOf(each);
      if (formula !== undefined && this.#hasMissing(formula, left)) continue;
      left.pop();
      if (this.#has(each)) continue;
      const place = formula === undefined ? this.#input(each, each) : this.#step(each, formula);
      each.walk = this.#walk;
      each.note = place;
    }
    return value.note;
  }

  /** Adds operands that have no place to a list. Whether there are such. */
  #hasMissing(formula: Held, left: HeapValue[]): boolean {
    const before = left.length;
    const operands = this.#apartOf(formula)?.operands ?? formula.operands;
    for (let at = operands.length - 1; at >= 0; at -= 1) {
      const each = operands[at]!;
      if (typeof each !== 'number' && !this.#has(each)) left.push(each);
    }
    return left.length > before;
  }

  #apartOf(formula: Held): Apart | undefined {
    return formula instanceof GradientPart ? this.options.apart.get(formula.pullBack) : undefined;
  }

  #has(value: HeapValue): boolean {
    return value.walk === this.#walk;
  }

  /** How the plan computes it, if it does. */
  #formulaOf(value: HeapValue): Held | undefined {
    const path = this.#paths.size > 0 ? this.#paths.get(value) : undefined;
    return path ?? (value.isThere ? undefined : formulaOf(value));
  }

  #input(source: Source, type: ValueType): number {
    this.#inputTypes.push(type);
    return this.#inputs.push(source) - 1;
  }

  #step(value: HeapValue, formula: Held): number {
    const apart = this.#apartOf(formula);
    const { operands } = apart ?? formula;
    const types =
      apart?.types ?? (formula instanceof Operation ? formula.signature.inputs : operands);
    // Gradients that are taken together read the same.
    const known = apart && this.#places.get(apart);
    const places = known ?? operands.map((each, at) => this.#placeOf(each, types[at] as HeapValue));
    if (apart !== undefined) this.#places.set(apart, places);
    if (this.#isHidden(value)) this.#readOutside += value.readers;
    this.#countReads(formula.held);
    return -this.#steps.push({ value, formula, apart, places });
  }
}

/** Whether it is pending and is to be computed once: constants each plan makes for itself. */
const isStored = ({ isThere, constant }: HeapValue): boolean => !isThere && constant === undefined;

/** Whether it can be computed: what follows from arguments of a function that is being written down has no numbers. */
function hasNumbers(value: HeapValue, known: Map<HeapValue, boolean>): boolean {
  if (value.isThere) return true;
  const found = known.get(value);
  if (found !== undefined) return found;
  const formula = formulaOf(value);
  known.set(value, formula !== undefined);
  if (formula === undefined) return false;
  let can = true;
  visitReads(formula, (each) => (can &&= hasNumbers(each, known)));
  known.set(value, can);
  return can;
}
