/** The weights of a model and what its optimiser has gathered <-> tensors of files, by their names there. */
import { LatheError } from '../base/errors.js';
import { askFormats } from '../core/formats.js';
import type { State, StoredModel } from '../train/storable.js';
import type { NamedArray } from './weight_data.js';

/** A state and the tensor that it is or becomes. */
type Match = [state: number, tensor: number];

/** What is saved: the names of the weights, in the order of the summary, and tensors of states. */
interface SavedTensors {
  weights: string[];
  optimizer: { name: string; shape: number[]; state: number | null; isSteps: boolean }[];
}

/** The states that are weights, in the order of the summary. */
export function weightStates({ summary, states }: StoredModel): State[] {
  const byName = new Map(states.map((state) => [state.name, state]));
  return summary.weights.map(({ name }) => byName.get(name)!);
}

const placeOf = ({ name, shape }: { name: string; shape: number[] }) => ({ name, shape });

/**
 * The weights by their saved names, all or those that training changes, and behind them what the optimiser has gathered:
 * where they lie, not copies.
 */
export function savedArrays(
  model: StoredModel,
  withOptimizer: boolean,
  trainableOnly = false,
): NamedArray[] {
  const { summary, states } = model;
  const places = withOptimizer ? states.map(placeOf) : [];
  const question = { summary, states: places };
  const saved = askFormats<SavedTensors>('lathe_saved_tensors', question, 'save');
  const weights = weightStates(model).map(({ shape, dtype, values }, at) => ({
    name: saved.weights[at]!,
    shape,
    dtype,
    data: values,
  }));
  const gathered = saved.optimizer.map(({ name, shape, state, isSteps }): NamedArray => {
    const values = state === null ? undefined : states[state]!.values;
    const group = 'optimizer';
    if (isSteps) {
      return { name, shape, dtype: 'int32', data: Int32Array.of(Math.round(values![0]!)), group };
    }
    const count = shape.reduce((product, size) => product * size, 1);
    return { name, shape, dtype: 'float32', data: values ?? new Float32Array(count), group };
  });
  const isTrained = new Map(model.weights.map(({ name, trainable }) => [name, trainable]));
  const isSaved = (at: number) => !trainableOnly || isTrained.get(summary.weights[at]!.name);
  return [...weights.filter((_, at) => isSaved(at)), ...gathered];
}

/**
 * Gives weights to a model: those of the same name. Errors: another shape; with `strict`, weights
 * that are missing or left over, or NaN. Then nothing has changed.
 */
export function assignWeights(
  model: StoredModel,
  arrays: readonly NamedArray[],
  strict: boolean,
  where: string,
): void {
  const { summary } = model;
  const states = weightStates(model);
  const question = { summary, tensors: arrays.map(placeOf), strict };
  const matches = askFormats<Match[]>('lathe_match_weights', question, where);
  // Data of a type that cannot be read is an error here, before anything has changed.
  for (const [, at] of matches) {
    const { name, data } = arrays[at]!;
    if (!strict) continue;
    let nan = 0;
    while (nan < data.length && !Number.isNaN(data[nan])) ++nan;
    if (nan === data.length) continue;
    throw new LatheError(
      `${where}: the tensor ${name} holds NaN at ${nan}; strict: false takes it all the same`,
    );
  }
  for (const [state, at] of matches) states[state]!.values.set(arrays[at]!.data);
}

/** Gives a model what its optimiser had gathered. Error: a tensor is missing or of another shape. */
export function assignOptimizer(
  model: StoredModel,
  arrays: readonly NamedArray[],
  where: string,
): void {
  const { summary, states, training } = model;
  const matches = askFormats<{ tensors: Match[]; numbers: Match[] }>(
    'lathe_match_optimizer',
    {
      summary,
      optimizer: training?.optimizer,
      states: states.map(placeOf),
      tensors: arrays.map(placeOf),
      steps: Number(arrays.find(({ name }) => name === 'iter')?.data[0] ?? 0),
    },
    where,
  );
  for (const [state, at] of matches.tensors) states[state]!.values.set(arrays[at]!.data);
  for (const [state, number] of matches.numbers) states[state]!.values[0] = number;
}
