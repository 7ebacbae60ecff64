// Which variables optimizers update, and their saved state: compared with TensorFlow.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as theirs from '@tensorflow/tfjs';
import * as ours from 'tensorlathe/tfjs';
import { closeTo } from './lib.mjs';

await theirs.setBackend('cpu');
await ours.ready();

const values = (list) => list.flatMap((each) => [...each.dataSync()]);

/** Asserts that a program returns equal results in both libraries. */
async function compare(program) {
  const [actual, expected] = [await program(ours), await program(theirs)];
  closeTo(actual, expected);
}

const optimizers = {
  sgd: (tf) => tf.train.sgd(0.1),
  momentum: (tf) => tf.train.momentum(0.1, 0.9),
  adam: (tf) => tf.train.adam(0.1),
  rmsprop: (tf) => tf.train.rmsprop(0.1, 0.9, 0.5),
};

for (const [name, optimizer] of Object.entries(optimizers)) {
  test(`${name}: a variable listed twice is updated twice`, () =>
    compare((tf) => {
      const by = optimizer(tf);
      const v = tf.variable(tf.scalar(1));
      const gradients = [10, 1].map((each) => ({ name: v.name, tensor: tf.scalar(each) }));
      const results = [];
      for (let step = 0; step < 3; step++) {
        by.applyGradients(gradients);
        results.push(...v.dataSync());
      }
      for (let step = 0; step < 3; step++) {
        by.minimize(() => v.square(), true, [v, v]);
        results.push(...v.dataSync());
      }
      return results;
    }));
}

test('the state of an optimizer can be restored many times', async () => {
  await compare(async (tf) => {
    const by = optimizers.adam(tf);
    const v = tf.variable(tf.tensor1d([1, 2]));
    const step = () => by.minimize(() => v.square().sum(), false, [v]);
    step();
    const state = await by.getWeights();
    const results = [];
    for (let time = 0; time < 3; time++) {
      await by.setWeights(state);
      v.assign(tf.tensor1d([1, 2]));
      step();
      results.push(
        ...v.dataSync(),
        ...state.slice(1).flatMap(({ tensor }) => [...tensor.dataSync()]),
      );
    }
    if (tf === theirs) return results;
    // Replaced state is freed.
    const before = tf.memory().numTensors;
    await by.setWeights(state);
    step();
    assert.equal(tf.memory().numTensors, before);
    return results;
  });
});

test('setWeights of an optimizer preserves names', async () => {
  const [expected, actual] = await Promise.all(
    [theirs, ours].map(async (tf) => {
      const v = tf.variable(tf.scalar(1), true, `named_${tf === ours}`);
      const [from, to] = [optimizers.adam(tf), optimizers.adam(tf)];
      from.minimize(() => v.square(), false, [v]);
      const results = [];
      const look = async (by) =>
        results.push((await by.getWeights()).map(({ name }) => name.replace(v.name, 'v')));
      await look(from);
      await to.setWeights(
        (await from.getWeights()).map((each) => ({ ...each, name: `${each.name}!` })),
      );
      await look(to);
      to.minimize(() => v.square(), false, [v]);
      await look(to);
      return results;
    }),
  );
  assert.deepEqual(actual, expected);
});

test('an input layer has no weights to set', () =>
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

test('without varList, variables created inside the loss are not trained, weights are', () =>
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

test('the error without trainable variables contains their total number', () => {
  const results = [ours, theirs].map((tf) => {
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
  assert.deepEqual(results[0], results[1]);
});

test('a standalone layer frozen after its first use has no trainable weights', () =>
  compare((tf) => {
    const layer = tf.layers.dense({ units: 1, kernelInitializer: 'ones' });
    layer.apply(tf.ones([3, 2]));
    const results = [layer.trainableWeights.length];
    layer.trainable = false;
    results.push(layer.trainableWeights.length, layer.weights.length);
    return results;
  }));

const dense = (tf, more = {}) =>
  tf.layers.dense({ units: 1, inputShape: [2], kernelInitializer: 'ones', ...more });
const xOf = (tf) => tf.ones([3, 2]);

test('a model frozen after its first step is not trained', () =>
  compare((tf) => {
    const model = tf.sequential({ layers: [dense(tf)] });
    const v = tf.variable(tf.scalar(1));
    const x = xOf(tf);
    const by = optimizers.sgd(tf);
    const results = [];
    for (const trainable of [true, false, true]) {
      model.trainable = trainable;
      by.minimize(() => model.apply(x).mul(v).square().mean());
      results.push(...values([v, ...model.getWeights()]));
    }
    return results;
  }));

/** The number of variables with gradients of a loss after each change; -1 where there are none. */
function counts(tf, loss, changes) {
  return changes.map((change) => {
    change();
    try {
      return Object.values(tf.variableGrads(loss).grads).length;
    } catch {
      return -1;
    }
  });
}

/** Changes that set `trainable` of one object each. */
const settings = (...pairs) =>
  pairs.map(([whose, value]) => () => {
    whose.trainable = value;
  });

test('the last assignment of trainable, to a layer or its model, is effective', () =>
  compare((tf) => {
    tf.disposeVariables();
    const [first, second] = [dense(tf, { units: 2 }), dense(tf)];
    const model = tf.sequential({ layers: [first, second] });
    const x = xOf(tf);
    const loss = () => model.apply(x).mean();
    loss();
    const [weight] = first.trainableWeights;
    const changes = settings(
      [first, true],
      [first, false],
      [model, false],
      [second, true],
      [model, true],
      [weight.val, false],
      [first, true],
    );
    return counts(tf, loss, changes);
  }));

test('layers frozen at their first use are trained after unfreezing', () =>
  compare((tf) => {
    const model = tf.sequential({ layers: [dense(tf)] });
    const x = xOf(tf);
    model.trainable = false;
    model.apply(x);
    model.trainable = true;
    const list = model.trainableWeights.map((each) => each.val);
    optimizers.sgd(tf).minimize(() => model.apply(x).square().mean(), false, list);
    return values(model.getWeights());
  }));

test('non-trainable weights stay fixed when a frozen model is unfrozen', () =>
  compare((tf) => {
    class Scaled extends tf.layers.Layer {
      static className = 'Scaled';
      build(shape) {
        const add = (name, learns) =>
          this.addWeight(
            name,
            [shape.at(-1)],
            'float32',
            tf.initializers.ones(),
            undefined,
            learns,
          );
        this.weightsOfMine = [add('moves', true), add('stays', false)];
        super.build(shape);
      }
      call(inputs) {
        const x = Array.isArray(inputs) ? inputs[0] : inputs;
        return this.weightsOfMine.reduce((product, each) => product.mul(each.read()), x);
      }
    }
    tf.disposeVariables();
    const x = xOf(tf);
    const layers = [dense(tf), tf.layers.batchNormalization(), new Scaled({})];
    const model = tf.sequential({ layers });
    const loss = () => model.apply(x).square().mean();
    model.trainable = false;
    model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
    model.apply(x);
    const results = counts(tf, loss, settings([model, true], [model, false], [layers[2], true]));
    const standalone = new Scaled({});
    standalone.apply(x);
    return [
      ...results,
      ...counts(
        tf,
        () => standalone.apply(x).mean(),
        settings([standalone, false], [standalone, true]),
      ),
    ];
  }));

test('a custom layer freezes the layers whose weights it lists as trainable, not others', () =>
  compare((tf) => {
    class Around extends tf.layers.Layer {
      static className = 'Around';
      build(shape) {
        [this.listed, this.others] = [1, 2].map(() => tf.layers.dense({ units: 2 }));
        for (const each of [this.listed, this.others]) each.build(shape);
        this._trainableWeights = this.listed.trainableWeights;
        this._nonTrainableWeights = this.others.trainableWeights;
        this.built = true;
      }
      computeOutputShape(shape) {
        return shape;
      }
      call(inputs) {
        const x = Array.isArray(inputs) ? inputs[0] : inputs;
        return this.others.apply(this.listed.apply(x));
      }
    }
    tf.disposeVariables();
    const x = xOf(tf);
    const layer = new Around({ inputShape: [2] });
    const model = tf.sequential({ layers: [layer] });
    model.apply(x);
    const changes = settings([layer, false], [layer, true], [model, false], [model, true]);
    return counts(tf, () => model.apply(x).mean(), changes);
  }));

test('a layer is frozen, used and then unfrozen', () =>
  compare((tf) => {
    const layer = dense(tf);
    const model = tf.sequential({ layers: [layer] });
    const x = xOf(tf);
    layer.trainable = false;
    model.apply(x);
    layer.trainable = true;
    optimizers.sgd(tf).minimize(() => model.apply(x).square().mean());
    return values(model.getWeights());
  }));

test('freezing a model freezes nested models', () => {
  const inner = ours.sequential({ layers: [dense(ours)] });
  const model = ours.sequential({ layers: [inner] });
  const x = xOf(ours);
  const loss = () => model.apply(x).mean();
  const changes = settings([model, true], [model, false], [inner, true]);
  assert.deepEqual(counts(ours, loss, changes), [2, -1, 2]);
});

test('layers added to a frozen model are frozen', () => {
  const model = ours.sequential({ layers: [dense(ours)] });
  model.trainable = false;
  model.add(ours.layers.dense({ units: 1 }));
  const x = xOf(ours);
  const loss = () => model.apply(x).mean();
  assert.deepEqual(counts(ours, loss, settings([{}, 0], [model, true])), [-1, 4]);
});

test('another call of a frozen stateful layer leaves it frozen', () => {
  const layer = ours.layers.simpleRNN({ units: 1, stateful: true, batchInputShape: [3, 2, 2] });
  const model = ours.sequential({ layers: [layer] });
  const x = ours.ones([3, 2, 2]);
  const loss = () => model.apply(x).mean();
  assert.deepEqual(counts(ours, loss, settings([{}, 0], [model, false], [{}, 0])), [3, -1, -1]);
});
