// The order of reads and other pending operations change no result: random programs with gradients, compared with runs
// that read every value immediately.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tl from 'tensorlathe/tfjs';
import { closeTo, random } from '../lib.mjs';

await tl.ready();

const one = [tl.square, tl.tanh, tl.sigmoid, tl.neg, tl.sin];
const two = [tl.add, tl.sub, tl.mul];

/** The final values of a random program. `readsAll`: every value is computed before the next operation is recorded. */
function run(seed, readsAll) {
  const next = random(seed * 7919 + 1);
  for (let i = 0; i < 8; i += 1) next();
  const among = (list) => list[Math.floor(next() * list.length)];
  const pool = [];
  const add = (x) => {
    if (readsAll) x.dataSync();
    pool.push(x);
  };
  for (let i = 0; i < 3; i += 1) add(tl.tensor1d([next() - 0.5, next() - 0.5, next() - 0.5]));
  const v = tl.variable(pool[0]);
  const steps = {
    unary: () => add(among(one)(among(pool))),
    binary: () => add(among(two)(among(pool), next() < 0.3 ? v : among(pool))),
    read: () => void among(pool).dataSync(),
    dispose: () => pool.length > 3 && pool.splice(Math.floor(next() * pool.length), 1)[0].dispose(),
    assign: () => v.assign(among(pool)),
    grad() {
      const [x, y, dy] = [among(pool), among(pool), among(pool)];
      const [f, g, reads] = [among(one), among(one), next() < 0.5];
      let retained;
      const slope = tl.grad((z) => {
        retained = tl.keep(f(z));
        if (reads || readsAll) retained.dataSync();
        return g(retained).mul(y);
      });
      add(slope(x, dy));
      add(retained);
    },
    second() {
      const [f, y] = [among(one), among(pool)];
      add(tl.grad((z) => tl.grad((u) => f(u.mul(u)).mul(y))(z))(among(pool)));
    },
    several() {
      const xs = [among(pool), among(pool)].map((each) => each.mul(1));
      if (readsAll) for (const each of xs) each.dataSync();
      const f = among(one);
      tl.grads((a, b) => f(a).mul(tl.sin(b)))(xs).forEach(add);
      tl.dispose(xs);
    },
    variable() {
      const y = among(pool);
      const { value, grads } = tl.variableGrads(() => tl.tanh(v).mul(y).sum(), [v]);
      if (next() < 0.5) tl.tidy(() => v.assign(v.sub(grads[v.name].mul(0.1))));
      add(grads[v.name]);
      value.dispose();
    },
  };
  for (let i = 0; i < 25; i += 1) among(Object.values(steps))();
  const actual = [];
  while (pool.length > 0) {
    const [x] = pool.splice(Math.floor(next() * pool.length), 1);
    const isItself = next() < 0.6;
    actual.push(...tl.tidy(() => (isItself ? x : x.mul(1)).dataSync()));
    x.dispose();
  }
  actual.push(...v.dataSync());
  v.dispose();
  return actual;
}

test('random programs return equal results for any order of reads', () => {
  const { numTensors } = tl.memory();
  for (let seed = 0; seed < 150; seed += 1) {
    const [actual, expected] = [run(seed, false), run(seed, true)];
    const bounded = (all) => all.map((each, at) => (Math.abs(expected[at]) < 1e6 ? each : 0));
    assert.doesNotThrow(() => closeTo(bounded(actual), bounded(expected), 2e-3), `seed ${seed}`);
  }
  assert.equal(tl.memory().numTensors, numTensors);
});

test('values from before a function are constants for its gradient, pending or not', () => {
  const x = tl.tidy(() => tl.tensor1d([2]).mul(1));
  const before = x.square();
  assert.deepEqual(
    [
      ...tl
        .grad((z) => z.mul(before))(x)
        .dataSync(),
    ],
    [4],
  );
  const within = tl.jit((at) => {
    const outside = at.square();
    return tl.grad((z) => z.mul(outside))(at);
  });
  assert.deepEqual([...within(tl.tensor1d([3])).dataSync()], [9]);
  const w = tl.tidy(() => tl.variable(tl.scalar(3)));
  const optimizer = tl.train.sgd(0.1);
  const actual = [3.8, 4.76, 5.912].map(() => {
    const target = w.mul(2).add(1);
    optimizer.minimize(() => w.sub(target).square(), false, [w]);
    return w.dataSync()[0];
  });
  closeTo(actual, [3.8, 4.76, 5.912]);
});

test('a gradient flows through a value that is a constant for another function', () => {
  const x = tl.tensor1d([2]);
  const seed = tl.tidy(() => tl.tensor1d([0.5]).mul(2));
  let retained;
  const through = tl.grad((z) => {
    retained = tl.keep(z.mul(2));
    retained.dataSync();
    return retained.square();
  })(x, seed);
  const around = tl.grad((z) => z.mul(retained))(x, seed);
  seed.dispose();
  assert.deepEqual([...tl.add(through, around).dataSync()], [20]);
});

test('long chains of hidden values are evaluated in linear time', () => {
  const hidden = Array.from({ length: 400 }, (_, at) => tl.tidy(() => tl.tensor1d([at]).add(1)));
  const sums = hidden.slice(1).map((each, at) => each.add(hidden[at]));
  tl.dispose(hidden);
  sums.forEach((each, at) => assert.deepEqual([...each.dataSync()], [2 * at + 3]));
});

test('a value too large for memory does not prevent reads of values that share its inputs', () => {
  const [large, sum] = tl.tidy(() => {
    const row = tl.ones([40000]).mul(2);
    return [row.reshape([40000, 1]).mul(row), row.sum()];
  });
  assert.deepEqual([...sum.dataSync()], [80000]);
  assert.throws(() => large.dataSync(), /MiB/);
  large.dispose();
});

test('values that depend on no argument can be read within jit', () => {
  const x = tl.tensor1d([1, 2, 3]);
  const f = tl.jit((dy) => {
    const [slope, sum] = tl.tidy(() => {
      const hidden = x.mul(2);
      return [tl.grad((z) => z.square())(hidden, dy), hidden.sum()];
    });
    return sum.dataSync()[0] > 100 ? slope.neg() : slope;
  });
  assert.deepEqual([...f(tl.tensor1d([1, 1, 1])).dataSync()], [4, 8, 12]);
});
