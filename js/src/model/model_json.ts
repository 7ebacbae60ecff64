/** Models in the formats of TensorFlow.js and Keras: `getConfig`, `toJSON`, and their inverse. */
import { formatsLoaded, loadFormats } from '../core/formats.js';
import { isObject } from '../io/artifacts.js';
import { readTopology } from '../io/topology.js';
import { addPendingLoad } from '../layers/deferred.js';
import type { Layer, SymbolicTensor } from '../layers/layer.js';
import type { LayersModel } from './model.js';
import { modelFromConfig } from './model_from_config.js';

type Config = Record<string, unknown>;

/** As `model.getConfig()`: layers by class and configuration; of a graph also what each call reads. */
export function modelConfig(model: LayersModel): Config {
  const { name } = model;
  const described = (layer: Layer) => ({
    className: layer.getClassName(),
    config: layer.getConfig(),
  });
  if (model.getClassName() === 'Sequential') return { name, layers: model.layers.map(described) };
  // Call 0 of a nested model is its definition.
  const reference = ({ sourceLayer, nodeIndex, tensorIndex }: SymbolicTensor) => {
    const calls = sourceLayer.inboundNodes.filter((each) => model.calls.includes(each));
    const at = calls.indexOf(sourceLayer.inboundNodes[nodeIndex]!);
    return [sourceLayer.name, at + ('layers' in sourceLayer ? 1 : 0), tensorIndex];
  };
  const layers = model.layers.map((layer) => ({
    name: layer.name,
    ...described(layer),
    inboundNodes: layer.inboundNodes
      .filter((call) => model.calls.includes(call) && call.inputs.length > 0)
      .map((call) => call.inputs.map((each) => [...reference(each), {}])),
  }));
  return {
    name,
    layers,
    inputLayers: model.inputs.map(reference),
    outputLayers: model.outputs.map(reference),
  };
}

/** dilationRate -> dilation_rate, as TensorFlow.js does. */
function toSnakeCase(name: string): string {
  return name
    .replace(/(.)([A-Z][a-z0-9]+)/g, '$1_$2')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase();
}

/** Converts keys to the names of Keras; user-defined names are retained. */
function toPython(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return toSnakeCase(value);
  if (Array.isArray(value)) {
    const isNamed = /^(inputLayers|outputLayers|inboundNodes)$/.test(key);
    return value.map((each: unknown, at) =>
      isNamed && at === 0 && typeof each === 'string' ? each : toPython(each, key),
    );
  }
  if (!isObject(value)) return value ?? null;
  const entries = Object.entries(value).map(([name, each]) => {
    const stays = /^(name|className)$/.test(name) && typeof each === 'string';
    return [toSnakeCase(name), stays ? each : toPython(each, name)];
  });
  return Object.fromEntries(entries);
}

/** The topology as TensorFlow.js writes it, as a text or an object. */
export function toJSON(model: LayersModel, _?: unknown, asText = true): string | object {
  const topology = toPython({
    className: model.getClassName(),
    config: model.getConfig(),
    kerasVersion: 'tfjs-layers 4.22.0',
    backend: 'TensorFlow.js',
  }) as Config;
  return asText ? JSON.stringify(topology) : topology;
}

/** The model that `getConfig` described. */
export function modelFromKeras({ className }: { className: string }, config: Config): LayersModel {
  const where = `${className}.fromConfig`;
  const layers = Array.isArray(config) ? { layers: config } : config;
  if (!formatsLoaded()) addPendingLoad(loadFormats());
  return modelFromConfig(
    readTopology({ class_name: className, config: toPython(layers) }, where).network,
  );
}
