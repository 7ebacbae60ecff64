/** Members of layers and models that few pages need, as TensorFlow.js has them: the other side of `layers/extras`. */
import { LatheError } from '../base/errors.js';
import { addMembers, type Extras } from '../layers/extras.js';
import { checkLayer, checkParameters } from '../layers/check_layer.js';
import { checkInputs } from '../layers/input_spec.js';
import { choiceConfig, fromConfig, layerConfig, showOptions } from '../layers/layer_config.js';
import {
  input,
  inputClass,
  type Layer,
  LayerCall,
  type SymbolicShape,
  SymbolicTensor,
} from '../layers/layer.js';
import type { HostedLayer } from '../layers/layer_host.js';
import { makeLayer } from '../layers/makers.js';
import { one } from '../layers/shared_weights.js';
import { forgetVariables } from '../numbers/layer_variables.js';
import type { ModelData } from '../train/rows.js';
import { tidy } from '../tensor/scopes.js';
import { Tensor, tensor, type TensorLike } from '../tensor/tensor.js';
import { equationTimes, layerTimes } from './added_times.js';
import { alone, hold } from './alone.js';
import { applyLayer, weightOf } from './apply.js';
import { checkArguments } from './check_arguments.js';
import { applyChoice } from './choices.js';
import { resetStates, states } from './kept_states.js';
import { leaves } from './layer_graph.js';
import { LayersModel } from './model.js';
import { masking, passedMask } from './masks.js';
import { modelConfig, modelFromKeras, toJSON } from './model_json.js';

type Shapes = SymbolicShape | readonly SymbolicShape[];

const listOf = (shapes: Shapes): SymbolicShape[] =>
  (Array.isArray(shapes[0]) ? shapes : [shapes]) as SymbolicShape[];

/** The call at a place. Error: there is none. */
function callAt(layer: Layer, at: number, what: string): Pick<LayerCall, 'inputs' | 'outputs'> {
  const call = isModel(layer) && at === 0 ? layer : layer.inboundNodes[at];
  if (call !== undefined) return call;
  const { length } = layer.inboundNodes;
  throw new LatheError(
    `${what}: layer "${layer.name}" has ${length} calls, there is none at ${at}`,
  );
}

/** What stands for the batch in what a layer gives is that of what it reads. */
function outputShape(layer: Layer, shapes: Shapes): Shapes {
  const given = listOf(shapes);
  return one(
    layer.shapesFor(
      given.map((batchShape) => input({ batchShape })),
      true,
    ),
  );
}

const isModel = (layer: Layer): layer is LayersModel => layer instanceof LayersModel;
const innerOf = (layer: Layer): Layer[] =>
  isModel(layer) ? layer.layers : (Object.values(layer.options) as Layer[]).filter(isLayer);
const isLayer = (each: unknown): boolean =>
  typeof (each as Layer | null)?.getClassName === 'function' && 'inboundNodes' in (each as Layer);

function isStateful(layer: Layer): boolean {
  return (
    (layer.options as { stateful?: boolean }).stateful === true || innerOf(layer).some(isStateful)
  );
}

/** Of the states of a cell, which `build` is told the shape of its input alone. */
function stateShapes(layer: Layer, shape: SymbolicShape): SymbolicShape[] {
  const { stateSize = [] } = layer as { stateSize?: number | readonly number[] };
  const each = [stateSize].flat() as number[];
  if (layer.getClassName() !== 'ConvLSTM2DCell') return each.map((size) => [null, size]);
  const names = ['filters', 'kernelSize', 'strides', 'padding', 'dataFormat', 'dilationRate'];
  const options = Object.entries(layer.options).filter(([name]) => names.includes(name));
  const state = outputShape(makeLayer('Conv2D', Object.fromEntries(options)), shape);
  return each.map(() => state as SymbolicShape);
}

/** Disposes it once: how many weights went with it. */
function dispose(layer: Layer) {
  const { label, uses } = layer;
  if (layer.getClassName() === inputClass)
    return { refCountAfterDispose: uses, numDisposedVariables: 0 };
  if (layer.isDisposed) throw new LatheError(`dispose: Layer "${label}" is already disposed`);
  if (!isBuilt(layer)) throw new LatheError(`dispose: Layer "${label}" has not been built yet`);
  // Calls on tensors alone count as one.
  layer.uses = Math.max(uses, 1) - 1;
  const isLast = layer.uses === 0;
  const numDisposedVariables = isLast ? layer.weights.length : 0;
  if (isLast) {
    layer.isDisposed = true;
    alone.get(layer)?.dispose();
    alone.delete(layer);
  }
  return { refCountAfterDispose: layer.uses, numDisposedVariables };
}

function execute(
  model: LayersModel,
  given: Tensor | Tensor[] | Record<string, Tensor>,
  names: string | string[],
): Tensor | Tensor[] {
  const list = [names].flat();
  if (list.length === 0) throw new LatheError('execute: there are no names of outputs');
  const tensors = list.map((name) => {
    const found = model.layers
      .flatMap((layer) => layer.inboundNodes.flatMap(({ outputs }) => [...outputs]))
      .find((each) => each.name === name);
    if (found !== undefined) return found;
    const known = model.layers.map((layer) => `${layer.name}/${layer.name}`).join(', ');
    throw new LatheError(`execute: there is no output ${JSON.stringify(name)}; there are ${known}`);
  });
  const part = new LayersModel({ inputs: model.inputs, outputs: tensors });
  try {
    const results = [part.predict<Tensor | Tensor[]>(given as Tensor)].flat() as Tensor[];
    return Array.isArray(names) ? results : results[0]!;
  } finally {
    part.dispose();
  }
}

/** Weights by their names. Errors: strict, and one is missing or left over; another shape. */
function loadNamed(model: LayersModel, named: Record<string, TensorLike>, strict = true): void {
  const weights = new Map(model.weights.map((each) => [each.name, each]));
  const pairs = Object.entries(named).flatMap(([name, value]) => {
    const steps = name.split('/');
    const short = [...steps.slice(0, -2), steps.at(-1)].join('/');
    const place = weights.has(name) ? name : short;
    const weight = weights.get(place);
    weights.delete(place);
    if (weight !== undefined) return [[weight, tensor(value)] as const];
    if (!strict) return [];
    throw new LatheError(`loadWeights: the model has no weight ${JSON.stringify(name)}`);
  });
  if (strict && weights.size > 0) {
    throw new LatheError(`loadWeights: the model needs ${[...weights.keys()].join(', ')}`);
  }
  for (const [{ name, shape }, value] of pairs) {
    if (value.shape.join() === shape.join()) continue;
    throw new LatheError(
      `loadWeights: ${name} has shape [${shape.join(',')}], got [${value.shape.join(',')}]`,
    );
  }
  for (const [weight, value] of pairs) weight.write(value);
}

const ids = new WeakMap<Layer, number>();
let nextId = 0;
function idOf(layer: Layer): number {
  if (!ids.has(layer)) ids.set(layer, nextId++);
  return ids.get(layer)!;
}

/** The tensors where data enter or leave a graph; of a row TensorFlow.js tells none. */
const endsOf = (model: LayersModel, which: 'inputs' | 'outputs') =>
  model.getClassName() === 'Sequential' ? [] : model[which];

/** What `predict` gives while a gradient is taken: what it is computed from stays known. */
function applyRows(model: LayersModel, x: ModelData): Tensor | Tensor[] {
  const given = model.inputNames.map((name, at) => {
    const isNamed = isObject(x) && !(x instanceof Tensor);
    const values = isNamed ? (x as Record<string, TensorLike>)[name] : [x].flat()[at];
    return values instanceof Tensor ? values : tensor(values as TensorLike);
  });
  return applyLayer(model, given);
}

/** The variable of a weight, by its name in the model. */
function variable(model: LayersModel, name: string): Tensor {
  for (const [layer, path] of leaves(model.parts)) {
    if (name.startsWith(`${path}/`)) return weightOf(layer, name.slice(path.length + 1));
  }
  throw new LatheError(`there is no weight ${JSON.stringify(name)}`);
}

function setMetadata(model: LayersModel, metadata: unknown): void {
  const isPlain = (value: unknown): boolean =>
    value === null ||
    ['string', 'number', 'boolean'].includes(typeof value) ||
    (Array.isArray(value)
      ? value.every(isPlain)
      : isObject(value) && Object.values(value).every(isPlain));
  if (!isObject(metadata) || !isPlain(metadata)) {
    throw new LatheError('setUserDefinedMetadata: an object of JSON values is needed');
  }
  model.metadata = metadata;
}
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const isBuilt = (layer: Layer): boolean =>
  isModel(layer) ||
  layer.inboundNodes.length > 0 ||
  layer.shared.copies.size > 0 ||
  alone.has(layer);

const isHosted = (layer: Layer): layer is Layer & HostedLayer => 'hostWeights' in layer;

/** The regularisers of a layer, by the names of its weights. */
function regularizers(layer: Layer): [weight: string, regularizer: unknown][] {
  if (isHosted(layer)) {
    const isKnown = layer.inboundNodes.length > 0;
    return isKnown ? layer.hostWeights([]).map((each) => [each.name, each.regularizer]) : [];
  }
  const names = layer.weights.map(({ name }) => name.slice(name.lastIndexOf('/') + 1));
  return Object.entries(layer.options).flatMap(([option, choice]) => {
    const [, stem] = /^(.+)Regularizer$/.exec(option) ?? [];
    const weight = names.find((name) => name === stem || name === `${stem}_kernel`);
    return weight === undefined ? [] : [[weight, choice]];
  });
}

/** What gives the penalties of a layer, a scalar each. */
const losses = (layer: Layer): (() => Tensor)[] =>
  isModel(layer) || !isBuilt(layer)
    ? []
    : regularizers(layer).flatMap(([weight, choice]) =>
        choice == null ? [] : [() => applyChoice(choice as never, weightOf(layer, weight))],
      );

const calculateLosses = (layer: Layer): Tensor[] =>
  isModel(layer) ? layer.layers.flatMap(calculateLosses) : losses(layer).map((give) => give());

/** What a call reads; that of an input, what it gives. */
const readBy = ({ layer, inputs, outputs }: LayerCall) =>
  layer.getClassName() === inputClass ? outputs : inputs;

const members: Extras['members'] = {
  computeOutputShape: outputShape,
  computeMask: (layer: Layer, inputs: unknown, mask?: unknown) => {
    const made = tidy(() => passedMask(layer, inputs, mask));
    if (made !== undefined) return made;
    if (layer.supportsMasking || mask == null) return layer.supportsMasking ? mask : null;
    throw new LatheError(`computeMask: layer "${layer.label}" does not support masking`);
  },
  getInputAt: (layer: Layer, at: number) => one(callAt(layer, at, 'getInputAt').inputs),
  getOutputAt: (layer: Layer, at: number) => one(callAt(layer, at, 'getOutputAt').outputs),
  build: (layer: Layer, shapes: Shapes) => {
    if (isModel(layer) || alone.has(layer)) return;
    const list = listOf(shapes);
    hold(layer, list.length === 1 ? [...list, ...stateShapes(layer, list[0]!)] : list);
  },
  dispose,
  hold: (layer: Layer) => {
    if (layer.inboundNodes.length > 0) {
      hold(
        layer,
        layer.inboundNodes[0]!.inputs.map(({ shape }) => shape),
      );
    }
  },
  calculateLosses,
  setFastWeightInitDuringBuild: () => {},
  built: isBuilt,
  losses,
  updates: () => [],
  stateful: isStateful,
  dtype: (layer: Layer) => (layer.batchInputShape === undefined ? undefined : layer.inputDType),
  supportsMasking: (layer: Layer) => masking.test(layer.getClassName()),
  applyLayer,
  applyRows,
  call: applyLayer,
  weightOf,
  variable,
  forgetVariables,
  execute,
  loadNamed,
  toJSON,
  modelConfig,
  resetStates,
  states,
  id: idOf,
  outboundNodes: (layer: Layer) => layer.readers.flatMap((each) => each.deref() ?? []),
  activityRegularizer: (layer: Layer) => layer.options.activityRegularizer ?? null,
  getNamedWeights: (model: LayersModel) =>
    model.weights.map((each) => ({ name: each.name, tensor: each.read() })),
  inputLayers: (model: LayersModel) => endsOf(model, 'inputs').map((each) => each.sourceLayer),
  outputLayers: (model: LayersModel) => endsOf(model, 'outputs').map((each) => each.sourceLayer),
  inputLayersNodeIndices: (model: LayersModel) =>
    endsOf(model, 'inputs').map((each) => each.nodeIndex),
  outputLayersNodeIndices: (model: LayersModel) =>
    endsOf(model, 'outputs').map((each) => each.nodeIndex),
  inputLayersTensorIndices: (model: LayersModel) =>
    endsOf(model, 'inputs').map((each) => each.tensorIndex),
  outputLayersTensorIndices: (model: LayersModel) =>
    endsOf(model, 'outputs').map((each) => each.tensorIndex),
  'tensor.originalName': (tensor: SymbolicTensor) => tensor.name,
  'tensor.inputs': ({ sourceLayer, nodeIndex }: SymbolicTensor) => [
    ...sourceLayer.inboundNodes[nodeIndex]!.inputs,
  ],
  'call.outboundLayer': ({ layer }: LayerCall) => layer,
  'call.inboundLayers': ({ inputs }: LayerCall) => inputs.map((each) => each.sourceLayer),
  'call.inputTensors': (call: LayerCall) => [...readBy(call)],
  'call.outputTensors': ({ outputs }: LayerCall) => [...outputs],
  'call.inputMasks': (call: LayerCall) => readBy(call).map(() => null),
  'call.outputMasks': ({ outputs }: LayerCall) => outputs.map(() => null),
  'call.inputShapes': (call: LayerCall) => readBy(call).map(({ shape }) => shape),
  'call.outputShapes': ({ outputs }: LayerCall) => outputs.map(({ shape }) => shape),
  'call.nodeIndices': ({ inputs }: LayerCall) => inputs.map((each) => each.nodeIndex),
  'call.tensorIndices': ({ inputs }: LayerCall) => inputs.map((each) => each.tensorIndex),
  'call.getConfig': (call: LayerCall) => ({
    outboundLayer: call.layer.name,
    inboundLayers: call.inboundLayers.map(({ name }) => name),
    nodeIndices: call.nodeIndices,
    tensorIndices: call.tensorIndices,
  }),
  setUserDefinedMetadata: setMetadata,
  layerTimes,
  equationTimes,
  getUserDefinedMetadata: (model: LayersModel) => model.metadata,
};

addMembers(SymbolicTensor, '.originalName .inputs', 'tensor.');
addMembers(
  LayerCall,
  '.outboundLayer .inboundLayers .inputTensors .outputTensors .inputMasks .outputMasks .inputShapes .outputShapes .nodeIndices .tensorIndices getConfig',
  'call.',
);

export const extras: Extras = {
  members,
  applyChoice: applyChoice as Extras['applyChoice'],
  checkArguments,
  checkInputs,
  checkLayer,
  checkParameters,
  choiceConfig,
  layerConfig,
  showOptions,
  fromConfig: (cls, config) =>
    /^(Sequential|Model|Functional)$/.test((cls as { className?: string }).className ?? '')
      ? modelFromKeras(cls as { className: string }, config)
      : fromConfig(cls as { className: string }, config),
};
