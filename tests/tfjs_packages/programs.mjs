// Programs over packages written for TensorFlow.js. Each returns plain values.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { frames } from './frames.mjs';

const require = createRequire(import.meta.url);
const packages = new URL('node_modules/', import.meta.url);

/** Numbers from -1 to 1, always the same. */
function waves(tf, shape, seed = 1) {
  const size = shape.reduce((product, each) => product * each, 1);
  return tf.tensor(
    Float32Array.from({ length: size }, (_, at) => Math.sin(12.9898 * (at + seed))),
    shape,
  );
}

/** A classifier that stores examples. */
async function neighbors(tf) {
  const knn = await import('@tensorflow-models/knn-classifier');
  const classifier = knn.create();
  for (let at = 0; at < 12; ++at) classifier.addExample(waves(tf, [5], 7 * at), 'abc'[at % 3]);
  const found = [];
  for (let at = 0; at < 4; ++at) {
    found.push(await classifier.predictClass(waves(tf, [5], 3 + at), 4));
  }
  const counts = classifier.getClassExampleCount();
  const copies = Object.entries(classifier.getClassifierDataset()).map(([label, examples]) => [
    label,
    tf.tensor(examples.dataSync(), examples.shape),
  ]);
  const other = knn.create();
  other.setClassifierDataset(Object.fromEntries(copies));
  found.push(await other.predictClass(waves(tf, [5], 9)));
  other.clearClass('a');
  const left = other.getNumClasses();
  const rejected = await other
    .predictClass(waves(tf, [4]))
    .catch((reason) => reason instanceof Error);
  classifier.dispose();
  return { found, counts, left, rejected };
}

/** A graph model shipped in its package: notes of a sound. */
async function notes(tf) {
  const pitch = await import('@spotify/basic-pitch');
  const folder = new URL('@spotify/basic-pitch/model/', packages);
  const { weightsManifest, ...json } = JSON.parse(readFileSync(new URL('model.json', folder)));
  const files = weightsManifest.flatMap(({ paths }) => paths);
  const { buffer } = new Uint8Array(
    Buffer.concat(files.map((each) => readFileSync(new URL(each, folder)))),
  );
  const weightSpecs = weightsManifest.flatMap(({ weights }) => weights);
  const model = tf.loadGraphModel(tf.io.fromMemory({ ...json, weightSpecs, weightData: buffer }));
  const tone = (at) =>
    (0.5 + (Math.floor(at / 11025) % 2)) * Math.sin((2 * Math.PI * 440 * at) / 22050);
  const sound = Float32Array.from({ length: 2 * 22050 }, (_, at) => 0.5 * tone(at));
  const [frames, onsets] = [[], []];
  await new pitch.BasicPitch(model).evaluateModel(
    sound,
    (moreFrames, moreOnsets) => {
      frames.push(...moreFrames);
      onsets.push(...moreOnsets);
    },
    () => {},
  );
  const found = pitch.noteFramesToTime(pitch.outputToNotesPoly(frames, onsets, 0.25, 0.25, 5));
  // What is silent is rounding.
  const loud = frames.map((frame) => frame.findIndex((each) => each > 0.3));
  return { found, loud };
}

/** Estimators, to which a TensorFlow.js is passed. */
async function estimators(tf) {
  const sk = require('scikitjs');
  sk.setBackend(tf);
  const x = [
    [1, 2],
    [2, 3],
    [3, 5],
    [4, 1],
    [5, 7],
    [2, 2],
  ];
  const classes = [0, 0, 1, 1, 1, 0];
  const values = (value) => (value.dataSync === undefined ? value : [...value.dataSync()]);
  const fitted = async (estimator, labels) => values((await estimator.fit(x, labels)).predict(x));
  return {
    means: await fitted(new sk.KMeans({ nClusters: 2, randomState: 1 })),
    scaled: values(new sk.StandardScaler().fitTransform(x)),
    between: values(new sk.MinMaxScaler().fitTransform(x)),
    neighbors: await fitted(new sk.KNeighborsClassifier({ nNeighbors: 3 }), classes),
    tree: await fitted(new sk.DecisionTreeClassifier({ maxDepth: 3 }), classes),
    bayes: await fitted(new sk.GaussianNB(), classes),
    logistic: await fitted(new sk.LogisticRegression({ penalty: 'none' }), classes),
  };
}

/** Words in sounds, by a model of layers that is made here; then other words are learnt from examples of them. */
async function words(tf) {
  const speech = await import('@tensorflow-models/speech-commands');
  const model = tf.sequential();
  const { conv2d, maxPooling2d, flatten, dense } = tf.layers;
  const windows = { kernelSize: [2, 8], activation: 'relu', inputShape: [43, 232, 1] };
  model.add(conv2d({ filters: 4, ...windows }));
  model.add(maxPooling2d({ poolSize: [2, 2], strides: [2, 2] }));
  model.add(flatten());
  model.add(dense({ units: 10, activation: 'relu' }));
  model.add(dense({ units: 4, activation: 'softmax' }));
  const drawn = ({ shape }, at) =>
    shape.length < 2 ? tf.zeros(shape) : waves(tf, shape, at).mul(0.1);
  model.setWeights(model.getWeights().map(drawn));
  let artifacts;
  const saveTo = async (saved) => {
    artifacts = saved;
    return { modelArtifactsInfo: {} };
  };
  await model.save(tf.io.withSaveHandler(saveTo));
  model.dispose();
  const wordLabels = ['_background_noise_', '_unknown_', 'a', 'b'];
  const metadata = { tfjsSpeechCommandsVersion: '0.4', wordLabels };
  const recognizer = speech.create('BROWSER_FFT', undefined, artifacts, metadata);
  await recognizer.ensureModelLoaded();
  const recognized = await recognizer.recognize(waves(tf, [1, 43, 232, 1]), {
    includeEmbedding: true,
  });
  return {
    scores: [...recognized.scores],
    embedding: [...recognized.embedding.dataSync()],
    labels: recognizer.wordLabels(),
    shape: recognizer.modelInputShape(),
  };
}

/** The tokens that a sentence encoder reads. */
async function tokens() {
  const { Tokenizer } = await import('@tensorflow-models/universal-sentence-encoder');
  const scores = { '▁': -1, '<s>': -1, '▁a': -2, a: -3, b: -4, c: -4, '▁ab': -2 };
  const tokenizer = new Tokenizer(Object.entries(scores));
  return ['ab c a', 'abc', 'cab'].map((each) => tokenizer.encode(each));
}

/** An image upscaled in one call and in patches, by a layers model of any input size. */
async function larger(tf) {
  const Upscaler = require('upscaler/node');
  const upscaler = new Upscaler({ model: require('@upscalerjs/default-model') });
  const image = waves(tf, [30, 44, 3]).mul(100).add(120);
  const seen = (made) => [made.shape, made.dtype, [...made.dataSync()]];
  const full = seen(await upscaler.upscale(image, { output: 'tensor' }));
  const options = { output: 'tensor', patchSize: 16, padding: 2 };
  return { full, pieces: seen(await upscaler.upscale(image, options)) };
}

/** What tfjs-vis counts; what it draws is seen in a page. */
async function counts(tf) {
  const { metrics } = await import('@tensorflow/tfjs-vis');
  const labels = tf.tensor1d([0, 1, 2, 2, 1, 0], 'int32');
  const guesses = tf.tensor1d([0, 1, 1, 2, 1, 2], 'int32');
  return {
    accuracy: await metrics.accuracy(labels, guesses),
    classes: await metrics.perClassAccuracy(labels, guesses),
    matrix: await metrics.confusionMatrix(labels, guesses),
  };
}

export const programs = {
  'knn-classifier': neighbors,
  'basic-pitch': notes,
  'danfojs-node': frames,
  scikitjs: estimators,
  'speech-commands': words,
  'universal-sentence-encoder': tokens,
  upscaler: larger,
  'tfjs-vis, metrics': counts,
};
