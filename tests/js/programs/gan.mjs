// A generator that learns a curve from a discriminator, two models of layers trained by `minimize` in turns.
import * as tf from '@tensorflow/tfjs';

const latent = 5;
const points = 8;
const batch = 16;

/** The same numbers in each run, about normal. */
let state = 7;
function noise(rows) {
  const uniform = () => (state = (state * 16807) % 2147483647) / 2147483647;
  const values = Array.from({ length: rows * latent }, () => {
    const radius = Math.sqrt(-2 * Math.log(uniform()));
    return radius * Math.cos(2 * Math.PI * uniform());
  });
  return tf.tensor2d(values, [rows, latent]);
}

function fixed(model) {
  const weights = model.getWeights().map((weight, at) => {
    if (weight.rank < 2) return weight;
    const values = Array.from({ length: weight.size }, (_, i) => Math.sin(12.9898 * (i + at)) / 2);
    return tf.tensor(values, weight.shape);
  });
  model.setWeights(weights);
}

function buildGenerator() {
  const model = tf.sequential();
  model.add(tf.layers.dense({ inputShape: [latent], units: 16, useBias: false }));
  model.add(tf.layers.batchNormalization({ momentum: 0.8 }));
  model.add(tf.layers.leakyReLU({ alpha: 0.2 }));
  model.add(tf.layers.dense({ units: points, activation: 'tanh' }));
  return model;
}

function buildDiscriminator() {
  const x = tf.input({ shape: [points] });
  const hidden = tf.layers.dense({ units: 16 }).apply(x);
  const active = tf.layers.leakyReLU({ alpha: 0.2 }).apply(hidden);
  const dropped = tf.layers.dropout({ rate: 0.3 }).apply(active);
  return tf.model({ inputs: x, outputs: tf.layers.dense({ units: 1 }).apply(dropped) });
}

function realCurves(rows) {
  return tf.tidy(() => {
    const phase = tf.linspace(0, 1, rows).expandDims(1);
    return phase
      .add(tf.linspace(0, Math.PI, points).expandDims(0))
      .sin()
      .mul(0.8);
  });
}

const vars = (model) => model.trainableWeights.map((weight) => weight.val);

export async function run(log) {
  const generator = buildGenerator();
  const discriminator = buildDiscriminator();
  fixed(generator);
  fixed(discriminator);
  const optimizers = [tf.train.adam(0.01, 0.5), tf.train.adam(0.01, 0.5)];
  const real = realCurves(batch);
  const losses = [];
  const before = tf.memory().numTensors;
  for (let step = 0; step < 30; ++step) {
    const z = noise(batch);
    const discriminatorLoss = optimizers[0].minimize(
      () =>
        tf.tidy(() => {
          const fake = generator.predict(z);
          const onReal = discriminator.apply(real);
          const onFake = discriminator.predict(fake);
          const likes = tf.losses.sigmoidCrossEntropy(tf.onesLike(onReal), onReal);
          const dislikes = tf.losses.sigmoidCrossEntropy(tf.zerosLike(onFake), onFake);
          return likes.add(dislikes);
        }),
      true,
      vars(discriminator),
    );
    const generatorLoss = optimizers[1].minimize(
      () => {
        const onFake = discriminator.apply(generator.apply(z, { training: true }));
        return tf.losses.sigmoidCrossEntropy(tf.onesLike(onFake), onFake).asScalar();
      },
      true,
      vars(generator),
    );
    losses.push((await discriminatorLoss.data())[0], (await generatorLoss.data())[0]);
    tf.dispose([z, discriminatorLoss, generatorLoss]);
  }
  log('learns', losses.at(-2) < losses[0]);
  log('leaks', tf.memory().numTensors - before > 100);
  const curve = generator.predict(noise(3));
  return [
    ...losses,
    ...curve.dataSync(),
    ...generator.getWeights().flatMap((w) => [...w.dataSync()]),
  ];
}
