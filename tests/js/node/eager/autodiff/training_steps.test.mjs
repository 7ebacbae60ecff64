// Training steps, each fused into one module for the standard optimizers: compared with TensorFlow.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as theirs from '@tensorflow/tfjs';
import * as ours from 'tensorlathe/tfjs';
import { engine } from '../../../../../js/dist/eager/engine.js';
import { closeTo, random } from '../lib.mjs';

await theirs.setBackend('cpu');
await ours.ready();

const randomValues = (seed, count) => {
  const next = random(seed);
  return Array.from({ length: count }, () => next() * 2 - 1);
};

/** Losses, and the variables after `steps` steps; `change` runs before each step. */
function trained(tf, { loss, optimizer, sizes = [3, 5], steps = 4, change = () => {}, list }) {
  const before = tf.memory().numTensors;
  const variables = sizes.map((size, at) =>
    tf.tidy(() => tf.variable(tf.tensor1d(randomValues(at + 7, size)))),
  );
  const outside = tf.tidy(() => tf.tensor1d(randomValues(3, sizes[0])));
  const by = optimizer(tf.train);
  const results = [];
  for (let step = 0; step < steps; step++) {
    change(by, step);
    const cost = by.minimize(() => loss(tf, variables, outside, step), true, list?.(variables));
    results.push(cost.dataSync()[0]);
    cost.dispose();
  }
  results.push(...variables.flatMap((each) => [...each.dataSync()]));
  tf.dispose([...variables, outside]);
  by.dispose();
  return { results, left: tf.memory().numTensors - before };
}

function compare(program, tolerance) {
  const [actual, expected] = [trained(ours, program), trained(theirs, program)];
  closeTo(actual.results, expected.results, tolerance);
  assert.equal(actual.left, 0);
}

const usual = (tf, [a, b], x) => a.mul(x).sin().sum().add(b.square().mean()).square();
const sgd = (train) => train.sgd(0.1);

const optimizers = {
  sgd,
  momentum: (train) => train.momentum(0.1, 0.8),
  'momentum, Nesterov': (train) => train.momentum(0.1, 0.8, true),
  adagrad: (train) => train.adagrad(0.1, 0.2),
  adadelta: (train) => train.adadelta(0.5, 0.9),
  adam: (train) => train.adam(0.05, 0.8, 0.95),
  adamax: (train) => train.adamax(0.05, 0.8, 0.95, 1e-7, 0.1),
  rmsprop: (train) => train.rmsprop(0.05, 0.8, 0.3),
  'rmsprop, centered': (train) => train.rmsprop(0.05, 0.8, 0.3, 1e-6, true),
};

/** Sets the learning rate; not all optimizers of TensorFlow.js have a method for it. */
function setRate(by, rate) {
  if (by.setLearningRate) by.setLearningRate(rate);
  else by.learningRate = rate;
}

for (const [name, optimizer] of Object.entries(optimizers)) {
  test(`${name}: odd sizes, a rate that changes, one module`, () => {
    for (let size = 1; size <= 40; size += 3) {
      const change = (by, step) => setRate(by, 0.1 / (step + 1));
      const program = { loss: usual, optimizer, sizes: [size, 41 - size], change };
      compare(program);
      engine.plans.clear();
      const before = engine.plans.modules.made;
      trained(ours, { ...program, steps: 20 });
      // The other two initialize the optimizer state.
      assert.ok(engine.plans.modules.made - before <= 3);
    }
  });
}

const losses = {
  'only one of two variables': (tf, [a]) => a.exp().sum(),
  'a value read inside the loss': (tf, [a, b], x) => {
    const y = a.mul(x).sin();
    y.dataSync();
    return y.mean().mul(b.mean());
  },
  'a value read by a condition': (tf, [a], x) => {
    const y = a.mul(x).sum();
    return y.dataSync()[0] > 0 ? y.square() : y.exp();
  },
  'operations without gradients': (tf, [a, b]) =>
    a
      .square()
      .sum()
      .mul(tf.round(b.sum().mul(10))),
  'a gradient in the loss': (tf, [a], x) =>
    tf
      .grad((y) => y.square().mul(y).sum())(a)
      .mul(x)
      .sum()
      .sin(),
  'a custom gradient': (tf, [a]) =>
    tf
      .customGrad((y) => ({ value: y.square(), gradFunc: (dy) => dy.mul(0.5) }))(a)
      .sum(),
  'a variable assigned in the loss': (tf, [a, b]) => {
    const y = a.square().sum();
    b.assign(b.mul(0.5));
    return y.mul(b.sum());
  },
  'a variable created in the loss': (tf, [a], x) => {
    const made = tf.variable(x, false);
    const y = a.mul(made).square().sum();
    made.dispose();
    return y;
  },
  'a different loss in each step': (tf, [a, b], x, step) =>
    step % 2 === 0 ? a.mul(x).square().sum() : b.exp().sum().add(a.sum().square()),
  'a variable twice': (tf, [a], x) => a.mul(a).add(a.clone().mul(x)).sum(),
  'integer intermediates': (tf, [a, b]) =>
    a.mul(b.argMax().cast('float32')).square().sum().add(b.square().sum()),
  'slices at varying offsets': (tf, [, b], x, step) =>
    b
      .slice([step % 4], [2])
      .square()
      .sum(),
  'a varying constant': (tf, [a], x, step) =>
    a
      .mul(1 / (step + 1))
      .square()
      .sum(),
};

for (const [name, loss] of Object.entries(losses)) {
  test(`a loss: ${name}`, () => {
    for (const optimizer of [sgd, optimizers.adam]) compare({ loss, optimizer, steps: 6 });
  });
}

test('varList with some variables, in any order', () => {
  for (const list of [([a]) => [a], ([, b]) => [b], ([a, b]) => [b, a]])
    for (const optimizer of [sgd, optimizers.adam]) compare({ loss: usual, optimizer, list });
});

test('tensors retained inside the loss have the values of that step', () => {
  const run = (tf) => {
    const results = [];
    const loss = (_, [a], x) => {
      const y = tf.keep(a.mul(x));
      results.push(y, tf.keep(y.exp()));
      return y.square().sum();
    };
    const { results: numbers, left } = trained(tf, { loss, optimizer: sgd });
    const retained = results.flatMap((each) => [...each.dataSync()]);
    tf.dispose(results);
    return { numbers: [...numbers, ...retained], left };
  };
  const [actual, expected] = [run(ours), run(theirs)];
  closeTo(actual.numbers, expected.numbers);
  assert.equal(actual.left, expected.left);
});

test('pending consumers of the loss outside the step are correct', () => {
  const run = (tf) => {
    let y;
    const outside = [];
    const loss = (_, [a], x) => {
      y = a.mul(x);
      outside.push(tf.keep(y.sin()));
      return y.square().sum();
    };
    const { results } = trained(tf, { loss, optimizer: optimizers.momentum });
    const numbers = outside.flatMap((each) => [...each.dataSync()]);
    tf.dispose(outside);
    return [...results, ...numbers];
  };
  closeTo(run(ours), run(theirs));
});

test('no gradient flows through disposed values from before the loss', () => {
  const run = (tf) => {
    const w = tf.tidy(() => tf.variable(tf.tensor1d([1, -2, 3])));
    const before = w.mul(w);
    const optimizer = tf.train.sgd(0.25);
    const loss = () => {
      const results = before.add(w).sum();
      before.dispose();
      return results;
    };
    optimizer.minimize(loss, false, [w]);
    const results = [...w.dataSync()];
    w.dispose();
    return results;
  };
  assert.deepEqual(run(ours), run(theirs));
});

test('a clone preserves the old value of a variable', () => {
  const run = (tf) => {
    const w = tf.variable(tf.tensor1d([1, -2, 3]));
    const before = w.clone();
    const optimizer = tf.train.sgd(0.25);
    for (let step = 0; step < 3; step++) optimizer.minimize(() => w.square().sum(), false, [w]);
    const results = [...before.dataSync(), ...w.dataSync()];
    tf.dispose([w, before]);
    return results;
  };
  assert.deepEqual(run(ours), run(theirs));
});

test('overridden methods of optimizers are called', () => {
  const seen = [];
  class Watching extends ours.SGDOptimizer {
    applyGradients(gradients) {
      seen.push(Object.keys(gradients).length);
      super.applyGradients(gradients);
    }
  }
  const w = ours.variable(ours.scalar(2));
  new Watching(0.5).minimize(() => w.square(), false, [w]);
  assert.deepEqual(seen, [1]);
  assert.deepEqual([...w.dataSync()], [0]);
  w.dispose();
});

test('useNesterov accepts numbers', () => {
  for (const useNesterov of [false, 1, 0, true])
    compare({ loss: usual, optimizer: (train) => train.momentum(0.1, 0.8, useNesterov) });
});

test('weight decay is equal in fused and in overridden steps', () => {
  const usualOne = (train) => Object.assign(train.adamw(0.1), { weightDecay: 0.5 });
  const extended = (train) => {
    const by = usualOne(train);
    const { computeGradients } = by;
    return Object.assign(by, { computeGradients: (...args) => computeGradients.apply(by, args) });
  };
  const [actual, expected] = [usualOne, extended].map((optimizer) =>
    trained(ours, { loss: usual, optimizer, sizes: [5, 7] }),
  );
  closeTo(actual.results, expected.results, 1e-6);
  const first = (optimizer) => {
    const program = { loss: (_, [a]) => a.square().sum(), optimizer, sizes: [5], steps: 1 };
    return trained(ours, program).results.slice(1);
  };
  const plain = first((train) => train.adam(0.1));
  const decayed = randomValues(7, 5).map((value, at) => plain[at] - 0.1 * 0.5 * value);
  closeTo(first(usualOne), decayed, 1e-6);
});

test('a step inside a gradient updates variables once', () => {
  const run = (tf) => {
    const w = tf.variable(tf.tensor1d([1, -2]));
    const optimizer = tf.train.sgd(0.5);
    const x = tf.tensor1d([3, 4]);
    const slope = tf.grad((y) => {
      optimizer.minimize(() => w.mul(w).sum(), false, [w]);
      return y.mul(w).sum();
    })(x);
    const results = [...slope.dataSync(), ...w.dataSync()];
    tf.dispose([w, x, slope]);
    return results;
  };
  closeTo(run(ours), run(theirs));
});

test('a step without gradients throws and changes nothing', () => {
  const w = ours.variable(ours.scalar(2));
  const other = ours.variable(ours.scalar(3));
  const before = ours.memory().numTensors;
  const by = ours.train.adam(0.1);
  assert.throws(() => by.minimize(() => other.square(), true, [w]), /Cannot find a connection/);
  assert.throws(() => by.minimize(() => w.add([1, 2]), true, [w]), /must return a scalar/);
  assert.throws(() => by.minimize(() => w.square(), true, w), /must be an array of variables/);
  assert.equal(by.iterations, 0);
  assert.equal(ours.memory().numTensors, before);
  assert.deepEqual([...w.dataSync(), ...other.dataSync()], [2, 3]);
  ours.dispose([w, other]);
});
