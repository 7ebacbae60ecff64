// Steps of optimisers, which are one module each where they are usual ones: beside TensorFlow.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as theirs from '@tensorflow/tfjs';
import * as ours from 'tensorlathe/tfjs';
import { compiledOperations, forgetOperations } from '../../../js/dist/eager/compute.js';
import { closeTo, random } from './eager_lib.mjs';

await theirs.setBackend('cpu');
await ours.ready();

const drawn = (seed, count) => {
  const next = random(seed);
  return Array.from({ length: count }, () => next() * 2 - 1);
};

/** Losses and what variables are after some steps; `change` runs before each. */
function trained(tf, { loss, optimizer, sizes = [3, 5], steps = 4, change = () => {}, list }) {
  const before = tf.memory().numTensors;
  const variables = sizes.map((size, at) =>
    tf.tidy(() => tf.variable(tf.tensor1d(drawn(at + 7, size)))),
  );
  const outside = tf.tidy(() => tf.tensor1d(drawn(3, sizes[0])));
  const by = optimizer(tf.train);
  const found = [];
  for (let step = 0; step < steps; step++) {
    change(by, step);
    const cost = by.minimize(() => loss(tf, variables, outside, step), true, list?.(variables));
    found.push(cost.dataSync()[0]);
    cost.dispose();
  }
  found.push(...variables.flatMap((each) => [...each.dataSync()]));
  tf.dispose([...variables, outside]);
  by.dispose();
  return { found, left: tf.memory().numTensors - before };
}

function compare(program, tolerance) {
  const [got, wanted] = [trained(ours, program), trained(theirs, program)];
  closeTo(got.found, wanted.found, tolerance);
  assert.equal(got.left, 0);
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

/** Not all optimisers of TensorFlow.js have a way to do so. */
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
      forgetOperations();
      const before = compiledOperations();
      trained(ours, { ...program, steps: 20 });
      // The other two fill what is kept of variables.
      assert.ok(compiledOperations() - before <= 3);
    }
  });
}

const losses = {
  'of one variable of two': (tf, [a]) => a.exp().sum(),
  'a value that is read on the way': (tf, [a, b], x) => {
    const y = a.mul(x).sin();
    y.dataSync();
    return y.mean().mul(b.mean());
  },
  'a value that a condition reads': (tf, [a], x) => {
    const y = a.mul(x).sum();
    return y.dataSync()[0] > 0 ? y.square() : y.exp();
  },
  'what does not let gradients through': (tf, [a, b]) =>
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
  "a gradient that is somebody's": (tf, [a]) =>
    tf
      .customGrad((y) => ({ value: y.square(), gradFunc: (dy) => dy.mul(0.5) }))(a)
      .sum(),
  'a variable that changes': (tf, [a, b]) => {
    const y = a.square().sum();
    b.assign(b.mul(0.5));
    return y.mul(b.sum());
  },
  'a variable that is made': (tf, [a], x) => {
    const made = tf.variable(x, false);
    const y = a.mul(made).square().sum();
    made.dispose();
    return y;
  },
  'another loss at each step': (tf, [a, b], x, step) =>
    step % 2 === 0 ? a.mul(x).square().sum() : b.exp().sum().add(a.sum().square()),
  'a variable twice': (tf, [a], x) => a.mul(a).add(a.clone().mul(x)).sum(),
  'integers on the way': (tf, [a, b]) =>
    a.mul(b.argMax().cast('float32')).square().sum().add(b.square().sum()),
  'slices at ever other places': (tf, [, b], x, step) =>
    b
      .slice([step % 4], [2])
      .square()
      .sum(),
  'a number that changes': (tf, [a], x, step) =>
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

test('by some variables, in any order', () => {
  for (const list of [([a]) => [a], ([, b]) => [b], ([a, b]) => [b, a]])
    for (const optimizer of [sgd, optimizers.adam]) compare({ loss: usual, optimizer, list });
});

test('what is kept of the loss is what it was', () => {
  const run = (tf) => {
    const found = [];
    const loss = (_, [a], x) => {
      const y = tf.keep(a.mul(x));
      found.push(y, tf.keep(y.exp()));
      return y.square().sum();
    };
    const { found: numbers, left } = trained(tf, { loss, optimizer: sgd });
    const kept = found.flatMap((each) => [...each.dataSync()]);
    tf.dispose(found);
    return { numbers: [...numbers, ...kept], left };
  };
  const [got, wanted] = [run(ours), run(theirs)];
  closeTo(got.numbers, wanted.numbers);
  assert.equal(got.left, wanted.left);
});

test('what follows from the loss outside, and waits, is right', () => {
  const run = (tf) => {
    let y;
    const outside = [];
    const loss = (_, [a], x) => {
      y = a.mul(x);
      outside.push(tf.keep(y.sin()));
      return y.square().sum();
    };
    const { found } = trained(tf, { loss, optimizer: optimizers.momentum });
    const numbers = outside.flatMap((each) => [...each.dataSync()]);
    tf.dispose(outside);
    return [...found, ...numbers];
  };
  closeTo(run(ours), run(theirs));
});

test('no gradient flows through what was there before the loss, and is gone', () => {
  const run = (tf) => {
    const w = tf.tidy(() => tf.variable(tf.tensor1d([1, -2, 3])));
    const before = w.mul(w);
    const optimizer = tf.train.sgd(0.25);
    const loss = () => {
      const found = before.add(w).sum();
      before.dispose();
      return found;
    };
    optimizer.minimize(loss, false, [w]);
    const found = [...w.dataSync()];
    w.dispose();
    return found;
  };
  assert.deepEqual(run(ours), run(theirs));
});

test('a tensor that shows what a variable was keeps it', () => {
  const run = (tf) => {
    const w = tf.variable(tf.tensor1d([1, -2, 3]));
    const before = w.clone();
    const optimizer = tf.train.sgd(0.25);
    for (let step = 0; step < 3; step++) optimizer.minimize(() => w.square().sum(), false, [w]);
    const found = [...before.dataSync(), ...w.dataSync()];
    tf.dispose([w, before]);
    return found;
  };
  assert.deepEqual(run(ours), run(theirs));
});

test('optimisers that were extended decide themselves', () => {
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

test('a number says whether momentum is that of Nesterov, too', () => {
  for (const useNesterov of [false, 1, 0, true])
    compare({ loss: usual, optimizer: (train) => train.momentum(0.1, 0.8, useNesterov) });
});

test('variables that fade do so in usual steps as in others', () => {
  const usualOne = (train) => Object.assign(train.adamw(0.1), { weightDecay: 0.5 });
  const extended = (train) => {
    const by = usualOne(train);
    const { computeGradients } = by;
    return Object.assign(by, { computeGradients: (...given) => computeGradients.apply(by, given) });
  };
  const [got, wanted] = [usualOne, extended].map((optimizer) =>
    trained(ours, { loss: usual, optimizer, sizes: [5, 7] }),
  );
  closeTo(got.found, wanted.found, 1e-6);
  const first = (optimizer) => {
    const program = { loss: (_, [a]) => a.square().sum(), optimizer, sizes: [5], steps: 1 };
    return trained(ours, program).found.slice(1);
  };
  const alone = first((train) => train.adam(0.1));
  const faded = drawn(7, 5).map((value, at) => alone[at] - 0.1 * 0.5 * value);
  closeTo(first(usualOne), faded, 1e-6);
});

test('in a gradient of its own nothing changes twice', () => {
  const run = (tf) => {
    const w = tf.variable(tf.tensor1d([1, -2]));
    const optimizer = tf.train.sgd(0.5);
    const x = tf.tensor1d([3, 4]);
    const slope = tf.grad((y) => {
      optimizer.minimize(() => w.mul(w).sum(), false, [w]);
      return y.mul(w).sum();
    })(x);
    const found = [...slope.dataSync(), ...w.dataSync()];
    tf.dispose([w, x, slope]);
    return found;
  };
  closeTo(run(ours), run(theirs));
});

test('a step that has no gradient says so, and changes nothing', () => {
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
