// Digits by a convolutional network, in the words of the MNIST example of TensorFlow.js.
import * as tf from '@tensorflow/tfjs';

const IMAGE_H = 28;
const IMAGE_W = 28;
const NUM_CLASSES = 10;
const NUM_TRAIN_ELEMENTS = 160;
const NUM_TEST_ELEMENTS = 40;

/** Which of seven strokes a digit has: top, upper left and right, middle, lower left and right, bottom. */
const STROKES =
  '1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011'.split(' ');

/** Draws digits somewhere in the image, deterministically. */
class MnistData {
  constructor() {
    let state = 7;
    const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
    const count = NUM_TRAIN_ELEMENTS + NUM_TEST_ELEMENTS;
    this.images = new Float32Array(count * IMAGE_H * IMAGE_W);
    this.labels = new Uint8Array(count * NUM_CLASSES);
    for (let i = 0; i < count; ++i) {
      const digit = i % NUM_CLASSES;
      this.labels[i * NUM_CLASSES + digit] = 1;
      const [top, left] = [4 + Math.floor(3 * random()), 8 + Math.floor(3 * random())];
      const ink = (y, x) => {
        this.images[(i * IMAGE_H + top + y) * IMAGE_W + left + x] = 0.8 + 0.2 * random();
      };
      const rows = [0, 9, 18];
      const across = [0, 3, 6].filter((stroke) => STROKES[digit][stroke] === '1');
      for (const stroke of across) for (let x = 0; x < 10; ++x) ink(rows[stroke / 3], x);
      for (const [stroke, y, x] of [
        [1, 0, 0],
        [2, 0, 9],
        [4, 9, 0],
        [5, 9, 9],
      ])
        if (STROKES[digit][stroke] === '1') for (let at = 0; at < 10; ++at) ink(y + at, x);
    }
  }

  getTrainData() {
    return this.part(0, NUM_TRAIN_ELEMENTS);
  }

  getTestData() {
    return this.part(NUM_TRAIN_ELEMENTS, NUM_TEST_ELEMENTS);
  }

  part(from, count) {
    const size = IMAGE_H * IMAGE_W;
    const xs = tf.tensor4d(this.images.slice(from * size, (from + count) * size), [
      count,
      IMAGE_H,
      IMAGE_W,
      1,
    ]);
    const labels = tf.tensor2d(
      this.labels.slice(from * NUM_CLASSES, (from + count) * NUM_CLASSES),
      [count, NUM_CLASSES],
    );
    return { xs, labels };
  }
}

function createConvModel() {
  const model = tf.sequential();
  model.add(
    tf.layers.conv2d({
      inputShape: [IMAGE_H, IMAGE_W, 1],
      kernelSize: 5,
      filters: 8,
      strides: 2,
      activation: 'relu',
    }),
  );
  model.add(tf.layers.maxPooling2d({ poolSize: 2, strides: 2 }));
  model.add(tf.layers.conv2d({ kernelSize: 3, filters: 8, activation: 'relu' }));
  model.add(tf.layers.flatten({}));
  model.add(tf.layers.dropout({ rate: 0.1 }));
  model.add(tf.layers.dense({ units: 32, activation: 'relu' }));
  model.add(tf.layers.dense({ units: NUM_CLASSES, activation: 'softmax' }));
  return model;
}

export async function run(log) {
  const data = new MnistData();
  const model = createConvModel();
  model.summary();

  const optimizer = tf.train.adam(0.005);
  model.compile({ optimizer, loss: 'categoricalCrossentropy', metrics: ['accuracy'] });

  const batchSize = 16;
  const trainEpochs = 10;
  const validationSplit = 0.15;
  const trainData = data.getTrainData();
  const testData = data.getTestData();
  const totalNumBatches =
    Math.ceil((trainData.xs.shape[0] * (1 - validationSplit)) / batchSize) * trainEpochs;

  let trainBatchCount = 0;
  let valAcc;
  await model.fit(trainData.xs, trainData.labels, {
    batchSize,
    validationSplit,
    epochs: trainEpochs,
    callbacks: {
      onBatchEnd: async (batch, logs) => {
        trainBatchCount++;
        if (!(logs.loss >= 0 && logs.acc >= 0 && logs.size > 0)) log('bad logs', batch);
      },
      onEpochEnd: async (epoch, logs) => {
        valAcc = logs.val_acc;
      },
    },
  });
  log(`${trainBatchCount} of ${totalNumBatches} batches`);

  const testResult = model.evaluate(testData.xs, testData.labels);
  const testAccPercent = testResult[1].dataSync()[0] * 100;
  const finalValAccPercent = valAcc * 100;
  log(`Final validation accuracy above 80: ${finalValAccPercent > 80}`);
  log(`Final test accuracy above 80: ${testAccPercent > 80}`);

  const output = model.predict(testData.xs);
  const axis = 1;
  const labels = Array.from(testData.labels.argMax(axis).dataSync());
  const predictions = Array.from(output.argMax(axis).dataSync());
  const right = labels.filter((label, i) => label === predictions[i]).length;
  log(
    `Predictions match the accuracy: ${Math.abs(right / labels.length - testAccPercent / 100) < 1e-6}`,
  );
  log(output.shape, model.metricsNames);
  return [];
}
