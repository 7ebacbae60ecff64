// Kinds of flowers by four measures, in the words of the iris example of TensorFlow.js; the flowers are drawn.
import * as tf from '@tensorflow/tfjs';

export const IRIS_CLASSES = ['Iris-setosa', 'Iris-versicolor', 'Iris-virginica'];
const IRIS_NUM_CLASSES = IRIS_CLASSES.length;
/** Means and deviations of sepal and petal, length and width. */
const MEASURES = [
  [
    [5.0, 3.4, 1.5, 0.2],
    [0.35, 0.38, 0.17, 0.1],
  ],
  [
    [5.9, 2.8, 4.3, 1.3],
    [0.52, 0.31, 0.47, 0.2],
  ],
  [
    [6.6, 3.0, 5.6, 2.0],
    [0.64, 0.32, 0.55, 0.27],
  ],
];

function drawFlowers(perClass) {
  let state = 11;
  const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
  const bell = () => random() + random() + random() + random() - 2;
  return MEASURES.flatMap(([means, deviations], kind) =>
    Array.from({ length: perClass }, () => [
      ...means.map((mean, at) => mean + 1.7 * deviations[at] * bell()),
      kind,
    ]),
  );
}

function convertToTensors(data, targets, testSplit) {
  const numExamples = data.length;
  const numTestExamples = Math.round(numExamples * testSplit);
  const numTrainExamples = numExamples - numTestExamples;
  const part = (from, to) => [
    tf.tensor2d(data.slice(from, to), [to - from, 4]),
    tf.oneHot(tf.tensor1d(targets.slice(from, to), 'int32'), IRIS_NUM_CLASSES),
  ];
  return [...part(0, numTrainExamples), ...part(numTrainExamples, numExamples)];
}

function getIrisData(testSplit) {
  const flowers = drawFlowers(40);
  const order = flowers.map((_, at) => (at * 37) % flowers.length);
  const data = order.map((at) => flowers[at].slice(0, 4));
  const targets = order.map((at) => flowers[at][4]);
  return convertToTensors(data, targets, testSplit);
}

async function trainModel(xTrain, yTrain, xTest, yTest, params, log) {
  const model = tf.sequential();
  model.add(tf.layers.dense({ units: 10, activation: 'sigmoid', inputShape: [xTrain.shape[1]] }));
  model.add(tf.layers.dense({ units: 3, activation: 'softmax' }));
  model.summary();
  model.setWeights(
    model.getWeights().map(({ shape, size }, layer) =>
      tf.tensor(
        Array.from({ length: size }, (_, at) => Math.sin(3 * at + layer)),
        shape,
      ),
    ),
  );

  const optimizer = tf.train.adam(params.learningRate);
  model.compile({ optimizer, loss: 'categoricalCrossentropy', metrics: ['accuracy'] });

  const trainLogs = [];
  await model.fit(xTrain, yTrain, {
    epochs: params.epochs,
    validationData: [xTest, yTest],
    shuffle: false,
    callbacks: {
      onEpochEnd: async (epoch, logs) => {
        trainLogs.push(logs.loss, logs.acc, logs.val_loss, logs.val_acc);
        if (epoch % 10 === 0) log(`epoch ${epoch}`, Object.keys(logs).includes('val_acc'));
      },
    },
  });
  return [model, trainLogs];
}

export async function run(log) {
  const [xTrain, yTrain, xTest, yTest] = getIrisData(0.15);
  log(xTrain.shape, yTrain.shape, xTest.shape, yTest.shape);
  const params = { epochs: 25, learningRate: 0.05 };
  const [model, trainLogs] = await trainModel(xTrain, yTrain, xTest, yTest, params, log);

  const input = tf.tensor2d([[5.8, 2.7, 4.2, 1.3]], [1, 4]);
  const predictOut = model.predict(input);
  const logits = Array.from(predictOut.dataSync());
  log(IRIS_CLASSES[logits.indexOf(Math.max(...logits))]);

  const [loss, acc] = model.evaluate(xTest, yTest);
  loss.print();
  log(acc.shape, acc.dtype);
  const kernels = model.layers.map((layer) => layer.getWeights()[0].shape);
  log(kernels);
  return [...trainLogs, ...logits, (await loss.data())[0], (await acc.data())[0]];
}
