// Trains a stand-alone module on MNIST with nothing but the engine: node train_module.mjs mnist.wasm FOLDER [EPOCHS]
// docs/training_module.md tells what such a module has.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const [path, folder, epochs = '3'] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(path));
const { exports } = new WebAssembly.Instance(module);
const [section] = WebAssembly.Module.customSections(module, 'tensorlathe');
const { entries, states } = JSON.parse(new TextDecoder().decode(section));

const types = { f32: Float32Array, i32: Int32Array };
const windowOn = ({ dtype, shape, offset }) =>
  new types[dtype](
    exports.memory.buffer,
    offset,
    shape.reduce((count, size) => count * size, 1),
  );
const state = (wanted) => windowOn(states.find(({ name }) => name === wanted));
const weights = states.filter(({ name }) => !/^(optimizer|totals|random)\//.test(name));

const read = (name) => gunzipSync(readFileSync(join(folder, `${name}-ubyte.gz`)));
const digits = (set) => ({
  images: read(`${set}-images-idx3`).subarray(16),
  labels: read(`${set}-labels-idx1`).subarray(8),
});

/** Runs an entry on all rows of a set in this order; its totals tell how it went. */
function run(entry, { images, labels }, order) {
  const places = entries.find(({ name }) => name === entry).inputs;
  const [x, y, rows] = ['x', 'y', 'rows'].map((each) =>
    windowOn(places.find(({ name }) => name === each)),
  );
  exports[`reset_${entry}`]();
  for (let from = 0; from < order.length; from += y.length) {
    rows[0] = Math.min(y.length, order.length - from);
    for (let row = 0; row < rows[0]; ++row) {
      const image = order[from + row] * 784;
      for (let i = 0; i < 784; ++i) x[row * 784 + i] = images[image + i] / 255;
      y[row] = labels[order[from + row]];
    }
    exports[entry]();
  }
  const mean = (name) => state(`totals/${entry}/${name}`)[0] / state(`totals/${entry}/rows`)[0];
  return { loss: mean('loss'), accuracy: mean('correct') };
}

const [train, test] = [digits('train'), digits('t10k')];
let best = { accuracy: -1 };
for (let epoch = 1; epoch <= Number(epochs); ++epoch) {
  const order = [...train.labels.keys()].sort((a, b) => Math.sin(a * epoch) - Math.sin(b * epoch));
  const { loss } = run('train', train, order);
  const { accuracy } = run('evaluate', test, [...test.labels.keys()]);
  const matrix = state('totals/evaluate/metric/confusionMatrix').slice();
  if (accuracy > best.accuracy) {
    best = { accuracy, matrix, copies: weights.map((each) => windowOn(each).slice()) };
  }
  state('optimizer/learning_rate')[0] *= 0.7;
  console.log(`epoch ${epoch}  loss ${loss.toFixed(4)}  accuracy ${(100 * accuracy).toFixed(2)} %`);
}
weights.forEach((each, at) => windowOn(each).set(best.copies[at]));
const again = run('evaluate', test, [...test.labels.keys()]).accuracy;
console.log(`best accuracy ${(100 * again).toFixed(2)} %, digits (rows) as they were taken:`);
for (let row = 0; row < 10; ++row) {
  console.log(
    [...best.matrix.subarray(10 * row, 10 * row + 10)].map((n) => `${n}`.padStart(5)).join(''),
  );
}
