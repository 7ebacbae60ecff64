// Trains an LSTM on a text, one character after the other, and lets it write: see --help.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as tl from 'tensorlathe';
import { dataPathIfAny, defaultData, plotPath, root, runExample } from './lib/example.mjs';
import { writePlot } from './lib/plot.mjs';
import { Random } from './lib/random.mjs';

const usage = `usage: node examples/characters.mjs [OPTIONS]
  --data DIR      the folder of text/tinyshakespeare.txt (default: train in the folder of LATHE_DATA,
                  or else the guides of this repository)
  --text FILE     a path within it to any other plain text
  --steps N       training steps (default 2000)
  --units N       of the LSTM (default 128)
  --length N      characters that it reads in a row (default 64)
  --batch N       rows of them per step (default 64)
  --write N       characters to write (default 600)
  --seed N        of weights, batches and what it writes (default 1)
  --plot FILE     where the curve goes, and beside it what was written (default build/examples/characters.svg)`;

const defaults = {
  data: defaultData,
  text: 'text/tinyshakespeare.txt',
  steps: 2000,
  units: 128,
  length: 64,
  batch: 64,
  write: 600,
  seed: 1,
  plot: plotPath('characters'),
};

const rate = 0.005;
/** Below 1 it dares less. */
const temperature = 0.7;

/** All guides of this repository, one after the other. */
function guides() {
  const folder = join(root, 'docs/guides');
  const names = readdirSync(folder).filter((name) => name.endsWith('.md'));
  return names.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
}

/** The text as numbers of its characters; the last tenth is kept for the test. */
function readText({ data, text: name, length }) {
  const source = 'https://github.com/karpathy/char-rnn/tree/master/data/tinyshakespeare';
  const path = dataPathIfAny(data, name, 'the guides of this repository', source);
  const text = path === undefined ? guides() : readFileSync(path, 'utf8');
  const alphabet = [...new Set(text)].sort();
  const codes = Uint16Array.from([...text], (character) => alphabet.indexOf(character));
  const split = Math.floor(codes.length * 0.9);
  if (codes.length - split <= length + 1) throw new Error(`${path ?? 'the text'} is too short`);
  return { alphabet, train: codes.subarray(0, split), test: codes.subarray(split) };
}

function buildModel({ units, length, seed }, characters) {
  const layers = [
    tl.layers.lstm({ units, returnSequences: true, inputShape: [length, characters] }),
    tl.layers.dense({ units: characters, activation: 'softmax' }),
  ];
  const model = tl.sequential({ name: 'characters', seed, layers });
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: tl.train.adam(rate) });
  return model;
}

/** Rows of characters as one-hot vectors, and the characters that follow each. */
class Batches {
  constructor({ batch, length }, characters, random) {
    this.shape = [batch, length, characters];
    this.random = random;
    this.x = new Float32Array(batch * length * characters);
    this.y = new Float32Array(this.x.length);
  }

  next(codes) {
    const [batch, length, characters] = this.shape;
    this.x.fill(0);
    this.y.fill(0);
    for (let row = 0; row < batch; ++row) {
      const start = Math.floor(this.random.unit() * (codes.length - length - 1));
      for (let at = 0; at < length; ++at) {
        const place = (row * length + at) * characters;
        this.x[place + codes[start + at]] = 1;
        this.y[place + codes[start + at + 1]] = 1;
      }
    }
    return [tl.tensor(this.x, this.shape), tl.tensor(this.y, this.shape)];
  }
}

async function train(model, codes, batches, { steps, batch, length }) {
  const losses = [];
  const begin = performance.now();
  for (let step = 1; step <= steps; ++step) {
    losses.push(await model.trainOnBatch(...batches.next(codes)));
    if (step % 100 !== 0 && step !== steps) continue;
    const seconds = (performance.now() - begin) / 1000;
    const speed = Math.round((step * batch * length) / seconds).toLocaleString('en');
    console.log(
      `step ${step}/${steps}  loss ${recent(losses).toFixed(3)} nats  ${speed} characters/s  ${seconds.toFixed(0)} s`,
    );
  }
  return losses;
}

/** Mean of the last hundred. */
function recent(losses) {
  const last = losses.slice(-100);
  return last.reduce((sum, loss) => sum + loss, 0) / last.length;
}

/** Reads the beginning of the test text and goes on with characters drawn from what the model expects. */
function write(model, { alphabet, test }, { length, write: count }, random) {
  const codes = [...test.subarray(0, length)];
  const x = new Float32Array(length * alphabet.length);
  for (let at = 0; at < count; ++at) {
    x.fill(0);
    codes.slice(-length).forEach((code, step) => (x[step * alphabet.length + code] = 1));
    const expected = model.predict(tl.tensor(x, [1, length, alphabet.length])).dataSync();
    codes.push(draw(expected.subarray(-alphabet.length), random));
  }
  return codes
    .slice(length)
    .map((code) => alphabet[code])
    .join('');
}

function draw(probabilities, random) {
  const weights = Array.from(probabilities, (p) => p ** (1 / temperature));
  let left = random.unit() * weights.reduce((sum, weight) => sum + weight, 0);
  const found = weights.findIndex((weight) => (left -= weight) < 0);
  return found < 0 ? weights.length - 1 : found;
}

async function run(options) {
  const text = readText(options);
  console.log(
    `${text.train.length} characters to learn from, ${text.test.length} to test, ${text.alphabet.length} different`,
  );
  const model = buildModel(options, text.alphabet.length);
  model.summary();
  const batches = new Batches(options, text.alphabet.length, new Random(options.seed, 1));
  const losses = await train(model, text.train, batches, options);
  let test = 0;
  for (let i = 0; i < 20; ++i)
    test += model.evaluate(...batches.next(text.test), { asObject: true }).loss / 20;
  const written = write(model, text, options, new Random(options.seed, 2));
  console.log(`\ntest loss ${test.toFixed(3)} nats\n\n${written}\n`);
  const title = `an LSTM on characters: test loss ${test.toFixed(3)} nats`;
  const lines = [{ name: 'nats per character', values: hundreds(losses) }];
  writePlot(options.plot, title, [{ title: 'training loss, per hundred steps', lines }]);
  const path = options.plot.replace(/[.]svg$/, '.txt');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${written}\n`);
  console.log(`text: ${path}`);
}

/** Means over hundreds of values. */
function hundreds(values) {
  const count = Math.ceil(values.length / 100);
  return Array.from({ length: count }, (_, at) => recent(values.slice(at * 100, at * 100 + 100)));
}

await runExample('characters', usage, defaults, run);
