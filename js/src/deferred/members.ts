/** Implementations of the deferred members of layers and models (`layers/deferred`), as in TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { addDeferred, type DeferredMembers } from '../layers/deferred.js';
import { checkLayer, checkParameters } from '../layers/check_layer.js';
import { checkInputs } from '../layers/input_spec.js';
import {
  weightFunctionConfig,
  fromConfig,
  layerConfig,
  showOptions,
} from '../layers/layer_config.js';
import { inputClassName } from '../layers/layer_names.js';
import { layerRow } from '../layers/layer_row.js';
import { input } from '../layers/input.js';
import { type Layer, LayerCall, type SymbolicShape, SymbolicTensor } from '../layers/layer.js';
import type { HostedLayer } from '../layers/layer_host.js';
import { createLayer } from '../layers/factories.js';
import { unwrapSingle } from '../layers/shared_weights.js';
import { disposeVariables } from '../eager_layers/layer_variables.js';
import type { ModelData } from '../train/examples.js';
import { tidy } from '../tensor/scopes.js';
import { Tensor, tensor, type TensorLike } from '../tensor/tensor.js';
import { equationTimes, layerTimes } from '../model/layer_profile.js';
import { standaloneModels, buildStandalone } from '../eager_layers/standalone_layers.js';
import { applyLayer, weightOf } from '../eager_layers/apply_layer.js';
import { checkArguments } from '../model/check_arguments.js';
import { applyWeightFunction } from '../eager_layers/weight_functions.js';
import { resetStates, states } from '../eager_layers/layer_states.js';
import { weightedLayerPaths } from '../model/layer_graph.js';
import { installInspection } from '../model/inspect.js';
import { LayersModel } from '../model/model.js';
import { outputMask, supportsMasking } from '../eager_layers/masks.js';
import { modelConfig, modelFromKeras, toJSON } from '../model/model_json.js';

type Shapes = SymbolicShape | readonly SymbolicShape[];

const listOf = (shapes: Shapes): SymbolicShape[] =>
  (Array.isArray(shapes[0]) ? shapes : [shapes]) as SymbolicShape[];

/** The call with this index. Error: no such call. */
function callAt(layer: Layer, at: number, what: string): Pick<LayerCall, 'inputs' | 'outputs'> {
  const call = isModel(layer) && at === 0 ? layer : layer.inboundNodes[at];
  if (call !== undefined) return call;
  const { length } = layer.inboundNodes;
  throw new LatheError(`${what}: layer "${layer.name}" has ${length} calls, none with index ${at}`);
}

/** Output shapes of a layer for input shapes, batch first. */
function outputShape(layer: Layer, shapes: Shapes): Shapes {
  return unwrapSingle(
    layer.shapesFor(
      listOf(shapes).map((batchShape) => input({ batchShape })),
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

/** Shapes of a cell's states, as `build` receives only the shape of its input. */
function stateShapes(layer: Layer, shape: SymbolicShape): SymbolicShape[] {
  const { stateSize = [] } = layer as { stateSize?: number | readonly number[] };
  const each = [stateSize].flat() as number[];
  const { axes = 0, states: count = 0 } = layerRow(layer.getClassName());
  if (count === 0 || axes === 0) return each.map((size) => [null, size]);
  const names = ['filters', 'kernelSize', 'strides', 'padding', 'dataFormat', 'dilationRate'];
  const options = Object.entries(layer.options).filter(([name]) => names.includes(name));
  const state = outputShape(createLayer('Conv2D', Object.fromEntries(options)), shape);
  return each.map(() => state as SymbolicShape);
}

/** Releases one reference; the last one disposes of the weights. */
function dispose(layer: Layer) {
  const { label, uses } = layer;
  if (layer.getClassName() === inputClassName)
    return { refCountAfterDispose: uses, numDisposedVariables: 0 };
  if (layer.isDisposed) throw new LatheError(`dispose: Layer "${label}" is already disposed`);
  if (!isBuilt(layer)) throw new LatheError(`dispose: Layer "${label}" has not been built yet`);
  // All calls on tensors count as one reference.
  layer.uses = Math.max(uses, 1) - 1;
  const isLast = layer.uses === 0;
  const numDisposedVariables = isLast ? layer.weights.length : 0;
  if (isLast) {
    layer.isDisposed = true;
    standaloneModels.get(layer)?.dispose();
    standaloneModels.delete(layer);
  }
  return { refCountAfterDispose: layer.uses, numDisposedVariables };
}

function execute(
  model: LayersModel,
  inputs: Tensor | Tensor[] | Record<string, Tensor>,
  outputNames: string | string[],
): Tensor | Tensor[] {
  const list = [outputNames].flat();
  if (list.length === 0) throw new LatheError('execute: outputs is empty');
  const tensors = list.map((name) => {
    const found = model.layers
      .flatMap((layer) => layer.inboundNodes.flatMap(({ outputs }) => [...outputs]))
      .find((each) => each.name === name);
    if (found !== undefined) return found;
    const names = model.layers.map((layer) => `${layer.name}/${layer.name}`).join(', ');
    throw new LatheError(
      `execute: there is no output ${JSON.stringify(name)}; the outputs are ${names}`,
    );
  });
  const part = new LayersModel({ inputs: model.inputs, outputs: tensors });
  try {
    const results = [part.predict<Tensor | Tensor[]>(inputs as Tensor)].flat() as Tensor[];
    return Array.isArray(outputNames) ? results : results[0]!;
  } finally {
    part.dispose();
  }
}

/** Sets weights by name. Errors: `strict` and a missing or extra weight; another shape. */
function loadNamed(model: LayersModel, named: Record<string, TensorLike>, strict = true): void {
  const weights = new Map(model.weights.map((each) => [each.name, each]));
  const pairs = Object.entries(named).flatMap(([name, value]) => {
    const steps = name.split('/');
    const short = [...steps.slice(0, -2), steps.at(-1)].join('/');
    const key = weights.has(name) ? name : short;
    const weight = weights.get(key);
    weights.delete(key);
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

/** The symbolic inputs or outputs of a model; none of a sequential one, as in TensorFlow.js. */
const endsOf = (model: LayersModel, which: 'inputs' | 'outputs') =>
  model.getClassName() === 'Sequential' ? [] : model[which];

/** `predict` while a gradient is recorded: eager operations instead of the compiled module. */
function applyRows(model: LayersModel, x: ModelData): Tensor | Tensor[] {
  const inputs = model.inputNames.map((name, at) => {
    const isNamed = isObject(x) && !(x instanceof Tensor);
    const values = isNamed ? (x as Record<string, TensorLike>)[name] : [x].flat()[at];
    return values instanceof Tensor ? values : tensor(values as TensorLike);
  });
  return applyLayer(model, inputs);
}

/** The variable of a weight, by its name in the model. */
function variable(model: LayersModel, name: string): Tensor {
  for (const [layer, path] of weightedLayerPaths(model.parts)) {
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
  standaloneModels.has(layer);

const isHosted = (layer: Layer): layer is Layer & HostedLayer => 'hostWeights' in layer;

/** The regularizers of a layer's weights, by their names. */
function regularizers(layer: Layer): [weight: string, regularizer: unknown][] {
  if (isHosted(layer)) {
    const isCalled = layer.inboundNodes.length > 0;
    return isCalled ? layer.hostWeights([]).map((each) => [each.name, each.regularizer]) : [];
  }
  const names = layer.weights.map(({ name }) => name.slice(name.lastIndexOf('/') + 1));
  return Object.entries(layer.options).flatMap(([option, choice]) => {
    const [, stem] = /^(.+)Regularizer$/.exec(option) ?? [];
    const weight = names.find((name) => name === stem || name === `${stem}_kernel`);
    return weight === undefined ? [] : [[weight, choice]];
  });
}

/** Functions that compute the regularization losses of a layer, a scalar each. */
const losses = (layer: Layer): (() => Tensor)[] =>
  isModel(layer) || !isBuilt(layer)
    ? []
    : regularizers(layer).flatMap(([weight, choice]) =>
        choice == null ? [] : [() => applyWeightFunction(choice as never, weightOf(layer, weight))],
      );

const calculateLosses = (layer: Layer): Tensor[] =>
  isModel(layer) ? layer.layers.flatMap(calculateLosses) : losses(layer).map((loss) => loss());

/** The inputs of a call; of an input layer, its outputs. */
const readBy = ({ layer, inputs, outputs }: LayerCall) =>
  layer.getClassName() === inputClassName ? outputs : inputs;

const members: DeferredMembers['members'] = {
  computeOutputShape: outputShape,
  computeMask: (layer: Layer, inputs: unknown, mask?: unknown) => {
    const computed = tidy(() => outputMask(layer, inputs, mask));
    if (computed !== undefined) return computed;
    if (layer.supportsMasking || mask == null) return layer.supportsMasking ? mask : null;
    throw new LatheError(`computeMask: layer "${layer.label}" does not support masking`);
  },
  getInputAt: (layer: Layer, at: number) => unwrapSingle(callAt(layer, at, 'getInputAt').inputs),
  getOutputAt: (layer: Layer, at: number) => unwrapSingle(callAt(layer, at, 'getOutputAt').outputs),
  build: (layer: Layer, shapes: Shapes) => {
    if (isModel(layer) || standaloneModels.has(layer)) return;
    const list = listOf(shapes);
    buildStandalone(layer, list.length === 1 ? [...list, ...stateShapes(layer, list[0]!)] : list);
  },
  dispose,
  buildFromCall: (layer: Layer) => {
    if (layer.inboundNodes.length > 0) {
      buildStandalone(
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
  supportsMasking,
  applyLayer,
  applyRows,
  call: applyLayer,
  weightOf,
  variable,
  disposeVariables,
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

addDeferred(SymbolicTensor, '.originalName .inputs', 'tensor.');
addDeferred(
  LayerCall,
  '.outboundLayer .inboundLayers .inputTensors .outputTensors .inputMasks .outputMasks .inputShapes .outputShapes .nodeIndices .tensorIndices getConfig',
  'call.',
);

installInspection();

export const deferredMembers: DeferredMembers = {
  members,
  applyWeightFunction: applyWeightFunction as DeferredMembers['applyWeightFunction'],
  checkArguments,
  checkInputs,
  checkLayer,
  checkParameters,
  weightFunctionConfig,
  layerConfig,
  showOptions,
  fromConfig: (cls, config) =>
    /^(Sequential|Model|Functional)$/.test((cls as { className?: string }).className ?? '')
      ? modelFromKeras(cls as { className: string }, config)
      : fromConfig(cls as { className: string }, config),
};
