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

test('what an optimiser was given keeps its names', async () => {
  const [wanted, got] = await Promise.all(
    [theirs, ours].map(async (tf) => {
      const v = tf.variable(tf.scalar(1), true, `named_${tf === ours}`);
      const [from, to] = [optimizers.adam(tf), optimizers.adam(tf)];
      from.minimize(() => v.square(), false, [v]);
      const found = [];
      const look = async (by) =>
        found.push((await by.getWeights()).map(({ name }) => name.replace(v.name, 'v')));
      await look(from);
      await to.setWeights(
        (await from.getWeights()).map((each) => ({ ...each, name: `${each.name}!` })),
      );
      await look(to);
      to.minimize(() => v.square(), false, [v]);
      await look(to);
      return found;
    }),
  );
  assert.deepEqual(got, wanted);
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

const dense = (tf, more = {}) =>
  tf.layers.dense({ units: 1, inputShape: [2], kernelInitializer: 'ones', ...more });
const xOf = (tf) => tf.ones([3, 2]);

test('a model that is frozen behind its first step is not trained', () =>
  compare((tf) => {
    const model = tf.sequential({ layers: [dense(tf)] });
    const v = tf.variable(tf.scalar(1));
    const x = xOf(tf);
    const by = optimizers.sgd(tf);
    const found = [];
    for (const trainable of [true, false, true]) {
      model.trainable = trainable;
      by.minimize(() => model.apply(x).mul(v).square().mean());
      found.push(...values([v, ...model.getWeights()]));
    }
    return found;
  }));

/** Of how many variables a loss has gradients, after each of some changes; -1: none. */
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

/** Sets `trainable` of things in turn. */
const settings = (...pairs) =>
  pairs.map(([whose, value]) => () => {
    whose.trainable = value;
  });

test('what is said last of a layer or of a model that has it holds', () =>
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

test('frozen when they are first used, they learn later', () =>
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

test('weights that never learn do not where a frozen model does again', () =>
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
    const found = counts(tf, loss, settings([model, true], [model, false], [layers[2], true]));
    const alone = new Scaled({});
    alone.apply(x);
    return [
      ...found,
      ...counts(tf, () => alone.apply(x).mean(), settings([alone, false], [alone, true])),
    ];
  }));

test('a layer in JavaScript is frozen with those that it lists as trained, not with others', () =>
  compare((tf) => {
    class Around extends tf.layers.Layer {
      static className = 'Around';
      build(shape) {
        [this.own, this.others] = [1, 2].map(() => tf.layers.dense({ units: 2 }));
        for (const each of [this.own, this.others]) each.build(shape);
        this._trainableWeights = this.own.trainableWeights;
        this._nonTrainableWeights = this.others.trainableWeights;
        this.built = true;
      }
      computeOutputShape(shape) {
        return shape;
      }
      call(inputs) {
        const x = Array.isArray(inputs) ? inputs[0] : inputs;
        return this.others.apply(this.own.apply(x));
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

test('a layer that is frozen, used and then trained', () =>
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

test('a model is frozen with the models in it', () => {
  const inner = ours.sequential({ layers: [dense(ours)] });
  const model = ours.sequential({ layers: [inner] });
  const x = xOf(ours);
  const loss = () => model.apply(x).mean();
  const changes = settings([model, true], [model, false], [inner, true]);
  assert.deepEqual(counts(ours, loss, changes), [2, -1, 2]);
});

test('what a frozen model is given later is frozen', () => {
  const model = ours.sequential({ layers: [dense(ours)] });
  model.trainable = false;
  model.add(ours.layers.dense({ units: 1 }));
  const x = xOf(ours);
  const loss = () => model.apply(x).mean();
  assert.deepEqual(counts(ours, loss, settings([{}, 0], [model, true])), [-1, 4]);
});

test('a form of a layer that keeps states does not free it', () => {
  const layer = ours.layers.simpleRNN({ units: 1, stateful: true, batchInputShape: [3, 2, 2] });
  const model = ours.sequential({ layers: [layer] });
  const x = ours.ones([3, 2, 2]);
  const loss = () => model.apply(x).mean();
  assert.deepEqual(counts(ours, loss, settings([{}, 0], [model, false], [{}, 0])), [3, -1, -1]);
});
