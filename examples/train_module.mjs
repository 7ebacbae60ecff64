// Trains a stand-alone module on MNIST with nothing but the engine: node train_module.mjs mnist.wasm FOLDER [EPOCHS]
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const [path, folder, epochs = '3'] = process.argv.slice(2);
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(path)));
const { buffer } = exports.memory;
const at = (name) => exports[name].value;
/** Rows that one call of train or evaluate takes: examples/mnist.cc leaves it at its default. */
const batch = 64;

const read = (name) => gunzipSync(readFileSync(join(folder, `${name}-ubyte.gz`)));
const digits = (set) => ({
  images: read(`${set}-images-idx3`).subarray(16),
  labels: read(`${set}-labels-idx1`).subarray(8),
});

/** Runs an entry on rows of a set, in this order; gives mean loss and share of hits. */
function run(entry, { images, labels }, order) {
  const x = new Float32Array(buffer, at(`${entry}.x`), batch * 784);
  const y = new Int32Array(buffer, at(`${entry}.y`), batch);
  const rows = new Int32Array(buffer, at(`${entry}.rows`), 1);
  const loss = new Float32Array(buffer, at(`${entry}.loss`), 1);
  const correct = new Float32Array(buffer, at(`${entry}.correct`), 1);
  let [lossSum, hits] = [0, 0];
  for (let from = 0; from < order.length; from += batch) {
    rows[0] = Math.min(batch, order.length - from);
    for (let row = 0; row < rows[0]; ++row) {
      const index = order[from + row];
      for (let i = 0; i < 784; ++i) x[row * 784 + i] = images[index * 784 + i] / 255;
      y[row] = labels[index];
    }
    exports[entry]();
    lossSum += loss[0] * rows[0];
    hits += correct[0];
  }
  return [lossSum / order.length, hits / order.length];
}

const [train, test] = [digits('train'), digits('t10k')];
const order = [...train.labels.keys()];
let state = 1;
const random = (below) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
for (let epoch = 1; epoch <= Number(epochs); ++epoch) {
  for (let last = order.length - 1; last > 0; --last) {
    const other = random(last + 1);
    [order[last], order[other]] = [order[other], order[last]];
  }
  const [loss] = run('train', train, order);
  const [, accuracy] = run('evaluate', test, [...test.labels.keys()]);
  console.log(`epoch ${epoch}  loss ${loss.toFixed(4)}  accuracy ${(100 * accuracy).toFixed(2)} %`);
}
