// Trains a network on digits in Node, writes it as a stand-alone module and checks that module: see --help.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tl from 'tensorlathe';
import { toFloats } from './lib/digits.mjs';
import { runExample } from './lib/example.mjs';
import { writeIdx } from './lib/idx.mjs';
import { drawnDigits, idxDigits } from './lib/load.mjs';
import { progress } from './lib/progress.mjs';
import { servePlayground } from './lib/serve.mjs';

const usage = `usage: ./dev demo [OPTIONS]
  --epochs N    rounds over the data (default 10)
  --batch N     images per step (default 64)
  --seed N      of digits, weights and shuffling (default 1)
  --linear      train the linear model (no hidden layer) instead
  --data DIR    read MNIST idx or idx.gz files from DIR instead of drawing digits
  --serve       open the page where the same happens in the browser
  --port N      its port (default 5173)`;

const folder = fileURLToPath(new URL('../build/demo/', import.meta.url));

const defaults = {
  epochs: 10,
  batch: 64,
  seed: 1,
  port: 5173,
  linear: false,
  data: undefined,
  serve: false,
};

function buildModel({ linear, seed }) {
  const hidden = tl.layers.dense({ units: 128, activation: 'relu', inputShape: [784] });
  const output = { units: 10, activation: 'softmax' };
  const layers = linear
    ? [tl.layers.dense({ ...output, inputShape: [784] })]
    : [hidden, tl.layers.dense(output)];
  const model = tl.sequential({ name: 'digits', seed, layers });
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'adam', metrics: ['accuracy'] });
  return model;
}

const tensors = ({ images, labels, count }) => [
  tl.tensor(toFloats(images), [count, 784]),
  tl.tensor(labels, [count]),
];

function writeResults(model, test) {
  mkdirSync(folder, { recursive: true });
  const files = {
    'digits.wasm': model.toWasm(),
    'test-images-idx3-ubyte': writeIdx([test.count, 28, 28], test.images),
    'test-labels-idx1-ubyte': writeIdx([test.count], test.labels),
  };
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  return files['digits.wasm'].length;
}

/** Runs the script that knows nothing of Tensorlathe and returns the accuracy it prints. */
function standAloneAccuracy() {
  const script = fileURLToPath(new URL('standalone.mjs', import.meta.url));
  const names = ['digits.wasm', 'test-images-idx3-ubyte', 'test-labels-idx1-ubyte'];
  const paths = names.map((name) => join(folder, name));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...paths], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`examples/standalone.mjs failed: ${stderr}`);
  return stdout.trim();
}

async function train(options) {
  const digits =
    options.data === undefined ? drawnDigits(options.seed) : await idxDigits(options.data);
  const source = options.data ?? 'drawn by the project';
  console.log(`${digits.train.count} training and ${digits.test.count} test digits (${source})\n`);

  const model = buildModel(options);
  model.summary();
  const [x, y] = tensors(digits.train);
  const [testX, testY] = tensors(digits.test);
  const { epochs, batch: batchSize } = options;
  const callbacks = progress(epochs, digits.train.count);
  console.log('');
  await model.fit(x, y, {
    epochs,
    batchSize,
    callbacks,
    validationData: [testX, testY],
    verbose: 0,
  });

  const { compileMs, moduleBytes, memoryBytes } = model.stats();
  const { acc } = model.evaluate(testX, testY, { asObject: true });
  const accuracy = `accuracy ${(100 * acc).toFixed(2)} %`;
  const size = writeResults(model, digits.test);
  const alone = standAloneAccuracy();
  const kib = (bytes) => `${(bytes / 1024).toFixed(0)} KiB`;
  console.log(`
training module      ${kib(moduleBytes)}, compiled in ${compileMs.toFixed(1)} ms, memory ${kib(memoryBytes)}
on test digits       ${accuracy}
build/demo/digits.wasm  ${kib(size)} stand-alone
examples/standalone.mjs ${alone} (no Tensorlathe in it)`);
  model.dispose();
  if (alone !== accuracy) throw new Error('the stand-alone module does not give the same accuracy');
  console.log('\nThe same in the browser: ./dev demo --serve');
}

await runExample('demo', usage, defaults, (options) =>
  options.serve ? servePlayground(options.port) : train(options),
);
