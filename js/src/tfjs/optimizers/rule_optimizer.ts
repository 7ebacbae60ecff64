/** Optimizers that follow an update rule: slot variables and gradient clipping. */
import { LatheError } from '../../base/errors.js';
import { type OptimizerConfig, type OptimizerName, optimizerParameters } from '../../core/names.js';
import { engine } from '../../eager/engine.js';
import { variableGrads } from '../../eager/autodiff/gradients.js';
import { Variable, variables } from '../../eager/variable.js';
import {
  runTrainingStep,
  type TrainingStep,
  trainingStepOf,
} from '../../eager/autodiff/training_step.js';
import { clipByValue } from '../../ops/elementwise/activations.js';
import { addN, div, maximum, mul, sub } from '../../ops/elementwise/arithmetic.js';
import { fill } from '../../ops/arrays/create.js';
import { sum } from '../../ops/reductions/reduce.js';
import { sqrt, square } from '../../ops/elementwise/unary.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor } from '../../tensor/tensor.js';
import { weightVariable } from '../engine/variable_grads.js';
import { type Change, type NamedTensor, Optimizer, type VariableGradients } from './optimizer.js';
import { type Numbers, type Result, type Rule, rules, type Step } from './rules.js';

/** The slots of a variable; loaded slots have no name until they are matched to a variable. */
interface SlotState {
  name: string | undefined;
  /** Their names in `setWeights`. */
  names?: readonly string[];
  readonly slots: readonly Variable[];
  /** Whether `getWeights` has returned them. */
  isExported?: boolean;
}

/** An optimizer that follows a rule of `rules`. */
export class RuleOptimizer extends Optimizer {
  readonly #rule: Rule;
  #slotStates: SlotState[] = [];

  constructor(name: OptimizerName, values: readonly unknown[]) {
    const names = Object.keys(optimizerParameters[name]);
    const defined = names.map((each, at) => [each, values[at] ?? undefined] as const);
    super({ name, ...Object.fromEntries(defined) } as OptimizerConfig);
    this.#rule = rules[name];
  }

  get #numbers(): Numbers {
    const { name: _, ...numbers } = this;
    return numbers as unknown as Numbers;
  }

  applyGradients(gradients: VariableGradients): void {
    // The inner scope frees intermediates before the changes are computed, so they are not materialized.
    tidy(() => this.change(tidy(() => this.#changesBy(gradients))));
    this.incrementIterations();
  }

  /** Plain steps run as one compiled module, cached by the graph of the loss. */
  protected override runStep(f: () => Tensor, varList?: readonly Variable[]): Tensor {
    const numbers = this.#numbers;
    const factors = this.#factors(numbers);
    const width = this.#rule.slots(numbers).length;
    let step: TrainingStep | undefined;
    if (!this.#isUsual(numbers, factors, varList)) return super.runStep(f, varList);
    const found = variableGrads(f, varList?.map(weightVariable), (loss, by, begin) => {
      step = trainingStepOf(loss, by, begin, width);
      return step !== undefined;
    });
    if (step === undefined) return this.applyFound(found, varList);
    try {
      this.#applyStep(step, numbers, factors);
    } catch (error) {
      found.value.dispose();
      throw error;
    }
    return found.value;
  }

  /** Whether a step only applies the rule: no clipping, no overridden methods, scalar factors. */
  #isUsual(numbers: Numbers, factors: Numbers, varList?: readonly Variable[]): boolean {
    const { clipValue = 0, clipNorm = 0, globalClipNorm = 0 } = numbers;
    const { applyGradients, computeGradients } = RuleOptimizer.prototype;
    return (
      !engine.tape.isRecording &&
      clipValue + clipNorm + globalClipNorm === 0 &&
      this.applyGradients === applyGradients &&
      this.computeGradients === computeGradients &&
      Object.values(factors).every((each) => typeof each === 'number') &&
      Array.isArray(varList ?? []) &&
      new Set(varList).size === (varList?.length ?? 0)
    );
  }

  #applyStep(step: TrainingStep, numbers: Numbers, factors: Numbers): void {
    const names = Object.keys(factors);
    // Rules branch only on whether a number is nonzero.
    const flags = Object.values(numbers).map(Boolean);
    runTrainingStep(step, {
      key: `${this.name} ${flags.join()} ${names.join()}`,
      factors: Object.values(factors),
      slots: step.by.map((each) => this.#slotsOf(each, numbers)),
      write: (value, gradient, slots, factorValues) => {
        const named = Object.fromEntries(names.map((name, at) => [name, factorValues[at]!]));
        return this.#update({ value, gradient, slots, factors: named, numbers });
      },
    });
    this.incrementIterations();
  }

  /** The factors of `update`: those of the rule, and `fade`, the share lost to weight decay. */
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
    const clippedGradients = clipped(
      pairs.map(([, gradient]) => gradient),
      numbers,
    );
    // A variable that occurs twice is updated twice, each time with separate slots.
    const now = new Map<Variable, Tensor>();
    const usedSlots = new Set<unknown>();
    return pairs.flatMap(([variable], at): Change[] => {
      const slots = this.#slotsOf(variable, numbers, usedSlots);
      const value = now.get(variable) ?? variable;
      const next = this.#update({
        value,
        gradient: clippedGradients[at]!,
        slots,
        factors,
        numbers,
      });
      now.set(variable, next[0]!);
      usedSlots.add(slots);
      return [variable, ...slots].map((each, index) => [each, next[index]!]);
    });
  }

  /** The slots of the variable that are not in `usedSlots`, created on demand. */
  #slotsOf(
    variable: Variable,
    numbers: Numbers,
    usedSlots = new Set<unknown>(),
  ): readonly Variable[] {
    const { name, shape } = variable;
    const isFree = (each: SlotState) =>
      each.name === undefined && each.slots[0]!.shape.join() === shape.join();
    const isOfVariable = (each: SlotState) => each.name === name && !usedSlots.has(each.slots);
    const state = this.#slotStates.find(isOfVariable) ?? this.#slotStates.find(isFree);
    if (state !== undefined) {
      state.name = name;
      return state.slots;
    }
    const first = this.#rule.first === undefined ? 0 : numbers[this.#rule.first]!;
    const slots = this.#rule
      .slots(numbers)
      .map(() => tidy(() => new Variable(fill(shape, first, variable.dtype), false)));
    if (slots.length > 0) this.#slotStates.push({ name, slots });
    return slots;
  }

  override dispose(): void {
    for (const { slots } of this.#slotStates) for (const each of slots) each.dispose();
    this.#slotStates = [];
  }

  override async getWeights(): Promise<NamedTensor[]> {
    // TensorFlow.js saves none of Adamax either, with this message.
    if (this.name === 'adamax') {
      throw new LatheError('getWeights() is not implemented for Adamax yet.');
    }
    const slotStates = this.#rule.slots(this.#numbers).flatMap((slot, at) =>
      this.#slotStates.map(({ name, names, slots }) => ({
        name: names?.[at] ?? `${name}/${slot}`,
        tensor: slots[at]!,
      })),
    );
    for (const each of this.#slotStates) each.isExported = true;
    return [await this.saveIterations(), ...slotStates];
  }

  override async setWeights(weightValues: NamedTensor[]): Promise<void> {
    // As `getWeights`.
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
    const offsets = Array.from({ length: width }, (_, slot) => slot * count);
    const slotStates = Array.from({ length: count }, (_, at) => ({
      name: undefined,
      names: offsets.map((offset) => weights[offset + at]!.name),
      slots: offsets.map((offset) => new Variable(weights[offset + at]!.tensor, false)),
    }));
    for (const { slots, isExported } of this.#slotStates) {
      for (const each of slots) {
        // Exported slots may be passed back to `setWeights`.
        if (isExported) variables().delete(each.name);
        else each.dispose();
      }
    }
    this.#slotStates = slotStates;
  }
}

/** Clips gradients by value, by norm, or by global norm. */
function clipped(gradients: Tensor[], numbers: Numbers): Tensor[] {
  const { clipValue = 0, clipNorm = 0, globalClipNorm = 0 } = numbers;
  if (clipValue > 0) return gradients.map((each) => clipByValue(each, -clipValue, clipValue));
  const shrunk = (each: Tensor, squares: Tensor, limit: number) =>
    mul(each, div(limit, maximum(sqrt(squares), limit)));
  if (clipNorm > 0) return gradients.map((each) => shrunk(each, sum(square(each)), clipNorm));
  if (globalClipNorm === 0 || gradients.length === 0) return gradients;
  const squares = addN(gradients.map((each) => sum(square(each))));
  return gradients.map((each) => shrunk(each, squares, globalClipNorm));
}
