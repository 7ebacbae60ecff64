// A line through points, as the first program of many TensorFlow.js tutorials.
import * as tf from '@tensorflow/tfjs';

export async function run(log) {
  // Create a simple model.
  const model = tf.sequential();
  model.add(tf.layers.dense({ units: 1, inputShape: [1], kernelInitializer: 'zeros' }));

  // Prepare the model for training: specify the loss and the optimizer.
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });

  // Generate some synthetic data for training. (y = 2x - 1)
  const xs = tf.tensor2d([-1, 0, 1, 2, 3, 4], [6, 1]);
  const ys = tf.tensor2d([-3, -1, 1, 3, 5, 7], [6, 1]);

  // Train the model using the data.
  const info = await model.fit(xs, ys, {
    epochs: 250,
    shuffle: false,
    callbacks: {
      onEpochEnd: (epoch, logs) => {
        if (epoch % 50 === 0) log(`Epoch ${epoch}: loss = ${logs.loss.toFixed(4)}`);
      },
    },
  });

  // Use the model to do inference on a data point the model hasn't seen.
  const prediction = model.predict(tf.tensor2d([20], [1, 1]));
  prediction.print();
  model.evaluate(xs, ys).print();
  log(model.getWeights().map((w) => w.shape));
  const [kernel, bias] = model.layers[0].getWeights();
  log(kernel.toString());
  log(`y = ${kernel.dataSync()[0].toFixed(3)} x + ${bias.dataSync()[0].toFixed(3)}`);
  log(info.history.loss.length, info.epoch.length, info.params.epochs);
  return [...info.history.loss, ...prediction.dataSync()];
}
