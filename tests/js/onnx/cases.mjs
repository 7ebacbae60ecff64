// The ONNX backend cases: the newest, where the folder of LATHE_DATA has them, else those of Debian's libonnx-testdata (ONNX 1.12,
// opset 17).
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataPath, missingData } from '../../../tools/data.mjs';

/** Whether these are the newest cases, not those of the Debian package. */
export const areNewest = !missingData('onnx/cases.json');

const casesFolder = areNewest ? dataPath('onnx') : '/usr/share/libonnx-testdata/data';

// Its folder "real" lists models to download.
const categories = ['node', 'simple', 'pytorch-converted', 'pytorch-operator'];

/** All cases: their names, categories, folders and models. */
export function readCases() {
  const list = join(casesFolder, 'cases.json');
  if (areNewest) return JSON.parse(readFileSync(list, 'utf8'));
  return categories.flatMap((category) =>
    readdirSync(join(casesFolder, category)).map((name) => {
      const path = `${category}/${name}`;
      return { name, category, path, model: `${path}/model.onnx` };
    }),
  );
}

/** The model and the data sets of a case: names, kinds and bytes of inputs and outputs. Light models have no data. */
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
