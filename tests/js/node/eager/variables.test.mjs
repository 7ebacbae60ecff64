// Gradients of functions that assign variables, and slices at varying offsets: compared with TensorFlow.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as theirs from '@tensorflow/tfjs';
import * as ours from 'tensorlathe/tfjs';
import { engine } from '../../../../js/dist/eager/engine.js';
import { tensorCounts } from '../../../../js/dist/tensor/live_tensors.js';

await theirs.setBackend('cpu');
await ours.ready();

const numbers = (each) => (each ? [...each.dataSync()] : each);

function assertClose(actual, expected, what) {
  assert.equal(actual.length, expected.length, what);
  for (const [at, each] of expected.entries())
    assert.ok(
      Math.abs(actual[at] - each) <= 1e-4 * Math.max(1, Math.abs(each)),
      `${what}: ${actual}`,
    );
}

/** The value of a function of variables, its gradients, and the variables afterwards. */
function tried(tf, program) {
  const made = (values, trainable) => tf.tidy(() => tf.variable(tf.tensor1d(values), trainable));
  const [a, b] = [made([2, -3], true), made([0.5, 4], false)];
  const x = tf.tensor1d([1.5, -2]);
  const { value, grads } = tf.variableGrads(() => program(tf, { a, b, x }).sum(), [a]);
  const results = [value, ...Object.values(grads), a, b].map(numbers).flat();
  tf.dispose([value, grads, a, b, x]);
  return results;
}

const programs = {
  'a moving baseline': (tf, { a, b }) => {
    const y = a.mul(2);
    b.assign(y.mul(0.5).add(b));
    return y.sub(b).square();
  },
  'the differentiated variable': (tf, { a }) => {
    const y = a.square();
    a.assign(a.mul(10));
    return y.add(a);
  },
  'twice, with a step back': (tf, { a }) => {
    const y = a.mul(a);
    a.assign(a.add(1));
    const z = a.mul(3);
    a.assign(a.sub(1));
    return y.add(z).mul(a);
  },
  'a clipped value, before use': (tf, { a }) => {
    a.assign(a.clipByValue(-1, 1));
    return a.square();
  },
  'a value read inside the function': (tf, { a, b }) => {
    b.assign(a.exp());
    b.dataSync();
    return b.mul(a);
  },
  'a variable created from values': (tf, { a, x }) => {
    const made = tf.variable(a.mul(x), false);
    const y = made.mul(a);
    made.dispose();
    return y;
  },
  'one variable assigned from the other': (tf, { a, b, x }) => {
    b.assign(a);
    return b.mul(a).add(b.mul(x));
  },
  'a gradient within': (tf, { a, b }) => {
    const inner = tf.grad((z) => {
      b.assign(z.square());
      return z.mul(b);
    })(a);
    return inner.mul(a);
  },
};

for (const [name, program] of Object.entries(programs)) {
  test(`gradients stop where variables are assigned: ${name}`, () => {
    const before = [tensorCounts(), ours.memory().heapBlocks];
    const got = tried(ours, program);
    assertClose(got, tried(theirs, program), name);
    engine.plans.clear();
    assert.deepEqual(tensorCounts(), before[0]);
    tried(ours, program);
    engine.plans.clear();
    const heapBlocks = ours.memory().heapBlocks;
    tried(ours, program);
    engine.plans.clear();
    assert.equal(ours.memory().heapBlocks, heapBlocks);
  });
}

test('x.variable() stops gradients', () => {
  for (const tf of [theirs, ours]) {
    assert.equal(
      tf
        .grad((x) => x.mul(x.variable(false)))(tf.scalar(3))
        .dataSync()[0],
      3,
    );
    assert.throws(() => tf.grad((x) => tf.variable(x.square()))(tf.scalar(3)));
  }
});

/** Losses of a linear model trained on slices of rows at varying offsets. */
function train(tf, starts, part) {
  const [rows, width] = [61, 5];
  const of = (count, by) => Float32Array.from({ length: count }, (_, at) => Math.sin(at * by));
  const x = tf.tensor2d(of(rows * width, 0.7), [rows, width]);
  const y = tf.tensor2d(of(rows, 1.3), [rows, 1]);
  const w = tf.variable(tf.zeros([width, 1]));
  const optimizer = tf.train.adam(0.05);
  const losses = starts.map((start) => {
    const loss = optimizer.minimize(() => {
      const [inputs, labels] = [part(x, start), part(y, start)];
      return inputs.matMul(w).sub(labels).square().mean();
    }, true);
    const [value] = loss.dataSync();
    loss.dispose();
    return value;
  });
  tf.dispose([x, y, w]);
  optimizer.dispose();
  return losses;
}

const starts = Array.from({ length: 40 }, (_, step) => (step * 17) % 54);

for (const [name, part] of Object.entries({
  slice: (x, start) => x.slice([start, 0], [7, x.shape[1]]),
  'slice of rows': (x, start) => x.slice(start, 7),
  split: (x, start) => x.split([start, 7, 54 - start])[1],
})) {
  test(`a loop over batches compiles few modules, for any offsets: ${name}`, () => {
    engine.plans.clear();
    const before = engine.plans.modules.made;
    const losses = train(ours, starts, part);
    assert.ok(
      engine.plans.modules.made - before <= 10,
      `${engine.plans.modules.made - before} modules`,
    );
    assertClose(losses, train(theirs, starts, part), name);
  });
}

test('slices of every size, type and offset', () => {
  for (const dtype of ['float32', 'int32', 'bool']) {
    engine.plans.clear();
    const [actual, expected] = [ours, theirs].map((tf) => {
      const x = tf.cast(
        tf
          .range(0, 4 * 9 * 6)
          .reshape([4, 9, 6])
          .mod(3),
        dtype,
      );
      const parts = [];
      for (let at = 0; at < 30; at++) {
        const begin = [at % 3, at % 5, (2 * at) % 4];
        const part = tf.tidy(() => x.slice(begin, [2, 4, 3]).transpose([2, 0, 1]));
        parts.push(...part.dataSync());
        parts.push(...x.slice([0, at % 7, 0], [4, 2, 6]).dataSync());
      }
      return parts;
    });
    assert.deepEqual(actual, expected, dtype);
  }
});

test('gradients of slices at every offset', () => {
  for (let at = 0; at < 12; at++) {
    const [actual, expected] = [ours, theirs].map((tf) => {
      const x = tf.tensor2d(
        Array.from({ length: 60 }, (_, each) => Math.cos(each)),
        [12, 5],
      );
      const f = (each) =>
        each
          .slice([at % 9, at % 3], [3, 2])
          .square()
          .mul(each.slice([at % 7, 1], [3, 2]));
      return numbers(tf.grad(f)(x));
    });
    assertClose(actual, expected, `from ${at}`);
  }
});

test('an argument listed twice gets its gradient twice; a variable in varList twice, once', () => {
  const before = tensorCounts().numTensors;
  const results = (tf) => {
    const x = tf.tensor1d([1, 2, 3]);
    const twice = tf.grads((a, b) => a.mul(b.square()))([x, x]);
    const variable = tf.variable(x);
    const { value, grads } = tf.variableGrads(() => variable.square().sum(), [variable, variable]);
    const all = [...twice, value, ...Object.values(grads)];
    const values = all.map(numbers);
    tf.dispose([all, x, variable]);
    return values;
  };
  assert.deepEqual(results(ours), results(theirs));
  const [x, other] = [ours.tensor1d([1, 2]), ours.tensor1d([3, 4])];
  assert.throws(() => ours.grads((a, b) => a.mul(b))([x, x, other]), /Cannot compute gradient/);
  assert.deepEqual([...x.dataSync()], [1, 2]);
  ours.dispose([x, other]);
  assert.equal(tensorCounts().numTensors, before);
});
