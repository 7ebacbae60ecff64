/** Recognizes decoders: models with states, which an output extends or replaces and the next call accepts. */
import { elementCount } from '../base/shape.js';
import type { DataArray } from '../tensor/convert.js';
import { openAxes, type Signature } from './candidates.js';
import type { DecodableModel, Dependencies, TracedInput } from './model.js';

/** An input and the output that is its next content: with rows appended along an axis, or another content of its shape. */
export interface StateLink {
  input: number;
  result: number;
  axis?: number;
}

/** Which inputs and outputs of a decoder are its states, tokens and masks. */
export interface DecoderPlan {
  /** The states; some have rows. */
  states: readonly StateLink[];
  /** The first of them with rows. */
  rows: Required<StateLink>;
  /** Indices of the inputs with constant keys and values: cross-attention to an encoder. */
  fixed: readonly number[];
  /** Indices of the outputs that return these, or compute them in the first call. */
  repeated: ReadonlySet<number>;
  /** Index of the attention mask input [batch, all tokens]; undefined: no mask. */
  mask: number | undefined;
  /** Index of the encoder attention mask input [batch, encoder length]; undefined: no mask. */
  encoderMask: number | undefined;
  /** The encoder-length axis of inputs that `encoderMask` masks, by input index. */
  encoderAxes: ReadonlyMap<number, number>;
  /** Indices of inputs whose content is constant in a trace, such as whether the states are used. */
  contents: readonly number[];
  /** The token axis of inputs and outputs, by index; guessed for outputs whose axis has another name. */
  inputs: ReadonlyMap<number, number>;
  outputs: ReadonlyMap<number, number>;
  /** Whether an output has no token axis, such as logits of the last token only. */
  returnsLastOnly: boolean;
}

type Results = Extract<Dependencies, { results: unknown }>['results'];

/** Past rows of a traced call that has none. */
const probeRows = 5;
/** Upper bound on inputs whose content a trace requires one after the other. */
const maxRounds = 4;

/** A call: its inputs, and the indices of the outputs of an earlier call that they are, as far as is known. */
export interface ObservedCall {
  values: readonly { type: string; shape: readonly number[]; data: DataArray }[];
  origins: ReadonlyMap<number, number>;
}

/** The plan of a decoder, by a trace of a call; undefined: the model is none, or the call does not show it. */
export function decoderPlan(model: DecodableModel, call: ObservedCall): DecoderPlan | undefined {
  for (const shapes of probes(model, call)) {
    const contents: number[] = [];
    for (let round = 0; round < maxRounds; round++) {
      const probe = shapes.map((shape, at): TracedInput => {
        const value = call.values[at]!;
        return { type: value.type, shape, content: contents.includes(at) ? value.data : undefined };
      });
      const found = model.dependencies(probe);
      if (found === undefined) break;
      if ('results' in found) {
        const plan = planOf(model, shapes, found.results, call.origins, contents);
        if (plan !== undefined) return plan;
        break;
      }
      if (found.required.every((each) => contents.includes(each))) break;
      contents.push(...found.required.filter((each) => !contents.includes(each)));
    }
  }
  return undefined;
}

const isFlag = ({ type }: { type: string }) => type === 'bool';

/** The shapes of traces that show the plan: those of the call, or, if it has no past rows, with some; the mask is one of the inputs. */
function* probes(model: DecodableModel, { values }: ObservedCall): Generator<readonly number[][]> {
  const shapes = values.map(({ shape }) => [...shape]);
  const { inputs } = model;
  const isEmpty = ({ shape }: { shape: readonly number[] }) => shape.includes(0);
  if (!values.some(isEmpty)) return yield shapes;
  // The model does not use its past in this call.
  if (values.some((each) => isFlag(each) && elementCount(each.shape) === 1)) return;
  const filled = shapes.map((shape) => shape.map((size) => (size === 0 ? probeRows : size)));
  const isMask = (at: number) => shapes[at]!.length === 2 && openAxes(model, inputs[at]!)[0] === 1;
  const masks = [...inputs.keys()].filter(isMask);
  const hasName = (at: number) => (inputs[at]!.name.includes('mask') ? 1 : 0);
  for (const mask of masks.sort((a, b) => hasName(b) - hasName(a))) {
    const name = inputs[mask]!.shape![1];
    yield filled.map((shape, at) => {
      const isSame = at === mask || (isMask(at) && name !== null && inputs[at]!.shape![1] === name);
      return isSame ? [shape[0]!, shape[1]! + probeRows] : shape;
    });
  }
}

/** Names of an input and of the output that replaces it, without what distinguishes them. */
const bareName = ({ name }: Signature) =>
  name.replace(/past(_key_values)?|present|new|next|out(put)?|in(put)?|[_.]/g, '');

/** The plan by the shapes and the dependencies of a traced call with past rows. */
function planOf(
  model: DecodableModel,
  shapes: readonly (readonly number[])[],
  results: Results,
  origins: ReadonlyMap<number, number>,
  contents: readonly number[],
): DecoderPlan | undefined {
  const { inputs, outputs } = model;
  const open = inputs.map((each) => openAxes(model, each));
  const links = linksOf(model, shapes, results, origins, open);
  const rows = links?.find((each): each is Required<StateLink> => each.axis !== undefined);
  if (links === undefined || rows === undefined) return undefined;
  const past = shapes[rows.input]![rows.axis]!;
  const count = results[rows.result]!.shape[rows.axis]! - past;
  const isFitting = ({ input, result, axis }: StateLink) => {
    if (axis === undefined) return true;
    return shapes[input]![axis] === past && results[result]!.shape[axis] === past + count;
  };
  if (!links.every(isFitting)) return undefined;

  const linked = new Set(links.map(({ input }) => input));
  const others = [...inputs.keys()].filter((at) => !linked.has(at));
  const hasAxis = (at: number, size: number) =>
    open[at]!.some((axis) => shapes[at]![axis] === size);
  const isToken = (at: number) => /^(decoder_)?(input_ids|inputs_embeds)$/.test(inputs[at]!.name);
  const tokenInputs = others.filter((at) => hasAxis(at, count));
  const tokens = tokenInputs.find(isToken) ?? tokenInputs[0];
  if (tokens === undefined) return undefined;
  const length =
    inputs[tokens]!.shape![open[tokens]!.find((axis) => shapes[tokens]![axis] === count)!];
  const tokenAxes = new Map<number, number>();
  for (const at of others) {
    const axis = open[at]!.find(
      (k) => shapes[at]![k] === count && inputs[at]!.shape![k] === length,
    );
    if (axis !== undefined) tokenAxes.set(at, axis);
  }
  const isMask = (at: number) => shapes[at]!.length === 2 && open[at]![0] === 1;
  const masks = others.filter((at) => isMask(at) && !tokenAxes.has(at));
  const seen = masks.filter((at) => {
    return shapes[at]![1] === past + count && !inputs[at]!.name.includes('encoder');
  });
  if (seen.length > 1) return undefined;
  const [mask] = seen;

  const rest = others.filter((at) => !tokenAxes.has(at) && at !== mask && !contents.includes(at));
  const isCache = (at: number) => {
    const [like, shape] = [shapes[rows.input]!, shapes[at]!];
    const isSame = shape.length === like.length && inputs[at]!.type === inputs[rows.input]!.type;
    return isSame && shape.every((size, axis) => axis === rows.axis || size === like[axis]);
  };
  const fixed = rest.filter(isCache);
  const repeated = new Set<number>();
  for (const [at, { inputs: used }] of results.entries())
    if (used.length === 1 && fixed.includes(used[0]!)) repeated.add(at);
  const encoderMask = masks.find((at) => at !== mask);
  const encoderAxes = new Map<number, number>();
  if (encoderMask !== undefined) {
    const name = inputs[encoderMask]!.shape![1];
    for (const at of rest) {
      const axis = typeof name === 'string' ? inputs[at]!.shape!.indexOf(name) : -1;
      if (axis >= 0) encoderAxes.set(at, axis);
    }
    for (const at of encoderAxes.size > 0 ? fixed : []) encoderAxes.set(at, rows.axis);
  }

  const cached = new Set([...links.map(({ result }) => result), ...repeated]);
  const tokenOutputs = new Map<number, number>();
  let returnsLastOnly = false;
  for (const [at, result] of results.entries()) {
    if (cached.has(at)) continue;
    const shape = outputs[at]!.shape ?? result.shape.map(() => null);
    const named = typeof length === 'string' ? shape.indexOf(length) : -1;
    const axis = named >= 0 ? named : typeof shape[1] === 'number' ? shape.length : 1;
    if (axis < result.shape.length) tokenOutputs.set(at, axis);
    else returnsLastOnly = true;
  }
  return {
    states: links,
    rows,
    fixed,
    repeated,
    mask,
    encoderMask,
    encoderAxes,
    contents,
    inputs: tokenAxes,
    outputs: tokenOutputs,
    returnsLastOnly,
  };
}

/**
 * The outputs that continue inputs. An output depends on the states of its layer and of those before, so the outputs that depend on
 * the fewest inputs are assigned first; then each continues the only input that is left. Otherwise what the caller has done
 * decides, or the names. Undefined: another call may show more.
 */
function linksOf(
  { inputs, outputs }: DecodableModel,
  shapes: readonly (readonly number[])[],
  results: Results,
  origins: ReadonlyMap<number, number>,
  open: readonly (readonly number[])[],
): StateLink[] | undefined {
  const linkOf = (input: number, result: number): StateLink[] => {
    const [from, { shape: to, type, inputs: used }] = [shapes[input]!, results[result]!];
    if (inputs[input]!.type !== type || from.length !== to.length) return [];
    const grown = [...to.keys()].filter((axis) => from[axis] !== to[axis]);
    const [axis] = grown;
    if (axis === undefined) {
      // Open axes are of tokens, and what depends on nothing else is returned unchanged.
      const isReplaced = from.length > 1 && open[input]!.length === 0 && used.length > 1;
      return isReplaced ? [{ input, result }] : [];
    }
    const isExtended = grown.length === 1 && to[axis]! > from[axis]! && open[input]!.includes(axis);
    return isExtended && from.length > 2 ? [{ input, result, axis }] : [];
  };
  const order = [...results.keys()].sort(
    (a, b) => results[a]!.inputs.length - results[b]!.inputs.length,
  );
  const links = new Map<number, StateLink>();
  for (const result of order) {
    const options = results[result]!.inputs.flatMap((input) =>
      links.has(input) ? [] : linkOf(input, result),
    );
    const name = bareName(outputs[result]!);
    const link =
      options.length < 2
        ? options[0]
        : (options.find(({ input }) => origins.get(input) === result) ??
          options.find(({ input }) => bareName(inputs[input]!) === name));
    if (link !== undefined) links.set(link.input, link);
    else if (options.length > 1) return undefined;
  }
  return [...links.values()];
}
