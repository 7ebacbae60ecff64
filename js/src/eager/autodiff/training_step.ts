/**
 * Training steps as one module each: the loss, its gradients, and the updates of variables. The module is cached by the
 * plan of the loss, so that a step of a loop only records its loss.
 */
import { LatheError } from '../../base/errors.js';
import type { Device, Program } from '../../runtime/device.js';
import { DeviceValue, nextVisit } from '../../runtime/device_value.js';
import { elements, type Tensor } from '../../tensor/tensor.js';
import type { Trace, TracedTensor } from '../../trace/trace.js';
import { compileTraced, traceSteps } from '../plan/compile_plan.js';
import { engine, valueOf } from '../engine.js';
import { Operation } from '../graph/lazy_nodes.js';
import { longPlanSteps } from '../plan/long_plans.js';
import type { Plan } from '../plan/plan.js';
import { exceedsParameterLimit } from '../plan/plan_runner.js';
import { valueType } from '../graph/signature.js';
import { Variable } from '../variable.js';
import { isFloat, truncatesGradient } from './integer_gradients.js';

/** A pending loss. */
export interface TrainingStep {
  readonly loss: DeviceValue;
  readonly plan: Plan;
  /** The variables that it depends on. */
  readonly by: readonly Variable[];
  /** Their indices among the inputs of the plan. */
  readonly variableInputs: readonly number[];
}

/** An optimizer's update rule. */
export interface UpdateRule {
  /** Equal keys and equal types have the same update. */
  readonly key: string;
  /** Scalar operands, the same for all variables. */
  readonly factors: readonly number[];
  /** The optimizer slots of each variable. */
  readonly slots: readonly (readonly Variable[])[];
  /** The new values of a variable and its slots. */
  write(
    value: Tensor,
    gradient: Tensor,
    slots: readonly Tensor[],
    factors: readonly Tensor[],
  ): readonly Tensor[];
}

/** Upper bound of the operations per updated value, including its gradient, of all optimizers. */
const maxOperationsPerValue = 7;

/**
 * The training step of a loss, if one module can compute it: no other value reads intermediates of the loss, and all of
 * its nodes are later than `begin`. Undefined also for long plans, which pages compile in the background.
 *
 * @param slots the number of optimizer slots of each variable
 */
export function trainingStepOf(
  loss: Tensor,
  variables: readonly Variable[],
  begin: number,
  slots: number,
): TrainingStep | undefined {
  const value = loss[elements];
  const isOne =
    value instanceof DeviceValue && !value.isMaterialized && value.type === 'float32 []';
  if (!isOne || engine.watcher !== undefined || !variables.every(isFloat)) return undefined;
  const plan = engine.plans.planOf([value], { isFull: true });
  const isNew = ({ node }: { node: unknown }) => node instanceof Operation && node.id > begin;
  // A value read while the loss was recorded is materialized but still depends on variables.
  const isLeaf = (each: unknown) => typeof each === 'number' || !(each as DeviceValue).node;
  if (plan.outputs.length > 1 || !plan.steps.every(isNew) || !plan.inputs.every(isLeaf)) {
    return undefined;
  }
  const visit = nextVisit();
  plan.inputs.forEach((each, at) => {
    if (typeof each !== 'number') [each.visit, each.mark] = [visit, at];
  });
  const by = variables.filter((each) => valueOf(each).visit === visit);
  // Implies that engines have enough parameters for the module.
  const isLong =
    plan.steps.length + by.length * (1 + slots) * maxOperationsPerValue >= longPlanSteps;
  if (by.length === 0 || !by.every(isPlain) || isLong || exceedsParameterLimit(plan))
    return undefined;
  const variableInputs = by.map((each) => valueOf(each).mark);
  return hasTruncatedGradient(plan, variableInputs)
    ? undefined
    : { loss: value, plan, by, variableInputs };
}

/** Whether values that depend on these inputs have truncated gradients. */
function hasTruncatedGradient({ inputs, steps }: Plan, variableInputs: readonly number[]): boolean {
  const dependent = new Set(variableInputs);
  return steps.some(({ node, operandIndices }, at) => {
    if (!operandIndices.some((each) => dependent.has(each))) return false;
    dependent.add(inputs.length + at);
    return truncatesGradient(node);
  });
}

/** Weights of layers are excluded: modules of models share them. */
const isPlain = (each: Variable): boolean =>
  each.constructor === Variable && each.dtype === 'float32';

/** Runs the step: materializes the loss and updates variables and slots. Errors: those of the core. */
export function runTrainingStep(step: TrainingStep, update: UpdateRule): void {
  const { loss, plan, variableInputs } = step;
  const slots = update.slots.flat();
  const changed = changedBy(step, update);
  const next = changed.map(({ dtype, shape }) => new DeviceValue(dtype, shape, engine.device));
  const types = slots.map(({ type }) => type).join();
  const key = `step ${update.key} ${variableInputs.join()} ${types} `;
  const { plans } = engine;
  const chosen = plans.choose(plan, key);
  const program = plans.modules.get(key + chosen.key, () =>
    compiledStep(chosen, step, update, plans.device),
  );
  const inputs = [...chosen.inputs, ...slots.map(valueOf), ...update.factors];
  plans.runProgram(program, inputs, [loss, ...next]);
  changed.forEach((each, at) => each.replace(next[at]!));
}

/** Each variable followed by its slots, in the order of the results. */
const changedBy = ({ by }: TrainingStep, { slots }: UpdateRule): Variable[] =>
  by.flatMap((each, at) => [each, ...slots[at]!]);

const number = valueType([], 'float32');

function compiledStep(plan: Plan, step: TrainingStep, update: UpdateRule, device: Device): Program {
  const changed = changedBy(step, update);
  const slots = update.slots.flat();
  const [first, factorsBegin] = [plan.inputs.length, plan.inputs.length + slots.length];
  const types = [...plan.inputTypes, ...slots, ...update.factors.map(() => number)];
  const write = (inputs: TracedTensor[], trace: Trace): TracedTensor[] => {
    const [loss] = traceSteps(plan, inputs.slice(0, first), trace);
    const values = step.variableInputs.map((index) => inputs[index]!);
    const gradients = trace.vjp([loss!], [], values);
    let at = first;
    const found = values.flatMap((each, which) => {
      const slotValues = inputs.slice(at, (at += update.slots[which]!.length));
      return update.write(each, gradients[which]!, slotValues, inputs.slice(factorsBegin));
    });
    changed.forEach(({ name, type }, at) => {
      const next = found[at]!.type;
      if (next === type) return;
      throw new LatheError(`minimize: the variable ${name} is ${type} and would become ${next}`);
    });
    return [loss!, ...(found as TracedTensor[])];
  };
  return compileTraced(types, write, device.compile);
}
