// onnxruntime#27533, #1007, #28557: a binary TreeEnsembleClassifier with LOGISTIC whose weights are all ≥ 0 returned 0.6 for a
// score of 0.4. Every post_transform with class ids, signs of weights, base values and labels, as in ONNX Runtime.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { floats, ints, model, node, tensor, value } from '../js/onnx/write.mjs';
import { attempt, differs, engines } from './onnx_lib.mjs';

const transforms = ['NONE', 'LOGISTIC', 'SOFTMAX', 'SOFTMAX_ZERO', 'PROBIT'];
const x = tensor('float32', [-1, 0.2, 0.7, 2], [4, 1]);

const classifier = (op, labels, attributes, width = 1) => {
  const isText = Object.values(labels).some((each) => typeof each[0] === 'string');
  return model({
    opset: 17,
    ir: 8,
    opsets: { 'ai.onnx.ml': op.startsWith('Tree') ? 3 : 1 },
    nodes: [
      node(op, ['x'], ['label', 'p'], { ...attributes, ...labels }, { domain: 'ai.onnx.ml' }),
    ],
    inputs: [value('x', 'float32', ['n', width])],
    outputs: [
      value('label', isText ? 'string' : 'int64', ['n']),
      value('p', 'float32', ['n', 'k']),
    ],
  });
};

/** Two leaves, x ≤ 0.5 and x > 0.5. */
const tree = (ids, weights, base, post_transform, labels) =>
  classifier('TreeEnsembleClassifier', labels, {
    nodes_treeids: ints([0, 0, 0]),
    nodes_nodeids: ints([0, 1, 2]),
    nodes_featureids: ints([0, 0, 0]),
    nodes_values: floats([0.5, 0, 0]),
    nodes_modes: ['BRANCH_LEQ', 'LEAF', 'LEAF'],
    nodes_truenodeids: ints([1, 0, 0]),
    nodes_falsenodeids: ints([2, 0, 0]),
    class_treeids: ints(ids.map(() => 0)),
    class_nodeids: ints(ids.map((_, at) => (at < ids.length / 2 ? 1 : 2))),
    class_ids: ints(ids),
    class_weights: floats(weights),
    post_transform,
    ...(base.length > 0 && { base_values: floats(base) }),
  });

const two = [{ classlabels_int64s: ints([10, 20]) }, { classlabels_strings: ['no', 'yes'] }];
const signs = [
  [0.4, 0.7],
  [-0.4, -0.7],
  [-0.4, 0.7],
  [0, 0],
  [0, 0.6],
  [0, -0.6],
];

test('the report: a score of 0.4 becomes its sigmoid', async () => {
  const { p } = await attempt(engines.ours, tree([0, 0], [0.4, 0.7], [], 'LOGISTIC', two[0]), {
    x,
  });
  [0.40131, 0.59869, 0.40131, 0.59869, 0.33181, 0.66819].forEach((expected, at) => {
    assert.ok(Math.abs(p.data[at] - expected) < 1e-4, `${at}: ${p.data[at]}`);
  });
});

for (const transform of transforms) {
  test(`trees that vote for one class, ${transform}`, async () => {
    for (const labels of two) {
      for (const ids of [
        [0, 0],
        [1, 1],
      ]) {
        for (const weights of signs) {
          for (const base of [[], [0.3], [-0.3], [0.1, 0.3], [0.3, -0.6], [0.1, 0.2, 0.3]]) {
            // ONNX Runtime ignores the trees, reads uninitialized memory, or returns NaN for 0 / 0.
            if (ids[0] === 1 && base.length === 2) continue;
            if (transform === 'PROBIT' && ids[0] === 0 && base.length < 2) continue;
            if (transform === 'SOFTMAX_ZERO' && ids[0] === 1 && weights.includes(0)) continue;
            const bytes = tree(ids, weights, base, transform, labels);
            const what = `ids ${ids}, weights ${weights}, base ${base}, ${Object.keys(labels)}`;
            assert.equal(await differs(bytes, { x }), undefined, what);
          }
        }
      }
    }
  });
}

test('trees that vote for two classes: the label is that of the higher score, as ONNX specifies', async () => {
  // ONNX Runtime returns 1 and 0 there, whatever the labels are.
  const weights = [0.9, 0.1, 0.2, 0.8];
  for (const base of [[], [0.1, 0.3]]) {
    const bytes = tree([0, 1, 0, 1], weights, base, 'NONE', two[0]);
    const { label, p } = await attempt(engines.ours, bytes, { x });
    assert.deepEqual([...label.data].map(Number), [10, 10, 20, 20]);
    const expected = weights.map((each, at) => each + (base[at % 2] ?? 0));
    assert.ok(Math.abs(p.data[0] - expected[0]) < 1e-6 && Math.abs(p.data[7] - expected[3]) < 1e-6);
  }
});

test('trees of three classes', async () => {
  const labels = { classlabels_int64s: ints([4, 5, 6]) };
  const ids = [0, 1, 2, 0, 1, 2];
  for (const transform of transforms) {
    if (transform === 'PROBIT') continue;
    for (const weights of [
      [0.1, 0.5, 0.4, 0.3, 0.3, 0.9],
      [-0.1, -0.5, -0.4, 0.3, -0.3, 0.9],
    ]) {
      for (const base of [[], [0.1, 0.2, -0.3]]) {
        const bytes = tree(ids, weights, base, transform, labels);
        assert.equal(await differs(bytes, { x }), undefined, `${transform} ${weights} ${base}`);
      }
    }
  }
});

/** A tree of two leaves and one of a single leaf. */
const regressor = (targets, post_transform, aggregate_function, base) =>
  model({
    opset: 17,
    ir: 8,
    opsets: { 'ai.onnx.ml': 3 },
    nodes: [
      node(
        'TreeEnsembleRegressor',
        ['x'],
        ['p'],
        {
          n_targets: targets,
          nodes_treeids: ints([0, 0, 0, 1]),
          nodes_nodeids: ints([0, 1, 2, 0]),
          nodes_featureids: ints([0, 0, 0, 0]),
          nodes_values: floats([0.5, 0, 0, 0]),
          nodes_modes: ['BRANCH_LEQ', 'LEAF', 'LEAF', 'LEAF'],
          nodes_truenodeids: ints([1, 0, 0, 0]),
          nodes_falsenodeids: ints([2, 0, 0, 0]),
          target_treeids: ints([0, 0, 1, 0, 0, 1].slice(0, 3 * targets)),
          target_nodeids: ints([1, 2, 0, 1, 2, 0].slice(0, 3 * targets)),
          target_ids: ints([0, 0, 0, 1, 1, 1].slice(0, 3 * targets)),
          target_weights: floats([0.4, -0.7, 0.1, 0.2, 0.3, -0.4].slice(0, 3 * targets)),
          post_transform,
          aggregate_function,
          ...(base.length > 0 && { base_values: floats(base) }),
        },
        { domain: 'ai.onnx.ml' },
      ),
    ],
    inputs: [value('x', 'float32', ['n', 1])],
    outputs: [value('p', 'float32', ['n', 'k'])],
  });

test('regressors of trees', async () => {
  for (const transform of transforms) {
    for (const aggregate of ['SUM', 'AVERAGE', 'MIN', 'MAX']) {
      for (const targets of [1, 2]) {
        // Of one target ONNX Runtime leaves LOGISTIC and SOFTMAX out, which ONNX does not specify.
        if (targets === 1 && !['NONE', 'PROBIT'].includes(transform)) continue;
        for (const base of [[], [0.3, -0.1].slice(0, targets)]) {
          const bytes = regressor(targets, transform, aggregate, base);
          const what = `${transform} ${aggregate} ${targets} ${base}`;
          assert.equal(await differs(bytes, { x }), undefined, what);
        }
      }
    }
  }
  const { p } = await attempt(engines.ours, regressor(1, 'LOGISTIC', 'SUM', []), { x });
  [0.5, 0.5, -0.6, -0.6].forEach((score, at) => {
    assert.ok(Math.abs(p.data[at] - 1 / (1 + Math.exp(-score))) < 1e-6);
  });
});

test('linear classifiers', async () => {
  for (const post_transform of transforms) {
    for (const rows of [1, 2, 3]) {
      const classes = Math.max(rows, 2);
      // Of one row ONNX Runtime reads uninitialized memory.
      if (post_transform === 'PROBIT' && rows === 1) continue;
      for (const labels of [
        { classlabels_ints: ints([10, 20, 30].slice(0, classes)) },
        { classlabels_strings: ['a', 'b', 'c'].slice(0, classes) },
      ]) {
        for (const sign of [1, -1, 0]) {
          const bytes = classifier('LinearClassifier', labels, {
            coefficients: floats([0.8, 0.5, 0.3].slice(0, rows).map((each) => each * sign)),
            intercepts: floats([0.1, sign * 0.2, -0.1].slice(0, rows)),
            multi_class: 0,
            post_transform,
          });
          const what = `${post_transform}, ${rows} rows, ${Object.keys(labels)}, sign ${sign}`;
          assert.equal(await differs(bytes, { x }), undefined, what);
        }
      }
    }
  }
});

test('support vector machines', async () => {
  const points = tensor('float32', [-1, 0.3, 0.2, 1, 0.7, -0.5, 2, 0.1], [4, 2]);
  const some = (count, seed) =>
    floats(Array.from({ length: count }, (_, at) => Math.sin(at * 7.3 + seed)));
  for (const post_transform of transforms) {
    for (const classes of [2, 3]) {
      for (const hasProbabilities of [false, true]) {
        if (post_transform === 'PROBIT' && classes === 2 && !hasProbabilities) continue;
        for (const kernel_type of ['LINEAR', 'RBF', 'POLY', 'SIGMOID']) {
          const per = classes === 2 ? [2, 1] : [2, 1, 1];
          const vectors = classes === 2 ? 3 : 4;
          const pairs = (classes * (classes - 1)) / 2;
          const labels = { classlabels_ints: ints([5, 7, 9].slice(0, classes)) };
          const attributes = {
            coefficients: some((classes - 1) * vectors, 1),
            rho: some(pairs, 2),
            support_vectors: some(vectors * 2, 3),
            vectors_per_class: ints(per),
            kernel_type,
            kernel_params: floats([0.5, 0.1, 2]),
            post_transform,
            ...(hasProbabilities && { prob_a: some(pairs, 4), prob_b: some(pairs, 5) }),
          };
          const bytes = classifier('SVMClassifier', labels, attributes, 2);
          const what = `${post_transform}, ${classes}, ${kernel_type}, ${hasProbabilities}`;
          assert.equal(await differs(bytes, { x: points }), undefined, what);
        }
      }
    }
  }
});
