// What a review thinks, by an LSTM over its words, in the words of the sentiment example of TensorFlow.js.
import * as tf from '@tensorflow/tfjs';

const PAD_INDEX = 0;
const OOV_INDEX = 2;
const GOOD = ['good', 'great', 'lovely', 'fine'];
const BAD = ['bad', 'awful', 'dull', 'poor'];
const PLAIN = ['the', 'film', 'was', 'and', 'its', 'end', 'a', 'story'];

const wordIndex = Object.fromEntries([...PLAIN, ...GOOD, ...BAD].map((word, i) => [word, i + 3]));

function padSequences(sequences, maxLen, padding = 'pre', truncating = 'pre', value = PAD_INDEX) {
  return sequences.map((seq) => {
    if (seq.length > maxLen) {
      if (truncating === 'pre') seq.splice(0, seq.length - maxLen);
      else seq.splice(maxLen, seq.length - maxLen);
    }
    if (seq.length < maxLen) {
      const pad = [];
      for (let i = 0; i < maxLen - seq.length; ++i) pad.push(value);
      seq = padding === 'pre' ? pad.concat(seq) : seq.concat(pad);
    }
    return seq;
  });
}

function loadData(count, maxLen, seed) {
  let state = seed;
  const pick = (list) => list[(state = (state * 16807) % 2147483647) % list.length];
  const sequences = [];
  const labels = [];
  for (let i = 0; i < count; ++i) {
    const isGood = i % 2;
    const words = Array.from({ length: 3 + (i % 6) }, () => pick(PLAIN));
    words.splice(i % 3, 0, pick(isGood ? GOOD : BAD));
    sequences.push(words.map((word) => wordIndex[word]));
    labels.push(isGood);
  }
  const x = tf.tensor2d(padSequences(sequences, maxLen), [count, maxLen], 'int32');
  const y = tf.tensor2d(labels, [count, 1], 'float32');
  return [x, y];
}

function buildModel(maxLen, vocabularySize, embeddingSize) {
  const model = tf.sequential();
  model.add(
    tf.layers.embedding({
      inputDim: vocabularySize,
      outputDim: embeddingSize,
      inputLength: maxLen,
    }),
  );
  model.add(tf.layers.lstm({ units: 8, returnSequences: false }));
  model.add(tf.layers.dense({ units: 1, activation: 'sigmoid' }));
  return model;
}

class SentimentPredictor {
  constructor(model, maxLen) {
    this.model = model;
    this.maxLen = maxLen;
  }

  predict(text) {
    const inputText = text.trim().toLowerCase().split(' ');
    const sequence = inputText.map((word) => wordIndex[word] ?? OOV_INDEX);
    const paddedSequence = padSequences([sequence], this.maxLen);
    const input = tf.tensor2d(paddedSequence, [1, this.maxLen]);
    const predictOut = this.model.predict(input);
    const score = predictOut.dataSync()[0];
    predictOut.dispose();
    input.dispose();
    return score;
  }
}

export async function run(log) {
  const maxLen = 10;
  const vocabularySize = 3 + Object.keys(wordIndex).length;
  const [xTrain, yTrain] = loadData(256, maxLen, 5);
  const [xTest, yTest] = loadData(64, maxLen, 11);

  const model = buildModel(maxLen, vocabularySize, 8);
  model.compile({ loss: 'binaryCrossentropy', optimizer: tf.train.adam(0.03), metrics: ['acc'] });
  model.summary();

  const history = await model.fit(xTrain, yTrain, {
    epochs: 12,
    batchSize: 32,
    validationSplit: 0.2,
    callbacks: [tf.callbacks.earlyStopping({ monitor: 'val_loss', patience: 8 })],
  });
  log(Object.keys(history.history).sort());

  const [testLoss, testAcc] = model.evaluate(xTest, yTest, { batchSize: 32 });
  log(`Evaluation accuracy above 0.9: ${(await testAcc.data())[0] > 0.9}`);
  log(`Evaluation loss below 0.5: ${(await testLoss.data())[0] < 0.5}`);

  let artifacts;
  await model.save(
    tf.io.withSaveHandler(async (saved) => {
      artifacts = saved;
      return { modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' } };
    }),
  );
  const loaded = await tf.loadLayersModel(tf.io.fromMemory(artifacts));
  const predictor = new SentimentPredictor(loaded, maxLen);
  log(
    predictor.predict('the great film was a story') > 0.5,
    predictor.predict('the poor film was a story') > 0.5,
  );
  const same = new SentimentPredictor(model, maxLen);
  log(Math.abs(same.predict('lovely film') - predictor.predict('lovely film')) < 1e-6);
  return [];
}
