// Layers that no model can have, on tensors: those that join and mix the rows of a batch, and those of another width each time.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe/tfjs';
import { waves } from '../beside.mjs';

before(() => tf.setBackend('cpu'));

const near = (found, wanted) => {
  assert.deepEqual(found.shape, wanted.shape);
  const expected = wanted.dataSync();
  found.dataSync().forEach((each, at) => {
    assert.ok(Math.abs(each - expected[at]) < 1e-5, `${at}: ${each}, not ${expected[at]}`);
  });
};
const refuses = (action, message) => assert.throws(action, { name: 'LatheError', message });

test('concatenate joins the rows of tensors', () => {
  const joined = (lib, axis) =>
    lib.layers
      .concatenate({ axis })
      .apply([waves(lib, [2, 3]), waves(lib, [4, 3]), lib.ones([1, 3], 'int32')]);
  near(joined(tl, 0), joined(tf, 0));
  // TensorFlow.js takes any negative one for the last.
  near(joined(tl, -2), joined(tf, 0));
  const inputs = [tl.input({ shape: [3] }), tl.input({ shape: [3] })];
  refuses(() => tl.layers.concatenate({ axis: 0 }).apply(inputs), /axis 0 must be one of 1 to 1/);
});

/** Each row by its own mean and variance, which TensorFlow.js does not find: it takes those of places for those of rows. */
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
    const wanted = tl.variableGrads(
      loss(() => byRows(x, gamma, beta)),
      [gamma, beta],
    ).grads;
    for (const { name } of [gamma, beta]) near(found[name], wanted[name]);
    const more = tl.ones([shape[0] + 1, ...shape.slice(1)]);
    refuses(() => layer.apply(more), /would have shape \[\d\], it has \[\d\]/);
  });
}

test('randomWidth stretches pictures as TensorFlow.js does, within the factor', () => {
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

test('randomWidth says what it is, and refuses models and factors that there are not', () => {
  const { randomWidth } = tl.layers;
  const layer = randomWidth({ factor: 0.5, seed: 3, name: 'wide' });
  assert.equal(layer.getClassName(), 'RandomWidth');
  const { factor, interpolation, seed, name } = layer.getConfig();
  assert.deepEqual([factor, interpolation, seed, name], [0.5, 'bilinear', 3, 'wide']);
  refuses(() => layer.apply(tl.input({ shape: [4, 4, 1] })), /"wide".*compiled for one/);
  for (const wrong of [undefined, 0.1 - 0.2, [0.2, 0.1], [-1.5, 0], 'wide']) {
    refuses(
      () => randomWidth({ factor: wrong }),
      /^(Invalid factor: |factor (must have values|cannot have upper bound))/,
    );
  }
  refuses(
    () => randomWidth({ factor: 1, interpolation: 'area' }),
    /^Invalid interpolation parameter: area/,
  );
});
