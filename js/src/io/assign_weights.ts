/** The weights of a model: copied out, and replaced all together or not at all. */
import { LatheError } from '../base/errors.js';
import type { LayerConfig, ModelConfig, ModelSummary } from '../core/abi.js';
import type { State, StoredModel } from '../train/storable.js';
import type { NamedArray } from './weight_data.js';

/** The states that are weights, in the order of the summary. */
export function weightStates({ summary, states }: StoredModel): State[] {
  const byName = new Map(states.map((state) => [state.name, state]));
  return summary.weights.map(({ name }) => byName.get(name)!);
}

/**
 * The names under which weights are saved, by their names here: TensorFlow.js leaves out the models
 * that a layer is nested in, and calls the directions of a layer by its name. Where two would be equal,
 * both stay whole.
 */
export function savedNames({
  config,
  summary: { layers, weights },
}: StoredModel): Map<string, string> {
  const both = [...directions(config, '')];
  const short = weights.map(({ name }) => {
    const [path, inner] = both.find(([each]) => name.startsWith(each)) ?? ['', ''];
    const told = name.slice(path.length).replace(/^(for|back)ward/, `$&_${inner}`);
    return withoutModels(path === '' ? name : `${path}${told}`, layers);
  });
  const isTwice = (name: string) => short.indexOf(name) !== short.lastIndexOf(name);
  return new Map(
    weights.map(({ name }, at) => [name, isTwice(short[at]!) ? name : short[at]!] as const),
  );
}

/** The bidirectional layers by what their weights begin with, and the names of the layers within. */
function* directions({ layers }: ModelConfig, prefix: string): Generator<[string, string]> {
  for (const { class: className, config } of layers) {
    const { name, layer } = config as {
      name: string;
      layer?: { toJSON?(key: string): unknown };
    };
    const path = `${prefix}${name}/`;
    if ('layers' in config) yield* directions(config as ModelConfig, path);
    if (className !== 'Bidirectional') continue;
    const inner = (layer?.toJSON?.('layer') ?? layer) as LayerConfig;
    yield [path, (inner.config as { name?: string }).name ?? inner.class.toLowerCase()];
  }
}

type Placed = ModelSummary['layers'][number] & { layers?: Placed[] };

function withoutModels(name: string, layers: readonly Placed[]): string {
  const model = layers.find((each) => each.layers && name.startsWith(`${each.name}/`));
  if (model === undefined) return name;
  return withoutModels(name.slice(model.name.length + 1), model.layers!);
}

/** Copies of weights by their saved names. */
export function weightArrays(model: StoredModel): NamedArray[] {
  const names = savedNames(model);
  return weightStates(model).map(({ name, shape, dtype, values }) => ({
    name: names.get(name)!,
    shape,
    dtype,
    data: values.slice(),
  }));
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
  const states = weightStates(model);
  const names = savedNames(model);
  const byName = new Map(arrays.map((array) => [plainName(array.name), array]));
  const left = new Set(arrays);
  const pairs: [State, NamedArray][] = [];
  const missing: string[] = [];
  for (const state of states) {
    const array = byName.get(state.name) ?? byName.get(names.get(state.name)!);
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
    const nan = strict ? array.data.findIndex(Number.isNaN) : -1;
    if (nan >= 0) {
      throw new LatheError(
        `${where}: the tensor ${array.name} holds NaN at ${nan}; strict: false takes it all the same`,
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
