/**
 * Weights of layers that a layer in JavaScript calls. Where its program lists them among its own they are part of it in a
 * model; while `call` is traced they are values there. Knows no model.
 */
import { LatheError } from '../base/errors.js';
import type { Tensor } from '../tensor/tensor.js';
import type { TracedTensor } from '../trace/trace.js';
import { inputClass, type Layer, nameStem } from './layer.js';
import type { WeightConfig } from './layer_host.js';
import { type ModelWeight, placeOf } from './shared_weights.js';

/** A layer whose weights another one has. */
export interface NestedLayer {
  readonly layer: Layer;
  /** Its variables by what the other layer calls them, and what they are called in the layer. */
  readonly weights: ReadonlyMap<
    string,
    { key: string; variable: Tensor & { trainable?: boolean }; config: WeightConfig }
  >;
}

/** The layers that have listed weights, with all weights that they have; others than the trained ones are only kept. */
export function nestedLayers(
  trained: readonly ModelWeight[],
  kept: readonly ModelWeight[],
): NestedLayer[] {
  const learns = new Set(trained.flatMap((each) => (each.trainable ? variableOf(each) : [])));
  const places = [...trained, ...kept].flatMap((each) => placeOf.get(variableOf(each)!) ?? []);
  const counts = new Map<string, number>();
  return [...new Map(places.map((each) => [each.layer, each.all]))].map(([layer, all]) => {
    const stem = nameStem(layer.getClassName());
    const number = (counts.get(stem) ?? 0) + 1;
    counts.set(stem, number);
    const called = layer.isNamed ? layer.name : `${stem}${number}`;
    const weights = [...all].map(([key, variable]) => {
      const name = `${called}/${key}`;
      const config = { name, shape: variable.shape, trainable: learns.has(variable) };
      return [name, { key, variable, config: { ...config, ...zeros } }] as const;
    });
    return { layer, weights: new Map(weights) };
  });
}

/** The layers whose weights another one has, and what the names of these begin with there; those of a layer run both ways are others. */
export function madeOf(whole: Layer): readonly (readonly [path: string, layer: Layer])[] {
  const { parts } = whole;
  if (parts !== undefined) {
    const inner = parts.filter(({ layer }) => layer.getClassName() !== inputClass);
    return inner.map(({ name, layer }) => [`${name}/`, layer]);
  }
  if (!/^(TimeDistributed|RNN|StackedRNNCells)$/.test(whole.getClassName())) return [];
  const { cell, layer = cell!, cells } = whole.options as Inner;
  return cells?.map((each, at) => [`RNNCell_${at}/`, each] as const) ?? [['', layer]];
}

type Inner = Partial<Record<'cell' | 'layer', Layer> & Record<'cells', Layer[]>>;

/**
 * Those within the layers that one of the core is made of, by what it calls their weights. Error: they run both ways, where
 * each way has weights of its own.
 */
export function nestedWithin(whole: Layer): readonly NestedLayer[] {
  if (whole.getClassName() === 'Bidirectional') {
    if ((whole.options as Inner).layer?.nested.length === 0) return [];
    throw new LatheError(`"${whole.label}" cannot run both ways what calls other layers`);
  }
  return madeOf(whole).flatMap(([path, { nested }]) =>
    nested.map((each) => {
      const named = [...each.weights].map(([name, weight]) => [path + name, weight] as const);
      return { ...each, weights: new Map(named) };
    }),
  );
}

/** The values come from the layer. */
const zeros = { initializer: 'zeros', regularizer: undefined, constraint: undefined };

const variableOf = (weight: Partial<ModelWeight>): Tensor | undefined => weight.val;

/** A weight while it is a value of a function, and what it is to become. */
export interface LentWeight {
  readonly value: TracedTensor;
  written: Tensor | undefined;
}

let lent: ReadonlyMap<Tensor, LentWeight> = new Map();

/** Does something while variables are these values. */
export function lending<T>(values: ReadonlyMap<Tensor, LentWeight>, run: () => T): T {
  const before = lent;
  lent = values;
  try {
    return run();
  } finally {
    lent = before;
  }
}

/** The variable, or the value that it is in the function being traced. */
export function lentOr(variable: Tensor): Tensor {
  const now = lent.get(variable);
  return now === undefined ? variable : (now.written ?? now.value);
}

/** What the variable is after the step of the function being traced; nothing where it is no value of it. */
export function writeLent(variable: Tensor, value: Tensor): void {
  const now = lent.get(variable);
  if (now !== undefined) now.written = value;
}
