// Models of one operator of ai.onnx.ml each.
import { int64, normal, single } from './single.mjs';
import { float, floats, ints, tensor } from './write.mjs';

const f32 = 'float32';
const ml = { domain: 'ai.onnx.ml' };
const labels3 = { classlabels_ints: ints([7, 8, 9]) };

function trees() {
  const nodes = {
    nodes_treeids: ints([0, 0, 0, 0, 0, 1, 1, 1]),
    nodes_nodeids: ints([0, 1, 2, 3, 4, 0, 1, 2]),
    nodes_featureids: ints([0, 1, 0, 0, 0, 2, 0, 0]),
    nodes_modes: ['BRANCH_LEQ', 'BRANCH_LT', 'LEAF', 'LEAF', 'LEAF', 'BRANCH_LEQ', 'LEAF', 'LEAF'],
    nodes_values: floats([0.1, -0.2, 0, 0, 0, 0.3, 0, 0]),
    nodes_truenodeids: ints([1, 3, 0, 0, 0, 1, 0, 0]),
    nodes_falsenodeids: ints([2, 4, 0, 0, 0, 2, 0, 0]),
  };
  const votes = (kind, ids, weights) => ({
    [`${kind}_treeids`]: ints([0, 0, 0, 1, 1]),
    [`${kind}_nodeids`]: ints([2, 3, 4, 1, 2]),
    [`${kind}_ids`]: ints(ids),
    [`${kind}_weights`]: floats(weights),
  });
  const weights = [1.5, -2, 0.5, 0.25, 3];
  const positive = [0.5, 0.2, 0.1, 0.3, 0.4];
  const regressor = (name, attributes) =>
    single(
      name,
      'TreeEnsembleRegressor',
      [normal(6, 3)],
      [f32],
      { ...nodes, n_targets: 2, ...votes('target', [0, 1, 0, 1, 1], weights), ...attributes },
      ml,
    );
  const classifier = (name, ids, votesOf, attributes) =>
    single(
      name,
      'TreeEnsembleClassifier',
      [normal(6, 3)],
      ['int64', f32],
      { ...nodes, ...votes('class', ids, votesOf), ...attributes },
      ml,
    );
  const three = { classlabels_int64s: ints([7, 8, 9]) };
  const two = { classlabels_int64s: ints([0, 1]) };
  return [
    regressor('trees', {}),
    regressor('trees: a mean and a base', {
      ...votes('target', [0, 0, 0, 0, 0], weights),
      n_targets: 1,
      aggregate_function: 'AVERAGE',
      base_values: floats([2]),
    }),
    classifier('trees: three classes', [0, 1, 2, 1, 0], positive, {
      ...three,
      post_transform: 'SOFTMAX',
    }),
    classifier('trees: two classes', [1, 1, 1, 1, 1], weights, {
      ...two,
      post_transform: 'LOGISTIC',
    }),
    classifier('trees: two classes by shares', [1, 1, 1, 1, 1], positive, two),
  ];
}

function machines() {
  const features = () => normal(6, 4);
  const rows = (count) => floats([...normal(count).data]);
  const kernel = { kernel_type: 'RBF', kernel_params: floats([0.3, 0, 3]) };
  const three = {
    ...kernel,
    vectors_per_class: ints([2, 2, 1]),
    support_vectors: rows(20),
    coefficients: rows(10),
    rho: floats([0.1, -0.2, 0.3]),
    ...labels3,
  };
  const two = {
    kernel_type: 'POLY',
    kernel_params: floats([0.5, 1, 2]),
    vectors_per_class: ints([2, 2]),
    support_vectors: rows(16),
    coefficients: rows(4),
    rho: floats([0.1]),
    classlabels_ints: ints([0, 1]),
  };
  const classify = (name, attributes) =>
    single(name, 'SVMClassifier', [features()], ['int64', f32], attributes, ml);
  return [
    single(
      'regression',
      'LinearRegressor',
      [features()],
      [f32],
      { coefficients: rows(8), intercepts: floats([1, 2]), targets: 2 },
      ml,
    ),
    single(
      'linear classes',
      'LinearClassifier',
      [features()],
      ['int64', f32],
      {
        coefficients: rows(12),
        intercepts: floats([0.1, 0.2, 0.3]),
        ...labels3,
        post_transform: 'SOFTMAX',
      },
      ml,
    ),
    single(
      'linear, two classes',
      'LinearClassifier',
      [features()],
      ['int64', f32],
      {
        coefficients: rows(8),
        intercepts: floats([0.1, 0.2]),
        classlabels_ints: ints([0, 1]),
        post_transform: 'LOGISTIC',
      },
      ml,
    ),
    single(
      'machine',
      'SVMRegressor',
      [features()],
      [f32],
      {
        ...kernel,
        n_supports: 3,
        support_vectors: rows(12),
        coefficients: rows(3),
        rho: floats([0.2]),
      },
      ml,
    ),
    classify('machines: three classes', three),
    classify('machines: probabilities', {
      ...three,
      prob_a: floats([-1, -1.5, -0.7]),
      prob_b: floats([0.1, 0, -0.1]),
    }),
    classify('machines: two classes', two),
    classify('machines: two probabilities', {
      ...two,
      prob_a: floats([-1]),
      prob_b: floats([0.1]),
    }),
  ];
}

function tables() {
  const strings = (...data) => tensor('string', data, [data.length]);
  const table = (name, op, operands, attributes, outputs = [f32]) =>
    single(name, op, operands, outputs, attributes, ml);
  const gaps = tensor(f32, [1, NaN, 3, NaN, 5, 6], [2, 3]);
  return [
    table('scaled', 'Scaler', [normal(3, 4)], {
      offset: floats([1, 2, 3, 4]),
      scale: floats([2, 2, 1, 0.5]),
    }),
    table('normalized by the largest', 'Normalizer', [normal(3, 4)], { norm: 'MAX' }),
    table('normalized by the sum', 'Normalizer', [normal(3, 4)], { norm: 'L1' }),
    table('normalized by squares', 'Normalizer', [normal(3, 4)], { norm: 'L2' }),
    table('gaps filled', 'Imputer', [gaps], {
      imputed_value_floats: floats([9, 8, 7]),
      replaced_value_float: float(NaN),
    }),
    table(
      'gaps filled by one',
      'Imputer',
      [int64([1, -1, 3], [1, 3])],
      { imputed_value_int64s: ints([5]), replaced_value_int64: -1 },
      ['int64'],
    ),
    table('concatenated', 'FeatureVectorizer', [normal(2, 3), normal(2, 2)], {
      inputdimensions: [3, 2],
    }),
    table('hot numbers', 'OneHotEncoder', [int64([3, 1, 7])], { cats_int64s: [1, 3, 5] }),
    table('one-hot strings', 'OneHotEncoder', [strings('b', 'x', 'a')], {
      cats_strings: ['a', 'b'],
    }),
    table(
      'labels of texts',
      'LabelEncoder',
      [strings('b', 'x', 'a')],
      { keys_strings: ['a', 'b'], values_int64s: [4, 5], default_int64: -7 },
      ['int64'],
    ),
    table(
      'labels of numbers',
      'LabelEncoder',
      [int64([2, 9, 1])],
      { keys_int64s: [1, 2], values_strings: ['one', 'two'], default_string: 'none' },
      ['string'],
    ),
    table('labels of floats', 'LabelEncoder', [tensor(f32, [2, 5, 1])], {
      keys_floats: floats([1, 2]),
      values_floats: floats([10, 20]),
      default_float: float(-1),
    }),
    table(
      'categories',
      'CategoryMapper',
      [strings('b', 'x')],
      { cats_strings: ['a', 'b'], cats_int64s: [1, 2], default_int64: -1 },
      ['int64'],
    ),
  ];
}

export const tableCases = [...trees(), ...machines(), ...tables()];
