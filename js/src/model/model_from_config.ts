/** Models from `getConfig` and saved topologies: creates the layers and repeats their calls. */
import { LatheError } from '../base/errors.js';
import type { LayerConfig, ModelConfig, DynamicShape, Reference } from '../core/abi.js';
import { loadedDeferred } from '../layers/deferred.js';
import type { LayerArgs } from '../layers/base_args.js';
import { input } from '../layers/input.js';
import { Layer, type SymbolicTensor } from '../layers/layer.js';
import { registeredClasses } from '../layers/serialization.js';
import { LayersModel } from './model.js';
import { Sequential } from './sequential.js';

/** Creates the model with initial weights. Errors: a dangling reference, incompatible layers. */
export function modelFromConfig(description: ModelConfig): LayersModel {
  const { trainable = true, inputs, outputs = [], name, seed, batchSize } = description;
  const args = { ...(name === undefined ? {} : { name }), ...(seed === undefined ? {} : { seed }) };
  const layers = description.layers.map(layerFromConfig);
  let made: LayersModel;
  if (inputs === undefined) {
    if (layers.length > 0) layers[0]!.batchSize ??= batchSize;
    made = new Sequential({ ...args, layers: [...inputOf(description, layers), ...layers] });
  } else {
    const outputsOf = new Map<string, SymbolicTensor[][]>();
    for (const port of inputs) {
      const batchShape = [batchSize ?? null, ...port.shape];
      outputsOf.set(port.name, [[input({ name: port.name, batchShape })]]);
    }
    callAll(description.layers, layers, outputsOf);
    made = new LayersModel({
      ...args,
      inputs: inputs.map((port) => outputsOf.get(port.name)![0]![0]!),
      outputs: outputs.map((each) => valueOf(outputsOf, each) ?? unresolved('outputs', each)),
    });
  }
  made.trainable = trainable;
  return made;
}

/** The first layer of a sequential model, if it is an input layer. */
function inputOf({ input: name, batchSize }: ModelConfig, [first]: readonly Layer[]): Layer[] {
  if (name === undefined || first === undefined) return [];
  const shape = first.parts === undefined ? first.options.inputShape : first.inputShape.slice(1);
  if (shape === undefined) return [];
  const batchShape = [batchSize ?? null, ...(shape as DynamicShape)];
  return [input({ name, batchShape }).sourceLayer];
}

const isLayerConfig = (value: unknown): value is LayerConfig =>
  typeof (value as LayerConfig | null)?.class === 'string';

function layerFromConfig({ class: className, config, host }: LayerConfig): Layer {
  if (className === 'Model' || className === 'Sequential')
    return modelFromConfig(config as ModelConfig);
  const customClass = registeredClasses.get(className);
  if (customClass !== undefined) return customClass.fromConfig(customClass, config as never);
  if (host !== undefined) {
    throw new LatheError(
      `unknown class "${className}"; register it with tl.serialization.registerClass`,
    );
  }
  // Layers that contain others: wrappers, and layers of cells.
  const made = Object.entries(config).map(([name, value]) => [
    name,
    Array.isArray(value) && value.every(isLayerConfig)
      ? value.map(layerFromConfig)
      : isLayerConfig(value)
        ? layerFromConfig(value)
        : (value as unknown),
  ]);
  const layer = new Layer(className, Object.fromEntries(made) as LayerArgs);
  loadedDeferred()?.showOptions(layer);
  return layer;
}

/** Repeats every call once its inputs exist: a shared layer may have several calls. */
function callAll(
  described: ModelConfig['layers'],
  layers: readonly Layer[],
  outputsOf: Map<string, SymbolicTensor[][]>,
): void {
  const waiting = new Set(described.keys());
  const done = described.map(() => 0);
  for (let moved = true; moved;) {
    moved = false;
    for (const at of waiting) {
      const { inputs: calls = [], config } = described[at]!;
      const name = (config as { name?: string }).name ?? layers[at]!.label;
      for (; done[at]! < calls.length; ++done[at]!) {
        const inputs = calls[done[at]!]!.map((each) => valueOf(outputsOf, each));
        if (inputs.includes(undefined)) break;
        layers[at]!.apply(inputs as SymbolicTensor[]);
        const { outputs } = layers[at]!.inboundNodes.at(-1)!;
        outputsOf.set(name, [...(outputsOf.get(name) ?? []), [...outputs]]);
        moved = true;
      }
      if (done[at] === calls.length) waiting.delete(at);
    }
  }
  for (const at of waiting) {
    const missing = described[at]!.inputs![done[at]!]!.find((each) => !valueOf(outputsOf, each));
    unresolved(`layer ${JSON.stringify(layers[at]!.label)}`, missing!);
  }
}

function valueOf(
  outputsOf: ReadonlyMap<string, SymbolicTensor[][]>,
  [name, call = 0, output = 0]: Reference,
): SymbolicTensor | undefined {
  return outputsOf.get(name)?.[call]?.[output];
}

function unresolved(who: string, [name, call = 0, output = 0]: Reference): never {
  throw new LatheError(
    `${who}: output ${output} of call ${call} of "${name}" does not exist, or depends on itself`,
  );
}
