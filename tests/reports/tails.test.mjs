// Symptom: softplus(-20) and logSigmoid(20) are 0, elu(-1e-8) is 0, the sigmoid cross entropy of a sure row is 0 or off by 7 %:
// small results lose their digits. Every function of the table is compared relatively, over all magnitudes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import * as tf from 'tensorlathe/tfjs';

const { exp, expm1, log1p, max, min, abs, tanh } = Math;
const softplus = (x) => max(x, 0) + log1p(exp(-abs(x)));
const elu = (x, alpha = 1) => (x > 0 ? x : alpha * expm1(x));
// By its series; beyond 2.5 by the continued fraction of its complement to 1.
function erf(x) {
  const a = abs(x);
  let sum = 0;
  if (a < 2.5) {
    for (let n = 0, term = a; n < 60; ++n, term *= (2 * a * a) / (2 * n + 1)) sum += term;
    return (Math.sign(x) * 2 * exp(-a * a) * sum) / Math.sqrt(Math.PI);
  }
  sum = a;
  for (let n = 60; n > 0; --n) sum = a + n / 2 / sum;
  return Math.sign(x) * (1 - (a > 26 ? 0 : exp(-a * a) / sum / Math.sqrt(Math.PI)));
}
const logCosh = (d) =>
  abs(d) < 1 ? log1p(2 * Math.sinh(d / 2) ** 2) : abs(d) + log1p(exp(-2 * abs(d))) - Math.LN2;

/** What functions of one tensor are in double precision. */
const functions = {
  ...Object.fromEntries(
    [
      'abs',
      'sign',
      'sqrt',
      'floor',
      'ceil',
      'trunc',
      'exp',
      'expm1',
      'log',
      'log1p',
      'sin',
      'cos',
      'tan',
      'asin',
      'acos',
      'atan',
      'sinh',
      'cosh',
      'tanh',
      'asinh',
      'acosh',
      'atanh',
    ].map((name) => [name, Math[name]]),
  ),
  sigmoid: (x) => 1 / (1 + exp(-x)),
  erf,
  square: (x) => x * x,
  reciprocal: (x) => 1 / x,
  rsqrt: (x) => 1 / Math.sqrt(x),
  relu: (x) => max(x, 0),
  relu6: (x) => min(max(x, 0), 6),
  leakyRelu: (x) => (x > 0 ? x : Math.fround(0.2) * x),
  elu,
  softplus,
};
const ofTensors = {
  ...functions,
  selu: (x) => 1.0507009873554805 * elu(x, 1.6732632423543772),
  logSigmoid: (x) => -softplus(-x),
};
const ofLayers = {
  elu,
  selu: ofTensors.selu,
  softplus,
  sigmoid: functions.sigmoid,
  tanh,
  softsign: (x) => x / (1 + abs(x)),
  swish: (x) => x / (1 + exp(-x)),
  mish: (x) => x * tanh(softplus(x)),
};

function inputs() {
  const numbers = [
    0, 1, 2, 0.5, 5, 8, 10, 12, 15, 17, 20, 30, 87, 88, 100, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3,
  ];
  let seed = 3;
  for (let exponent = -126; exponent < 127; ++exponent) {
    for (let i = 0; i < 8; ++i) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      numbers.push((1 + seed / 2 ** 32) * 2 ** exponent);
    }
  }
  return Float32Array.from(numbers.flatMap((x) => [x, -x]));
}

/** Tolerance in ulp; factors below the least normal number may be 0, and what is beyond the largest infinite. */
function check(name, x, got, expected, tolerance = 8) {
  for (let i = 0; i < x.length; ++i) {
    const y = expected(x[i]);
    if (Number.isNaN(y) || !Number.isFinite(Math.fround(y))) {
      assert.ok(Object.is(got[i], Math.fround(y)), `${name}(${x[i]}) is ${y}, got ${got[i]}`);
      continue;
    }
    const unit = 2 ** (Math.floor(Math.log2(max(abs(y), 2 ** -126))) - 23);
    const lost = abs(y) < 2 ** -125 * max(1, abs(x[i])) && got[i] === 0;
    assert.ok(
      lost || abs(got[i] - y) <= tolerance * unit,
      `${name}(${x[i]}) is ${y}, got ${got[i]}`,
    );
  }
}

test('compiled functions', async () => {
  const x = inputs();
  const f = await tl.compile({ x: [x.length] }, ({ x }, g) =>
    Object.fromEntries(Object.keys(functions).map((name) => [name, g[name](x)])),
  );
  const results = f.run({ x: tl.tensor(x) });
  for (const name in functions) check(name, x, results[name].dataSync(), functions[name]);
});

test('functions of tensors', () => {
  const x = inputs();
  for (const name in ofTensors) {
    if (tf[name] === undefined) continue;
    check(name, x, tf[name](tf.tensor1d(x)).dataSync(), ofTensors[name]);
  }
});

test('layers', () => {
  const x = inputs();
  for (const name in ofLayers) {
    const net = tl.sequential({
      layers: [tl.layers.activation({ activation: name, inputShape: [1] })],
    });
    check(name, x, net.predict(tl.tensor(x, [x.length, 1])).dataSync(), ofLayers[name]);
  }
});

test('losses of what is nearly right', async () => {
  const logits = Float32Array.of(8, 12, 15, 20, 40, -8, -15, 0.5, -3, 87);
  const labels = Float32Array.from(logits, (x) => Number(x > 0));
  const cost = (y) => (x) => max(x, 0) - x * y + log1p(exp(-abs(x)));
  const rows = (values) => tf.tensor2d(values, [values.length, 1]);
  const none = tf.Reduction.NONE;
  const eager = tf.losses.sigmoidCrossEntropy(rows(labels), rows(logits), undefined, 0, none);
  const model = tl.sequential({
    layers: [tl.layers.activation({ activation: 'linear', inputShape: [1] })],
  });
  const got = eager.dataSync();
  for (let i = 0; i < logits.length; ++i) {
    check('sigmoidCrossEntropy', [logits[i]], [got[i]], cost(labels[i]));
    for (const [loss, expected] of [
      ['sigmoidCrossEntropy', cost(labels[i])],
      ['logCosh', (x) => logCosh(x - labels[i])],
    ]) {
      model.compile({ loss, optimizer: 'sgd' });
      const value = model.evaluate(tl.tensor([[logits[i]]]), tl.tensor([[labels[i]]]));
      check(loss, [logits[i]], [[value].flat()[0].dataSync()[0]], expected);
    }
  }
  const slope = tf.grad((x) =>
    tf.losses.sigmoidCrossEntropy(tf.ones([3, 1]), x, undefined, 0, tf.Reduction.SUM),
  );
  const at = Float32Array.of(0, 15, -2);
  slope(rows(at))
    .dataSync()
    .forEach((g, i) => {
      const expected = 1 / (1 + exp(-at[i])) - 1;
      assert.ok(abs(g - expected) <= 1e-7, `the slope at ${at[i]} is ${expected}, got ${g}`);
    });
});

test('small differences of the log-cosh loss', () => {
  const model = tl.sequential({
    layers: [tl.layers.activation({ activation: 'linear', inputShape: [1] })],
  });
  model.compile({ loss: 'logCosh', optimizer: 'sgd' });
  for (const d of [1e-4, 1e-3, 0.1, 0.99, 1, 1.01, 30, 1e4]) {
    const x = Math.fround(d);
    const value = model.evaluate(tl.tensor([[x]]), tl.tensor([[0]]));
    check('logCosh', [x], [[value].flat()[0].dataSync()[0]], logCosh);
  }
});
