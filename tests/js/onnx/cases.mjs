// The ONNX backend cases beside the repository: what there is, and their files.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Where the cases are; LATHE_ONNX overrides it. */
export const casesFolder = resolve(root, process.env.LATHE_ONNX ?? '../shared/data/onnx');

/** All cases, or undefined where they are not there. */
export function readCases() {
  const file = join(casesFolder, 'cases.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** The model and the data sets of a case: names, kinds and bytes of inputs and outputs. Light models have no data of their own. */
export function filesOf({ path, model }) {
  const bytes = new Uint8Array(readFileSync(join(casesFolder, model)));
  const folder = join(casesFolder, path);
  const sets = path.endsWith('.onnx')
    ? []
    : readdirSync(folder).filter((name) => /^test_data_set_\d+$/.test(name));
  return { bytes, sets: sets.map((set) => dataOf(join(folder, set))) };
}

function dataOf(folder) {
  const read = (kind) => {
    const names = readdirSync(folder).filter((name) => name.startsWith(`${kind}_`));
    const at = (name) => Number(/\d+/.exec(name)[0]);
    return names
      .sort((a, b) => at(a) - at(b))
      .map((name) => new Uint8Array(readFileSync(join(folder, name))));
  };
  return { inputs: read('input'), outputs: read('output') };
}
