// An image to a label: draws a digit into a PNG file, trains a small network on other digits, writes it as ONNX, and asks it
// what the image shows. See --help, and docs/guides/images.md for the same in a page and by `lathe run`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import * as tl from 'tensorlathe';
import { drawDigits, toFloats } from './lib/digits.mjs';
import { root, runExample } from './lib/example.mjs';

const usage = `usage: node examples/image_to_label.mjs [OPTIONS]
  --image FILE   a JPEG or PNG file, white on black (default: a drawn digit, written to the folder)
  --out DIR      where digits.onnx, labels.txt and digit.png go (default build/examples)
  --rows N       how many drawn digits the network learns from (default 3000)
  --seed N       of digits and weights (default 1)`;

const defaults = { image: '', out: join(root, 'build/examples'), rows: 3000, seed: 1 };

const labels = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** A network that knows drawn digits, as an ONNX file. */
async function trainDigits(file, rows, seed) {
  const { images, labels: classes } = drawDigits(rows, seed);
  const { conv2d, maxPooling2d, flatten, dense } = tl.layers;
  const model = tl.sequential({
    seed,
    layers: [
      conv2d({ filters: 8, kernelSize: 3, activation: 'relu', inputShape: [28, 28, 1] }),
      maxPooling2d(),
      flatten(),
      dense({ units: 32, activation: 'relu' }),
      dense({ units: 10, activation: 'softmax', name: 'scores' }),
    ],
  });
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'adam' });
  await model.fit(tl.tensor(toFloats(images), [rows, 28, 28, 1]), classes, {
    epochs: 5,
    verbose: 0,
  });
  writeFileSync(file, await tl.toOnnx(model));
  model.dispose();
}

/** A digit that was not among the others, six times as large, as a PNG file. */
function drawPng(file, seed) {
  const { images } = drawDigits(1, seed, 1_000_003);
  const side = 168;
  const png = new PNG({ width: side, height: side });
  for (let at = 0; at < side * side; at++) {
    const value = images[Math.floor(at / side / 6) * 28 + Math.floor((at % side) / 6)];
    png.data.set([value, value, value, 255], 4 * at);
  }
  writeFileSync(file, PNG.sync.write(png));
}

await runExample('image_to_label', usage, defaults, async ({ image, out, rows, seed }) => {
  mkdirSync(out, { recursive: true });
  const model = join(out, 'digits.onnx');
  await trainDigits(model, rows, seed);
  writeFileSync(join(out, 'labels.txt'), `${labels.join('\n')}\n`);
  const file = image || join(out, 'digit.png');
  if (image === '') drawPng(file, seed);

  const net = await tl.loadModel(model);
  const x = await tl.image.toTensor(file, { size: 28, channels: 1 });
  const [probabilities] = Object.values(await net.run({ [net.inputs[0].name]: x }));
  const [scores] = probabilities.arraySync();
  const best = scores.indexOf(Math.max(...scores));
  console.log(`${file}: ${labels[best]} (${(100 * scores[best]).toFixed(1)} %)`);
  console.log(`the same: lathe run ${model} ${join(out, 'labels.txt')} --input ${file} --top 3`);
  net.dispose();
});
