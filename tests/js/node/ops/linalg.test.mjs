// Linear systems and matrix decompositions: identities, float64 references, finite differences.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tf from 'tensorlathe/tfjs';
import { closeTo, random } from '../eager/lib.mjs';

const sizes = Array.from({ length: 12 }, (_, at) => at + 1);
const { linalg } = tf;

/** Numbers from -1 to 1. */
function drawn(shape, seed = 7) {
  const next = random(seed + 1);
  const count = shape.reduce((all, each) => all * each, 1);
  return tf.tensor(
    Float32Array.from({ length: count }, () => 2 * next() - 1),
    shape,
  );
}

const transposed = (x) =>
  x.transpose([...x.shape.keys()].slice(0, -2).concat([x.rank - 1, x.rank - 2]));
const product = (x, ...others) => others.reduce((all, each) => tf.matMul(all, each), x);
const eyes = (n, batch) => tf.eye(n).broadcastTo([...batch, n, n]);
/** Symmetric, with eigenvalues above 0. */
const positive = (x) => product(x, transposed(x)).add(tf.eye(x.shape.at(-1)).mul(0.5));
const same = (actual, expected, tolerance = 2e-5) => {
  assert.deepEqual(actual.shape, expected.shape);
  closeTo([...actual.dataSync()], [...expected.dataSync()], tolerance);
};

const batches = [[], [3], [2, 2]];

for (const n of sizes) {
  test(`matrices of ${n} rows`, () => {
    for (const batch of batches) {
      // Far from singular, and its largest pivots are not on the diagonal.
      const a = drawn([...batch, n, n], n).add(tf.eye(n).reverse(0).mul(3));
      const x = drawn([...batch, n, 3], n + 50);
      same(linalg.solve(a, tf.matMul(a, x)), x, 1e-4);
      same(linalg.solve(a, tf.matMul(transposed(a), x), true), x, 1e-4);
      same(tf.matMul(linalg.inv(a), a), eyes(n, batch), 1e-4);
      same(linalg.inv(a, true), transposed(linalg.inv(a)));
      const det = linalg.det(a);
      assert.deepEqual(det.shape, batch);
      closeTo([...det.dataSync()], determinants(a), 1e-4);
      const spd = positive(a);
      const l = linalg.cholesky(spd);
      same(tf.matMul(l, transposed(l)), spd, 1e-4);
      same(linalg.bandPart(l, -1, 0), l);
      symmetric(a.add(transposed(a)), n, batch);
    }
  });
}

function symmetric(a, n, batch) {
  const [w, v] = linalg.eigh(a);
  assert.deepEqual([w.shape, v.shape], [[...batch, n], a.shape]);
  same(tf.matMul(transposed(v), v), eyes(n, batch));
  same(tf.matMul(a, v), v.mul(w.expandDims(-2)), 1e-4);
  const values = w.reshape([-1, n]).arraySync();
  for (const each of values)
    assert.deepEqual(
      each,
      each.toSorted((x, y) => x - y),
    );
}

/** Determinants in float64: Laplace expansion for small matrices, else elimination with partial pivoting. */
function determinants(a) {
  const n = a.shape.at(-1);
  const expand = (rows) =>
    rows.length === 1
      ? rows[0][0]
      : rows[0].reduce((sum, each, at) => {
          const minor = rows.slice(1).map((row) => row.filter((_, of) => of !== at));
          return sum + (at % 2 ? -1 : 1) * each * expand(minor);
        }, 0);
  const eliminate = (rows) => {
    let found = 1;
    for (let k = 0; k < n; k++) {
      const pivot = rows.slice(k).reduce((best, row) => (row[k] ** 2 > best[k] ** 2 ? row : best));
      const at = rows.indexOf(pivot);
      if (at !== k) found = -found;
      [rows[k], rows[at]] = [rows[at], rows[k]];
      found *= rows[k][k];
      for (let i = k + 1; i < n; i++) {
        const factor = rows[i][k] / rows[k][k];
        rows[i] = rows[i].map((each, of) => each - factor * rows[k][of]);
      }
    }
    return found;
  };
  return a
    .reshape([-1, n, n])
    .arraySync()
    .map(n < 7 ? expand : eliminate);
}

for (const [m, n] of [...sizes.map((n) => [n, n]), [1, 5], [5, 1], [7, 3], [3, 7], [12, 5]]) {
  test(`singular values [${m},${n}]`, () => {
    for (const batch of batches) {
      const a = drawn([...batch, m, n], m + 20 * n);
      const k = Math.min(m, n);
      for (const full of [false, true]) {
        const [s, u, v] = linalg.svd(a, full);
        const [rows, columns] = full ? [m, n] : [k, k];
        assert.deepEqual(
          [s.shape, u.shape, v.shape],
          [
            [...batch, k],
            [...batch, m, rows],
            [...batch, n, columns],
          ],
        );
        same(tf.matMul(transposed(u), u), eyes(rows, batch));
        same(tf.matMul(transposed(v), v), eyes(columns, batch));
        const leading = (x) => x.slice(new Array(x.rank).fill(0), [...x.shape.slice(0, -1), k]);
        same(product(leading(u).mul(s.expandDims(-2)), transposed(leading(v))), a);
        same(linalg.svd(a, full, false), s);
        for (const each of s.reshape([-1, k]).arraySync()) {
          assert.deepEqual(
            each,
            each.toSorted((x, y) => y - x),
          );
          assert.ok(each.at(-1) >= 0);
        }
      }
    }
  });
}

test('matrices of low rank, zeros, equal values and large numbers', () => {
  const low = tf.matMul(drawn([6, 2]), drawn([2, 5]));
  for (const a of [
    low,
    tf.zeros([4, 3]),
    tf.zeros([3, 3]),
    tf.eye(5),
    low.mul(1e30),
    low.mul(1e-30),
  ]) {
    const [m, n] = a.shape;
    const [s, u, v] = linalg.svd(a, true);
    same(tf.matMul(transposed(u), u), tf.eye(m));
    same(tf.matMul(transposed(v), v), tf.eye(n));
    const k = Math.min(m, n);
    const scale = Math.max(...s.dataSync()) || 1;
    const back = product(
      u.slice([0, 0], [m, k]).mul(s.expandDims(0)),
      transposed(v.slice([0, 0], [n, k])),
    );
    same(back.div(scale), a.div(scale));
  }
  const degenerate = tf.diag([2, 1, 2, 1, 2]);
  symmetric(degenerate, 5, []);
  symmetric(tf.zeros([4, 4]), 4, []);
  symmetric(tf.ones([5, 5]), 5, []);
  closeTo(
    [
      ...linalg
        .eigh(
          tf.tensor2d([
            [0, 9],
            [2, 0],
          ]),
        )[0]
        .dataSync(),
    ],
    [-2, 2],
  );
  assert.ok(
    linalg
      .det([
        [1, 2],
        [2, 4],
      ])
      .dataSync()[0] === 0,
  );
});

test('non-finite inputs have non-finite results', () => {
  const bad = tf.tensor2d([
    [1, NaN],
    [NaN, 1],
  ]);
  assert.ok(linalg.eigh(bad)[0].dataSync().every(Number.isNaN));
  assert.ok(linalg.svd(bad).every((each) => each.dataSync().every(Number.isNaN)));
  assert.ok(Number.isNaN(linalg.det(bad).dataSync()[0]));
  assert.ok(linalg.inv(bad).dataSync().every(Number.isNaN));
});

test('as exact as float32 allows', () => {
  // The Hilbert matrix, for which float32 elimination has no correct digit.
  const n = 6;
  const hilbert = tf.tensor2d(
    Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => 1 / (i + j + 1))),
  );
  const rows = hilbert.arraySync();
  const x = linalg.solve(hilbert, tf.ones([n, 1])).dataSync();
  for (const row of rows) {
    const sum = row.reduce((all, each, at) => all + each * x[at], 0);
    assert.ok(Math.abs(sum - 1) < 1e-3, `${sum}`);
  }
  const graded = tf.diag([1, 1e-6, 1e-12]);
  closeTo([...linalg.svd(graded)[0].div([1, 1e-6, 1e-12]).dataSync()], [1, 1, 1], 1e-6);
});

/** Derivatives of a function of a tensor, by differences. */
function differences(f, x, step = 1e-2) {
  const data = x.dataSync();
  return Array.from(data, (_, at) => {
    const at_ = (by) => {
      const moved = Float32Array.from(data);
      moved[at] += by;
      return f(tf.tensor(moved, x.shape)).dataSync()[0];
    };
    const slope = (by) => (at_(by) - at_(-by)) / (2 * by);
    // One step of Richardson's extrapolation.
    return (4 * slope(step / 2) - slope(step)) / 3;
  });
}

/** A randomly weighted sum of the elements of tensors, which distinguishes them. */
const weighed = (...all) =>
  tf.addN(all.map((each, at) => each.mul(drawn(each.shape, 90 + at)).sum()));

const near = (n, batch = []) => drawn([...batch, n, n], 3).add(tf.eye(n).mul(2));
const even = (x) => x.add(transposed(x)).mul(0.5);

const gradients = {
  'solve by its matrix': [(x) => weighed(linalg.solve(x, drawn([2, 3, 2]))), near(3, [2])],
  'solve by its right side': [(x) => weighed(linalg.solve(near(3), x)), drawn([3, 2])],
  'solve with the transpose': [(x) => weighed(linalg.solve(x, drawn([3, 2]), true)), near(3)],
  inv: [(x) => weighed(linalg.inv(x)), near(3, [2])],
  det: [(x) => weighed(linalg.det(x)), near(3, [2])],
  'det of rank 2': [
    (x) => linalg.det(x),
    tf.tensor2d([
      [1, 2, 3],
      [2, 4, 6],
      [0, 1, 1],
    ]),
  ],
  cholesky: [(x) => weighed(linalg.cholesky(positive(x))), near(3, [2])],
  'eigh, values': [(x) => weighed(linalg.eigh(even(x))[0]), near(4)],
  eigh: [
    (x) => {
      const [w, v] = linalg.eigh(even(x));
      return weighed(w, v.square(), product(v, transposed(v.mul(w.exp().expandDims(-2)))));
    },
    near(3, [2]),
  ],
  'svd, values': [(x) => weighed(linalg.svd(x, false, false)), drawn([2, 4, 3])],
};
for (const [m, n] of [
  [3, 3],
  [5, 3],
  [3, 5],
]) {
  gradients[`svd [${m},${n}]`] = [
    (x) => {
      const [s, u, v] = linalg.svd(x);
      return weighed(s, u.square(), v.square(), product(u, transposed(v)));
    },
    drawn([m, n], 5),
  ];
}

for (const [name, [f, x]] of Object.entries(gradients)) {
  test(`gradient of ${name}`, () => {
    closeTo([...tf.grad(f)(x).dataSync()], differences(f, x), 1e-2);
  });
  // Of singular matrices `det` has none.
  if (name === 'det of rank 2') continue;
  test(`second gradient of ${name}`, () => {
    const by = drawn(x.shape, 31);
    const slope = (each) => tf.grad(f)(each).mul(by).sum();
    closeTo([...tf.grad(slope)(x).dataSync()], differences(slope, x), 3e-2);
  });
}

test('equal eigenvalues: what does not depend on the choice of vectors has its gradient', () => {
  const trace = (x) => linalg.eigh(even(x))[0].sum();
  closeTo([...tf.grad(trace)(tf.eye(3)).dataSync()], [...tf.eye(3).dataSync()]);
  const nuclear = (x) => linalg.svd(x, false, false).sum();
  closeTo([...tf.grad(nuclear)(tf.eye(3)).dataSync()], [...tf.eye(3).dataSync()]);
});

test('no tensors leak', () => {
  const before = tf.memory().numTensors;
  tf.tidy(() => {
    const a = near(3);
    linalg.svd(a);
    linalg.eigh(even(a));
    linalg.solve(a, linalg.inv(a));
    tf.grad((x) => linalg.det(x))(a);
    tf.grad((x) => linalg.cholesky(positive(x)).sum())(a);
  });
  assert.equal(tf.memory().numTensors, before);
});

/** Asserts a LatheError whose message contains the text. */
const throwsWith = (action, text) =>
  assert.throws(action, ({ name, message }) => name === 'LatheError' && message.includes(text));

test('errors name the operation, the shape and the fix', () => {
  const a = near(3);
  throwsWith(
    () => linalg.inv(tf.zeros([2, 3])),
    'linalg.inv(): input must have square matrices, got the shape [2,3]',
  );
  throwsWith(
    () => linalg.det(tf.zeros([3])),
    'linalg.det(): input must have a rank of at least 2, got the shape [3]',
  );
  throwsWith(
    () => linalg.svd(tf.zeros([2, 2], 'int32')),
    'linalg.svd(): a must be of floats, got int32',
  );
  throwsWith(
    () => linalg.solve(a, tf.zeros([3])),
    'linalg.solve(): rhs must have a rank of at least 2',
  );
  throwsWith(
    () => linalg.solve(a, tf.zeros([2, 3])),
    'rhs must be float32 [3,k], got float32 [2,3]; expandDims',
  );
  throwsWith(() => linalg.solve(near(3, [2]), tf.zeros([3, 1])), 'rhs must be float32 [2,3,k]');
  throwsWith(
    () => linalg.inv(tf.zeros([2, 2])),
    'linalg.inv(): the matrix of the shape [2,2] is singular',
  );
  const second = tf.stack([tf.eye(2), tf.ones([2, 2])]);
  throwsWith(
    () => linalg.solve(second, tf.zeros([2, 2, 1])),
    'is singular (number 1 of the batch)',
  );
  throwsWith(
    () =>
      linalg.cholesky([
        [1, 0, 0],
        [0, -2, 0],
        [0, 0, 3],
      ]),
    'linalg.cholesky(): the matrix of the shape [3,3] is not positive definite: its first 2 rows and columns are not',
  );
  throwsWith(() => linalg.eigh('text'), 'must be numeric tensor');
  throwsWith(
    () => tf.grad((x) => linalg.svd(x, true)[1].sum())(drawn([3, 2])),
    'full matrices of the shape [3,2] have no gradient; leave out fullMatrices',
  );
  throwsWith(
    () => tf.compile({ x: [2, 2] }, ({ x }) => ({ y: linalg.inv(x) })),
    'linalg.inv(): input has no numbers within tl.compile',
  );
});
