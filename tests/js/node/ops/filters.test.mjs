// Convolutions, pools and image operations compared with TensorFlow.js on random odd shapes: values and gradients.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import test from 'node:test';
import * as tl from 'tensorlathe/tfjs';

const require = createRequire(import.meta.url);
const tf = require('@tensorflow/tfjs');

let state = 12345;
/** An integer from `least` to `max`. */
function integer(least, max) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return least + Math.floor((state / 2 ** 32) * (max - least + 1));
}
const pick = (list) => list[integer(0, list.length - 1)];

function random(shape) {
  const values = shape.reduce((product, size) => product * size, 1);
  return { shape, values: Float32Array.from({ length: values }, () => integer(-1e6, 1e6) / 3e5) };
}

function close(actual, expected, what) {
  assert.deepEqual(actual.shape, expected.shape, what);
  assert.equal(actual.dtype, expected.dtype, what);
  const [a, b] = [actual.dataSync(), expected.dataSync()];
  b.forEach((value, at) => {
    const isSame =
      Object.is(a[at], value) || Math.abs(a[at] - value) <= 2e-4 * (1 + Math.abs(value));
    assert.ok(isSame, `${what}: ${a[at]} is not ${value} at ${at}`);
  });
}

/** Compares a function's value, and its gradients by all inputs unless they are expected to differ. */
function compare(what, inputs, f, hasGradients = true) {
  const of = (lib) => inputs.map(({ shape, values }) => lib.tensor(values, shape));
  const before = tl.memory().numTensors;
  const [ours, theirs] = [of(tl), of(tf)];
  const [actual, expected] = [f(tl, ...ours), f(tf, ...theirs)];
  close(actual, expected, what);
  if (hasGradients) {
    const dy = random(expected.shape);
    const by = (lib) => lib.tensor(dy.values, dy.shape);
    const found = tl.grads((...xs) => f(tl, ...xs))(ours, by(tl));
    const due = tf.grads((...xs) => f(tf, ...xs))(theirs, by(tf));
    due.forEach((each, at) => close(found[at], each, `gradient ${at} of ${what}`));
    tl.dispose(found);
  }
  tl.dispose([actual, ours]);
  const left = tl.memory().numTensors - before - Number(hasGradients);
  assert.equal(left, 0, `${what} leaves tensors`);
}

await tf.setBackend('cpu');
await tl.ready();

const pads = (count) => [
  'valid',
  'same',
  integer(0, 2),
  [[0, 0], ...Array.from({ length: count }, () => [integer(0, 2), integer(0, 2)]), [0, 0]],
];

test('convolutions', () => {
  for (let at = 0; at < 12; at++) {
    const [size, filter, channels] = [integer(4, 9), integer(1, 4), integer(1, 5)];
    const [stride, pad] = [integer(1, 3), pick(pads(2))];
    const x = random([integer(1, 3), size, size, channels]);
    const name = `[${x.shape}] by ${filter}, stride ${stride}, pad ${JSON.stringify(pad)}`;
    const w = random([filter, filter, channels, integer(1, 5)]);
    compare(`conv2d ${name}`, [x, w], (lib, a, b) => lib.conv2d(a, b, stride, pad));
    compare(`depthwiseConv2d ${name}`, [x, w], (lib, a, b) =>
      lib.depthwiseConv2d(a, b, stride, pad),
    );
  }
});

test('convolutions with dilations, of lines and of volumes', () => {
  for (let at = 0; at < 5; at++) {
    const [filter, channels] = [integer(1, 3), integer(1, 4)];
    const pad = pick(['valid', 'same']);
    const x = random([integer(1, 2), integer(7, 9), integer(7, 9), channels]);
    const w = random([filter, filter, channels, integer(1, 3)]);
    compare('dilated', [x, w], (lib, a, b) => lib.conv2d(a, b, 1, pad, 'NHWC', 2), false);
    const line = random([2, integer(4, 9), channels]);
    const short = random([filter, channels, 3]);
    compare('conv1d', [line, short], (lib, a, b) => lib.conv1d(a, b, 1, pad));
    const volume = random([1, integer(3, 6), integer(3, 6), integer(3, 6), channels]);
    const cube = random([filter, filter, filter, channels, 2]);
    compare('conv3d', [volume, cube], (lib, a, b) => lib.conv3d(a, b, 1, pad));
  }
});

test('transposed convolutions', () => {
  for (let at = 0; at < 6; at++) {
    const [size, filter, stride] = [integer(2, 6), integer(1, 4), integer(1, 3)];
    const out = size * stride;
    const x = random([2, size, size, 3]);
    const w = random([filter, filter, 2, 3]);
    compare('conv2dTranspose', [x, w], (lib, a, b) =>
      lib.conv2dTranspose(a, b, [2, out, out, 2], stride, 'same'),
    );
    const volume = random([1, 3, 3, 3, 2]);
    const cube = random([filter, filter, filter, 1, 2]);
    const size3 = (3 - 1) * stride + filter;
    compare(
      'conv3dTranspose',
      [volume, cube],
      (lib, a, b) => lib.conv3dTranspose(a, b, [1, size3, size3, size3, 1], stride, 'valid'),
      false,
    );
  }
});

test('pools', () => {
  for (let at = 0; at < 10; at++) {
    const [size, window, stride] = [integer(3, 9), integer(1, 3), integer(1, 3)];
    const pad = pick(pads(2));
    const x = random([integer(1, 3), size, size, integer(1, 5)]);
    const name = `[${x.shape}] by ${window}, stride ${stride}, pad ${JSON.stringify(pad)}`;
    compare(`maxPool ${name}`, [x], (lib, a) => lib.maxPool(a, window, stride, pad));
    // TensorFlow.js divides gradients of windows that extend past the border by the full window size.
    compare(
      `avgPool ${name}`,
      [x],
      (lib, a) => lib.avgPool(a, window, stride, pad),
      pad === 'valid',
    );
    const volume = random([1, integer(3, 5), integer(3, 5), integer(3, 5), 2]);
    const word = pick(['valid', 'same']);
    // With windows below their strides TensorFlow.js does not begin at the first element of a volume.
    const step = Math.min(stride, window);
    compare(`maxPool3d ${name}`, [volume], (lib, a) => lib.maxPool3d(a, window, step, word));
    compare(`avgPool3d ${name}`, [volume], (lib, a) => lib.avgPool3d(a, window, step, word), false);
    const argmax = (lib, a) => lib.maxPoolWithArgmax(a, window, stride, word, at % 2 === 0);
    compare('argmax', [x], (lib, a) => lib.tidy(() => argmax(lib, a).indexes), false);
    compare('max', [x], (lib, a) => lib.tidy(() => argmax(lib, a).result), false);
  }
});

test('dilated pools and the morphological dilation', () => {
  for (let at = 0; at < 5; at++) {
    const [window, pad, depth] = [integer(1, 3), pick(['valid', 'same']), integer(1, 3)];
    const x = random([2, integer(6, 9), integer(6, 9), depth]);
    for (const kind of ['max', 'avg']) {
      compare(
        `pool ${kind} ${window} ${pad}`,
        [x],
        (lib, a) => lib.pool(a, window, kind, pad, 2),
        false,
      );
    }
    const filter = random([window, integer(1, 3), depth]);
    compare('dilation2d', [x, filter], (lib, a, b) => lib.dilation2d(a, b, 1, pad));
  }
});

test('normalization', () => {
  for (let at = 0; at < 5; at++) {
    const channels = integer(1, 7);
    const x = random([2, integer(1, 4), integer(1, 4), channels]);
    const [mean, offset, scale] = [0, 1, 2].map(() => random([channels]));
    const variance = random([channels]);
    variance.values = variance.values.map((each) => Math.abs(each) + 0.1);
    compare('batchNorm', [x, mean, variance, offset, scale], (lib, ...all) =>
      lib.batchNorm(...all),
    );
    compare('localResponseNormalization', [x], (lib, a) =>
      lib.localResponseNormalization(a, 2, 1, 0.5, 0.75),
    );
  }
});

test('images', () => {
  for (let at = 0; at < 6; at++) {
    const x = random([2, integer(2, 9), integer(2, 9), pick([1, 3, 4])]);
    const size = [integer(2, 9), integer(2, 9)];
    // For other sizes, gradients in TensorFlow.js do not match its values.
    const side = integer(2, 9);
    const square = random([1, side, side, 3]);
    const centered = at % 2 === 0;
    compare(
      'resizeBilinear',
      [square],
      (lib, a) => lib.image.resizeBilinear(a, [size[0], size[0]], !centered && at > 2, centered),
      !centered,
    );
    compare(
      'resizeNearestNeighbor',
      [square],
      (lib, a) => lib.image.resizeNearestNeighbor(a, [size[0], size[0]], false, centered),
      !centered,
    );
    const angle = integer(-300, 300) / 100;
    compare('rotate', [x], (lib, a) => lib.image.rotateWithOffset(a, angle, 7, 0.4), false);
    const boxes = random([3, 4]);
    for (const method of ['bilinear', 'nearest']) {
      compare(
        `crop ${method}`,
        [x, { ...boxes, values: boxes.values.map((each) => each / 3) }],
        (lib, a, b) => lib.image.cropAndResize(a, b, [0, 1, 0], size, method, 9),
        false,
      );
    }
    // TensorFlow.js projects only the first of several images.
    const one = random([1, ...x.shape.slice(1)]);
    const matrix = random([1, 8]);
    matrix.values = matrix.values.map((each, i) => (i > 5 ? each / 1000 : each));
    for (const mode of ['constant', 'reflect', 'wrap', 'nearest']) {
      compare(
        `transform ${mode}`,
        [one, matrix],
        (lib, a, b) => lib.image.transform(a, b, 'bilinear', mode, 5, size),
        false,
      );
    }
  }
});

test('boxes that overlap', () => {
  for (let at = 0; at < 6; at++) {
    const count = integer(1, 12);
    const [boxes, scores] = [random([count, 4]), random([count])];
    const choose = (lib) => {
      const [b, s] = [lib.tensor(boxes.values, [count, 4]), lib.tensor(scores.values, [count])];
      const soft = lib.image.nonMaxSuppressionWithScore(b, s, 6, 0.5, -2, 0.3);
      const plain = lib.image.nonMaxSuppression(b, s, 6, 0.3);
      return [soft.selectedIndices, soft.selectedScores, plain].map((each) => [...each.dataSync()]);
    };
    assert.deepEqual(choose(tl), choose(tf));
  }
});

test('functions that are traced', () => {
  const [a, b] = [random([1, 6, 6, 2]), random([3, 3, 2, 2])];
  const net = (x, w) => tl.avgPool(tl.conv2d(x, w, 1, 1), 2, 2, 1);
  const traced = tl.compile({ x: a.shape, w: b.shape }, ({ x, w }) => ({ y: net(x, w) }));
  const [x, w] = [a, b].map(({ shape, values }) => tl.tensor(values, shape));
  const expected = net(x, w);
  close(traced.run({ x, w }).y, expected, 'traced');
  traced.dispose();
  tl.dispose([x, w, expected]);
});

test('padding may be infinite', () => {
  const program = (lib) => {
    const x = lib.tensor2d([1, 2, 3, 4], [2, 2]);
    const around = [
      [1, 0],
      [0, 2],
    ];
    const ints = lib.pad(x.toInt(), around, -Infinity);
    const least = lib.grad((of) =>
      lib.maxPool(lib.pad(of, around, -Infinity).as4D(1, 3, 4, 1), 3, 2, 'same'),
    );
    return [-Infinity, NaN, Infinity]
      .map((value) => lib.pad(x, around, value))
      .concat(ints, least(x))
      .map((each) => [...each.dataSync()]);
  };
  assert.deepEqual(
    tl.tidy(() => program(tl)),
    tf.tidy(() => program(tf)),
  );
});

test('nearest-neighbor resizing of integer images retains the dtype', () => {
  const values = Array.from({ length: 5 * 4 * 3 }, (_, at) => (at * 37) % 256);
  for (const more of [[], [true], [false, true]]) {
    for (const size of [
      [2, 3],
      [9, 8],
    ]) {
      const tried = (lib) => {
        const image = lib.tensor3d(values, [5, 4, 3], 'int32');
        const { dtype, shape } = image.resizeNearestNeighbor(size, ...more);
        const many = lib.image.resizeNearestNeighbor(image.expandDims(0), size, ...more);
        return { dtype, shape, values: [...many.dataSync()], type: many.dtype };
      };
      assert.deepEqual(tried(tl), tried(tf));
    }
  }
});
