/** Models from what `getConfig` and saved topologies say of them: the layers are made and called again. */
import { LatheError } from '../base/errors.js';
import type { LayerConfig, ModelConfig, OpenShape, Reference } from '../core/abi.js';
import { extrasAtHand } from '../layers/extras.js';
import { input, Layer, type LayerArgs, type SymbolicTensor } from '../layers/layer.js';
import { registeredClasses } from '../layers/serialization.js';
import { LayersModel } from './model.js';
import { Sequential } from './sequential.js';

/** The model, with first weights. Errors: a reference to nothing, layers that do not fit. */
export function modelFromConfig(description: ModelConfig): LayersModel {
  const { trainable = true, inputs, outputs = [], name, seed, batchSize } = description;
  const args = { ...(name === undefined ? {} : { name }), ...(seed === undefined ? {} : { seed }) };
  const layers = description.layers.map(layerFromConfig);
  let made: LayersModel;
  if (inputs === undefined) {
    if (layers.length > 0) layers[0]!.batchSize ??= batchSize;
    made = new Sequential({ ...args, layers: [...inputOf(description, layers), ...layers] });
  } else {
    const given = new Map<string, SymbolicTensor[][]>();
    for (const port of inputs) {
      const batchShape = [batchSize ?? null, ...port.shape];
      given.set(port.name, [[input({ name: port.name, batchShape })]]);
    }
    callAll(description.layers, layers, given);
    made = new LayersModel({
      ...args,
      inputs: inputs.map((port) => given.get(port.name)![0]![0]!),
      outputs: outputs.map((each) => valueOf(given, each) ?? unresolved('outputs', each)),
    });
  }
  made.trainable = trainable;
  return made;
}

/** The layer that begins a row, if one of its own does. */
function inputOf({ input: name, batchSize }: ModelConfig, [first]: readonly Layer[]): Layer[] {
  if (name === undefined || first === undefined) return [];
  const shape = first.parts === undefined ? first.options.inputShape : first.inputShape.slice(1);
  if (shape === undefined) return [];
  const batchShape = [batchSize ?? null, ...(shape as OpenShape)];
  return [input({ name, batchShape }).sourceLayer];
}

const isLayerConfig = (value: unknown): value is LayerConfig =>
  typeof (value as LayerConfig | null)?.class === 'string';

function layerFromConfig({ class: className, config, host }: LayerConfig): Layer {
  if (className === 'Model' || className === 'Sequential')
    return modelFromConfig(config as ModelConfig);
  const own = registeredClasses.get(className);
  if (own !== undefined) return own.fromConfig(own, config as never);
  if (host !== undefined) {
    throw new LatheError(
      `the class "${className}" is not known here; tl.serialization.registerClass makes it so`,
    );
  }
  // Layers around others: wrappers, and layers of cells.
  const made = Object.entries(config).map(([name, value]) => [
    name,
    Array.isArray(value) && value.every(isLayerConfig)
      ? value.map(layerFromConfig)
      : isLayerConfig(value)
        ? layerFromConfig(value)
        : (value as unknown),
  ]);
  const layer = new Layer(className, Object.fromEntries(made) as LayerArgs);
  extrasAtHand()?.showOptions(layer);
  return layer;
}

/** Makes every call as soon as its inputs are there: a shared layer may be called again later. */
function callAll(
  described: ModelConfig['layers'],
  layers: readonly Layer[],
  given: Map<string, SymbolicTensor[][]>,
): void {
  const waiting = new Set(described.keys());
  const done = described.map(() => 0);
  for (let moved = true; moved;) {
    moved = false;
    for (const at of waiting) {
      const { inputs: calls = [], config } = described[at]!;
      const name = (config as { name?: string }).name ?? layers[at]!.label;
      for (; done[at]! < calls.length; ++done[at]!) {
        const inputs = calls[done[at]!]!.map((each) => valueOf(given, each));
        if (inputs.includes(undefined)) break;
        layers[at]!.apply(inputs as SymbolicTensor[]);
        const { outputs } = layers[at]!.inboundNodes.at(-1)!;
        given.set(name, [...(given.get(name) ?? []), [...outputs]]);
        moved = true;
      }
      if (done[at] === calls.length) waiting.delete(at);
    }
  }
  for (const at of waiting) {
    const missing = described[at]!.inputs![done[at]!]!.find((each) => !valueOf(given, each));
    unresolved(`layer ${JSON.stringify(layers[at]!.label)}`, missing!);
  }
}

function valueOf(
  given: ReadonlyMap<string, SymbolicTensor[][]>,
  [name, call = 0, output = 0]: Reference,
): SymbolicTensor | undefined {
  return given.get(name)?.[call]?.[output];
}

function unresolved(who: string, [name, call = 0, output = 0]: Reference): never {
  throw new LatheError(
    `${who}: output ${output} of call ${call} of "${name}" is not there, or needs its own result`,
  );
}
