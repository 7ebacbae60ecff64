// Layers that work on tensors only, not in models: those that concatenate or mix the rows of a batch, and those of random width.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';
import { waves } from '../../compare_tfjs.mjs';

before(() => tf.setBackend('cpu'));

const near = (found, expected) => {
  assert.deepEqual(found.shape, expected.shape);
  const numbers = expected.dataSync();
  found.dataSync().forEach((each, at) => {
    assert.ok(Math.abs(each - numbers[at]) < 1e-5, `${at}: ${each}, not ${numbers[at]}`);
  });
};
const throws = (action, message) => assert.throws(action, { name: 'LatheError', message });

test('concatenate along the batch axis', () => {
  const concatenated = (lib, axis) =>
    lib.layers
      .concatenate({ axis })
      .apply([waves(lib, [2, 3]), waves(lib, [4, 3]), lib.ones([1, 3], 'int32')]);
  near(concatenated(tl, 0), concatenated(tf, 0));
  // TensorFlow.js treats any negative axis as the last.
  near(concatenated(tl, -2), concatenated(tf, 0));
  const inputs = [tl.input({ shape: [3] }), tl.input({ shape: [3] })];
  throws(() => tl.layers.concatenate({ axis: 0 }).apply(inputs), /axis 0 must be one of 1 to 1/);
});

/** Normalizes each row by its mean and variance; TensorFlow.js normalizes by those of positions instead. */
function byRows(x, gamma, beta) {
  const axes = x.shape.map((_, at) => at).slice(1);
  const { mean, variance } = tl.moments(x, axes, true);
  const column = [x.shape[0], ...axes.map(() => 1)];
  const normal = x.sub(mean).div(variance.add(1e-3).sqrt());
  return normal.mul(gamma.reshape(column)).add(beta.reshape(column));
}

for (const [axis, shape] of [
  [0, [2, 5]],
  [-3, [3, 4, 2]],
]) {
  test(`batchNormalization over the rows of [${shape}]`, () => {
    const layer = tl.layers.batchNormalization({ axis, momentum: 0.5 });
    const x = waves(tl, shape);
    near(layer.apply(x), x.mul(1 / Math.sqrt(1.001)));
    assert.deepEqual(
      layer.getWeights().map((each) => each.shape),
      Array(4).fill([shape[0]]),
    );
    const [gamma, beta] = layer.trainableWeights.map(({ val }) => val);
    gamma.assign(waves(tl, [shape[0]], 5));
    near(layer.apply(x, { training: true }), byRows(x, gamma, beta));
    const axes = shape.map((_, at) => at).slice(1);
    near(layer.getWeights()[2], x.mean(axes).mul(0.5));

    const share = waves(tl, shape, 9);
    const loss = (apply) => () => apply().mul(share).sum();
    const found = tl.variableGrads(loss(() => layer.apply(x, { training: true }))).grads;
    const expected = tl.variableGrads(
      loss(() => byRows(x, gamma, beta)),
      [gamma, beta],
    ).grads;
    for (const { name } of [gamma, beta]) near(found[name], expected[name]);
    const more = tl.ones([shape[0] + 1, ...shape.slice(1)]);
    throws(() => layer.apply(more), /would have shape \[\d\], it has \[\d\]/);
  });
}

test('randomWidth stretches images as TensorFlow.js does, within the factor', () => {
  for (const interpolation of ['bilinear', 'nearest']) {
    for (const shape of [
      [2, 3, 10, 2],
      [4, 7, 1],
    ]) {
      const stretched = (lib) =>
        lib.layers.randomWidth({ factor: [0.5, 0.5], interpolation }).apply(waves(lib, shape));
      near(stretched(tl), stretched(tf));
    }
  }
  const widthsOf = (factor, seed) => {
    const layer = tl.layers.randomWidth({ factor, seed });
    return Array.from({ length: 40 }, () => layer.apply(tl.ones([1, 2, 20, 1])).shape[2]);
  };
  const widths = widthsOf(0.3, 7);
  assert.deepEqual(widths, widthsOf([-0.3, 0.3], 7), 'the same seed');
  assert.ok(widths.every((width) => width >= 14 && width <= 26));
  assert.ok(new Set(widths).size > 5);
  assert.ok(widthsOf([0.1, 0.2]).every((width) => width >= 22 && width <= 24));
});

test('randomWidth has a configuration, and rejects models and invalid factors', () => {
  const { randomWidth } = tl.layers;
  const layer = randomWidth({ factor: 0.5, seed: 3, name: 'wide' });
  assert.equal(layer.getClassName(), 'RandomWidth');
  const { factor, interpolation, seed, name } = layer.getConfig();
  assert.deepEqual([factor, interpolation, seed, name], [0.5, 'bilinear', 3, 'wide']);
  throws(() => layer.apply(tl.input({ shape: [4, 4, 1] })), /"wide".*compiled for one/);
  for (const wrong of [undefined, 0.1 - 0.2, [0.2, 0.1], [-1.5, 0], 'wide']) {
    throws(
      () => randomWidth({ factor: wrong }),
      /^(Invalid factor: |factor (must have values|cannot have upper bound))/,
    );
  }
  throws(
    () => randomWidth({ factor: 1, interpolation: 'area' }),
    /^Invalid interpolation parameter: area/,
  );
});
