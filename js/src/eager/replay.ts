/** Writes down again, of other values, what a function wrote down of its arguments: once more, or for a batch at once. */
import { HeapValue } from '../runtime/heap_value.js';
import type { Tensor } from '../tensor/tensor.js';
import { shown } from './apply.js';
import { batched, type Row, spread } from './batching.js';
import {
  formulaOf,
  GradientPart,
  type Held,
  lastFormula,
  Operation,
  type PullBack,
  type Source,
} from './formulas.js';
import { Custom } from './derivatives.js';
import { pulled, since, type Sink } from './pull_back.js';
import { pending, same, shownAgain } from './values.js';
import { Argument } from './written.js';

/** What stands for a value. */
export interface Given extends Row {
  readonly for: HeapValue;
}

export class Replay {
  readonly #rows: Map<HeapValue, Row>;
  readonly #pulled: Map<PullBack, (Row | undefined)[]>;
  /** Values made here, each as if for a tensor. */
  readonly #made: Set<HeapValue>;
  /** What results share that are written again. */
  readonly #known = new Map<object, object>();
  /** How values on the way to gradients were computed. */
  readonly #paths = new Map<HeapValue, Held>();

  /**
   * @param begin the number of the last formula before those that are written again
   * @param count rows of a batch, where some of what is given are batches
   */
  constructor(
    given: readonly Given[],
    private readonly begin: number,
    private readonly count = 0,
    within?: Replay,
  ) {
    this.#made = within === undefined ? new Set() : within.#made;
    this.#pulled = new Map();
    // Gradients tell arguments apart that are given the same tensor.
    this.#rows = new Map(
      given.map(({ for: value, is, ...row }) => [
        value,
        { ...row, is: within === undefined ? this.#make(same(is)) : is },
      ]),
    );
  }

  /** Tensors of what becomes of values, all of them batches where there are. Nothing else may follow. */
  tensors(values: readonly HeapValue[]): Tensor[] {
    const found = values.map((each) => {
      const row = this.#row(each);
      return this.count > 0 ? this.#spread(row) : row.is;
    });
    const own = new Set(this.#made);
    const tensors = found.map((each) => (own.delete(each) ? shown(each) : shownAgain(each)));
    for (const each of own) each.free();
    return tensors;
  }

  #make(value: HeapValue): HeapValue {
    this.#made.add(value);
    return value;
  }

  #spread(row: Row): HeapValue {
    return row.isBatch ? row.is : this.#make(spread(row.is, this.count));
  }

  /** What it reads first: in a list, as chains of operations may be long. */
  #row(value: HeapValue): Row {
    const left = [value];
    for (let each = left.at(-1); each !== undefined; each = left.at(-1)) {
      const isKnown = this.#rows.has(each);
      const formula = isKnown ? undefined : this.#formulaOf(each);
      const missing = formula instanceof Operation ? this.#missing(formula) : [];
      left.push(...missing);
      if (missing.length > 0) continue;
      left.pop();
      if (isKnown) continue;
      const row = formula === undefined ? { is: each, isBatch: false } : this.#again(each, formula);
      this.#rows.set(each, row);
    }
    return this.#rows.get(value)!;
  }

  #formulaOf(value: HeapValue): Held | undefined {
    return this.#paths.get(value) ?? (value.isThere ? undefined : formulaOf(value));
  }

  #missing({ sources }: Operation): HeapValue[] {
    const isMissing = (each: Source): each is HeapValue =>
      typeof each !== 'number' && !this.#rows.has(each);
    return sources.filter(isMissing).reverse();
  }

  #again(value: HeapValue, formula: Held): Row {
    if (formula instanceof Custom) return this.#custom(value, formula);
    if (formula instanceof GradientPart) {
      return this.#gradients(formula)[formula.item] ?? { is: value, isBatch: false };
    }
    return this.#computed(value, formula);
  }

  #computed(value: HeapValue, formula: Held): Row {
    const { sources } = formula;
    const rows = sources.map((each): Row | number =>
      typeof each === 'number' ? each : this.#row(each),
    );
    const isOther = rows.some((each, at) => typeof each !== 'number' && each.is !== sources[at]);
    if (!isOther) return { is: value, isBatch: false };
    const again = (known: Map<object, object>) => (others: readonly Source[]) => {
      if (formula instanceof Operation) return pending(formula.signature, others);
      return new HeapValue(value.dtype, value.shape, formula.again!(others, known));
    };
    if (rows.some((each) => typeof each !== 'number' && each.isBatch)) {
      const make = (each: HeapValue) => this.#make(each);
      const signature = formula instanceof Operation ? formula.signature : undefined;
      const one = (others: readonly Source[]) => again(new Map())(others);
      return { is: batched({ signature, rows, count: this.count, make, one }), isBatch: true };
    }
    const is = (each: Row | number): Source => (typeof each === 'number' ? each : each.is);
    return { is: this.#make(again(this.#known)(rows.map(is))), isBatch: false };
  }

  #custom(value: HeapValue, formula: Custom): Row {
    const [own, ...inputs] = [formula.value, ...formula.inputs].map((each) => this.#row(each));
    const isOther = [own!, ...inputs].some(({ is }, at) => is !== formula.sources[at]);
    if (!isOther) return { is: value, isBatch: false };
    const isBatch = [own!, ...inputs].some((each) => each.isBatch);
    const ready = (row: Row) => (isBatch ? this.#spread(row) : row.is);
    const [result, ...operands] = [own!, ...inputs].map(ready);
    const count = isBatch ? this.count : 0;
    const isGiven = (of: HeapValue, { is }: Row) =>
      of !== is && (of instanceof Argument || of.isThere);
    const given: Given[] = [...this.#rows]
      .filter(([of, row]) => isGiven(of, row))
      .map(([of, row]) => ({ for: of, ...row }));
    formula.inputs.forEach((of, at) => given.push({ for: of, is: operands[at]!, isBatch }));
    for (const { is } of given) is.hold();
    const rule = (dy: HeapValue): HeapValue[] =>
      ruledAgain(
        formula,
        value,
        [...given, { for: formula.value, is: result!, isBatch }],
        dy,
        count,
      );
    const held = given.map(({ is }) => is);
    const custom = new Custom(result!, operands, rule, held);
    return { is: this.#make(new HeapValue(result!.dtype, result!.shape, custom)), isBatch };
  }

  #gradients({ pullBack }: GradientPart): (Row | undefined)[] {
    const known = this.#pulled.get(pullBack);
    if (known !== undefined) return known;
    const { targets, seeds, sources, path } = pullBack;
    const wrt = sources.slice(targets.length + seeds.length);
    for (const [value, how] of path) this.#paths.set(value, how);
    const isBatch = [...targets, ...seeds, ...wrt].some((each) => this.#row(each).isBatch);
    const within = isBatch ? this.#withOwn(wrt, path) : this;
    const ready = (each: HeapValue) => {
      const row = within.#row(each);
      return isBatch ? this.#spread(row) : row.is;
    };
    const sinks = targets.map((each, at): Sink => {
      return { target: ready(each), seed: ready(seeds[at]!) };
    });
    const by = wrt.map((each) => within.#row(each).is);
    const found = since(this.begin, () => pulled(sinks, by)).map((each) =>
      each === undefined ? undefined : { is: this.#make(each), isBatch },
    );
    this.#pulled.set(pullBack, found);
    return found;
  }

  /** With each row its own copy of those by which derivatives are taken, and all that follows from them written again. */
  #withOwn(wrt: readonly HeapValue[], path: ReadonlyMap<HeapValue, Held>): Replay {
    if (wrt.every((each) => this.#row(each).isBatch)) return this;
    const given = [...this.#rows]
      .filter(([value]) => !path.has(value) && !wrt.includes(value))
      .map(([value, row]): Given => ({ for: value, ...row }));
    for (const value of wrt)
      given.push({ for: value, is: this.#spread(this.#row(value)), isBatch: true });
    const within = new Replay(given, this.begin, this.count, this);
    for (const [value, how] of this.#paths) within.#paths.set(value, how);
    return within;
  }
}

/** What the rule of `customGrad` gives, in terms of other values than those that it was written for. */
function ruledAgain(
  formula: Custom,
  value: HeapValue,
  given: readonly Given[],
  dy: HeapValue,
  count: number,
): HeapValue[] {
  const type = { dtype: value.dtype, shape: value.shape, type: '' };
  const argument = new Argument('customGrad', type);
  const begin = lastFormula();
  const parts = formula.rule(argument);
  const replay = new Replay(
    [...given, { for: argument, is: dy, isBatch: count > 0 }],
    begin,
    count,
  );
  return replay.tensors(parts).map(HeapValue.of);
}
