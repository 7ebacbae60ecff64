/** Converts between the weights and optimizer state of a model and the named tensors of files. */
import { LatheError } from '../base/errors.js';
import { queryFormats } from '../core/formats.js';
import type { State, StoredModel } from '../train/storable.js';
import type { NamedArray } from './weight_data.js';

/** The index of a state and of its tensor. */
type Match = [state: number, tensor: number];

/** The saved names of the weights, in the order of the summary, and the tensors of optimizer states. */
interface SavedTensors {
  weights: string[];
  optimizer: { name: string; shape: number[]; state: number | null; isSteps: boolean }[];
}

/** The states that are weights, in the order of the summary. */
export function weightStates({ summary, states }: StoredModel): State[] {
  const byName = new Map(states.map((state) => [state.name, state]));
  return summary.weights.map(({ name }) => byName.get(name)!);
}

const nameAndShape = ({ name, shape }: { name: string; shape: number[] }) => ({ name, shape });

/**
 * The weights by their saved names, all or only trainable ones, followed by the optimizer state:
 * views, not copies.
 */
export function savedArrays(
  model: StoredModel,
  withOptimizer: boolean,
  trainableOnly = false,
): NamedArray[] {
  const { summary, states } = model;
  const stateSpecs = withOptimizer ? states.map(nameAndShape) : [];
  const question = { summary, states: stateSpecs };
  const saved = queryFormats<SavedTensors>('lathe_saved_tensors', question, 'save');
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
 * Assigns weights to a model by name. Errors: another shape; with `strict`, weights
 * that are missing, unexpected, or NaN. On an error nothing is changed.
 */
export function assignWeights(
  model: StoredModel,
  arrays: readonly NamedArray[],
  strict: boolean,
  where: string,
): void {
  const { summary } = model;
  const states = weightStates(model);
  const question = { summary, tensors: arrays.map(nameAndShape), strict };
  const matches = queryFormats<Match[]>('lathe_match_weights', question, where);
  // Unreadable data must throw here, before anything is changed.
  for (const [, at] of matches) {
    const { name, data } = arrays[at]!;
    if (!strict) continue;
    let nan = 0;
    while (nan < data.length && !Number.isNaN(data[nan])) ++nan;
    if (nan === data.length) continue;
    throw new LatheError(
      `${where}: the tensor ${name} contains NaN at index ${nan}; strict: false accepts it`,
    );
  }
  for (const [state, at] of matches) states[state]!.write(arrays[at]!.data);
}

/** Restores the optimizer state of a model. Error: a tensor is missing or of another shape. */
export function assignOptimizer(
  model: StoredModel,
  arrays: readonly NamedArray[],
  where: string,
): void {
  const { summary, states, training } = model;
  const matches = queryFormats<{ tensors: Match[]; numbers: Match[] }>(
    'lathe_match_optimizer',
    {
      summary,
      optimizer: training?.optimizer,
      states: states.map(nameAndShape),
      tensors: arrays.map(nameAndShape),
      steps: Number(arrays.find(({ name }) => name === 'iter')?.data[0] ?? 0),
    },
    where,
  );
  for (const [state, at] of matches.tensors) states[state]!.write(arrays[at]!.data);
  for (const [state, number] of matches.numbers) states[state]!.write([number]);
}
