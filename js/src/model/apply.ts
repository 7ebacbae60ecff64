/** Layers and models called on tensors: each layer is a formula of the graph that the core makes of it. */
import { LatheError } from '../base/errors.js';
import { alias, apply as applied } from '../eager/apply.js';
import { randomSeed } from '../eager/seeds.js';
import type { Variable } from '../eager/variable.js';
import { callInputs, type CustomLayer, isCustom } from '../layers/custom_layer.js';
import { checkInputs } from '../layers/input_spec.js';
import { type ApplyArgs, inputClass, type Layer, type SymbolicTensor } from '../layers/layer.js';
import { makeLayer } from '../layers/makers.js';
import { lentOr, writeLent } from '../layers/nested_weights.js';
import { one } from '../layers/shared_weights.js';
import { alone, hold } from './alone.js';
import { keepsStates, keptStates } from './kept_states.js';
import { callLayer, isTraced } from '../numbers/layer_call.js';
import { variablesOf } from '../numbers/layer_variables.js';
import { layerName, writtenLayer } from '../numbers/written_layer.js';
import { tensor } from '../tensor/create.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor } from '../tensor/tensor.js';

type Given = readonly Tensor[];
type Masks = readonly (Tensor | null | undefined)[];

/** Results, and for each its mask if it has one. */
interface Found {
  results: Given;
  masks: Masks;
}

/** Whether the layer is a model; its ends. */
interface Ends {
  inputs: SymbolicTensor[];
  outputs: SymbolicTensor[];
}
const endsOf = (layer: Layer): Ends | undefined =>
  layer.parts === undefined ? undefined : (layer as unknown as Ends);

/**
 * What a layer gives for tensors. Makes its weights at the first call. With `training` it drops and follows moving
 * averages as where a model is trained.
 */
export function applyLayer(
  layer: Layer,
  inputs: Tensor | Given,
  args: ApplyArgs = {},
): Tensor | Tensor[] {
  const { training = false, mask, initialState = [] } = args;
  return tidy(() => {
    const given = [inputs, initialState].flat() as Tensor[];
    const { results } = called(layer, given, [mask].flat() as Masks, training, args);
    return one(results);
  });
}

function called(
  layer: Layer,
  given: Given,
  masks: Masks,
  training: boolean,
  args?: ApplyArgs,
): Found {
  const ends = endsOf(layer);
  if (ends !== undefined) return throughModel(layer, ends, given, masks, training);
  if (isCustom(layer)) {
    const found = throughCustom(layer, given, masks, training, args);
    if (found !== undefined) return found;
  }
  if (layer.getClassName() === 'CategoryEncoding') checkCategories(layer, given[0]!);
  if (keepsStates(layer)) {
    if (given.some(isTraced)) {
      throw new LatheError(`apply: "${layer.label}" keeps states, which another layer cannot call`);
    }
    return throughStates(layer, given, masks, training);
  }
  const found =
    asOneRow(layer, given, masks, training, args) ??
    overRows(layer, given, training) ??
    weighedCounts(layer, given, args) ??
    throughCore(layer, given, masks, training);
  return { results: found.results.map((each) => asGiven(layer, given, each)), masks: found.masks };
}

/** The layers that move numbers and compute none. */
const moving =
  /^(Flatten|Reshape|Permute|RepeatVector|Concatenate|(Global)?MaxPooling[123]D|CenterCrop)$/;

/** The result in the type of the inputs, where these layers keep it; the core gives floats. */
function asGiven(layer: Layer, given: Given, result: Tensor): Tensor {
  const dtype = given[0]?.dtype;
  const isKept = moving.test(layer.getClassName()) && given.every((each) => each.dtype === dtype);
  return isKept && dtype !== undefined && dtype !== result.dtype
    ? applied('cast', [result], [dtype])
    : result;
}

/** What the outputs of a model need, layer by layer. */
function throughModel(
  model: Layer,
  { inputs, outputs }: Ends,
  given: Given,
  masks: Masks,
  training: boolean,
): Found {
  if (given.length !== inputs.length) {
    throw new LatheError(
      `apply: model "${model.label}" takes ${inputs.length} inputs, got ${given.length}`,
    );
  }
  const known = new Map<object, Found>();
  const at = (symbol: SymbolicTensor): { result: Tensor; mask: Masks[number] } => {
    const input = inputs.indexOf(symbol);
    if (input >= 0) return { result: given[input]!, mask: masks[input] };
    const call = symbol.sourceLayer.inboundNodes[symbol.nodeIndex]!;
    let found = known.get(call);
    if (found === undefined) {
      const read = call.inputs.map(at);
      found = called(
        call.layer,
        read.map(({ result }) => result),
        read.map(({ mask }) => mask),
        training,
      );
      known.set(call, found);
    }
    return { result: found.results[symbol.tensorIndex]!, mask: found.masks[symbol.tensorIndex] };
  };
  const found = outputs.map(at);
  return { results: found.map(({ result }) => result), masks: found.map(({ mask }) => mask) };
}

/** Why a layer in JavaScript cannot be called on numbers. */
class NeedsTrace extends Error {}

/** What `call` of a layer in JavaScript gives; nothing where it asks for the function that it is part of. */
function throughCustom(
  layer: CustomLayer,
  given: Given,
  masks: Masks,
  training: boolean,
  args?: object,
): Found | undefined {
  made(layer, given);
  checkInputs(layer.label, layer.inputSpec, given);
  const told = { ...args, training, ...(masks.some(Boolean) ? { mask: one(masks) } : {}) };
  Object.defineProperty(told, 'g', {
    get() {
      const trace = given.find(isTraced)?.trace;
      if (trace === undefined) throw new NeedsTrace();
      return trace;
    },
  });
  const rows = given[0]?.shape[0] ?? 1;
  const inputs = args === undefined ? callInputs(given.map(alias)) : one(given);
  try {
    const found = [layer.call(inputs as never, told as never)].flat() as Tensor[];
    const results = args === undefined ? found.map((each) => forRows(each, rows)) : found;
    return { results, masks: results.map(() => (layer.supportsMasking ? masks[0] : undefined)) };
  } catch (error) {
    if (error instanceof NeedsTrace) return undefined;
    throw error;
  }
}

/** In models a result for the whole batch is that of every row. */
const forRows = (x: Tensor, rows: number): Tensor =>
  rows > 1 && x.shape[0] === 1 ? applied('broadcastTo', [x], [[rows, ...x.shape.slice(1)]]) : x;

/** Makes the weights, if there are none. */
function made(layer: Layer, given: Given): void {
  if (layer.shared.copies.size > 0 || layer.inboundNodes.length > 0 || alone.has(layer)) return;
  hold(
    layer,
    given.map(({ shape }) => [null, ...shape.slice(1)]),
  );
}

/** The layers that compute each number, or row of numbers, alone; they take as many axes as there are. */
const anyRank =
  /^(Activation|(Leaky|Thresholded)?ReLU|ELU|Softmax|(Gaussian|Alpha)?Dropout|GaussianNoise|Rescaling|Embedding|CategoryEncoding|Add|Subtract|Multiply|Average|Maximum|Minimum)$/;

/** What a layer gives for a tensor without the axis of the rows, which such layers take; nothing where it has one. */
function asOneRow(
  layer: Layer,
  given: Given,
  masks: Masks,
  training: boolean,
  args?: ApplyArgs,
): Found | undefined {
  const name = layer.getClassName();
  const { axis = -1, outputMode } = layer.options as { axis?: number; outputMode?: string };
  const least = /^(CenterCrop|Resizing)$/.test(name)
    ? 4
    : anyRank.test(name) && axis === -1
      ? 2
      : 0;
  const { rank } = given[0]!;
  if (rank >= least || given.some((each) => each.rank !== rank)) return undefined;
  const sizes = (count: number) => Array<number>(count).fill(1);
  // Of numbers in a row each one has its category; what counts them counts all.
  const isColumn = outputMode === 'oneHot' && rank === 1;
  const rows = given.map((each) => {
    const shape = isColumn ? [...each.shape, 1] : [...sizes(least - rank), ...each.shape];
    return applied('reshape', [each], [shape]);
  });
  const weights = [args?.countWeights ?? []].flat() as Tensor[];
  const countWeights = weights.map((each) =>
    applied('reshape', [each], [[...sizes(least - each.rank), ...each.shape]]),
  )[0];
  const found = called(layer, rows, masks, training, countWeights ? { countWeights } : args);
  if (isColumn) return found;
  // Categories are joined to one row of counts.
  const added = name === 'CategoryEncoding' ? 1 : least - rank;
  const bare = (x: Tensor) => applied('reshape', [x], [x.shape.slice(added)]);
  return { results: found.results.map(bare), masks: [undefined] };
}

/** What a layer gives whose axis is that of the rows, which no model mixes; nothing where it is another one. */
function overRows(layer: Layer, given: Given, training: boolean): Found | undefined {
  const { axis } = layer.options as { axis?: number };
  const [x] = given;
  if (x === undefined || (axis !== 0 && axis !== -x.rank)) return undefined;
  if (layer.getClassName() === 'Concatenate') {
    return { results: [applied('concat', given.map(floats), [0])], masks: [undefined] };
  }
  if (layer.getClassName() !== 'BatchNormalization') return undefined;
  const [first, ...others] = x.shape.map((_, at) => at);
  const turned = applied('transpose', [x], [[...others, first!]]);
  const { results, masks } = throughCore(formOf(layer, { axis: -1 }), [turned], [], training);
  return {
    results: [applied('transpose', [results[0]!], [[x.rank - 1, ...others.keys()]])],
    masks,
  };
}

/** Errors: more than two axes; a category of a tensor at hand that there is none of. */
function checkCategories(layer: Layer, x: Tensor): void {
  const { numTokens, outputMode = 'multiHot' } = layer.options as {
    numTokens: number;
    outputMode?: string;
  };
  if (x.rank > 2) {
    throw new LatheError(
      `When outputMode is not int, maximum output rank is 2 Received outputMode ${outputMode} and input shape ` +
        `${x.shape.join()} which would result in output rank ${x.rank}.`,
    );
  }
  const isKnown = (each: number) => each >= 0 && each < numTokens;
  if (isTraced(x) || (x.dataSync() as Float32Array).every(isKnown)) return;
  throw new LatheError(
    `Input values must be between 0 < values <= numTokens with numTokens=${numTokens}`,
  );
}

/** What CategoryEncoding gives for categories that count more or less than 1; nothing where none do. Errors: another outputMode or shape. */
function weighedCounts(
  layer: Layer,
  given: Given,
  { countWeights }: ApplyArgs = {},
): Found | undefined {
  if (layer.getClassName() !== 'CategoryEncoding' || countWeights === undefined) return undefined;
  const { outputMode, numTokens } = layer.options as { outputMode?: string; numTokens: number };
  const [x] = given as [Tensor];
  const weights = floats([countWeights].flat()[0] as Tensor);
  if (outputMode !== 'count') {
    throw new LatheError(`layer "${layer.label}": countWeights need the outputMode count`);
  }
  if (weights.shape.join() !== x.shape.join()) {
    throw new LatheError(
      `layer "${layer.label}": countWeights of shape [${weights.shape.join()}] do not fit [${x.shape.join()}]`,
    );
  }
  const column = [...x.shape, 1];
  const category = applied('reshape', [applied('cast', [x], ['int32'])], [column]);
  const each = tensor(Int32Array.from({ length: numTokens }, (_, at) => at));
  const occurs = floats(applied('equal', [category, each]));
  const weighed = applied('mul', [occurs, applied('reshape', [weights], [column])]);
  return { results: [applied('sum', [weighed], [[x.rank - 1]])], masks: [undefined] };
}

/** What a recurrent layer gives that goes on where the last call ended. */
function throughStates(
  layer: Layer,
  [x, ...initial]: Given,
  masks: Masks,
  training: boolean,
): Found {
  const form = formOf(layer, { stateful: false, returnState: true });
  const shapes = () =>
    throughCore(form, [x!], [], false)
      .results.slice(1)
      .map(({ shape }) => shape);
  const kept = keptStates(layer, x!.shape[0]!, shapes);
  const before = initial.length > 0 ? initial : kept.map((each) => each.read());
  const found = throughCore(form, [x!, ...before], masks, training);
  kept.forEach((each, at) => each.write(found.results[at + 1]));
  const { returnState } = layer.options as { returnState?: boolean };
  const count = returnState === true ? found.results.length : 1;
  return { results: found.results.slice(0, count), masks: found.masks.slice(0, count) };
}

const forms = new WeakMap<Layer, Layer>();

/** The layer with other options, as a graph of the core can be made of it; its weights are the same. */
function formOf(layer: Layer, options: object): Layer {
  let found = forms.get(layer);
  if (found === undefined) {
    found = makeLayer(layer.getClassName(), { ...layer.options, ...options });
    Object.assign(found, { shared: layer.shared, initialWeights: layer.initialWeights });
    Object.defineProperty(found, 'trainable', { get: () => layer.trainable });
    forms.set(layer, found);
  }
  return found;
}

function throughCore(layer: Layer, given: Given, masks: Masks, training: boolean): Found {
  if (layer.getClassName() === inputClass) return { results: given, masks };
  if (layer.stateful) {
    throw new LatheError(
      `apply: a layer in "${layer.label}" keeps states from one batch to the next, which only models do there`,
    );
  }
  made(layer, given);
  const masked = given.map((_, at) => Boolean(masks[at]));
  const recipe = {
    layer: layer.describeBehind(layerName, false),
    shapes: given.map(({ shape }) => shape),
    masked,
    training,
  };
  const written = writtenLayer(recipe);
  const operands = written.inputs.map(({ name, shape }): Tensor => {
    if (name === '@optimizer/step') return randomSeed('float32');
    if (name.startsWith('@')) {
      const weight = weightOf(layer, name.slice(layerName.length + 2));
      return lentOr(fitting(layer, weight, shape, given));
    }
    return floats(inputOf(Number(name.slice(1)), given, masks));
  });
  const all = callLayer(recipe, written, operands);
  const results = all.slice(0, written.masks.length);
  if (training && layer.trainable) follow(layer, given[0]!);
  return { results, masks: written.masks.map((at) => (at === undefined ? undefined : all[at])) };
}

/** The weight. Error: the inputs need one of another shape. */
function fitting(
  layer: Layer,
  weight: Variable,
  needed: readonly number[],
  given: Given,
): Variable {
  const [has, needs] = [weight.shape, needed].map((shape) => `[${shape.join()}]`);
  if (has === needs) return weight;
  const inputs = given.map(({ shape }) => `[${shape.join()}]`).join(', ');
  throw new LatheError(
    `layer "${layer.label}" (${layer.getClassName()}): for inputs of ${inputs} ${weight.name} would have ` +
      `shape ${needs}, it has ${has}`,
  );
}

/** The input of a place; behind those of the layer come the masks, with an axis of one number. */
function inputOf(at: number, given: Given, masks: Masks): Tensor {
  if (at < given.length) return given[at]!;
  const mask = masks.filter((each) => each)[at - given.length]!;
  return applied('reshape', [mask], [[...mask.shape, 1]]);
}

const floats = (x: Tensor): Tensor =>
  x.dtype === 'float32' ? x : applied('cast', [x], ['float32']);

/** A weight by its name within the layer. */
export function weightOf(layer: Layer, name: string): Variable {
  const found = layer.nested.flatMap(({ weights }) => weights.get(name) ?? [])[0];
  return (found?.variable as Variable | undefined) ?? variablesOf(layer).get(name)!;
}

/** Moving averages become those of the batch a little more. */
function follow(layer: Layer, x: Tensor): void {
  if (layer.getClassName() !== 'BatchNormalization') return;
  const { axis = -1, momentum = 0.99 } = layer.options as { axis?: number; momentum?: number };
  const kept = axis < 0 ? axis + x.rank : axis;
  const axes = x.shape.map((_, at) => at).filter((at) => at !== kept);
  const mean = applied('mean', [x], [axes, true]);
  const variance = applied('mean', [applied('square', [applied('sub', [x, mean])])], [axes]);
  const batch = {
    moving_mean: applied('reshape', [mean], [variance.shape]),
    moving_variance: variance,
  };
  for (const [name, value] of Object.entries(batch)) {
    const moving = weightOf(layer, name);
    const now = lentOr(moving);
    const step = applied('mul', [applied('sub', [now, value]), 1 - momentum]);
    const next = applied('sub', [now, step]);
    if (isTraced(next)) writeLent(moving, next);
    else moving.assign(next);
  }
}
