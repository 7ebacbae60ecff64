// A sentence to a label: learns from labeled sentences, saves the model and its vocabulary, and says what the sentence given on the
// command line is. See --help, and docs/guides/sentences.md for the same in a page.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tl from 'tensorlathe';
import { root, runExample } from './lib/example.mjs';
import { labels as opinionLabels, makeOpinions } from './lib/opinions.mjs';
import { Random } from './lib/random.mjs';
import { encode, vocabularyOf, wordCount, wordsOf } from './lib/words.mjs';

const usage = `usage: node examples/sentence_to_label.mjs [OPTIONS]
  --sentence TEXT  what to label (default: an opinion about soup)
  --file FILE      sentences to learn from, one a line: its label, a tab, the sentence (default: opinions from templates)
  --out DIR        where the model and vocabulary.json go (default build/examples/sentences)
  --rows N         how many opinions are generated (default 4000)
  --epochs N       default 8
  --length N       words that the model reads, the last ones of longer sentences (default 24)
  --units N        of the LSTM, half as many per word (default 32)
  --seed N         of sentences, weights and the split (default 1)`;

const defaults = {
  sentence: 'The soup was not bad at all!',
  file: '',
  out: join(root, 'build/examples/sentences'),
  rows: 4000,
  epochs: 8,
  length: 24,
  units: 32,
  seed: 1,
};

const source = 'https://archive.ics.uci.edu/dataset/228/sms+spam+collection';

/** Sentences, their classes and the names of these, in a random order. */
function readSentences({ file, rows, seed }) {
  if (file === '') {
    console.log(`data: opinions from templates; real sentences: ${source}, with --file`);
    return { ...makeOpinions(rows, seed), labels: opinionLabels };
  }
  const pairs = readFileSync(file, 'utf8')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line, at) => {
      const tab = line.indexOf('\t');
      if (tab < 1) throw new Error(`${file}:${at + 1}: no tab after a label`);
      return [line.slice(0, tab).trim(), line.slice(tab + 1)];
    });
  const random = new Random(seed, 1);
  const shuffled = pairs.map((pair) => [random.unit(), pair]).sort(([a], [b]) => a - b);
  const labels = [...new Set(pairs.map(([label]) => label))].sort();
  if (labels.length < 2 || pairs.length < 10) {
    throw new Error(`${file}: needs at least two labels and ten sentences`);
  }
  return {
    sentences: shuffled.map(([, [, sentence]]) => sentence),
    classes: shuffled.map(([, [label]]) => labels.indexOf(label)),
    labels,
  };
}

function buildModel(words, labels, { length, units, seed }) {
  const { embedding, lstm, dropout, dense } = tl.layers;
  const model = tl.sequential({
    name: 'sentences',
    seed,
    layers: [
      // maskZero: the LSTM skips what fills up short sentences.
      embedding({ inputDim: words, outputDim: Math.ceil(units / 2), inputLength: length, maskZero: true }), // prettier-ignore
      lstm({ units }),
      dropout({ rate: 0.3 }),
      dense({ units: labels, activation: 'softmax' }),
    ],
  });
  model.compile({
    loss: 'softmaxCrossEntropy',
    optimizer: tl.train.adam(0.005),
    metrics: ['accuracy'],
  });
  return model;
}

/** Some words of the training rows become unknown, so that the model learns to do without. */
function forgetWords(rows, seed) {
  const random = new Random(seed, 2);
  return rows.map((row) => row.map((word) => (word > 1 && random.unit() < 0.05 ? 1 : word)));
}

await runExample('sentence_to_label', usage, defaults, async (options) => {
  const { sentences, classes, labels } = readSentences(options);
  const split = Math.floor(sentences.length * 0.9);
  const vocabulary = vocabularyOf(sentences.slice(0, split), options.file === '' ? 1 : 2);
  const rows = encode(sentences, vocabulary, options.length);
  console.log(
    `${split} sentences to learn from, ${sentences.length - split} to test, ${vocabulary.length} words, ` +
      `${labels.length} labels: ${labels.join(', ')}`,
  );

  const model = buildModel(wordCount(vocabulary), labels.length, options);
  const y = Int32Array.from(classes);
  const x = tl.tensor2d(forgetWords(rows.slice(0, split), options.seed));
  const testX = tl.tensor2d(rows.slice(split));
  await model.fit(x, y.subarray(0, split), {
    epochs: options.epochs,
    batchSize: 32,
    verbose: 2,
    validationData: [testX, y.subarray(split)],
  });

  mkdirSync(options.out, { recursive: true });
  await model.save(`file://${options.out}`);
  const { length } = options;
  writeFileSync(join(options.out, 'vocabulary.json'), JSON.stringify({ labels, length, vocabulary })); // prettier-ignore
  console.log(`model: ${join(options.out, 'model.json')}, and vocabulary.json beside it`);

  const [scores] = model.predict(tl.tensor2d(encode([options.sentence], vocabulary, length))).arraySync(); // prettier-ignore
  const best = scores.indexOf(Math.max(...scores));
  const known = new Set(vocabulary);
  const others = wordsOf(options.sentence).filter((word) => !known.has(word));
  if (others.length > 0) console.log(`unknown words: ${others.join(', ')}`);
  console.log(`"${options.sentence}": ${labels[best]} (${(100 * scores[best]).toFixed(1)} %)`);
});
