/**
 * Weights of layers that a layer in JavaScript calls. If its class lists them they are part of it in models; while `call` is
 * traced they are values of the trace.
 */
import { LatheError } from '../base/errors.js';
import type { Tensor } from '../tensor/tensor.js';
import type { TracedTensor } from '../trace/trace.js';
import { inputClassName, type Layer, nameStem } from './layer.js';
import type { WeightConfig } from './layer_host.js';
import { type ModelWeight, weightOwners } from './shared_weights.js';

/** A layer whose weights are part of another layer. */
export interface NestedLayer {
  readonly layer: Layer;
  /** Its variables by their names in the outer layer; `key` is their name in this layer. */
  readonly weights: ReadonlyMap<
    string,
    { key: string; variable: Tensor & { trainable?: boolean }; config: WeightConfig }
  >;
}

/** The layers of the listed weights, each with all its weights; only those in `trained` are trainable. */
export function nestedLayers(
  trained: readonly ModelWeight[],
  untrained: readonly ModelWeight[],
): NestedLayer[] {
  const trainableVariables = new Set(
    trained.flatMap((each) => (each.trainable ? variableOf(each) : [])),
  );
  const owners = [...trained, ...untrained].flatMap(
    (each) => weightOwners.get(variableOf(each)!) ?? [],
  );
  const counts = new Map<string, number>();
  return [...new Map(owners.map((each) => [each.layer, each.all]))].map(([layer, all]) => {
    const stem = nameStem(layer.getClassName());
    const number = (counts.get(stem) ?? 0) + 1;
    counts.set(stem, number);
    const called = layer.isNamed ? layer.name : `${stem}${number}`;
    const weights = [...all].map(([key, variable]) => {
      const name = `${called}/${key}`;
      const config = { name, shape: variable.shape, trainable: trainableVariables.has(variable) };
      return [name, { key, variable, config: { ...config, ...zeros } }] as const;
    });
    return { layer, weights: new Map(weights) };
  });
}

/** The layers inside a model or wrapper, each with the prefix of its weights' names; none for Bidirectional, which copies. */
export function innerLayers(outer: Layer): readonly (readonly [path: string, layer: Layer])[] {
  const { parts } = outer;
  if (parts !== undefined) {
    const inner = parts.filter(({ layer }) => layer.getClassName() !== inputClassName);
    return inner.map(({ name, layer }) => [`${name}/`, layer]);
  }
  if (!/^(TimeDistributed|RNN|StackedRNNCells)$/.test(outer.getClassName())) return [];
  const { cell, layer = cell!, cells } = outer.options as Inner;
  return cells?.map((each, at) => [`RNNCell_${at}/`, each] as const) ?? [['', layer]];
}

type Inner = Partial<Record<'cell' | 'layer', Layer> & Record<'cells', Layer[]>>;

/**
 * The nested layers of the layers inside a model or wrapper, by their weights' names there. Error: Bidirectional, whose
 * directions have separate weights.
 */
export function nestedWithin(outer: Layer): readonly NestedLayer[] {
  if (outer.getClassName() === 'Bidirectional') {
    if ((outer.options as Inner).layer?.nested.length === 0) return [];
    throw new LatheError(
      `"${outer.label}" cannot be bidirectional over a layer that calls other layers`,
    );
  }
  return innerLayers(outer).flatMap(([path, { nested }]) =>
    nested.map((each) => {
      const named = [...each.weights].map(([name, weight]) => [path + name, weight] as const);
      return { ...each, weights: new Map(named) };
    }),
  );
}

/** Initial values are copied from the nested layer. */
const zeros = { initializer: 'zeros', regularizer: undefined, constraint: undefined };

const variableOf = (weight: Partial<ModelWeight>): Tensor | undefined => weight.val;

/** A weight as a value of the function being traced, and its updated value. */
export interface TracedWeight {
  readonly value: TracedTensor;
  updated: Tensor | undefined;
}

let tracedWeights: ReadonlyMap<Tensor, TracedWeight> = new Map();

/** Runs `run` while reads of these variables return the traced values. */
export function withTracedWeights<T>(values: ReadonlyMap<Tensor, TracedWeight>, run: () => T): T {
  const before = tracedWeights;
  tracedWeights = values;
  try {
    return run();
  } finally {
    tracedWeights = before;
  }
}

/** The current value of a variable in the function being traced, or the variable itself. */
export function tracedOr(variable: Tensor): Tensor {
  const traced = tracedWeights.get(variable);
  return traced === undefined ? variable : (traced.updated ?? traced.value);
}

/** Assigns a variable in the function being traced; no effect if it is no value of it. */
export function assignTraced(variable: Tensor, value: Tensor): void {
  const traced = tracedWeights.get(variable);
  if (traced !== undefined) traced.updated = value;
}
