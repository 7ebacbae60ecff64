/** Which models are decoders that give keys and values and take them back at the next call. */
import type { OnnxDescription, OnnxType } from './file.js';

/** Numbers of an input for kept rows, and of the output that has them with the new ones. */
type RowPair = readonly [input: number, result: number];

/** How a decoder takes and gives what it keeps. */
export interface DecoderPlan {
  /** Of kept rows [batch, heads, rows, size]. */
  pairs: readonly RowPair[];
  /** Numbers of inputs for keys and values that stay as they are, those of an encoder. */
  fixed: readonly number[];
  /** The outputs that repeat these, or make them where there are no rows yet. */
  repeated: ReadonlySet<number>;
  /** Number of the input that says which tokens count, [batch, all tokens]; nothing: all do. */
  mask: number | undefined;
  /** Number of the input that says what of an encoder counts, [batch, all of it]; nothing: all does. */
  heardMask: number | undefined;
  /** The axes of what an encoder gave, by the numbers of inputs: where a mask tells what counts. */
  heard: ReadonlyMap<number, number>;
  /** Number of the input that says whether there are rows. */
  branch: number | undefined;
  /** Number of the input of tokens. */
  tokens: number;
  /** The axes of new tokens, by the numbers of inputs, and of outputs: a guess where the model gives the axis a name of its own. */
  inputs: ReadonlyMap<number, number>;
  outputs: ReadonlyMap<number, number>;
  /** Whether an output has no such axis, as that of the last token alone. */
  isCut: boolean;
}

type Named = OnnxType & { name: string };

/** The plan of a decoder, by the names that exporters give; nothing of other models. */
export function planOf({ inputs, outputs }: OnnxDescription): DecoderPlan | undefined {
  const number = (found: number) => (found < 0 ? undefined : found);
  const tokens = inputs.findIndex(({ name }) =>
    /^(decoder_)?(input_ids|inputs_embeds)$/.test(name),
  );
  const mask = number(inputs.findIndex(({ name }) => name === 'attention_mask'));
  const branch = number(inputs.findIndex(({ name }) => name === 'use_cache_branch'));
  if ((inputs[tokens]?.shape?.length ?? 0) < 2) return undefined;
  const length = inputs[tokens]!.shape![1];
  const past = inputs.flatMap(({ name }, at) => (name.includes('past') ? [at] : []));
  const fixed = past.filter((at) => inputs[at]!.name.includes('.encoder.'));
  const rows = past.filter((at) => !fixed.includes(at));
  const resultOf = (at: number) => {
    const wanted = inputs[at]!.name.replace(/past_key_values|past/, 'present');
    return outputs.findIndex(({ name }) => name === wanted);
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
  const kept = new Set([...pairs.map(([, result]) => result), ...repeated]);
  if (outputs.some(({ shape }, at) => !kept.has(at) && shape === undefined)) return undefined;
  const found = axesOf(outputs, length);
  const others = outputs.flatMap(({ shape }, at) => (kept.has(at) ? [] : [[at, shape!] as const]));
  const guessed = others.flatMap(([at, shape]): [number, number][] => {
    const axis = found.get(at) ?? (typeof shape[1] === 'number' ? shape.length : 1);
    return axis < shape.length ? [[at, axis]] : [];
  });
  const axes = { inputs: axesOf(inputs, length), outputs: new Map(guessed) };
  const isCut = guessed.length < others.length;
  const heardMask = number(inputs.findIndex(({ name }) => name === 'encoder_attention_mask'));
  const heard = new Map<number, number>();
  if (heardMask !== undefined) {
    const { shape } = inputs[heardMask]!;
    for (const [at, axis] of axesOf(inputs, shape?.[1])) heard.set(at, axis);
    for (const at of heard.size > 0 ? fixed : []) heard.set(at, 2);
  }
  return { pairs, fixed, repeated, mask, heardMask, heard, branch, tokens, isCut, ...axes };
}

function axesOf(ports: readonly Named[], length: unknown): Map<number, number> {
  const axes = ports.map(({ shape }, at): [number, number] => {
    return [at, typeof length === 'string' ? (shape?.indexOf(length) ?? -1) : -1];
  });
  return new Map(axes.filter(([, axis]) => axis >= 0));
}
