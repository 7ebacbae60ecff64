/**
 * The topology of Keras and TensorFlow.js <-> the configuration that the core reads: names by rule, the few
 * exceptions in tables. Knows no layer: what a class takes is what the core says of it.
 */
import type { ModelSummary } from '../abi.js';
import { LatheError } from '../errors.js';
import type { LayerConfig } from '../layers.js';
import { describe } from '../program.js';
import { isObject } from './artifacts.js';
import { findName, toCamelCase, toSnakeCase } from './names.js';

type Config = Record<string, unknown>;

/** A model as its constructor takes it. */
export interface ModelDescription {
  name: string;
  layers: LayerConfig[];
}

/** A layer in a topology. */
export interface KerasLayer {
  class_name: string;
  config: Config;
}

interface Row {
  name: string;
  parameters: { name: string }[];
}

/** What the core knows, as far as it matters here. */
interface Tables {
  layerOptions: Record<string, string[]>;
  activations: Row[];
  initializers: Row[];
  regularizers?: Row[];
  constraints?: Row[];
}

/** Options whose value is a row of one of the core's tables, by the end of their name. */
const choices = [
  ['activation', 'activations'],
  ['initializer', 'initializers'],
  ['regularizer', 'regularizers'],
  ['constraint', 'constraints'],
] as const;

/** Options that change nothing while they have these values, for classes that do not know them. */
const neutral: Record<string, readonly unknown[] | 'any'> = {
  trainable: [true],
  dtype: ['float32'],
  dataFormat: ['channels_last', 'channelsLast'],
  axis: [-1],
  groups: [1],
  dilationRate: [1],
  inputLength: 'any',
  implementation: 'any',
  fused: 'any',
  unroll: 'any',
  seed: 'any',
};

/** Layers that are an activation by another name. */
const activationLayers: Record<string, string> = {
  ReLU: 'relu',
  LeakyReLU: 'leakyRelu',
  ELU: 'elu',
  Softmax: 'softmax',
};

/** What TensorFlow.js calls the classes whose name is no rule. */
const classNames: Record<string, string> = { l1: 'L1L2', l2: 'L1L2', l1l2: 'L1L2' };

/** VarianceScaling with the parameters scale, mode, distribution is one of these. */
const scaledInitializers: Record<string, string> = {
  '1,fan_avg,uniform': 'glorotUniform',
  '1,fan_avg,normal': 'glorotNormal',
  '1,fan_in,uniform': 'leCunUniform',
  '1,fan_in,normal': 'leCunNormal',
  '2,fan_in,uniform': 'heUniform',
  '2,fan_in,normal': 'heNormal',
};

function tables(): Tables {
  const known = describe() as Tables & { layers: { class: string; options: Row['parameters'] }[] };
  const names = ({ options }: { options: Row['parameters'] }) => options.map(({ name }) => name);
  const layerOptions = Object.fromEntries(known.layers.map((layer) => [layer.class, names(layer)]));
  return { ...known, layerOptions };
}

/**
 * The model that a topology describes. Errors: an unknown class, with the name of the layer; an
 * option that the class does not have and that would change the result.
 */
export function fromTopology(topology: unknown, file: string): ModelDescription {
  const reader = new TopologyReader(file, tables());
  const model =
    isObject(topology) && isObject(topology.model_config) ? topology.model_config : topology;
  return reader.model(model);
}

class TopologyReader {
  constructor(
    private readonly file: string,
    private readonly known: Tables,
  ) {}

  model(topology: unknown): ModelDescription {
    if (!isObject(topology)) return this.#fail('the topology must be an object');
    const { class_name: className, config } = topology;
    if (className !== 'Sequential') {
      return this.#fail(`models of class ${JSON.stringify(className)} cannot be loaded`);
    }
    const layers = isObject(config) ? config.layers : config;
    if (!Array.isArray(layers)) return this.#fail('the topology has no layers');
    const name = isObject(config) && typeof config.name === 'string' ? config.name : 'sequential';
    return { name, layers: this.#withoutInputs(layers.map((layer) => this.#checked(layer))) };
  }

  /** An InputLayer becomes the input shape of the layer after it. */
  #withoutInputs(layers: KerasLayer[]): LayerConfig[] {
    let inputShape: unknown;
    const result: LayerConfig[] = [];
    for (const layer of layers) {
      if (layer.class_name === 'InputLayer') {
        inputShape = layer.config.batch_input_shape ?? layer.config.batch_shape;
        continue;
      }
      if (inputShape !== undefined) layer.config.batch_input_shape ??= inputShape;
      inputShape = undefined;
      result.push(this.#layer(layer));
    }
    return result;
  }

  #checked(layer: unknown): KerasLayer {
    const { class_name: className, config } = (isObject(layer) ? layer : {}) as Partial<KerasLayer>;
    if (typeof className !== 'string' || !isObject(config)) {
      return this.#fail('a layer of the topology has no class_name or no config');
    }
    return { class_name: className, config: { ...config } };
  }

  #layer({ class_name: className, config }: KerasLayer): LayerConfig {
    const where = `layer ${JSON.stringify(config.name)} (${className})`;
    const options = this.known.layerOptions[className];
    if (options !== undefined) {
      return { class: className, config: this.#config(config, options, where) };
    }
    const activation = activationLayers[className];
    if (activation === undefined) {
      const classes = Object.keys(this.known.layerOptions).join(', ');
      return this.#fail(`${where} is of an unknown class; known: ${classes}`);
    }
    const { parameters } = this.known.activations.find(({ name }) => name === activation)!;
    const names = parameters.map(({ name }) => name);
    const all = [...names, ...this.known.layerOptions.Activation!];
    const read = this.#config(config, all, where);
    const chosen: Config = { name: activation };
    for (const name of names) {
      if (read[name] !== undefined) chosen[name] = read[name];
      delete read[name];
    }
    return { class: 'Activation', config: { ...read, activation: chosen } };
  }

  #config(config: Config, options: readonly string[], where: string): Config {
    const result: Config = {};
    for (const [key, value] of Object.entries(config)) {
      if (value === null || value === undefined) continue;
      if (key === 'batch_input_shape') {
        result.inputShape = (value as unknown[]).slice(1);
        continue;
      }
      const name = toCamelCase(key);
      if (options.includes(name)) result[name] = this.#value(name, value, where);
      else if (!isNeutral(name, value)) {
        this.#fail(`${where} has the option ${key} = ${JSON.stringify(value)}, which is not known`);
      }
    }
    return result;
  }

  #value(name: string, value: unknown, where: string): unknown {
    const table = tableOf(name);
    if (table === undefined) {
      return typeof value === 'string' && name !== 'name' ? toCamelCase(value) : value;
    }
    const rows = this.known[table] ?? [];
    const { name: given, parameters } = splitChoice(value);
    const known = rows.map((row) => row.name);
    const { scale = 1, mode = 'fan_in', distribution = 'normal' } = parameters;
    const short = scaledInitializers[[scale, mode, distribution].join()];
    const wanted = given === 'VarianceScaling' && short !== undefined ? short : given;
    const chosen = typeof wanted === 'string' ? findName(wanted, known) : undefined;
    if (chosen === undefined) {
      return this.#fail(
        `${where}: ${name} ${JSON.stringify(given)} is not known; known: ${known.join(', ')}`,
      );
    }
    const names = rows.find((row) => row.name === chosen)!.parameters.map((each) => each.name);
    const settings = Object.entries(parameters).map(([key, each]) => [toCamelCase(key), each]);
    const used = settings.filter(([key, each]) => names.includes(key as string) && each !== null);
    return used.length === 0 ? chosen : { name: chosen, ...Object.fromEntries(used) };
  }

  #fail(what: string): never {
    throw new LatheError(`${this.file}: ${what}`);
  }
}

function tableOf(name: string): (typeof choices)[number][1] | undefined {
  return choices.find(([end]) => name.toLowerCase().endsWith(end))?.[1];
}

/** "relu" or {class_name, config} as name and parameters. */
function splitChoice(value: unknown): { name: unknown; parameters: Config } {
  if (!isObject(value)) return { name: value, parameters: {} };
  return { name: value.class_name, parameters: isObject(value.config) ? value.config : {} };
}

function isNeutral(name: string, value: unknown): boolean {
  if (value === false || (Array.isArray(value) && value.length === 0)) return true;
  const allowed = neutral[name];
  return allowed === 'any' || [value].flat().every((each) => allowed?.includes(each));
}

/** Options that TensorFlow.js wants spelled out: it does not work out a -1 in a shape. */
const spelledOut: Record<string, (placed: PlacedLayer) => Config> = {
  Reshape: ({ outputShape }) => ({ target_shape: outputShape.slice(1) }),
};

type PlacedLayer = ModelSummary['layers'][number];

/** The topology of a model that the core has summed up. */
export function toTopology({ name, layers }: ModelDescription, summary: ModelSummary): object {
  const rows = tables();
  const written = layers.map((layer, at) => {
    const { class_name, config } = toKerasLayer(layer, rows);
    const placed = summary.layers[at]!;
    const input = { batch_input_shape: [null, ...summary.inputShape], dtype: 'float32' };
    const extra = { ...spelledOut[class_name]?.(placed), ...(at === 0 ? input : {}) };
    return { class_name, config: { trainable: true, ...config, ...extra, name: placed.name } };
  });
  return {
    class_name: 'Sequential',
    config: { name, layers: written },
    keras_version: 'tensorlathe',
    backend: 'tensor_flow.js',
  };
}

function toKerasLayer(layer: LayerConfig, rows: Tables): KerasLayer {
  const { inputShape: _, ...config } = layer.config as Config;
  if (layer.class === 'Activation' && isObject(config.activation)) {
    const { name, ...parameters } = config.activation;
    const found = Object.entries(activationLayers).find(([, activation]) => activation === name);
    if (found !== undefined) {
      const { activation: __, ...rest } = config;
      return { class_name: found[0], config: toKerasConfig({ ...rest, ...parameters }, rows) };
    }
  }
  return { class_name: layer.class, config: toKerasConfig(config, rows) };
}

function toKerasConfig(config: Config, rows: Tables): Config {
  const entries = Object.entries(config).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => [toSnakeCase(name), toKerasValue(name, value, rows)]),
  );
}

function toKerasValue(name: string, value: unknown, rows: Tables): unknown {
  if (name === 'name' || value === null) return value;
  const table = tableOf(name);
  if (table === undefined) return typeof value === 'string' ? toSnakeCase(value) : value;
  const { name: given, ...parameters } = isObject(value) ? value : { name: value };
  const known = (rows[table] ?? []).map((row) => row.name);
  const chosen = findName(String(given), known) ?? String(given);
  const settings = toKerasConfig(parameters, rows);
  if (table !== 'activations') {
    const className = classNames[chosen] ?? chosen[0]!.toUpperCase() + chosen.slice(1);
    return { class_name: className, config: settings };
  }
  const text = toSnakeCase(chosen);
  return Object.keys(settings).length === 0 ? text : { class_name: text, config: settings };
}
