// Operations on more tensors than an engine allows parameters, compared with TensorFlow.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as theirs from '@tensorflow/tfjs';
import * as ours from 'tensorlathe/tfjs';
import { DeviceValue } from '../../../../../js/dist/runtime/device_value.js';
import { closeTo } from '../lib.mjs';

await theirs.setBackend('cpu');
await ours.ready();

const joins = {
  'concat of rows': (tf, each) => tf.tidy(() => tf.concat(each.map((x) => x.reshape([1, 2])))),
  'concat along the last axis': (tf, each) => tf.concat(each, -1),
  stack: (tf, each) => tf.stack(each),
  'stack along the last axis': (tf, each) => tf.stack(each, -1),
};

for (const [name, join] of Object.entries(joins)) {
  test(`${name}: 1100 tensors, and the gradients with respect to some of them`, () => {
    const run = (tf) => {
      const vectors = Array.from({ length: 1100 }, (_, at) => tf.tensor1d([at, -at / 7]));
      const before = tf.memory().numTensors;
      const combined = join(tf, vectors);
      assert.equal(tf.memory().numTensors, before + 1);
      const [first, last] = tf.grads((a, b) =>
        join(tf, [a, ...vectors.slice(1, -1), b])
          .square()
          .sum(),
      )([vectors[300], vectors[5]]);
      return { combined, all: [combined, first, last].flatMap((x) => [...x.dataSync()]) };
    };
    const [actual, expected] = [run(ours), run(theirs)];
    assert.deepEqual(actual.combined.shape, expected.combined.shape);
    closeTo(actual.all, expected.all);
  });
}

/** The means of the gradients of `steps` steps, read at the end; `look` observes the gradients in each step. */
function meanGradients(tf, steps, look = () => {}) {
  const w = tf.variable(tf.tensor2d([0.1, -0.2, 0.3, 0.4], [4, 1]));
  const b = tf.variable(tf.zeros([1]));
  const [ofW, ofB] = [[], []];
  for (let at = 0; at < steps; at += 1) {
    const step = () => {
      const logits = tf
        .tensor2d([[at % 7, 1, (at % 3) - 1, 0.5]])
        .matMul(w)
        .add(b);
      const action = +(tf.sigmoid(logits).dataSync()[0] > 0.5);
      return tf.losses.sigmoidCrossEntropy(tf.sub(1, tf.tensor2d([[action]])), logits);
    };
    const { value, grads } = tf.tidy(() => tf.variableGrads(() => tf.tidy(step), [w, b]));
    value.dispose();
    ofW.push(grads[w.name]);
    ofB.push(grads[b.name]);
  }
  look(ofW);
  const means = [ofW, ofB].map((each) => tf.tidy(() => tf.mean(tf.stack(each), 0)));
  const numbers = means.flatMap((each) => [...each.dataSync()]);
  tf.dispose([w, b, ofW, ofB, means]);
  return numbers;
}

test('gradients of 1200 steps may be read at the end', () => {
  closeTo(meanGradients(ours, 1200), meanGradients(theirs, 1200));
});

test('of many unread gradients only the last few stay pending', () => {
  let pending;
  const look = (grads) => {
    pending = grads.filter((each) => !DeviceValue.of(each).isMaterialized).length;
  };
  meanGradients(ours, 60, look);
  assert.ok(pending <= 16, `${pending} are pending`);
});
