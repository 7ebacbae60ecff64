/** Layers and what they are made with as TensorFlow.js spells them: `getConfig`, and layers again from it. */
import { tables } from '../core/tables.js';
import type { ClassConfig } from './extras.js';
import { baseConfig, inputClass, Layer, type LayerArgs } from './layer.js';
import { makeLayer } from './makers.js';
import { registeredClasses } from './serialization.js';

type Config = Record<string, unknown>;
export type Kind = 'activations' | 'initializers' | 'regularizers' | 'constraints';

/** The table that a choice is from, by the end of the name of the option. */
const kinds: [RegExp, Kind][] = [
  [/activation$/i, 'activations'],
  [/Initializer$/, 'initializers'],
  [/Regularizer$/, 'regularizers'],
  [/Constraint$/, 'constraints'],
];
export const kindOf = (option: string) => kinds.find(([end]) => end.test(option))?.[1];

/** Initialisers that are VarianceScaling by another name: scale and mode. */
const scaled: Record<string, [number, string]> = {
  glorot: [1, 'fanAvg'],
  he: [2, 'fanIn'],
  leCun: [1, 'fanIn'],
};

/** Options that stand for every axis of a window. */
const windows = /^(kernelSize|strides|poolSize|dilationRate)$/;

/** What the configurations of TensorFlow.js never have, and what only where it was given. */
const never: [RegExp, RegExp][] = [
  [/Transpose$/, /^dilationRate$/],
  [/^Separable/, /^depthMultiplier$/],
  [/^LayerNormalization$/, /^(beta|gamma)Constraint$/],
];
const seldom: [RegExp, RegExp][] = [
  [/^Conv1D$|Pooling1D$|^Flatten$/, /^dataFormat$/],
  [/^Embedding$/, /^(maskZero|inputLength)$/],
  [/LSTM/, /^unitForgetBias$/],
  [/^ReLU$/, /./],
  [/./, /^(noiseShape|seed)$/],
];

/** What they have as undefined, which is null in JSON, where it was not given. */
const unset: [RegExp, RegExp][] = [
  [/LSTM/, /^unitForgetBias$/],
  [/^(Dropout|SpatialDropout1D)$/, /^(noiseShape|seed)$/],
  [/^Embedding$/, /^(maskZero|inputLength)$/],
];

/** The row of a table. */
const rowOf = (kind: Kind, name: string) => tables[kind].find((each) => each.name === name);

/** An initialiser, a regulariser or a constraint of the core's words, as a class and its configuration. */
export function choiceConfig(choice: unknown, kind?: Kind): ClassConfig {
  const { name, ...given } = (typeof choice === 'string' ? { name: choice } : choice) as {
    name: string;
  } & Config;
  const family = /^(glorot|he|leCun)(Uniform|Normal)$/.exec(name);
  if (family !== null) {
    const [scale, mode] = scaled[family[1]!]!;
    const distribution = family[2]!.toLowerCase();
    const seed = typeof choice === 'string' ? null : given.seed;
    const config = { scale, mode, distribution, seed };
    return { className: 'VarianceScaling', config };
  }
  if (/^l[12]/.test(name)) {
    const { l1 = name === 'l2' ? 0 : 0.01, l2 = name === 'l1' ? 0 : 0.01 } = given;
    return { className: 'L1L2', config: { l1, l2 } };
  }
  const places: Kind[] = kind === undefined ? ['initializers', 'constraints'] : [kind];
  const row = places.map((each) => rowOf(each, name)).find((each) => each !== undefined);
  const config = Object.fromEntries(
    (row?.parameters ?? []).map(({ name: key, default: usual }) => [
      key,
      key in given ? given[key] : key === 'seed' ? undefined : usual,
    ]),
  );
  return { className: name.slice(0, 1).toUpperCase() + name.slice(1), config };
}

function valueOf(name: string, value: unknown, className: string): unknown {
  if (value instanceof Layer) return classConfig(value);
  if (Array.isArray(value) && value[0] instanceof Layer) return value.map(classConfig);
  const kind = kindOf(name);
  if (kind === 'activations') {
    return typeof value === 'string' ? value : (value as { name: string }).name;
  }
  if (kind !== undefined) return value === null ? null : choiceConfig(value, kind);
  const rank = Number(/([123])D/.exec(className)?.[1]);
  if (typeof value === 'number' && (windows.test(name) || name === 'size')) {
    return rank > 0 ? Array(rank).fill(value) : value;
  }
  if (/^(padding|cropping)$/.test(name) && typeof value !== 'string') {
    const sides = Array.isArray(value) ? value : [value, value];
    return sides.map((each: unknown) => (Array.isArray(each) ? each : [each, each]));
  }
  if (name === 'targetShape') return (value as number[]).map((size) => (size < 0 ? null : size));
  return value;
}

/** A layer as a class and its configuration. */
const classConfig = (layer: Layer): ClassConfig => ({
  className: layer.getClassName(),
  config: layer.getConfig(),
});

function inputConfig(layer: Layer): Config {
  const { shape } = layer.inboundNodes[0]!.outputs[0]!;
  const batchInputShape = [layer.batchSize ?? null, ...shape.slice(1)];
  const { sparse } = layer as { sparse?: boolean };
  return { batchInputShape, dtype: layer.inputDType, sparse, name: layer.name };
}

/** As `layer.getConfig()` of TensorFlow.js. */
export function layerConfig(layer: Layer): Config {
  const className = layer.getClassName();
  if (className === inputClass) return inputConfig(layer);
  const given = layer.options as Config;
  const row = tables.layers.find((each) => each.class === className);
  const config: Config = {};
  const options = row?.options ?? [];
  const regularizes = options.some(({ name }) => /^(useBias|outputDim)$/.test(name));
  const isAmong = (list: [RegExp, RegExp][], name: string) =>
    list.some(([each, option]) => each.test(className) && option.test(name));
  for (const { name, default: usual } of options) {
    if (name === 'inputShape' || name === 'name' || name === 'trainable') continue;
    if (isAmong(never, name) || (name === 'activityRegularizer' && !regularizes)) continue;
    if (!(name in given) && isAmong(unset, name)) config[name] = undefined;
    if (!(name in given) && isAmong(seldom, name)) continue;
    const value = given[name] ?? (name === 'strides' ? (usual ?? given.poolSize ?? 2) : usual);
    config[name] = valueOf(name, value, className);
  }
  if (className === 'Embedding' && layer.batchInputShape === undefined) {
    config.batchInputShape = [null, ...[given.inputLength ?? null].flat()];
  }
  if (/GRU|LSTM/.test(className)) config.implementation = layer.implementation;
  // A layer of a cell says what the cell says.
  const cell = given.cell instanceof Layer ? given.cell.getConfig() : {};
  return { ...cell, ...config, ...baseConfig(layer) };
}

/**
 * Gives a layer its options as properties, `dense.units`, but for those that TensorFlow.js has other objects of; a cell also
 * its `stateSize`.
 */
export function showOptions(layer: Layer): void {
  const className = layer.getClassName();
  const row = tables.layers.find((each) => each.class === className);
  // Recurrent layers leave to their cells what is of those.
  const isOwn = /^(LSTM|GRU|SimpleRNN|ConvLSTM2D)$/.test(className)
    ? /^(return|goBack|unroll)/
    : /./;
  for (const { name } of row?.options ?? []) {
    if (name in layer || kindOf(name) !== undefined || !isOwn.test(name)) continue;
    const value = () => (layer.options as Config)[name];
    Object.defineProperty(layer, name, {
      get: () => ([value()].flat()[0] instanceof Layer ? value() : layer.getConfig()[name]),
      configurable: true,
    });
  }
  showWeights(layer, className);
  if (/^(SimpleRNN|GRU|LSTM|ConvLSTM2D)$/.test(className)) showCell(layer, `${className}Cell`);
  if (!/^(SimpleRNN|GRU|(Conv)?LSTM(2D)?)Cell$/.test(className)) return;
  const { units, filters } = layer.options as { units?: number; filters?: number };
  const size = units ?? filters;
  const stateSize = className.includes('LSTM') ? [size, size] : size;
  Object.defineProperty(layer, 'stateSize', { value: stateSize, configurable: true });
}

/** The weights of classes, as TensorFlow.js calls them. */
const weightNames: [RegExp, string][] = [
  [/^(Dense|Conv[123]D(Transpose)?)$/, 'kernel bias'],
  [/Cell$/, 'kernel recurrentKernel bias'],
  [/^Embedding$/, 'embeddings'],
  [/^BatchNormalization$/, 'gamma beta movingMean movingVariance'],
  [/^LayerNormalization$/, 'gamma beta'],
  [/^DepthwiseConv2D$/, 'depthwiseKernel bias'],
  [/^SeparableConv/, 'depthwiseKernel pointwiseKernel bias'],
  [/^PReLU$/, 'alpha'],
];

/** Gives a layer its weights as properties, `dense.kernel`: null where there is none, or not yet. */
function showWeights(layer: Layer, className: string): void {
  const [, names = ''] = weightNames.find(([each]) => each.test(className)) ?? [];
  for (const name of names.split(' ').filter(Boolean)) {
    const end = `/${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
    Object.defineProperty(layer, name, {
      get: () => layer.weights.find((each) => each.name.endsWith(end)) ?? null,
      configurable: true,
    });
  }
}

/** Gives a recurrent layer the cell that it runs, with the weights of the layer. */
function showCell(layer: Layer, className: string): void {
  let cell: Layer | undefined;
  const make = () => {
    const known = tables.layers.find((each) => each.class === className)!.options;
    const given = Object.entries(layer.options).filter(
      ([name]) => !/^(name|inputShape)$/.test(name) && known.some((each) => each.name === name),
    );
    const { implementation } = layer;
    const made = makeLayer(className, {
      ...Object.fromEntries(given),
      implementation,
    } as LayerArgs);
    for (const name of ['weights', 'trainableWeights', 'nonTrainableWeights'] as const)
      Object.defineProperty(made, name, { get: () => layer[name] });
    for (const name of ['getWeights', 'setWeights'] as const)
      Object.defineProperty(made, name, { value: layer[name].bind(layer) });
    return made;
  };
  Object.defineProperty(layer, 'cell', { get: () => (cell ??= make()), configurable: true });
}

/** A layer of what `getConfig` gave, of this class or by the name of one. */
export function fromConfig(cls: { className?: string } | string, config: Config): Layer {
  const className = typeof cls === 'string' ? cls : cls.className!;
  const ownClass = registeredClasses.get(className);
  if (ownClass !== undefined) return ownClass.fromConfig(ownClass, config as never);
  const options = Object.fromEntries(
    Object.entries(config).map(([name, value]) => {
      const isLayer = (each: unknown): each is ClassConfig =>
        kindOf(name) === undefined &&
        typeof (each as Partial<ClassConfig> | null)?.className === 'string';
      if (isLayer(value)) return [name, fromConfig(value.className, value.config as Config)];
      if (Array.isArray(value) && value.every(isLayer) && value.length > 0) {
        return [name, value.map((each) => fromConfig(each.className, each.config as Config))];
      }
      if (name === 'targetShape')
        return [name, (value as (number | null)[]).map((size) => size ?? -1)];
      return [name, value];
    }),
  );
  return makeLayer(className, options as LayerArgs);
}
