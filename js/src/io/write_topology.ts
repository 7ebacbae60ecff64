/** A model as the core reads it -> the topology of Keras and TensorFlow.js. Knows no layer. */
import { LatheError } from '../base/errors.js';
import { own } from '../base/own.js';
import type { CalledLayer, ModelConfig, ModelSummary, OpenShape, Reference } from '../core/abi.js';
import { isObject } from './artifacts.js';
import {
  activationLayers,
  type Config,
  type KerasLayer,
  modelClasses,
  readTables,
  rowClasses,
  tableOf,
  type Tables,
} from './layer_tables.js';
import { findName, toSnakeCase } from './spelling.js';

type PlacedLayer = ModelSummary['layers'][number] & { layers?: PlacedLayer[] };

/** Options that TensorFlow.js wants spelled out: it does not work out a -1 in a shape where the sizes are known. */
const spelledOut: Record<string, (placed: PlacedLayer) => Config> = {
  Reshape: ({ outputShape }) => ({ target_shape: outputShape.slice(1).map((size) => size ?? -1) }),
};

/**
 * The topology of a model that the core has summed up: names, first shapes and the like are written
 * even where the program left them to the core.
 */
export function writeTopology(network: ModelConfig, summary: ModelSummary): object {
  const rows = readTables();
  const { class_name, config } = model(network, summary.layers, summary.inputShape, true, rows);
  return { class_name, config, keras_version: 'tensorlathe', backend: 'tensor_flow.js' };
}

function model(
  network: ModelConfig,
  placed: readonly PlacedLayer[],
  inputShape: OpenShape | undefined,
  trainable: boolean,
  rows: Tables,
): KerasLayer {
  const { name, inputs } = network;
  const isTrained = trainable && network.trainable !== false;
  const layers = network.layers.map((layer, at) => {
    const given = (layer.config as Config).name;
    const found = placed.find((each) => each.name === given) ?? placed[at]!;
    const written = layerOf(layer, found, isTrained, rows);
    if (at === 0 && inputs === undefined && !modelClasses.includes(layer.class)) {
      const shape = inputShape ?? ((layer.config as Config).inputShape as OpenShape | undefined);
      if (shape !== undefined) Object.assign(written.config, inputConfig(shape, network));
    }
    return written;
  });
  if (inputs === undefined) return { class_name: 'Sequential', config: { name, layers } };

  const nested = network.layers.filter((layer) => modelClasses.includes(layer.class));
  const nestedNames = nested.map(({ config }) => (config as ModelConfig).name);
  // A nested model counts its own making as its first call.
  const reference = ([giver, call = 0, output = 0]: Reference) => [
    giver,
    nestedNames.includes(giver) ? call + 1 : call,
    output,
  ];
  const first = inputs.map((input) => ({
    class_name: 'InputLayer',
    config: { ...inputConfig(input.shape, network), sparse: false, name: input.name },
    name: input.name,
    inbound_nodes: [],
  }));
  const calls = network.layers.map((layer, at) => ({
    ...layers[at]!,
    name: layers[at]!.config.name,
    inbound_nodes: layer.inputs!.map((call) => call.map((each) => [...reference(each), {}])),
  }));
  const config = {
    name,
    layers: [...first, ...calls],
    input_layers: inputs.map((input) => [input.name, 0, 0]),
    output_layers: network.outputs!.map(reference),
  };
  return { class_name: 'Model', config };
}

function inputConfig(shape: OpenShape, { batchSize }: ModelConfig): Config {
  return { batch_input_shape: [batchSize ?? null, ...shape], dtype: 'float32' };
}

function layerOf(
  layer: CalledLayer,
  placed: PlacedLayer,
  trainable: boolean,
  rows: Tables,
): KerasLayer {
  if (modelClasses.includes(layer.class)) {
    return model(layer.config as ModelConfig, placed.layers ?? [], undefined, trainable, rows);
  }
  const { class_name, config } = plainLayer(layer, rows);
  const isTrained = trainable && config.trainable !== false;
  const extra = own(spelledOut, class_name)?.(placed);
  return { class_name, config: { ...config, ...extra, trainable: isTrained, name: placed.name } };
}

function plainLayer(layer: CalledLayer, rows: Tables): KerasLayer {
  const { inputShape: _, ...config } = layer.config as Config;
  if (layer.class === 'Lambda') {
    throw new LatheError(
      `save: layer "${String(config.name)}" is a function, which cannot be saved; make it a class ` +
        'that extends tl.layers.Layer',
    );
  }
  if (layer.class === 'Activation' && isObject(config.activation)) {
    const { name, ...parameters } = config.activation;
    const found = Object.entries(activationLayers).find(([, activation]) => activation === name);
    if (found !== undefined) {
      const { activation: __, ...rest } = config;
      return { class_name: found[0], config: toKerasConfig({ ...rest, ...parameters }, rows) };
    }
  }
  const isOwn = layer.host !== undefined;
  return { class_name: layer.class, config: toKerasConfig(config, rows, isOwn) };
}

function toKerasConfig(config: Config, rows: Tables, isOwn = false): Config {
  const entries = Object.entries(config).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => [
      toSnakeCase(name),
      isOwn && typeof value === 'string' && tableOf(name) === undefined
        ? value
        : toKerasValue(name, value, rows),
    ]),
  );
}

/** The layer that an option of a layer around it holds. */
function asLayer(value: unknown): CalledLayer | undefined {
  const plain =
    isObject(value) && typeof value.toJSON === 'function'
      ? (value.toJSON as (key: string) => unknown)('layer')
      : value;
  const isLayer = isObject(plain) && typeof plain.class === 'string' && isObject(plain.config);
  return isLayer ? (plain as unknown as CalledLayer) : undefined;
}

function toKerasValue(name: string, value: unknown, rows: Tables): unknown {
  if (name === 'name' || value === null) return value;
  const table = tableOf(name);
  if (table === undefined) {
    if (Array.isArray(value)) return value.map((each) => toKerasValue(name, each, rows));
    const within = asLayer(value);
    if (within !== undefined) return plainLayer(within, rows);
    return typeof value === 'string' ? toSnakeCase(value) : value;
  }
  const { name: given, ...parameters } = isObject(value) ? value : { name: value };
  const known = rows[table].map((row) => row.name);
  const chosen = findName(String(given), known) ?? String(given);
  const settings = toKerasConfig(parameters, rows);
  if (table !== 'activations') {
    const className = own(rowClasses, chosen) ?? chosen[0]!.toUpperCase() + chosen.slice(1);
    return { class_name: className, config: settings };
  }
  const text = toSnakeCase(chosen);
  return Object.keys(settings).length === 0 ? text : { class_name: text, config: settings };
}
