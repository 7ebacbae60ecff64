/** Which models are decoders that give keys and values and take them back at the next call. */
import type { CachePair, OnnxDescription, OnnxType } from './file.js';

/** How a decoder takes and gives what it keeps. */
export interface DecoderPlan {
  /** Inputs for kept rows [batch, heads, rows, size], and the outputs that have them with the new ones. */
  pairs: readonly CachePair[];
  /** Number of the input that says which tokens count, [batch, all tokens]. */
  mask: number;
  /** Number of the input of tokens. */
  tokens: number;
  /** The axes of new tokens, by the numbers of inputs, and of outputs. */
  inputs: ReadonlyMap<number, number>;
  outputs: ReadonlyMap<number, number>;
}

type Named = OnnxType & { name: string };

/** The plan of a decoder, by the names that exporters give; nothing of other models. */
export function planOf({ inputs, outputs }: OnnxDescription): DecoderPlan | undefined {
  const tokens = inputs.findIndex(({ name }) => name === 'input_ids' || name === 'inputs_embeds');
  const mask = inputs.findIndex(({ name, shape }) => {
    return name === 'attention_mask' && shape?.length === 2;
  });
  const length = inputs[tokens]?.shape?.[1];
  const pairs = pairsOf(inputs, outputs);
  if (pairs === undefined || typeof length !== 'string') return undefined;
  if (mask < 0 || inputs[mask]!.shape![1] === length) return undefined;
  const kept = new Set(pairs.map(([, result]) => result));
  if (outputs.some(({ shape }, at) => !kept.has(at) && shape === undefined)) return undefined;
  return { pairs, mask, tokens, inputs: axesOf(inputs, length), outputs: axesOf(outputs, length) };
}

/** Error-free or not at all: all inputs of earlier rows have one name for their number, and an output each. */
function pairsOf(inputs: readonly Named[], outputs: readonly Named[]): CachePair[] | undefined {
  const pairs: CachePair[] = [];
  const names = new Set<unknown>();
  for (const [at, { name, shape }] of inputs.entries()) {
    if (!name.includes('past')) continue;
    const wanted = name.replace(/past_key_values|past/, 'present');
    const result = outputs.findIndex((each) => each.name === wanted);
    const [, heads, rows, size] = shape ?? [];
    const isOpen =
      typeof rows === 'string' && [heads, size].every((each) => Number.isInteger(each));
    if (result < 0 || shape?.length !== 4 || !isOpen) return undefined;
    names.add(rows);
    pairs.push([at, result]);
  }
  return names.size === 1 ? pairs : undefined;
}

function axesOf(ports: readonly Named[], length: string): Map<number, number> {
  const axes = ports.map(({ shape }, at): [number, number] => [at, shape?.indexOf(length) ?? -1]);
  return new Map(axes.filter(([, axis]) => axis >= 0));
}
