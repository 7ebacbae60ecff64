/** Layer configurations in the format of TensorFlow.js: `getConfig` and `fromConfig`. */
import { tables } from '../core/tables.js';
import type { ClassConfig } from './deferred.js';
import type { LayerArgs } from './base_args.js';
import { recurrentCells } from './layer_classes.js';
import { inputClassName } from './layer_names.js';
import { layerRow } from './layer_row.js';
import { baseConfig, Layer } from './layer.js';
import { createLayer } from './factories.js';
import { registeredClasses } from './serialization.js';

type Config = Record<string, unknown>;
export type ConfigKind = 'activations' | 'initializers' | 'regularizers' | 'constraints';

/** The table of an option's values, by the end of its name. */
const kinds: [RegExp, ConfigKind][] = [
  [/activation$/i, 'activations'],
  [/Initializer$/, 'initializers'],
  [/Regularizer$/, 'regularizers'],
  [/Constraint$/, 'constraints'],
];
export const kindOf = (option: string) => kinds.find(([end]) => end.test(option))?.[1];

/** Initializers that are aliases of VarianceScaling: scale and mode. */
const scaled: Record<string, [number, string]> = {
  glorot: [1, 'fanAvg'],
  he: [2, 'fanIn'],
  leCun: [1, 'fanIn'],
};

/** Options with a size for each axis of a window. */
export const windows = /^(kernelSize|strides|poolSize|dilationRate)$/;

/** The row of a table. */
const rowOf = (kind: ConfigKind, name: string) => tables[kind].find((each) => each.name === name);

/** Class name and config of an initializer, regularizer or constraint of the core. */
export function weightFunctionConfig(choice: unknown, kind?: ConfigKind): ClassConfig {
  const { name, ...parameters } = (typeof choice === 'string' ? { name: choice } : choice) as {
    name: string;
  } & Config;
  const family = /^(glorot|he|leCun)(Uniform|Normal)$/.exec(name);
  if (family !== null) {
    const [scale, mode] = scaled[family[1]!]!;
    const distribution = family[2]!.toLowerCase();
    const seed = typeof choice === 'string' ? null : parameters.seed;
    const config = { scale, mode, distribution, seed };
    return { className: 'VarianceScaling', config };
  }
  if (/^l[12]/.test(name)) {
    const { l1 = name === 'l2' ? 0 : 0.01, l2 = name === 'l1' ? 0 : 0.01 } = parameters;
    return { className: 'L1L2', config: { l1, l2 } };
  }
  const tableNames: ConfigKind[] = kind === undefined ? ['initializers', 'constraints'] : [kind];
  const row = tableNames.map((each) => rowOf(each, name)).find((each) => each !== undefined);
  const config = Object.fromEntries(
    (row?.parameters ?? []).map(({ name: key, default: usual }) => [
      key,
      key in parameters ? parameters[key] : key === 'seed' ? undefined : usual,
    ]),
  );
  return { className: name.slice(0, 1).toUpperCase() + name.slice(1), config };
}

function valueOf(name: string, value: unknown, axes: number): unknown {
  if (value instanceof Layer) return classConfig(value);
  if (Array.isArray(value) && value[0] instanceof Layer) return value.map(classConfig);
  const kind = kindOf(name);
  if (kind === 'activations') {
    return typeof value === 'string' ? value : (value as { name: string }).name;
  }
  if (kind !== undefined) return value === null ? null : weightFunctionConfig(value, kind);
  if (typeof value === 'number' && (windows.test(name) || name === 'size')) {
    return axes > 0 ? Array(axes).fill(value) : value;
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
  if (className === inputClassName) return inputConfig(layer);
  const set = layer.options as Config;
  const { options = [], axes = 0, besides = [] } = layerRow(className);
  const config: Config = {};
  const regularizes = options.some(({ name }) => /^(useBias|outputDim)$/.test(name));
  for (const { name, default: usual, config: rule } of options) {
    if (name === 'inputShape' || name === 'name' || name === 'trainable') continue;
    if (rule === 'never' || (name === 'activityRegularizer' && !regularizes)) continue;
    if (!(name in set) && rule === 'undefined') config[name] = undefined;
    if (!(name in set) && rule !== undefined) continue;
    const value = set[name] ?? (name === 'strides' ? (usual ?? set.poolSize ?? 2) : usual);
    config[name] = valueOf(name, value, axes);
  }
  if (className === 'Embedding' && layer.batchInputShape === undefined) {
    config.batchInputShape = [null, ...[set.inputLength ?? null].flat()];
  }
  for (const name of besides) config[name] = layer[name as 'implementation'];
  // The config of a cell is merged into its layer's.
  const cell = set.cell instanceof Layer ? set.cell.getConfig() : {};
  return { ...cell, ...config, ...baseConfig(layer) };
}

/**
 * Defines the options of a layer as its properties, `dense.units`, except those that are objects in TensorFlow.js; of a cell
 * also `stateSize`.
 */
export function showOptions(layer: Layer): void {
  const className = layer.getClassName();
  const { options = [], weights = [], cell = className, states = 0 } = layerRow(className);
  const ownsCell = cell !== className;
  // Recurrent layers leave the options of their cell to it.
  const isLayerOption = ownsCell ? /^(return|goBack|unroll)/ : /./;
  for (const { name } of options) {
    if (name in layer || kindOf(name) !== undefined || !isLayerOption.test(name)) continue;
    const value = () => (layer.options as Config)[name];
    Object.defineProperty(layer, name, {
      get: () => ([value()].flat()[0] instanceof Layer ? value() : layer.getConfig()[name]),
      configurable: true,
    });
  }
  showWeights(layer, weights);
  if (ownsCell) showCell(layer, cell);
  if (recurrentCells[className] !== className) return;
  const { units, filters } = layer.options as { units?: number; filters?: number };
  const size = units ?? filters;
  const stateSize = states > 1 ? Array(states).fill(size) : size;
  Object.defineProperty(layer, 'stateSize', { value: stateSize, configurable: true });
}

/** Defines weights of a layer as its properties, `dense.kernel`: null if it does not have one (yet). */
function showWeights(layer: Layer, names: readonly string[]): void {
  for (const name of names) {
    const end = `/${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
    Object.defineProperty(layer, name, {
      get: () => layer.weights.find((each) => each.name.endsWith(end)) ?? null,
      configurable: true,
    });
  }
}

/** Defines `cell` of a recurrent layer, with the weights of the layer. */
function showCell(layer: Layer, className: string): void {
  let cell: Layer | undefined;
  const make = () => {
    const { options = [] } = layerRow(className);
    const cellOptions = Object.entries(layer.options).filter(
      ([name]) => !/^(name|inputShape)$/.test(name) && options.some((each) => each.name === name),
    );
    const { implementation } = layer;
    const made = createLayer(className, {
      ...Object.fromEntries(cellOptions),
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

/** Creates a layer from a `getConfig()`, of this class or of the class with this name. */
export function fromConfig(cls: { className?: string } | string, config: Config): Layer {
  const className = typeof cls === 'string' ? cls : cls.className!;
  const customClass = registeredClasses.get(className);
  if (customClass !== undefined) return customClass.fromConfig(customClass, config as never);
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
  return createLayer(className, options as LayerArgs);
}
