// Published models with their expected predictions, which the repository does not have.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tl from 'tensorlathe';
import { dataPath, missingData } from '../../tools/data.mjs';

/** Where the models are. */
export const modelsFolder = dataPath('models');

/** For `test(…, { skip })`: why the tests on these models do not run, or false. */
export const modelsAbsent = missingData('models');

const arrays = { float32: Float32Array, int32: Int32Array };

/** The stored inputs and outputs of a model, as tensors. */
export function golden(name) {
  const folder = join(modelsFolder, 'golden_tfjs', name);
  const { inputs, outputs } = JSON.parse(readFileSync(join(folder, 'meta.json'), 'utf8'));
  const read = ({ file, dims, type = 'float32' }) => {
    const bytes = readFileSync(join(folder, file));
    const values = new (arrays[type] ?? Float32Array)(Uint8Array.from(bytes).buffer);
    return tl.tensor(values, dims);
  };
  return { inputs: inputs.map(read), outputs: outputs.map(read) };
}

/** The model, or undefined and a skipped test where it has unsupported layers. */
export async function loadOrSkip(context, source) {
  try {
    return await tl.loadLayersModel(source);
  } catch (error) {
    const found = /layer "[^"]*" \((\w+)\) is of an unknown class/.exec(error.message);
    if (found === null) throw error;
    context.skip(`there is no layer ${found[1]}`);
    return undefined;
  }
}
