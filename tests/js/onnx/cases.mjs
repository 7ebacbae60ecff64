// The ONNX backend cases beside the repository: what there is, their files, and whether a model passes.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { difference } from './compare.mjs';
import { readPorts, readValue } from './read_tensor.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Where the cases are; LATHE_ONNX overrides it. */
export const casesFolder = resolve(root, process.env.LATHE_ONNX ?? '../shared/data/onnx');

/** All cases, or undefined where they are not there. */
export function readCases() {
  const file = join(casesFolder, 'cases.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** Operators whose results are drawn: only type and shape count. Not those that the model gives a seed and data for. */
const drawn = /Random|Bernoulli|Multinomial/;
const isDrawn = ({ name, ops }) =>
  name.startsWith('test_training_dropout') || Object.keys(ops).some((op) => drawn.test(op));

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

/** Ones for each input: what the light models are given. */
function ones({ inputs }) {
  return Object.fromEntries(
    inputs.map(({ name, dtype, shape }) => {
      const count = shape.reduce((product, size) => product * size, 1);
      return [name, { dtype, shape, data: new Float32Array(count).fill(1) }];
    }),
  );
}

/** Runs a case with an engine (engines.mjs); gives why it fails, or undefined. */
export async function whyFails(load, each) {
  const { bytes, sets } = filesOf(each);
  const ports = readPorts(bytes);
  const model = await load(bytes);
  try {
    if (sets.length === 0) {
      await model.run(ones(each));
      return undefined;
    }
    for (const { inputs, outputs } of sets) {
      const feeds = inputs.map((file, at) => {
        const { name, kind } = ports.inputs[at];
        return [name, readValue(file, kind)];
      });
      const results = await model.run(Object.fromEntries(feeds));
      for (const [at, file] of outputs.entries()) {
        const { name, kind } = ports.outputs[at];
        const why = difference(readValue(file, kind), results[name], { random: isDrawn(each) });
        if (why !== undefined) return `${name}: ${why}`;
      }
    }
    return undefined;
  } finally {
    await model.dispose();
  }
}
