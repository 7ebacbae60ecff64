// The language model of 260K weights that A. Karpathy trained on TinyStories: its weights, vocabulary and expected story.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataPath, missingData } from '../../../tools/data.mjs';

const folder = dataPath('models/llm');
export const storiesAbsent = missingData('models/llm');

/** The configuration and weights of a checkpoint of llama2.c (version 0), as `llama` expects them. */
export function readStories() {
  const bytes = new Uint8Array(readFileSync(join(folder, 'stories260K.bin')));
  const [width, hidden, layers, heads, groups, vocabulary, positions] = new Int32Array(
    bytes.buffer,
    0,
    7,
  );
  const config = {
    width,
    hidden,
    layers,
    heads,
    groups,
    vocabulary: Math.abs(vocabulary),
    positions,
  };
  const values = new Float32Array(bytes.buffer, 28);
  const keyWidth = (groups * width) / heads;
  let at = 0;
  const read = (count) => values.subarray(at, (at += count));
  const found = new Map([['embedding', read(config.vocabulary * width)]]);
  const perLayer = (name, outputs, inputs) => {
    for (let layer = 0; layer < layers; layer++) {
      const rows = read(outputs * (inputs ?? 1));
      found.set(
        `${name}.${layer}`,
        inputs === undefined ? rows : transposed(rows, outputs, inputs),
      );
    }
  };
  perLayer('attention_norm', width);
  perLayer('q', width, width);
  perLayer('k', keyWidth, width);
  perLayer('v', keyWidth, width);
  perLayer('o', width, width);
  perLayer('feed_norm', width);
  perLayer('gate', hidden, width);
  perLayer('down', width, hidden);
  perLayer('up', hidden, width);
  found.set('norm', read(width));
  return { config, weights: (name) => found.get(name) };
}

function transposed(rows, outputs, inputs) {
  const result = new Float32Array(rows.length);
  for (let row = 0; row < outputs; row++) {
    for (let k = 0; k < inputs; k++) result[k * outputs + row] = rows[row * inputs + k];
  }
  return result;
}

/** The string of each token. */
export function readVocabulary(count) {
  const view = new DataView(new Uint8Array(readFileSync(join(folder, 'tok512.bin'))).buffer);
  const pieces = [];
  for (let at = 4; pieces.length < count;) {
    const length = view.getInt32(at + 4, true);
    const text = new TextDecoder().decode(new Uint8Array(view.buffer, at + 8, length));
    // Bytes that begin no word.
    pieces.push(text.replace(/^<0x(..)>$/, (_, code) => String.fromCharCode(parseInt(code, 16))));
    at += 8 + length;
  }
  return pieces;
}

export const readExpected = () =>
  JSON.parse(readFileSync(join(folder, 'stories260K_expected.json'), 'utf8'));
