// Which variables optimisers change, and what they keep of them: beside TensorFlow.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as theirs from '@tensorflow/tfjs';
import * as ours from 'tensorlathe/tfjs';
import { closeTo } from './eager_lib.mjs';

await theirs.setBackend('cpu');
await ours.ready();

const values = (list) => list.flatMap((each) => [...each.dataSync()]);

/** What a program finds in both, which is the same. */
async function compare(program) {
  const [got, wanted] = [await program(ours), await program(theirs)];
  closeTo(got, wanted);
}

const optimizers = {
  sgd: (tf) => tf.train.sgd(0.1),
  momentum: (tf) => tf.train.momentum(0.1, 0.9),
  adam: (tf) => tf.train.adam(0.1),
  rmsprop: (tf) => tf.train.rmsprop(0.1, 0.9, 0.5),
};

for (const [name, optimizer] of Object.entries(optimizers)) {
  test(`${name}: a variable that is there twice changes twice`, () =>
    compare((tf) => {
      const by = optimizer(tf);
      const v = tf.variable(tf.scalar(1));
      const given = [10, 1].map((each) => ({ name: v.name, tensor: tf.scalar(each) }));
      const found = [];
      for (let step = 0; step < 3; step++) {
        by.applyGradients(given);
        found.push(...v.dataSync());
      }
      for (let step = 0; step < 3; step++) {
        by.minimize(() => v.square(), true, [v, v]);
        found.push(...v.dataSync());
      }
      return found;
    }));
}

test('what an optimiser kept can be given back to it many times', async () => {
  await compare(async (tf) => {
    const by = optimizers.adam(tf);
    const v = tf.variable(tf.tensor1d([1, 2]));
    const step = () => by.minimize(() => v.square().sum(), false, [v]);
    step();
    const kept = await by.getWeights();
    const found = [];
    for (let time = 0; time < 3; time++) {
      await by.setWeights(kept);
      v.assign(tf.tensor1d([1, 2]));
      step();
      found.push(...v.dataSync(), ...kept.slice(1).flatMap(({ tensor }) => [...tensor.dataSync()]));
    }
    if (tf === theirs) return found;
    // What it gave nobody is gone.
    const before = tf.memory().numTensors;
    await by.setWeights(kept);
    step();
    assert.equal(tf.memory().numTensors, before);
    return found;
  });
});

test('an input takes no weights', () =>
  compare((tf) => {
    const model = (kernelInitializer) => {
      const x = tf.input({ shape: [2] });
      const y = tf.layers.dense({ units: 1, kernelInitializer }).apply(x);
      return tf.model({ inputs: x, outputs: y });
    };
    const [from, to] = [model('ones'), model('zeros')];
    from.layers.forEach((each, at) => to.layers[at].setWeights(each.getWeights()));
    return values(to.getWeights());
  }));

test('without a list a variable that is made in the loss is left alone, weights are trained', () =>
  compare((tf) => {
    tf.disposeVariables();
    const dense = { units: 1, inputShape: [2], kernelInitializer: 'ones' };
    const model = tf.sequential({ layers: [tf.layers.dense(dense)] });
    const v = tf.variable(tf.scalar(1));
    let made;
    optimizers.sgd(tf).minimize(() => {
      made = tf.variable(tf.scalar(2));
      return model
        .apply(tf.ones([3, 2]))
        .mul(v)
        .mul(made)
        .mean();
    });
    return values([v, made, ...model.getWeights()]);
  }));

test('the error where nothing learns says how many variables there are', () => {
  const found = [ours, theirs].map((tf) => {
    tf.disposeVariables();
    const fixed = [1, 2].map((each) => tf.variable(tf.scalar(each), false));
    const loss = () => fixed[0].mul(tf.variable(tf.scalar(3)));
    return [undefined, fixed, [fixed[0], fixed[0], fixed[1]], []].map((list) => {
      try {
        return tf.variableGrads(loss, list);
      } catch ({ message }) {
        return message;
      }
    });
  });
  assert.deepEqual(found[0], found[1]);
});

test('a layer on its own tells its weights when it is frozen after its first use', () =>
  compare((tf) => {
    const layer = tf.layers.dense({ units: 1, kernelInitializer: 'ones' });
    layer.apply(tf.ones([3, 2]));
    const found = [layer.trainableWeights.length];
    layer.trainable = false;
    found.push(layer.trainableWeights.length, layer.weights.length);
    return found;
  }));
