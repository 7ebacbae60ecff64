// Gradients along paths that are too long, or read too many tensors, for one module: computed in parts.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as theirs from '@tensorflow/tfjs';
import * as ours from 'tensorlathe/tfjs';
import { engine } from '../../../../../js/dist/eager/engine.js';
import { closeTo, random } from '../lib.mjs';

await theirs.setBackend('cpu');
await ours.ready();

/** Asserts that a program returns equal results in both libraries and leaks nothing. */
async function compare(program) {
  const results = [theirs, ours].map((tf) => {
    const { numTensors, numBytes } = tf.memory();
    const numbers = tf.tidy(() => program(tf).flatMap((each) => [...each.dataSync()]));
    const { numTensors: tensors, numBytes: bytes } = tf.memory();
    assert.deepEqual([tensors, bytes], [numTensors, numBytes]);
    return numbers;
  });
  closeTo(results[1], results[0]);
}

for (const steps of [266, 267, 268, 500, 1300, 7001]) {
  test(`a recurrence of ${steps} steps of 3 operations`, () =>
    compare((tf) => {
      const recurrence = (x, w) => {
        let h = x;
        for (let at = 0; at < steps; at += 1) h = h.mul(w).add(x).tanh();
        return h.sum();
      };
      const { value, grads } = tf.valueAndGrads(recurrence)([
        tf.tensor1d([0.1, -0.4, 0.3]),
        tf.tensor1d([0.9, 0.5, -0.7]),
      ]);
      return [value, ...grads];
    }));
}

/** A random function of three vectors: `count` operations, each on some of the last results. */
function randomFunction(tf, seed, count) {
  const unit = random(seed);
  const below = (end) => Math.floor(unit() * end);
  const steps = Array.from({ length: count }, () => [below(6), below(12), below(12), unit()]);
  return (...inputs) => {
    const last = [...inputs];
    const at = (distance) => last.at(-1 - (distance % last.length));
    for (const [kind, a, b, factor] of steps) {
      const [x, y] = [at(a), at(b)];
      last.push(
        [
          () => x.add(y).sin(),
          () => x.mul(y).tanh(),
          () => x.mul(factor),
          () => x.sub(y).mul(factor).cos(),
          () => x.reshape([1, 3]).mul(y).mean(0),
          () => tf.concat([x.slice(1), y.slice([0], [1])]),
        ][kind](),
      );
    }
    return tf.stack([...inputs, ...last.slice(-12)]).sum();
  };
}

for (const [seed, count] of [300, 641, 900, 1333, 2500].entries()) {
  test(`${count} random operations`, () =>
    compare((tf) => {
      const inputs = [1, 2, 3].map((at) => tf.tensor1d([0.3 * at, -0.2, 0.1 * at]));
      const { value, grads } = tf.valueAndGrads(randomFunction(tf, seed + 7, count))(inputs);
      return [value, ...grads];
    }));
}

test('a loss of 500 terms with different constants', () =>
  compare((tf) => {
    const loss = (v) => {
      let sum = tf.scalar(0);
      for (let at = 0; at < 500; at += 1)
        sum = sum.add(
          v
            .mul(at / 500)
            .sub(at / 250 - 1)
            .square(),
        );
      return sum.div(500);
    };
    return [tf.grad(loss)(tf.scalar(3))];
  }));

test('700 variables are updated in each step', () =>
  compare((tf) => {
    const all = Array.from({ length: 700 }, (_, at) => tf.variable(tf.scalar(at / 100)));
    const optimizer = tf.train.adam(0.1);
    const loss = () =>
      all.map((each, at) => each.sub(at / 200).square()).reduce((sum, each) => sum.add(each));
    const losses = Array.from({ length: 3 }, () => optimizer.minimize(loss, true, all));
    const results = [...losses, ...all].map((each) => tf.clone(each));
    optimizer.dispose();
    tf.dispose(all);
    return results;
  }));

test('custom gradients on a long path', () =>
  compare((tf) => {
    const clipped = tf.customGrad((x, save) => {
      save([x]);
      return { value: x.sin(), gradFunc: (dy, [x]) => dy.mul(x.cos()).clipByValue(-0.5, 0.5) };
    });
    const f = (x) => {
      let h = x;
      for (let at = 0; at < 400; at += 1) {
        h = h.mul(0.99).add(x.mul(0.01));
        if (at % 50 === 0) h = clipped(h);
      }
      return h.sum();
    };
    return [tf.grad(f)(tf.tensor1d([0.5, -0.7, 1]), tf.tensor1d([1, 3, -2]).sum())];
  }));

test('integers on a long path', () =>
  compare((tf) => {
    const f = (x) => {
      let h = x;
      for (let at = 0; at < 400; at += 1) {
        h = h.add(x.mul(0.01)).sin();
        if (at % 60 === 0) h = h.gather(tf.tensor1d([2, 0, 1], 'int32'));
        if (at % 90 === 0) h = h.mul(tf.cast(tf.tensor1d([1, 2, 1], 'int32'), 'float32'));
      }
      return h.sum();
    };
    return [tf.grad(f)(tf.tensor1d([0.5, -0.7, 1]))];
  }));

/** `count` iterations of y -> sin(0.99·y + 0.01·x). */
const sines = (count) => (x) => {
  let h = x;
  for (let at = 0; at < count; at += 1) h = h.mul(0.99).add(x.mul(0.01)).sin();
  return h.sum();
};

test('second and third derivatives', () =>
  compare((tf) => [
    tf.grad((x) => tf.grad(sines(300))(x).square().sum())(tf.tensor1d([0.5, -0.7, 1])),
    tf.grad(tf.grad(tf.grad(sines(300))))(tf.scalar(0.5)),
  ]));

test('a second gradient with respect to a captured value', () =>
  compare((tf) => {
    const [x, w] = [tf.tensor1d([0.5, -0.7, 1]), tf.tensor1d([0.3, 0.9, -0.2])];
    const f = (x, w) => {
      const last = [x, x.mul(w)];
      for (let at = 0; at < 600; at += 1) {
        const [before, h] = last.splice(0, 2, last[1]);
        last.push(
          h
            .mul(0.9)
            .add(before.mul(w.mul(at / 600)))
            .sin(),
        );
      }
      return last[1].sum();
    };
    const captured = (w) =>
      tf
        .grad((x) => f(x, w.square()))(x)
        .mul(x)
        .sum();
    return [tf.grad(captured)(w), ...tf.grads((x, w) => captured(w).mul(x).sum())([x, w])];
  }));

test('a gradient through 300 training steps equals finite differences', () => {
  const rows = [
    [1, 2],
    [0.3, -1],
    [0.5, 0.5],
  ];
  const [steps, rate] = [300, 0.02];
  const target = (at) => 0.1 * (at % 7);
  const dot = (row, w) => row[0] * w[0] + row[1] * w[1];
  const exact = (first) => {
    let w = first;
    for (let at = 0; at < steps; at += 1) {
      const y = rows.map((row) => Math.tanh(dot(row, w)));
      const slopes = y.map((each) => ((2 * (each - target(at))) / 3) * (1 - each * each));
      w = w.map(
        (each, k) => each - rate * rows.reduce((sum, row, i) => sum + row[k] * slopes[i], 0),
      );
    }
    return rows.reduce((sum, row) => sum + dot(row, w) ** 2, 0);
  };
  const learned = (first) => {
    let w = first;
    const x = ours.tensor2d(rows);
    for (let at = 0; at < steps; at += 1) {
      const loss = (w) => x.matMul(w).tanh().sub(target(at)).square().mean();
      w = w.sub(ours.grad(loss)(w).mul(rate));
    }
    return x.matMul(w).square().sum();
  };
  const actual = ours.tidy(() =>
    ours
      .grad(learned)(ours.tensor2d([[0.5], [0.2]]))
      .dataSync(),
  );
  const [small, w] = [1e-5, [0.5, 0.2]];
  const expected = w.map((each, k) => {
    const moved = (by) => exact(w.with(k, each + by));
    return (moved(small) - moved(-small)) / (2 * small);
  });
  closeTo(
    [...actual].map((each) => each / expected[0]),
    expected.map((each) => each / expected[0]),
    1e-3,
  );
});

test('repeated parts are compiled once', () => {
  const gradient = ours.grad(sines(640));
  const compute = () => ours.tidy(() => gradient(ours.tensor1d([0.5, -0.7])).dataSync());
  const before = engine.plans.modules.made;
  const first = compute();
  const modules = engine.plans.modules.made - before;
  assert.ok(modules <= 16, `${modules} modules for 20 parts of 4 operations each step`);
  assert.deepEqual(compute(), first);
  assert.equal(engine.plans.modules.made - before, modules);
});

test('jit of functions of 3,000 operations', () => {
  const [f, gradient] = [sines(1000), ours.grad(sines(1000))];
  const x = ours.tensor1d([0.1, 0.2]);
  for (const each of [f, gradient]) {
    const compiled = ours.jit(each);
    closeTo([...compiled(x).dataSync()], [...each(x).dataSync()]);
    compiled.dispose();
  }
  x.dispose();
});
