/** An optimiser that follows a rule: what it keeps of variables, and gradients cut before. */
import { LatheError } from '../../base/errors.js';
import { type OptimizerConfig, type OptimizerName, optimizerParameters } from '../../core/names.js';
import { Variable } from '../../eager/variable.js';
import { clipByValue } from '../../ops/activations.js';
import { addN, div, maximum, mul, sub } from '../../ops/arithmetic.js';
import { fill } from '../../ops/create.js';
import { sum } from '../../ops/reduce.js';
import { sqrt, square } from '../../ops/unary.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor } from '../../tensor/tensor.js';
import { type Change, type NamedTensor, Optimizer, type VariableGradients } from './optimizer.js';
import { type Rule, rules } from './rules.js';

/** What is kept of a variable; of one that is not known yet, what was loaded. */
interface Kept {
  name: string | undefined;
  readonly slots: readonly Variable[];
}

type Numbers = Record<string, number>;

/** An optimiser that follows a rule of `rules`. */
export class RuleOptimizer extends Optimizer {
  readonly #rule: Rule;
  #kept: Kept[] = [];

  constructor(name: OptimizerName, values: readonly unknown[]) {
    const names = Object.keys(optimizerParameters[name]);
    const given = names.map((each, at) => [each, values[at] ?? undefined] as const);
    super({ name, ...Object.fromEntries(given) } as OptimizerConfig);
    this.#rule = rules[name];
  }

  get #numbers(): Numbers {
    const { name: _, ...numbers } = this;
    return numbers as unknown as Numbers;
  }

  applyGradients(gradients: VariableGradients): void {
    // What leads to the changes ends before they are computed, so it is not stored.
    tidy(() => this.change(tidy(() => this.#changesBy(gradients))));
    this.incrementIterations();
  }

  #changesBy(gradients: VariableGradients): Change[] {
    const numbers = this.#numbers;
    const pairs = this.gradientsOf(gradients);
    const cut = clipped(
      pairs.map(([, gradient]) => gradient),
      numbers,
    );
    return pairs.flatMap(([variable], at): Change[] => {
      const slots = this.#slotsOf(variable, numbers);
      const fade = numbers.learningRate! * (numbers.weightDecay ?? 0);
      const value = fade > 0 ? sub(variable, mul(variable, fade)) : variable;
      const { iterations } = this;
      const step = { value, gradient: cut[at]!, slots, numbers, iterations };
      const next = this.#rule.update(step);
      return [variable, ...slots].map((each, place) => [each, next[place]!]);
    });
  }

  #slotsOf(variable: Variable, numbers: Numbers): readonly Variable[] {
    const { name, shape } = variable;
    const isFree = (each: Kept) =>
      each.name === undefined && each.slots[0]!.shape.join() === shape.join();
    const known = this.#kept.find((each) => each.name === name) ?? this.#kept.find(isFree);
    if (known !== undefined) {
      known.name = name;
      return known.slots;
    }
    const first = this.#rule.first === undefined ? 0 : numbers[this.#rule.first]!;
    const slots = this.#rule
      .slots(numbers)
      .map(() => new Variable(fill(shape, first, variable.dtype), false));
    if (slots.length > 0) this.#kept.push({ name, slots });
    return slots;
  }

  override dispose(): void {
    for (const { slots } of this.#kept) for (const each of slots) each.dispose();
    this.#kept = [];
  }

  override async getWeights(): Promise<NamedTensor[]> {
    // TensorFlow.js keeps none of Adamax either; its words.
    if (this.name === 'adamax') {
      throw new LatheError('getWeights() is not implemented for Adamax yet.');
    }
    const kept = this.#rule
      .slots(this.#numbers)
      .flatMap((slot, at) =>
        this.#kept.map(({ name, slots }) => ({ name: `${name}/${slot}`, tensor: slots[at]! })),
      );
    return [await this.saveIterations(), ...kept];
  }

  override async setWeights(weightValues: NamedTensor[]): Promise<void> {
    if (this.name === 'adamax') {
      throw new LatheError('setWeights() is not implemented for Adamax yet.');
    }
    const weights = await this.extractIterations(weightValues);
    const width = this.#rule.slots(this.#numbers).length;
    if (width === 0) {
      if (weights.length === 0) return;
      throw new LatheError('SGD optimizer does not have settable weights.');
    }
    const count = Math.floor(weights.length / width);
    const kept = Array.from({ length: count }, (_, at) => ({
      name: undefined,
      slots: Array.from(
        { length: width },
        (_, slot) => new Variable(weights[slot * count + at]!.tensor, false),
      ),
    }));
    this.dispose();
    this.#kept = kept;
  }
}

/** Gradients cut as the optimiser says: each element, each gradient by its norm, or all by their norm. */
function clipped(gradients: Tensor[], numbers: Numbers): Tensor[] {
  const { clipValue = 0, clipNorm = 0, globalClipNorm = 0 } = numbers;
  if (clipValue > 0) return gradients.map((each) => clipByValue(each, -clipValue, clipValue));
  const shrunk = (each: Tensor, squares: Tensor, most: number) =>
    mul(each, div(most, maximum(sqrt(squares), most)));
  if (clipNorm > 0) return gradients.map((each) => shrunk(each, sum(square(each)), clipNorm));
  if (globalClipNorm === 0 || gradients.length === 0) return gradients;
  const squares = addN(gradients.map((each) => sum(square(each))));
  return gradients.map((each) => shrunk(each, squares, globalClipNorm));
}
