// Found with the programs of this project: a function of `tf.jit` drew the same random numbers and the same dropout at every call,
// and `vmap` the same ones for each example. Calls now draw anew; seeds repeat.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tf from 'tensorlathe/tfjs';

const values = (x) => [...x.dataSync()];
const differ = (a, b) => assert.notDeepEqual(values(a), values(b));
const ones = tf.ones([64]);

const makers = {
  randomUniform: (seed) => tf.randomUniform([64], 0, 1, 'float32', seed),
  randomNormal: (seed) => tf.randomNormal([64], 0, 1, 'float32', seed),
  truncatedNormal: (seed) => tf.truncatedNormal([64], 0, 1, 'float32', seed),
  randomUniformInt: (seed) => tf.randomUniformInt([64], 0, 1000, seed),
  multinomial: (seed) => tf.multinomial(tf.zeros([10]), 64, seed),
  dropout: (seed) => tf.dropout(ones, 0.5, undefined, seed),
};

for (const [name, make] of Object.entries(makers)) {
  test(`${name}: others at each call and for each example, with a seed the same`, () => {
    const fast = tf.jit((x) => x.add(make()));
    const all = [1, 2, 3].map(() => fast(ones));
    differ(all[0], all[1]);
    differ(all[1], all[2]);
    assert.equal(fast.traces, 1);
    const seeded = tf.jit((x) => x.add(make(7)));
    const [first, second] = [seeded(ones), seeded(ones)];
    assert.deepEqual(values(first), values(second));
    assert.deepEqual(values(first), values(ones.add(make(7))));
    const batch = tf.ones([3, 64]);
    for (const each of [(f) => tf.vmap(f), (f) => tf.jit(tf.vmap(f))]) {
      const rows = each((x) => x.add(make()));
      const [a, b, c] = tf.unstack(rows(batch));
      differ(a, b);
      differ(b, c);
      differ(rows(batch), rows(batch));
      const [d, e] = tf.unstack(each((x) => x.add(make(7)))(batch));
      assert.deepEqual(values(d), values(e));
    }
  });
}

test('two draws of one call differ; what two results share does not', () => {
  const fast = tf.jit((x) => {
    const [a, b] = [tf.randomUniform([64]), tf.randomUniform([64])];
    return [a.add(x), b.add(x), a.mul(2).add(x)];
  });
  for (let call = 0; call < 2; call += 1) {
    const [a, b, c] = fast(tf.zeros([64]));
    differ(a, b);
    assert.deepEqual(values(c), values(a.mul(2)));
  }
});

test('one mask forwards and backwards', () => {
  const dropped = (x) => tf.dropout(x, 0.5);
  const forms = {
    within: tf.jit((x) => tf.valueAndGrad((x) => dropped(x).sum())(x)),
    around: (x) => tf.valueAndGrad((x) => inner(x).sum())(x),
    both: tf.jit((x) => tf.valueAndGrad((x) => inner(x).sum())(x)),
  };
  const inner = tf.jit(dropped);
  for (const [name, form] of Object.entries(forms)) {
    const seen = new Set();
    for (let call = 0; call < 4; call += 1) {
      const { value, grad } = form(ones);
      assert.ok(
        values(grad).every((each) => each === 0 || each === 2),
        name,
      );
      assert.equal(value.dataSync()[0], grad.sum().dataSync()[0], name);
      seen.add(values(grad).join());
    }
    assert.equal(seen.size, 4, name);
  }
  const second = tf.jit((x) =>
    tf.grad((x) =>
      tf
        .grad((x) => dropped(x.square()).sum())(x)
        .sum(),
    )(x),
  );
  assert.ok(values(second(ones)).every((each) => each === 0 || each === 4));
  differ(second(ones), second(ones));
});

test('gradients of each example use its masks, those of its value', () => {
  const each = tf.vmap((x) => tf.valueAndGrad((x) => tf.dropout(x, 0.5).sum())(x));
  for (const form of [each, tf.jit(each)]) {
    const { value, grad } = form(tf.ones([3, 64]));
    assert.deepEqual(values(value), values(grad.sum(1)));
    const [a, b] = tf.unstack(grad);
    differ(a, b);
  }
});

test('a batch of batches, and of some examples only', () => {
  const noisy = (x) => x.add(tf.randomNormal([16]));
  for (const form of [tf.vmap(tf.vmap(noisy)), tf.jit(tf.vmap(tf.vmap(noisy)))]) {
    const found = form(tf.zeros([2, 3, 16]));
    assert.deepEqual(found.shape, [2, 3, 16]);
    const rows = tf.unstack(found.reshape([6, 16])).map((each) => values(each).join());
    assert.equal(new Set(rows).size, 6);
  }
  const shared = tf.vmap((x, w) => x.mul(w.mul(tf.randomUniform([16]))), [0, null]);
  const [a, b] = tf.unstack(shared(tf.ones([2, 16]), tf.ones([16])));
  differ(a, b);
});

test('layers: dropout and noise', () => {
  for (const layer of [
    tf.layers.dropout({ rate: 0.5 }),
    tf.layers.gaussianNoise({ stddev: 1 }),
    tf.layers.alphaDropout({ rate: 0.5 }),
  ]) {
    const x = tf.ones([2, 64]);
    const apply = (x) => layer.apply(x, { training: true });
    const fast = tf.jit(apply);
    differ(fast(x), fast(x));
    assert.equal(fast.traces, 1);
    const step = tf.jit((x) => tf.grads((x) => apply(x).sum())([x]));
    differ(step(x)[0].add(fast(x)), step(x)[0].add(fast(x)));
    const [a, b] = tf.unstack(tf.vmap((x) => apply(x.expandDims(0)))(x));
    differ(a, b);
  }
});

test('variables that it makes of random numbers are made once', () => {
  let weight;
  const fast = tf.jit((x) => {
    weight ??= tf.variable(tf.randomNormal([64]));
    return x.mul(weight);
  });
  const [first, second] = [fast(ones), fast(ones)];
  assert.deepEqual(values(first), values(weight));
  assert.deepEqual(values(second), values(weight));
  weight.assign(tf.ones([64]));
  assert.deepEqual(values(fast(ones)), values(ones));
  weight.dispose();
});

test('values that are read while it is recorded stay; nothing else leaks', () => {
  const fast = tf.jit((x) => x.mul(tf.randomUniform([1]).dataSync()[0]));
  assert.deepEqual(values(fast(ones)), values(fast(ones)));
  const noisy = tf.jit((x) => tf.dropout(x, 0.5));
  tf.dispose(noisy(ones));
  const before = tf.memory();
  for (let call = 0; call < 5; call += 1) tf.dispose(noisy(ones));
  const after = tf.memory();
  assert.deepEqual([after.numTensors, after.heapBlocks], [before.numTensors, before.heapBlocks]);
  assert.throws(() => tf.jit(() => tf.dropout(ones, 2))(), /rate must be/);
});
