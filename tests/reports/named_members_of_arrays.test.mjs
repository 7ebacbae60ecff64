// Cart-pole of TensorFlow.js's examples returns arrays with named properties from `tidy`, whose tensors it disposed: the
// episode lost and leaked tensors. Every property counts, as in TensorFlow.js.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tf from 'tensorlathe/tfjs';

await tf.ready();

class Episode extends Array {
  state = tf.scalar(7);
}

const containers = {
  'an array': () => Object.assign([tf.scalar(1)], { grads: tf.scalar(2) }),
  'an empty array': () => Object.assign([], { a: { b: [tf.scalar(3)] } }),
  'an array of numbers': () => Object.assign([1, 2, 3], { x: tf.scalar(4) }),
  'nested arrays': () => [[Object.assign([[tf.scalar(5)]], { y: tf.scalar(6) })]],
  'a subclass of Array': () => Episode.of(tf.scalar(8)),
  'an object that refers to itself': () => {
    const list = Object.assign([tf.scalar(9)], { extra: {} });
    return Object.assign(list, { list, extra: { list, z: tf.scalar(1) } });
  },
  'a sparse array': () => Object.assign(new Array(3), { 2: tf.scalar(1), w: tf.scalar(2) }),
};

for (const [name, make] of Object.entries(containers)) {
  test(`tidy leaves what ${name} has, and dispose ends it`, () => {
    const before = tf.memory().numTensors;
    const result = tf.tidy(() => {
      tf.scalar(100);
      return make();
    });
    const contained = tf.tensor_util.getTensorsInContainer(result);
    assert.ok(contained.length > 0);
    assert.ok(contained.every((each) => !each.isDisposed));
    assert.equal(tf.memory().numTensors, before + contained.length);
    tf.dispose(result);
    assert.ok(contained.every((each) => each.isDisposed));
    assert.equal(tf.memory().numTensors, before);
  });
}

test('so do scopes of the engine', () => {
  const before = tf.memory().numTensors;
  tf.engine().startScope();
  const result = Object.assign([], { x: tf.scalar(1) });
  tf.engine().endScope(result);
  assert.equal(result.x.dataSync()[0], 1);
  tf.dispose(result);
  assert.equal(tf.memory().numTensors, before);
});
