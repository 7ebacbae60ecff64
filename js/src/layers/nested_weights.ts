/**
 * Weights of layers that a layer in JavaScript calls. If its class lists them they are part of it in models; while `call` is
 * traced they are values of the trace.
 */
import type { Tensor } from '../tensor/tensor.js';
import type { TracedTensor } from '../trace/trace.js';
import type { Layer, NestedLayer } from './layer.js';
import { nameStem } from './layer_names.js';
import type { ModelWeight } from './shared_weights.js';

/** The layer that a variable belongs to, and all of its variables by name. */
export interface WeightOwner {
  readonly layer: Layer;
  readonly all: ReadonlyMap<string, Tensor>;
}

/** From variables to their layers. */
export const weightOwners = new WeakMap<Tensor, WeightOwner>();

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
