/** An optimiser that follows a rule: what it keeps of variables, and gradients cut before. */
import { LatheError } from '../../base/errors.js';
import { type OptimizerConfig, type OptimizerName, optimizerParameters } from '../../core/names.js';
import { isRecording } from '../../eager/compute.js';
import { variableGrads } from '../../eager/gradients.js';
import { Variable, variables } from '../../eager/variable.js';
import { takeWholeStep, type WholeStep, wholeStepOf } from '../../eager/whole_step.js';
import { clipByValue } from '../../ops/activations.js';
import { addN, div, maximum, mul, sub } from '../../ops/arithmetic.js';
import { fill } from '../../ops/create.js';
import { sum } from '../../ops/reduce.js';
import { sqrt, square } from '../../ops/unary.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor } from '../../tensor/tensor.js';
import { weightVariable } from '../variable_grads.js';
import { type Change, type NamedTensor, Optimizer, type VariableGradients } from './optimizer.js';
import { type Numbers, type Result, type Rule, rules, type Step } from './rules.js';

/** What is kept of a variable; of one that is not known yet, what was loaded. */
interface Kept {
  name: string | undefined;
  /** What `setWeights` called them. */
  names?: readonly string[];
  readonly slots: readonly Variable[];
  /** Whether `getWeights` gave them to somebody. */
  isGiven?: boolean;
}

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

  /** Usual steps are one module each, which is found by what the loss is computed from. */
  protected override takeStep(f: () => Tensor, varList?: readonly Variable[]): Tensor {
    const numbers = this.#numbers;
    const factors = this.#factors(numbers);
    const width = this.#rule.slots(numbers).length;
    let step: WholeStep | undefined;
    if (!this.#isUsual(numbers, factors, varList)) return super.takeStep(f, varList);
    const found = variableGrads(f, varList?.map(weightVariable), (loss, by, begin) => {
      step = wholeStepOf(loss, by, begin, width);
      return step !== undefined;
    });
    if (step === undefined) return this.applyFound(found, varList);
    try {
      this.#take(step, numbers, factors);
    } catch (error) {
      found.value.dispose();
      throw error;
    }
    return found.value;
  }

  /** Whether a step does nothing but follow the rule. */
  #isUsual(numbers: Numbers, factors: Numbers, varList?: readonly Variable[]): boolean {
    const { clipValue = 0, clipNorm = 0, globalClipNorm = 0 } = numbers;
    const { applyGradients, computeGradients } = RuleOptimizer.prototype;
    return (
      !isRecording() &&
      clipValue + clipNorm + globalClipNorm === 0 &&
      this.applyGradients === applyGradients &&
      this.computeGradients === computeGradients &&
      Object.values(factors).every((each) => typeof each === 'number') &&
      Array.isArray(varList ?? []) &&
      new Set(varList).size === (varList?.length ?? 0)
    );
  }

  #take(step: WholeStep, numbers: Numbers, factors: Numbers): void {
    const names = Object.keys(factors);
    // Rules ask of no number more than whether it is there.
    const flags = Object.values(numbers).map(Boolean);
    takeWholeStep(step, {
      key: `${this.name} ${flags.join()} ${names.join()}`,
      factors: Object.values(factors),
      slots: step.by.map((each) => this.#slotsOf(each, numbers)),
      write: (value, gradient, slots, given) => {
        const named = Object.fromEntries(names.map((name, at) => [name, given[at]!]));
        return this.#update({ value, gradient, slots, factors: named, numbers });
      },
    });
    this.incrementIterations();
  }

  /** What `update` takes: those of the rule, and how much of each variable fades, if it does. */
  #factors(numbers: Numbers): Numbers {
    const factors = this.#rule.factors(numbers, this.iterations);
    const fade = numbers.learningRate! * (numbers.weightDecay ?? 0);
    return fade > 0 ? { ...factors, fade } : factors;
  }

  #update(step: Step): Result {
    const { value, factors } = step;
    const { fade } = factors;
    return this.#rule.update(
      fade === undefined ? step : { ...step, value: sub(value, mul(value, fade)) },
    );
  }

  #changesBy(gradients: VariableGradients): Change[] {
    const numbers = this.#numbers;
    const factors = this.#factors(numbers);
    const pairs = this.gradientsOf(gradients);
    const cut = clipped(
      pairs.map(([, gradient]) => gradient),
      numbers,
    );
    // One that is there twice changes twice, each time with slots of its own.
    const now = new Map<Variable, Tensor>();
    const taken = new Set<unknown>();
    return pairs.flatMap(([variable], at): Change[] => {
      const slots = this.#slotsOf(variable, numbers, taken);
      const value = now.get(variable) ?? variable;
      const next = this.#update({ value, gradient: cut[at]!, slots, factors, numbers });
      now.set(variable, next[0]!);
      taken.add(slots);
      return [variable, ...slots].map((each, place) => [each, next[place]!]);
    });
  }

  /** Those of the variable, made if need be, but for these. */
  #slotsOf(variable: Variable, numbers: Numbers, taken = new Set<unknown>()): readonly Variable[] {
    const { name, shape } = variable;
    const isFree = (each: Kept) =>
      each.name === undefined && each.slots[0]!.shape.join() === shape.join();
    const isOwn = (each: Kept) => each.name === name && !taken.has(each.slots);
    const known = this.#kept.find(isOwn) ?? this.#kept.find(isFree);
    if (known !== undefined) {
      known.name = name;
      return known.slots;
    }
    const first = this.#rule.first === undefined ? 0 : numbers[this.#rule.first]!;
    const slots = this.#rule
      .slots(numbers)
      .map(() => tidy(() => new Variable(fill(shape, first, variable.dtype), false)));
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
    const kept = this.#rule.slots(this.#numbers).flatMap((slot, at) =>
      this.#kept.map(({ name, names, slots }) => ({
        name: names?.[at] ?? `${name}/${slot}`,
        tensor: slots[at]!,
      })),
    );
    for (const each of this.#kept) each.isGiven = true;
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
    const places = Array.from({ length: width }, (_, slot) => slot * count);
    const kept = Array.from({ length: count }, (_, at) => ({
      name: undefined,
      names: places.map((place) => weights[place + at]!.name),
      slots: places.map((place) => new Variable(weights[place + at]!.tensor, false)),
    }));
    for (const { slots, isGiven } of this.#kept) {
      for (const each of slots) {
        // Those who have them may give them back.
        if (isGiven) variables.delete(each.name);
        else each.dispose();
      }
    }
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
