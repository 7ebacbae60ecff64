/** The weights of a model: copied out, and replaced all together or not at all. */
import { LatheError } from '../errors.js';
import type { State, StoredModel } from '../storable.js';
import type { NamedArray } from './weights.js';

/** The states that are weights, in the order of the summary. */
export function weightStates({ summary, states }: StoredModel): State[] {
  const byName = new Map(states.map((state) => [state.name, state]));
  return summary.weights.map(({ name }) => byName.get(name)!);
}

/** Copies of states. */
export function copies(states: readonly State[], group?: string): NamedArray[] {
  return states.map(({ name, shape, dtype, values }) => {
    const copy = { name, shape, dtype, data: values.slice() };
    return group === undefined ? copy : { ...copy, group };
  });
}

/**
 * Gives weights to a model: those of the same name. Errors: another shape; with `strict`, weights
 * that are missing or left over. Then nothing has changed.
 */
export function assignWeights(
  model: StoredModel,
  arrays: readonly NamedArray[],
  strict: boolean,
  where: string,
): void {
  const states = weightStates(model);
  const left = new Set(arrays);
  const pairs: [State, NamedArray][] = [];
  const missing: string[] = [];
  for (const state of states) {
    const array = [...left].find(({ name }) => plainName(name) === state.name);
    if (array === undefined) {
      missing.push(state.name);
      continue;
    }
    left.delete(array);
    if (array.shape.join() !== state.shape.join()) {
      throw new LatheError(
        `${where}: the tensor ${array.name} has shape [${array.shape.join(',')}], ` +
          `but the model takes [${state.shape.join(',')}]`,
      );
    }
    pairs.push([state, array]);
  }
  if (strict && missing.length > 0) {
    throw new LatheError(`${where}: the model needs ${listed(missing)}, which is not there`);
  }
  if (strict && left.size > 0) {
    const names = [...left].map(({ name }) => name);
    throw new LatheError(`${where}: the model has no weight ${listed(names)}`);
  }
  for (const [state, array] of pairs) state.values.set(array.data);
}

/** Keras ends names with the number of the output. */
function plainName(name: string): string {
  return name.replace(/:0$/, '');
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
