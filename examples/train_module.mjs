// Trains a stand-alone module on MNIST with nothing but the engine: node train_module.mjs mnist.wasm FOLDER [EPOCHS]
// docs/training_module.md tells what such a module and its driver have.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { loadTrainingModule } from 'tensorlathe/training-module';

const [path, folder, epochs = '3'] = process.argv.slice(2);
const read = (name) => gunzipSync(readFileSync(join(folder, `${name}-ubyte.gz`)));
const digits = (set) => [
  Float32Array.from(read(`${set}-images-idx3`).subarray(16), (each) => each / 255),
  read(`${set}-labels-idx1`).subarray(8),
];

const net = await loadTrainingModule(readFileSync(path));
const test = digits('t10k');
let best = { accuracy: -1 };
await net.train(...digits('train'), {
  epochs: Number(epochs),
  validationData: test,
  onEpochEnd(epoch, { loss, val_acc: accuracy }) {
    console.log(
      `epoch ${epoch + 1}  loss ${loss.toFixed(4)}  accuracy ${(100 * accuracy).toFixed(2)} %`,
    );
    if (accuracy > best.accuracy) best = { accuracy, weights: net.getWeights() };
    net.learningRate *= 0.7;
  },
});
net.setWeights(best.weights);
const { acc, confusionMatrix } = net.test(...test);
console.log(`best accuracy ${(100 * acc).toFixed(2)} %, digits (rows) as they were taken:`);
for (const row of confusionMatrix) console.log(row.map((n) => `${n}`.padStart(5)).join(''));
