/**
 * Gradients of functions that read what follows from the same values but was written down before them: a constant for the
 * function, through which the core would differentiate, too. Such a function is written down once more, of twins of these
 * values, which lead to nothing else.
 */
import type { Trace, TracedTensor } from '../trace/trace.js';
import {
  GradientPart,
  type Held,
  keyOf,
  Operation,
  type PullBack,
  type Source,
  writePart,
  type Written,
  wrtOf,
} from './formulas.js';
import type { ValueType } from './signature.js';

/** What the function does, by places: those of operands first, then of what was done before. */
interface Step {
  readonly formula: Held;
  readonly apart: Apart | undefined;
  readonly places: readonly number[];
}

/** A gradient with its function. */
export class Apart {
  /** Seeds, what it is by, and what the function reads from outside, in this order, with their types. */
  readonly operands: Source[];
  readonly types: ValueType[];
  /** Equal ones of equal operands give equal results. */
  readonly key: string;
  readonly #steps: Step[] = [];
  readonly #targets: readonly number[];
  readonly #seeds: number;
  readonly #wrt: number;

  /** `aparts`: gradients within the function, each with its own, which this adds to. */
  constructor(
    readonly pullBack: PullBack,
    aparts = new Map<PullBack, Apart>(),
  ) {
    aparts.set(pullBack, this);
    const { targets, seeds, path } = pullBack;
    const wrt = wrtOf(pullBack);
    [this.#seeds, this.#wrt] = [seeds.length, wrt.length];
    this.operands = [...seeds, ...wrt];
    this.types = [...seeds, ...wrt];
    const places = new Map<Source, number>(wrt.map((each, at) => [each, seeds.length + at]));
    const outside = (each: Source, type: ValueType): void => {
      if (typeof each === 'number' || !(path.has(each) || places.has(each))) {
        this.types.push(type);
        const place = this.operands.push(each) - 1;
        if (typeof each !== 'number') places.set(each, place);
      }
    };
    const begins = new Map<PullBack | undefined, number>();
    const reads = [...path].map(([value, formula]) => {
      const within = formula instanceof GradientPart ? formula.pullBack : undefined;
      const apart = within && (aparts.get(within) ?? new Apart(within, aparts));
      const operands = apart?.operands ?? formula.operands;
      const types =
        apart?.types ?? (formula instanceof Operation ? formula.signature.inputs : operands);
      // Gradients that are taken together read the same.
      const known = within && begins.get(within);
      const numbers = known ?? this.operands.length;
      begins.set(within, numbers);
      if (known === undefined)
        operands.forEach((each, at) => outside(each, types[at] as ValueType));
      return { value, formula, apart, operands, numbers };
    });
    for (const each of targets) outside(each, each);
    for (const { value, formula, apart, operands, numbers } of reads) {
      let number = numbers;
      const placeOf = (each: Source): number => {
        if (typeof each !== 'number') return places.get(each)!;
        while (typeof this.operands[number] !== 'number') number += 1;
        return number++;
      };
      this.#steps.push({ formula, apart, places: operands.map(placeOf) });
      places.set(value, this.operands.length + this.#steps.length - 1);
    }
    this.#targets = targets.map((each) => places.get(each)!);
    this.key = `${seeds.length}/${wrt.length}(${this.#spelled()})`;
  }

  #spelled(): string {
    const steps = this.#steps.map(
      ({ formula, apart, places }) => `${keyOf(formula, apart)}:${places.join()}`,
    );
    return `${steps.join(';')}>${this.#targets.join()}`;
  }

  write(trace: Trace, operands: readonly TracedTensor[]): TracedTensor[] {
    const [seeds, behind] = [this.#seeds, this.#seeds + this.#wrt];
    const values = operands.map((each, at) =>
      at < seeds || at >= behind ? each : twin(trace, each),
    );
    const written: Written = new Map();
    for (const { formula, apart, places } of this.#steps) {
      const given = places.map((place) => values[place]!);
      values.push(writePart(formula, apart, trace, given, written));
    }
    const targets = this.#targets.map((place) => values[place]!);
    return trace.pullBack(targets, values.slice(0, seeds), values.slice(seeds, behind));
  }
}

/** The same elements with another name. The core sees through what changes no shape. */
const twin = (trace: Trace, x: TracedTensor): TracedTensor =>
  trace.apply('neg', [trace.apply('neg', [x], [])], []);
