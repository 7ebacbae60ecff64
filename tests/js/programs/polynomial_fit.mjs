// The coefficients of a cubic polynomial, by variables and an optimizer, after the second tutorial of TensorFlow.js.
import * as tf from '@tensorflow/tfjs';

const numIterations = 75;

export async function run(log) {
  const [a, b, c, d] = [0.3, -0.2, 0.1, 0.5].map((first) => tf.variable(tf.scalar(first)));
  const optimizer = tf.train.sgd(0.5);

  const predict = (x) =>
    tf.tidy(() =>
      a
        .mul(x.pow(tf.scalar(3, 'int32')))
        .add(b.mul(x.square()))
        .add(c.mul(x))
        .add(d),
    );
  const loss = (prediction, labels) => prediction.sub(labels).square().mean();

  const xs = tf.linspace(-1, 1, 40);
  const ys = tf.tidy(() => {
    const cubic = xs
      .pow(tf.scalar(3, 'int32'))
      .mul(-0.8)
      .add(xs.square().mul(-0.2))
      .add(xs.mul(0.9))
      .add(0.5);
    // Normalize to the range of 0 to 1.
    const [min, max] = [cubic.min(), cubic.max()];
    return cubic.sub(min).div(max.sub(min));
  });

  const history = [];
  for (let iteration = 0; iteration < numIterations; iteration++) {
    const cost = optimizer.minimize(() => loss(predict(xs), ys), true);
    history.push(cost.dataSync()[0]);
    cost.dispose();
    if (iteration % 25 === 0) {
      log(`loss ${history.at(-1).toFixed(4)}`);
      await tf.nextFrame();
    }
  }

  const { numTensors } = tf.memory();
  const predictions = predict(xs);
  const values = await predictions.data();
  predictions.dispose();
  log(tf.memory().numTensors - numTensors);
  const coefficients = [a, b, c, d].map((each) => each.dataSync()[0]);
  tf.dispose([a, b, c, d, xs, ys, optimizer]);
  return [...history, ...values, ...coefficients];
}
