/** Recognizes decoders: models that return a key/value cache and accept it in the next call. */
import type { OnnxDescription, OnnxType } from './file.js';

/** Indices of a cache input, and of the output with the new rows appended. */
type RowPair = readonly [input: number, result: number];

/** Which inputs and outputs of a decoder are its cache, tokens and masks. */
export interface DecoderPlan {
  /** The cache tensors [batch, heads, rows, size]. */
  pairs: readonly RowPair[];
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
  /** Index of the boolean input that states whether the cache is used. */
  branch: number | undefined;
  /** Index of the token input. */
  tokens: number;
  /** The token axis of inputs and outputs, by index; guessed for outputs whose axis has another name. */
  inputs: ReadonlyMap<number, number>;
  outputs: ReadonlyMap<number, number>;
  /** Whether an output has no token axis, such as logits of the last token only. */
  returnsLastOnly: boolean;
}

type Named = OnnxType & { name: string };

/** The plan of a decoder, by the names that exporters use; undefined for other models. */
export function decoderPlan({ inputs, outputs }: OnnxDescription): DecoderPlan | undefined {
  const indexOrNone = (found: number) => (found < 0 ? undefined : found);
  const tokens = inputs.findIndex(({ name }) =>
    /^(decoder_)?(input_ids|inputs_embeds)$/.test(name),
  );
  const mask = indexOrNone(inputs.findIndex(({ name }) => name === 'attention_mask'));
  const branch = indexOrNone(inputs.findIndex(({ name }) => name === 'use_cache_branch'));
  if ((inputs[tokens]?.shape?.length ?? 0) < 2) return undefined;
  const length = inputs[tokens]!.shape![1];
  const past = inputs.flatMap(({ name }, at) => (name.includes('past') ? [at] : []));
  const fixed = past.filter((at) => inputs[at]!.name.includes('.encoder.'));
  const rows = past.filter((at) => !fixed.includes(at));
  const resultOf = (at: number) => {
    const expected = inputs[at]!.name.replace(/past_key_values|past/, 'present');
    return outputs.findIndex(({ name }) => name === expected);
  };
  const pairs = rows.map((at): RowPair => [at, resultOf(at)]);
  const isOpen = ({ shape }: Named) => shape?.length === 4 && typeof shape[2] === 'string';
  const hasSizes = ({ shape }: Named) => [shape![1], shape![3]].every(Number.isInteger);
  if (!past.every((at) => isOpen(inputs[at]!) && hasSizes(inputs[at]!))) return undefined;
  if (pairs.some(([, result]) => result < 0)) return undefined;
  if (new Set(rows.map((at) => inputs[at]!.shape![2])).size !== 1) return undefined;
  if (mask !== undefined) {
    const { shape } = inputs[mask]!;
    if (shape?.length !== 2 || shape[1] === length || typeof length !== 'string') return undefined;
  }
  const repeated = new Set(fixed.map(resultOf));
  const cached = new Set([...pairs.map(([, result]) => result), ...repeated]);
  if (outputs.some(({ shape }, at) => !cached.has(at) && shape === undefined)) return undefined;
  const found = axesOf(outputs, length);
  const others = outputs.flatMap(({ shape }, at) =>
    cached.has(at) ? [] : [[at, shape!] as const],
  );
  const guessed = others.flatMap(([at, shape]): [number, number][] => {
    const axis = found.get(at) ?? (typeof shape[1] === 'number' ? shape.length : 1);
    return axis < shape.length ? [[at, axis]] : [];
  });
  const axes = { inputs: axesOf(inputs, length), outputs: new Map(guessed) };
  const returnsLastOnly = guessed.length < others.length;
  const encoderMask = indexOrNone(
    inputs.findIndex(({ name }) => name === 'encoder_attention_mask'),
  );
  const encoderAxes = new Map<number, number>();
  if (encoderMask !== undefined) {
    const { shape } = inputs[encoderMask]!;
    for (const [at, axis] of axesOf(inputs, shape?.[1])) encoderAxes.set(at, axis);
    for (const at of encoderAxes.size > 0 ? fixed : []) encoderAxes.set(at, 2);
  }
  return {
    pairs,
    fixed,
    repeated,
    mask,
    encoderMask,
    encoderAxes,
    branch,
    tokens,
    returnsLastOnly,
    ...axes,
  };
}

function axesOf(ports: readonly Named[], length: unknown): Map<number, number> {
  const axes = ports.map(({ shape }, at): [number, number] => {
    return [at, typeof length === 'string' ? (shape?.indexOf(length) ?? -1) : -1];
  });
  return new Map(axes.filter(([, axis]) => axis >= 0));
}
