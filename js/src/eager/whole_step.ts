/**
 * Steps of training as one module each: a loss, its gradients, and what becomes of variables by them. It is found again by
 * what the loss is computed from, so that a step of a loop writes down its loss and nothing else.
 */
import { LatheError } from '../base/errors.js';
import type { HeapModule } from '../runtime/heap_module.js';
import { HeapValue, nextWalk } from '../runtime/heap_value.js';
import { elements, type Tensor } from '../tensor/tensor.js';
import { compileForHeap } from '../trace/heap_function.js';
import type { Trace, TracedTensor } from '../trace/trace.js';
import { isWatched } from './apply.js';
import { compiled, writeSteps } from './compile_plan.js';
import { isWide, runExtended } from './compute.js';
import { Operation } from './formulas.js';
import { longest } from './long_plans.js';
import { type Plan, wholePlanOf } from './plan.js';
import { valueType } from './values.js';
import { Variable } from './variable.js';
import { isCut, isFloat } from './whole_gradients.js';

/** A loss that is still to be computed. */
export interface WholeStep {
  readonly loss: HeapValue;
  readonly plan: Plan;
  /** The variables that lead to it. */
  readonly by: readonly Variable[];
  /** Which inputs of the plan they are. */
  readonly places: readonly number[];
}

/** How variables change. */
export interface Update {
  /** Equal ones do the same with equal types. */
  readonly key: string;
  /** Operands that are the same for all variables. */
  readonly factors: readonly number[];
  /** What is kept of each variable and changes with it. */
  readonly slots: readonly (readonly Variable[])[];
  /** What a variable and its slots become. */
  write(
    value: Tensor,
    gradient: Tensor,
    slots: readonly Tensor[],
    factors: readonly Tensor[],
  ): readonly Tensor[];
}

/** Operations for each value that changes, its gradient among them: no rule of an optimiser has more. */
const mostForOne = 7;

/**
 * The step of a loss by variables, if it is such a one: nothing else waits for what the loss is computed from, and all of
 * that was written down behind the formula `begin`. A long one, which pages compile while they go on, is none.
 *
 * @param slots what is kept of each variable
 */
export function wholeStepOf(
  loss: Tensor,
  variables: readonly Variable[],
  begin: number,
  slots: number,
): WholeStep | undefined {
  const value = loss[elements];
  const isOne = value instanceof HeapValue && !value.isThere && value.type === 'float32 []';
  if (!isOne || isWatched() || !variables.every(isFloat)) return undefined;
  const plan = wholePlanOf([value]);
  const isNew = ({ formula }: { formula: unknown }) =>
    formula instanceof Operation && formula.number > begin;
  // One that was read while the loss was written down is there, and still depends on variables.
  const isGiven = (each: unknown) => typeof each === 'number' || !(each as HeapValue).formula;
  if (plan.outputs.length > 1 || !plan.steps.every(isNew) || !plan.inputs.every(isGiven)) {
    return undefined;
  }
  const walk = nextWalk();
  plan.inputs.forEach((each, at) => {
    if (typeof each !== 'number') [each.walk, each.note] = [walk, at];
  });
  const by = variables.filter((each) => HeapValue.of(each).walk === walk);
  // So few change that engines have parameters for these, too.
  const isLong = plan.steps.length + by.length * (1 + slots) * mostForOne >= longest;
  if (by.length === 0 || !by.every(isPlain) || isLong || isWide(plan)) return undefined;
  const places = by.map((each) => HeapValue.of(each).note);
  return isCutBehind(plan, places) ? undefined : { loss: value, plan, by, places };
}

/** Whether inputs lead through results that are cut off. */
function isCutBehind({ inputs, steps }: Plan, places: readonly number[]): boolean {
  const behind = new Set(places);
  return steps.some(({ formula, places }, at) => {
    if (!places.some((each) => behind.has(each))) return false;
    behind.add(inputs.length + at);
    return isCut(formula);
  });
}

/** Weights of layers are shared with modules of models. */
const isPlain = (each: Variable): boolean =>
  each.constructor === Variable && each.dtype === 'float32';

/** Takes the step: the loss is there then, and variables and slots have changed. Errors: as of the core. */
export function takeWholeStep(step: WholeStep, update: Update): void {
  const { loss, plan, places } = step;
  const slots = update.slots.flat();
  const changed = changedBy(step, update);
  const next = changed.map(({ dtype, shape }) => new HeapValue(dtype, shape));
  const types = slots.map(({ type }) => type).join();
  runExtended(plan, {
    key: `step ${update.key} ${places.join()} ${types} `,
    inputs: [...slots.map(HeapValue.of), ...update.factors],
    outputs: [loss, ...next],
    compile: (chosen) => compiledStep(chosen, step, update),
  });
  changed.forEach((each, at) => each.replace(next[at]!));
}

/** Each variable and its slots, in the order of the results. */
const changedBy = ({ by }: WholeStep, { slots }: Update): Variable[] =>
  by.flatMap((each, at) => [each, ...slots[at]!]);

const number = valueType([], 'float32');

function compiledStep(plan: Plan, step: WholeStep, update: Update): HeapModule {
  const changed = changedBy(step, update);
  const slots = update.slots.flat();
  const [first, behind] = [plan.inputs.length, plan.inputs.length + slots.length];
  const types = [...plan.inputTypes, ...slots, ...update.factors.map(() => number)];
  const write = (given: TracedTensor[], trace: Trace): TracedTensor[] => {
    const [loss] = writeSteps(plan, given.slice(0, first), trace);
    const values = step.places.map((place) => given[place]!);
    const gradients = trace.pullBack([loss!], [], values);
    let at = first;
    const found = values.flatMap((each, which) => {
      const own = given.slice(at, (at += update.slots[which]!.length));
      return update.write(each, gradients[which]!, own, given.slice(behind));
    });
    changed.forEach(({ name, type }, at) => {
      const next = found[at]!.type;
      if (next === type) return;
      throw new LatheError(`minimize: the variable ${name} is ${type} and would become ${next}`);
    });
    return [loss!, ...(found as TracedTensor[])];
  };
  return compiled(types, write, compileForHeap);
}
