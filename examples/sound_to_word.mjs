// A microphone to words: learns from sounds of one second, saves the model, and says which word a WAV file has. See --help, and
// docs/guides/sounds.md for the microphone of a page.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from 'tensorlathe/tfjs';
import { root, runExample } from './lib/example.mjs';
import { logMel, loudestSecond, rate, resample } from './lib/log_mel.mjs';
import { Random } from './lib/random.mjs';
import { labels as synthesizedLabels, say } from './lib/voices.mjs';
import { readWav, writeWav } from './lib/wav.mjs';

const usage = `usage: node examples/sound_to_word.mjs [OPTIONS]
  --wav FILE     what to recognize (default: a synthesized word, written to the folder as word.wav)
  --data DIR     a folder for each word, with WAV files, to learn from (default: synthesized words)
  --words LIST   with --data: which folders, as yes,no,up (default: all)
  --out DIR      where the model, labels.json and log_mel.js go (default build/examples/sounds)
  --rows N       how many sounds it learns from; with --data: at most, of each word (default 1800)
  --epochs N     default 8
  --seed N       of sounds, weights and the split (default 1)`;

const defaults = {
  wav: '',
  data: '',
  words: '',
  out: join(root, 'build/examples/sounds'),
  rows: 1800,
  epochs: 8,
  seed: 1,
};

const source = 'http://download.tensorflow.org/data/speech_commands_v0.02.tar.gz';

/** The sound of a WAV file as the model hears it. */
function soundOf(file) {
  const { sound, rate: original } = readWav(readFileSync(file), file);
  return loudestSecond(resample(sound, original));
}

/** The labels, and for each sound its class and what makes it, in a random order. */
function listSounds({ data, words, rows, seed }) {
  if (data === '') {
    console.log(
      `data: synthesized words; recordings of people: ${source}, unpacked, with --data DIR`,
    );
    const sounds = Array.from({ length: rows }, (_, at) => at % synthesizedLabels.length);
    return {
      labels: synthesizedLabels,
      sounds: sounds.map((label, at) => [label, () => say(label, seed, at)]),
    };
  }
  if (!existsSync(data)) throw new Error(`${data} is missing`);
  const folders = readdirSync(data, { withFileTypes: true })
    .filter((each) => each.isDirectory() && !/^[_.]/.test(each.name))
    .map(({ name }) => name);
  const labels = words === '' ? folders.sort() : words.split(',');
  if (labels.length < 2) throw new Error(`${data}: needs folders of at least two words`);
  const random = new Random(seed, 1);
  const shuffled = (list) =>
    list
      .map((each) => [random.unit(), each])
      .sort(([a], [b]) => a - b)
      .map(([, each]) => each);
  const sounds = labels.flatMap((word, label) => {
    const folder = join(data, word);
    const names = existsSync(folder) ? readdirSync(folder).filter((name) => /[.]wav$/i.test(name)) : []; // prettier-ignore
    if (names.length === 0) throw new Error(`${folder} has no WAV files`);
    return shuffled(names.sort())
      .slice(0, rows)
      .map((name) => [label, () => soundOf(join(folder, name))]);
  });
  return { labels, sounds: shuffled(sounds) };
}

function buildModel(shape, labels, seed) {
  const { conv2d, maxPooling2d, batchNormalization, flatten, dropout, dense } = tf.layers;
  const model = tf.sequential({
    seed,
    layers: [
      conv2d({ filters: 8, kernelSize: 3, activation: 'relu', inputShape: shape }),
      batchNormalization(),
      maxPooling2d(),
      conv2d({ filters: 16, kernelSize: 3, activation: 'relu' }),
      batchNormalization(),
      maxPooling2d(),
      conv2d({ filters: 24, kernelSize: 3, activation: 'relu' }),
      maxPooling2d(),
      flatten(),
      dropout({ rate: 0.4 }),
      dense({ units: labels, activation: 'softmax' }),
    ],
  });
  model.compile({
    loss: 'softmaxCrossEntropy',
    optimizer: tf.train.adam(0.002),
    metrics: ['accuracy'],
  });
  return model;
}

/** Spectrograms as one tensor [sounds, frames, bands, 1]. */
function spectrograms(sounds) {
  let values;
  let shape;
  for (const [at, [, make]] of sounds.entries()) {
    const x = logMel(tf, make());
    shape ??= x.shape;
    values ??= new Float32Array(sounds.length * x.size);
    values.set(x.dataSync(), at * x.size);
    x.dispose();
  }
  return tf.tensor(values, [sounds.length, ...shape]);
}

await runExample('sound_to_word', usage, defaults, async (options) => {
  const { labels, sounds } = listSounds(options);
  const split = Math.floor(sounds.length * 0.9);
  console.log(`${split} sounds to learn from, ${sounds.length - split} to test: ${labels.join(', ')}`); // prettier-ignore
  const x = spectrograms(sounds);
  const y = Int32Array.from(sounds, ([label]) => label);
  const [, ...shape] = x.shape;
  const part = (begin, size) => x.slice([begin, 0, 0, 0], [size, ...shape]);
  const model = buildModel(shape, labels.length, options.seed);
  await model.fit(part(0, split), y.subarray(0, split), {
    epochs: options.epochs,
    batchSize: 32,
    callbacks: tf.callbacks.progress(2),
    validationData: [part(split, sounds.length - split), y.subarray(split)],
  });

  mkdirSync(options.out, { recursive: true });
  await model.save(`file://${options.out}`);
  writeFileSync(join(options.out, 'labels.json'), JSON.stringify(labels));
  const features = fileURLToPath(new URL('lib/log_mel.mjs', import.meta.url));
  copyFileSync(features, join(options.out, 'log_mel.js'));
  console.log(`model: ${join(options.out, 'model.json')}, labels.json and log_mel.js beside it`);

  const file = options.wav || join(options.out, 'word.wav');
  if (options.wav === '') {
    const [, make] = sounds[0]; // with --data a file that it has learned from
    writeFileSync(file, writeWav(options.data === '' ? say(0, options.seed, -1) : make(), rate));
  }
  const scores = model.predict(logMel(tf, soundOf(file)).expandDims()).dataSync();
  const best = scores.indexOf(Math.max(...scores));
  console.log(`${file}: ${labels[best]} (${(100 * scores[best]).toFixed(1)} %)`);
});
