// Evaluates a stand-alone model on idx files with nothing but the engine: node standalone.mjs digits.wasm images labels
import { readFileSync } from 'node:fs';

const [model, images, labels] = process.argv.slice(2).map((path) => readFileSync(path));
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(model));
const x = new Float32Array(exports.memory.buffer, exports['predict_1.x'].value, 784);
const y = new Float32Array(exports.memory.buffer, exports['predict_1.y'].value, 10);
let correct = 0;
for (let i = 8; i < labels.length; ++i) {
  for (let pixel = 0; pixel < 784; ++pixel) x[pixel] = images[16 + (i - 8) * 784 + pixel] / 255;
  exports.predict_1();
  if (y.indexOf(Math.max(...y)) === labels[i]) ++correct;
}
console.log(`accuracy ${((100 * correct) / (labels.length - 8)).toFixed(2)} %`);
