// Models from elsewhere, with what they must predict. They lie beside the repository and may be absent.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tl from 'tensorlathe';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Where the models are; LATHE_MODELS overrides it. */
export const modelsFolder = resolve(root, process.env.LATHE_MODELS ?? '../shared/data/models');

/** For `test(…, {skip: …})`: why the tests on these models do not run, or false. */
export const modelsAbsent = existsSync(modelsFolder)
  ? false
  : `the models are not in ${modelsFolder}; LATHE_MODELS names it`;

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

/** The model, or undefined and a skipped test where it has layers that there are not yet. */
export async function known(context, source) {
  try {
    return await tl.loadLayersModel(source);
  } catch (error) {
    const found = /layer "[^"]*" \((\w+)\) is of an unknown class/.exec(error.message);
    if (found === null) throw error;
    context.skip(`there is no layer ${found[1]}`);
    return undefined;
  }
}
