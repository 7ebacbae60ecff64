/**
 * The topology of Keras and TensorFlow.js -> a model as the core reads it: names by rule, exceptions from
 * tables. Knows no layer: what a class takes is what the core says of it.
 */
import { LatheError } from '../base/errors.js';
import { own } from '../base/own.js';
import type { CalledLayer, ModelConfig, OpenShape, Reference } from '../core/abi.js';
import { registeredClass } from '../layers/serialization.js';
import { isObject } from './artifacts.js';
import {
  activationLayers,
  type Config,
  type KerasLayer,
  modelClasses,
  neutral,
  readTables,
  tableOf,
  type Tables,
} from './layer_tables.js';
import { findName, toCamelCase } from './spelling.js';

/** A model and what else its topology says. */
export interface ReadTopology {
  network: ModelConfig;
  /** Options that only training would notice, and that the class of the layer does not have. */
  leftOut: string[];
}

/**
 * The model that a topology describes. Errors: an unknown class, with the name of the layer; an
 * option that the class does not have and that would change the result; a graph that is none.
 */
export function readTopology(topology: unknown, file: string): ReadTopology {
  const model =
    isObject(topology) && isObject(topology.model_config) ? topology.model_config : topology;
  if (!isObject(model)) throw new LatheError(`${file}: the topology must be an object`);
  const isOurs = (topology as Config).keras_version === 'tensorlathe';
  const reader = new TopologyReader(file, readTables(), isOurs);
  const network = reader.model(model.class_name, model.config);
  return { network, leftOut: reader.leftOut };
}

class TopologyReader {
  readonly leftOut: string[] = [];

  constructor(
    private readonly file: string,
    private readonly known: Tables,
    /** TensorFlow.js changes the texts in options of layers in JavaScript; this package does not. */
    private readonly isOurs: boolean,
  ) {}

  model(className: unknown, config: unknown): ModelConfig {
    if (!modelClasses.includes(className as string)) {
      return this.#fail(`models of class ${JSON.stringify(className)} cannot be loaded`);
    }
    const listed = isObject(config) ? config.layers : config;
    if (!Array.isArray(listed)) return this.#fail('the topology has no layers');
    const layers = listed.map((layer) => this.#checked(layer));
    const name = isObject(config) && typeof config.name === 'string' ? config.name : undefined;
    const network =
      className === 'Sequential'
        ? { name: name ?? 'sequential', layers: this.#withoutInputs(layers) }
        : this.#graph(name ?? 'model', layers, config as Config);
    const [batchSize] = layers.flatMap((layer) => batchOf(layer) ?? []);
    return batchSize === undefined ? network : { ...network, batchSize };
  }

  #checked(layer: unknown): KerasLayer {
    const given = (isObject(layer) ? layer : {}) as Partial<KerasLayer>;
    const { class_name, config } = given;
    const isModel = modelClasses.includes(class_name as string);
    if (typeof class_name !== 'string' || !(isObject(config) || (isModel && config))) {
      return this.#fail('a layer of the topology has no class_name or no config');
    }
    return { ...given, class_name, config: isModel ? config : { ...config } };
  }

  /** An InputLayer becomes the input shape of the layer after it; shapes of later ones, which may be wrong, say nothing. */
  #withoutInputs(layers: KerasLayer[]): CalledLayer[] {
    const isInput = ({ class_name }: KerasLayer) => class_name === 'InputLayer';
    const shape = layers.find(isInput)?.config;
    const given = shape?.batch_input_shape ?? shape?.batch_shape;
    return layers
      .filter((layer) => !isInput(layer))
      .map((layer, at) => {
        if (at > 0 && !modelClasses.includes(layer.class_name)) {
          delete layer.config.batch_input_shape;
          delete layer.config.batch_shape;
        } else if (given !== undefined && at === 0) layer.config.batch_input_shape ??= given;
        return this.#layer(layer);
      });
  }

  #graph(name: string, layers: KerasLayer[], config: Config): ModelConfig {
    const isInput = ({ class_name }: KerasLayer) => class_name === 'InputLayer';
    const nameOf = (layer: KerasLayer) => String(layer.name ?? layer.config.name);
    const calls = new Map(layers.map((layer) => [nameOf(layer), this.#calls(layer)]));
    const results = this.#references(config.output_layers, 'output_layers');
    const all = [...results, ...[...calls.values()].flat(2)];
    // A nested model counts its own making as its first call.
    const nested = layers.filter((layer) => modelClasses.includes(layer.class_name)).map(nameOf);
    const early = nested.filter((each) =>
      all.every(([giver, call = 0]) => giver !== each || call > 0),
    );
    const shifted = ([giver, call = 0, output = 0]: Reference): Reference => [
      giver,
      early.includes(giver) ? call - 1 : call,
      output,
    ];
    const inputs = this.#references(config.input_layers, 'input_layers').map(([giver]) => {
      const layer = layers.find((each) => isInput(each) && nameOf(each) === giver);
      const shape = layer?.config.batch_input_shape ?? layer?.config.batch_shape;
      if (!Array.isArray(shape))
        return this.#fail(`the input ${JSON.stringify(giver)} has no shape`);
      return { name: giver, shape: this.#sizes(shape, `input ${JSON.stringify(giver)}`) };
    });
    return {
      name,
      inputs,
      layers: layers
        .filter((layer) => !isInput(layer))
        .map((layer) => ({
          ...this.#layer(layer),
          inputs: calls.get(nameOf(layer))!.map((call) => call.map(shifted)),
        })),
      outputs: results.map(shifted),
    };
  }

  /** What each call of a layer reads. */
  #calls(layer: KerasLayer): Reference[][] {
    const where = `the inbound_nodes of layer ${JSON.stringify(layer.name)}`;
    const { inbound_nodes: nodes = [] } = layer;
    if (!Array.isArray(nodes)) return this.#fail(`${where} must be an array`);
    return nodes.map((node) => this.#references(node, where));
  }

  /** One reference, or an array of them. */
  #references(value: unknown, where: string): Reference[] {
    const listed = Array.isArray(value) && typeof value[0] === 'string' ? [value] : value;
    if (!Array.isArray(listed))
      return this.#fail(`${where} must be an array of [name, call, output]`);
    return listed.map((each: unknown) => {
      const [name, call = 0, output = 0, options] = (Array.isArray(each) ? each : []) as unknown[];
      if (typeof name !== 'string' || !isCount(call) || !isCount(output)) {
        return this.#fail(`${where}: ${JSON.stringify(each)} must be [name, call, output]`);
      }
      const given = isObject(options) ? Object.entries(options) : [];
      const used = given.find(([, setting]) => setting !== null && setting !== false);
      if (used !== undefined) {
        return this.#fail(
          `${where}: a call with ${used[0]} = ${JSON.stringify(used[1])} is not known`,
        );
      }
      return [name, call, output];
    });
  }

  #layer({ class_name: className, config }: KerasLayer): CalledLayer {
    const where = `layer ${JSON.stringify(config.name)} (${className})`;
    if (modelClasses.includes(className)) {
      const inner = this.model(className, config);
      return { class: className === 'Sequential' ? className : 'Model', config: inner };
    }
    const options = own(this.known.options, className);
    if (options !== undefined) {
      const read = this.#config(config, options, where);
      for (const flag of this.known.flags[className]!) {
        if (read[flag] === 0 || read[flag] === 1) read[flag] = read[flag] === 1;
      }
      return { class: className, config: read };
    }
    const activation = own(activationLayers, className);
    if (activation === undefined && registeredClass(className) !== undefined) {
      return { class: className, config: this.#ownConfig(config, where) };
    }
    if (activation === undefined) {
      const classes = Object.keys(this.known.options).join(', ');
      return this.#fail(
        `${where} is of an unknown class; tl.serialization.registerClass makes own classes ` +
          `known, beside: ${classes}`,
      );
    }
    const { parameters } = this.known.activations.find(({ name }) => name === activation)!;
    const names = parameters.map(({ name }) => name);
    const read = this.#config(config, [...names, ...this.known.options.Activation!], where);
    const chosen: Config = { name: activation };
    for (const name of names) {
      if (read[name] !== undefined) chosen[name] = read[name];
      delete read[name];
    }
    return { class: 'Activation', config: { ...read, activation: chosen } };
  }

  #config(config: Config, options: readonly string[], where: string): Config {
    const result: Config = {};
    // TensorFlow.js writes what a cell was made with beside the cell, too.
    const { parameters: ofCell } = splitChoice(config.cell);
    for (const [key, value] of Object.entries(config)) {
      if (value === null || value === undefined) continue;
      const name = toCamelCase(key);
      const isKnown = options.includes(name);
      if (name === 'batchInputShape' && !isKnown) {
        if (!Array.isArray(value)) return this.#fail(`${where}: ${key} must be an array`);
        result.inputShape = this.#sizes(value, where);
      } else if (isKnown) result[name] = this.#value(name, value, where);
      else if (Object.hasOwn(ofCell, key)) continue;
      else if (/(Regularizer|Constraint)$/.test(name)) this.leftOut.push(`${key} of ${where}`);
      else if (!isNeutral(name, value)) {
        this.#fail(`${where} has the option ${key} = ${JSON.stringify(value)}, which is not known`);
      }
    }
    return result;
  }

  /** Of a class in JavaScript: every option, in the words of JavaScript. */
  #ownConfig(config: Config, where: string): Config {
    const entries = Object.entries(config).map(([key, value]) => {
      const name = toCamelCase(key);
      const isText = this.isOurs && typeof value === 'string' && tableOf(name) === undefined;
      if (isText) return [name, value];
      if (name !== 'batchInputShape') return [name, this.#value(name, value, where)];
      return ['inputShape', this.#sizes(value as unknown[], where)];
    });
    return Object.fromEntries(entries) as Config;
  }

  /** A shape without its batch. */
  #sizes(shape: unknown[], where: string): OpenShape {
    const sizes = shape.slice(1);
    if (sizes.every((size) => size === null || typeof size === 'number')) return sizes;
    return this.#fail(
      `${where}: sizes must be numbers or null, but the shape is ${JSON.stringify(shape)}`,
    );
  }

  #value(name: string, value: unknown, where: string): unknown {
    const table = tableOf(name);
    if (table === undefined) {
      if (isObject(value) && 'class_name' in value) return this.#layer(this.#checked(value));
      if (Array.isArray(value) && value.some(isObject)) {
        return value.map((each) => this.#value(name, each, where));
      }
      if (name === 'axis' && Array.isArray(value) && value.length === 1) return value[0] as unknown;
      return typeof value === 'string' && name !== 'name' ? toCamelCase(value) : value;
    }
    const rows = this.known[table];
    const { name: given, parameters } = splitChoice(value);
    const known = rows.map((row) => row.name);
    const chosen = typeof given === 'string' ? findName(given, known) : undefined;
    if (chosen === undefined) {
      return this.#fail(
        `${where}: ${name} ${JSON.stringify(given)} is not known; known: ${known.join(', ')}`,
      );
    }
    const names = rows.find((row) => row.name === chosen)!.parameters.map((each) => each.name);
    const used = Object.entries(parameters)
      .map(([key, each]) => [toCamelCase(key), typeof each === 'string' ? toCamelCase(each) : each])
      .filter(([key, each]) => names.includes(key as string) && each !== null);
    return used.length === 0 ? chosen : { name: chosen, ...Object.fromEntries(used) };
  }

  #fail(what: string): never {
    throw new LatheError(`${this.file}: ${what}`);
  }
}

/** Rows of every batch, if the layer says so. */
function batchOf({ config }: KerasLayer): number | undefined {
  const shape = config?.batch_input_shape ?? config?.batch_shape;
  return Array.isArray(shape) && isCount(shape[0]) ? shape[0] : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

/** "relu" or {class_name, config} as name and parameters. */
function splitChoice(value: unknown): { name: unknown; parameters: Config } {
  if (!isObject(value)) return { name: value, parameters: {} };
  return { name: value.class_name, parameters: isObject(value.config) ? value.config : {} };
}

function isNeutral(name: string, given: unknown): boolean {
  // Keras 2.4 and later tell of a policy what earlier ones call a type.
  const policy = name === 'dtype' && isObject(given) ? given.config : undefined;
  const value = isObject(policy) ? policy.name : given;
  if (value === false || (Array.isArray(value) && value.length === 0)) return true;
  const allowed = own(neutral, name);
  return allowed === 'any' || [value].flat().every((each) => allowed?.includes(each));
}
