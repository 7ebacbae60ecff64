/** Eager calls of layers and models: each layer is a lazy node of the graph that the core builds for it. */
import { LatheError } from '../base/errors.js';
import { alias, applyOperation as applied } from '../eager/apply.js';
import { randomSeed } from '../eager/seeds.js';
import type { Variable } from '../eager/variable.js';
import { callInputs, type CustomLayer, isCustom } from '../layers/custom_layer.js';
import { checkInputs } from '../layers/input_spec.js';
import { inputClassName } from '../layers/layer_names.js';
import { layerRow } from '../layers/layer_row.js';
import type { ApplyArgs, Layer, SymbolicTensor } from '../layers/layer.js';
import { createLayer } from '../layers/factories.js';
import { tracedOr, assignTraced } from '../layers/nested_weights.js';
import { unwrapSingle } from '../layers/shared_weights.js';
import { booleans, floats } from './casts.js';
import { categoryEncoding, checkCategories, weightedCounts } from './category_encoding.js';
import { hasStatefulOption, statesForCall } from './layer_states.js';
import { callLayer, isTraced } from './layer_node.js';
import { variablesOf } from './layer_variables.js';
import { standaloneModels, buildStandalone } from './standalone_layers.js';
import { layerName, traceLayer } from './traced_layer.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor } from '../tensor/tensor.js';

type Inputs = readonly Tensor[];
type Masks = readonly (Tensor | null | undefined)[];

/** Outputs of a layer, each with its mask if it has one. */
interface MaskedOutputs {
  results: Inputs;
  masks: Masks;
}

/** The inputs and outputs of a layer that is a model. */
interface Ends {
  inputs: SymbolicTensor[];
  outputs: SymbolicTensor[];
}
const endsOf = (layer: Layer): Ends | undefined =>
  layer.parts === undefined ? undefined : (layer as unknown as Ends);

/**
 * The outputs of a layer for tensors. The first call creates its weights. With `training`, dropout is active and moving averages
 * are updated.
 */
export function applyLayer(
  layer: Layer,
  inputs: Tensor | Inputs,
  args: ApplyArgs = {},
): Tensor | Tensor[] {
  const { training = false, mask, initialState = [] } = args;
  return tidy(() => {
    const operands = [inputs, initialState].flat() as Tensor[];
    const { results } = callLayerOn(layer, operands, [mask].flat() as Masks, training, args);
    return unwrapSingle(results);
  });
}

function callLayerOn(
  layer: Layer,
  inputs: Inputs,
  masks: Masks,
  training: boolean,
  args?: ApplyArgs,
): MaskedOutputs {
  const ends = endsOf(layer);
  if (ends !== undefined) return applyModel(layer, ends, inputs, masks, training);
  if (isCustom(layer)) {
    const found = applyCustom(layer, inputs, masks, training, args);
    if (found !== undefined) return found;
  }
  if (layer.getClassName() === categoryEncoding) checkCategories(layer, inputs[0]!);
  if (hasStatefulOption(layer)) {
    if (inputs.some(isTraced)) {
      throw new LatheError(`apply: "${layer.label}" is stateful; other layers cannot call it`);
    }
    return applyStateful(layer, inputs, masks, training);
  }
  const found =
    asOneRow(layer, inputs, masks, training, args) ??
    overRows(layer, inputs, training) ??
    weightedCounts(layer, inputs[0]!, args?.countWeights) ??
    applyCore(layer, inputs, masks, training);
  return {
    results: found.results.map((each) => withInputDType(layer, inputs, each)),
    masks: found.masks,
  };
}

/** Casts the result of a layer that only moves elements back to the inputs' dtype; the core computes in float32. */
function withInputDType(layer: Layer, inputs: Inputs, result: Tensor): Tensor {
  const dtype = inputs[0]?.dtype;
  const { keepsDType } = layerRow(layer.getClassName());
  const isPreserved = keepsDType === true && inputs.every((each) => each.dtype === dtype);
  return isPreserved && dtype !== undefined && dtype !== result.dtype
    ? applied('cast', [result], [dtype])
    : result;
}

/** Runs the layers that the outputs of a model depend on. */
function applyModel(
  model: Layer,
  { inputs: ports, outputs }: Ends,
  inputs: Inputs,
  masks: Masks,
  training: boolean,
): MaskedOutputs {
  if (inputs.length !== ports.length) {
    throw new LatheError(
      `apply: model "${model.label}" expects ${ports.length} inputs, got ${inputs.length}`,
    );
  }
  const cachedCalls = new Map<object, MaskedOutputs>();
  const at = (symbol: SymbolicTensor): { result: Tensor; mask: Masks[number] } => {
    const input = ports.indexOf(symbol);
    if (input >= 0) return { result: inputs[input]!, mask: masks[input] };
    const call = symbol.sourceLayer.inboundNodes[symbol.nodeIndex]!;
    let found = cachedCalls.get(call);
    if (found === undefined) {
      const read = call.inputs.map(at);
      found = callLayerOn(
        call.layer,
        read.map(({ result }) => result),
        read.map(({ mask }) => mask),
        training,
      );
      cachedCalls.set(call, found);
    }
    return { result: found.results[symbol.tensorIndex]!, mask: found.masks[symbol.tensorIndex] };
  };
  const found = outputs.map(at);
  return { results: found.map(({ result }) => result), masks: found.map(({ mask }) => mask) };
}

/** Thrown where `call` of a custom layer uses `g` outside of a trace. */
class NeedsTrace extends Error {}

/** The outputs of a custom layer's `call`; undefined if it needs `g` and is not being traced. */
function applyCustom(
  layer: CustomLayer,
  inputs: Inputs,
  masks: Masks,
  training: boolean,
  args?: object,
): MaskedOutputs | undefined {
  ensureBuilt(layer, inputs);
  checkInputs(layer.label, layer.inputSpec, inputs);
  const callArgs = {
    ...args,
    training,
    ...(masks.some(Boolean) ? { mask: unwrapSingle(masks) } : {}),
  };
  Object.defineProperty(callArgs, 'g', {
    get() {
      const trace = inputs.find(isTraced)?.trace;
      if (trace === undefined) throw new NeedsTrace();
      return trace;
    },
  });
  const rows = inputs[0]?.shape[0] ?? 1;
  const argument = args === undefined ? callInputs(inputs.map(alias)) : unwrapSingle(inputs);
  try {
    const found = [layer.call(argument as never, callArgs as never)].flat() as Tensor[];
    const results = args === undefined ? found.map((each) => forRows(each, rows)) : found;
    return { results, masks: results.map(() => (layer.supportsMasking ? masks[0] : undefined)) };
  } catch (error) {
    if (error instanceof NeedsTrace) return undefined;
    throw error;
  }
}

/** In models an output of batch size 1 is broadcast to every row. */
const forRows = (x: Tensor, rows: number): Tensor =>
  rows > 1 && x.shape[0] === 1 ? applied('broadcastTo', [x], [[rows, ...x.shape.slice(1)]]) : x;

/** Creates the weights, if there are none. */
function ensureBuilt(layer: Layer, inputs: Inputs): void {
  if (layer.shared.copies.size > 0 || layer.inboundNodes.length > 0 || standaloneModels.has(layer))
    return;
  buildStandalone(
    layer,
    inputs.map(({ shape }) => [null, ...shape.slice(1)]),
  );
}

/** The outputs of a layer for a tensor without a batch axis, if the layer accepts one; undefined if there is a batch axis. */
function asOneRow(
  layer: Layer,
  inputs: Inputs,
  masks: Masks,
  training: boolean,
  args?: ApplyArgs,
): MaskedOutputs | undefined {
  const name = layer.getClassName();
  const { axis = -1, outputMode } = layer.options as { axis?: number; outputMode?: string };
  const { leastRank = 0 } = layerRow(name);
  const least = axis === -1 ? leastRank : 0;
  const { rank } = inputs[0]!;
  if (rank >= least || inputs.some((each) => each.rank !== rank)) return undefined;
  const sizes = (count: number) => Array<number>(count).fill(1);
  // oneHot encodes each element of a vector; counts are over the vector.
  const isColumn = outputMode === 'oneHot' && rank === 1;
  const rows = inputs.map((each) => {
    const shape = isColumn ? [...each.shape, 1] : [...sizes(least - rank), ...each.shape];
    return applied('reshape', [each], [shape]);
  });
  const weights = [args?.countWeights ?? []].flat() as Tensor[];
  const countWeights = weights.map((each) =>
    applied('reshape', [each], [[...sizes(least - each.rank), ...each.shape]]),
  )[0];
  const found = callLayerOn(layer, rows, masks, training, countWeights ? { countWeights } : args);
  if (isColumn) return found;
  // The counts of a vector are one row.
  const added = name === categoryEncoding ? 1 : least - rank;
  const bare = (x: Tensor) => applied('reshape', [x], [x.shape.slice(added)]);
  return { results: found.results.map(bare), masks: [undefined] };
}

/** The outputs of a layer whose axis is the batch axis, which models do not support; undefined for other axes. */
function overRows(layer: Layer, inputs: Inputs, training: boolean): MaskedOutputs | undefined {
  const { axis } = layer.options as { axis?: number };
  const [x] = inputs;
  if (x === undefined || (axis !== 0 && axis !== -x.rank)) return undefined;
  if (layer.getClassName() === 'Concatenate') {
    return { results: [applied('concat', inputs.map(floats), [0])], masks: [undefined] };
  }
  if (layer.getClassName() !== 'BatchNormalization') return undefined;
  const [first, ...others] = x.shape.map((_, at) => at);
  const transposed = applied('transpose', [x], [[...others, first!]]);
  const { results, masks } = applyCore(variantOf(layer, { axis: -1 }), [transposed], [], training);
  return {
    results: [applied('transpose', [results[0]!], [[x.rank - 1, ...others.keys()]])],
    masks,
  };
}

/** The outputs of a stateful recurrent layer, which starts with the states of the last call. */
function applyStateful(
  layer: Layer,
  [x, ...initial]: Inputs,
  masks: Masks,
  training: boolean,
): MaskedOutputs {
  const variant = variantOf(layer, { stateful: false, returnState: true });
  const shapes = () =>
    applyCore(variant, [x!], [], false)
      .results.slice(1)
      .map(({ shape }) => shape);
  const states = statesForCall(layer, x!.shape[0]!, shapes);
  const before = initial.length > 0 ? initial : states.map((each) => each.read());
  const found = applyCore(variant, [x!, ...before], masks, training);
  states.forEach((each, at) => each.write(found.results[at + 1]));
  const { returnState } = layer.options as { returnState?: boolean };
  const count = returnState === true ? found.results.length : 1;
  return { results: found.results.slice(0, count), masks: found.masks.slice(0, count) };
}

const variants = new WeakMap<Layer, Layer>();

/** A variant of the layer with other options that shares its weights. */
function variantOf(layer: Layer, options: object): Layer {
  let found = variants.get(layer);
  if (found === undefined) {
    found = createLayer(layer.getClassName(), { ...layer.options, ...options });
    Object.assign(found, { shared: layer.shared, initialWeights: layer.initialWeights });
    Object.defineProperty(found, 'trainable', { get: () => layer.trainable });
    variants.set(layer, found);
  }
  return found;
}

function applyCore(layer: Layer, inputs: Inputs, masks: Masks, training: boolean): MaskedOutputs {
  if (layer.getClassName() === inputClassName) return { results: inputs, masks };
  if (layer.stateful) {
    throw new LatheError(
      `apply: a layer in "${layer.label}" is stateful, which is supported only within models`,
    );
  }
  ensureBuilt(layer, inputs);
  const tracedLayer = traceLayer({
    layer: layer.describeWithoutInputShape(layerName, false),
    shapes: inputs.map(({ shape }) => shape),
    masks: inputs.map((_, at) => Boolean(masks[at])),
    training,
  });
  const operands = tracedLayer.inputs.map(({ name, shape }): Tensor => {
    if (name === '@optimizer/step') return randomSeed('float32');
    if (name.startsWith('@')) {
      const weight = weightOf(layer, withinLayer(name));
      return tracedOr(fitting(layer, weight, shape, inputs));
    }
    const at = Number(/\d+/.exec(name)![0]);
    return name.startsWith('mask') ? booleans(masks[at]!) : floats(inputs[at]!);
  });
  const all = callLayer(tracedLayer, operands);
  const results = all.slice(0, tracedLayer.masks.length);
  assignUpdates(layer, tracedLayer.outputs, all);
  return {
    results,
    masks: tracedLayer.masks.map((at) => (at === undefined ? undefined : all[at])),
  };
}

/** The weight. Error: the inputs require another shape. */
function fitting(
  layer: Layer,
  weight: Variable,
  required: readonly number[],
  inputs: Inputs,
): Variable {
  const [has, needs] = [weight.shape, required].map((shape) => `[${shape.join()}]`);
  if (has === needs) return weight;
  const shapes = inputs.map(({ shape }) => `[${shape.join()}]`).join(', ');
  throw new LatheError(
    `layer "${layer.label}" (${layer.getClassName()}): for inputs of ${shapes} ${weight.name} would have ` +
      `shape ${needs}, it has ${has}`,
  );
}

/** The variable of a weight, by its name within the layer. */
export function weightOf(layer: Layer, name: string): Variable {
  const found = layer.nested.flatMap(({ weights }) => weights.get(name) ?? [])[0];
  return (found?.variable as Variable | undefined) ?? variablesOf(layer).get(name)!;
}

/** Assigns to the weights that the call updates, such as moving averages. */
function assignUpdates(layer: Layer, outputs: readonly { name: string }[], values: Inputs): void {
  outputs.forEach(({ name }, at) => {
    if (!name.startsWith('=')) return;
    const [weight, value] = [weightOf(layer, withinLayer(name)), values[at]!];
    if (isTraced(value)) assignTraced(weight, value);
    else weight.assign(value);
  });
}

/** "@layer/kernel" -> "kernel". */
const withinLayer = (port: string): string => port.slice(layerName.length + 2);
