// Logging with `'loss: ' + tensor` threw, and so did `t + 1` and `t == 1`, which TensorFlow.js turns into the printed
// string. Operators that need a number throw with a hint; what is traced has no value to print.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tf from 'tensorlathe/tfjs';

await tf.ready();
const printed = 'Tensor\n    2';

test('where a string will do, a tensor is its printed string', () => {
  const x = tf.scalar(2);
  assert.equal('loss: ' + x, `loss: ${printed}`);
  assert.equal(x + 1, `${printed}1`);
  assert.equal(x + tf.scalar(2), printed + printed);
  assert.equal(x == 2, false);
  assert.equal(x == printed, true);
  assert.equal(`${x.mul(1)}`, printed);
  assert.equal([x, x].join(), `${printed},${printed}`);
  assert.equal(tf.variable(x) + '', printed);
  assert.equal(tf.tensor(['a']) + '', "Tensor\n    ['a']");
  assert.equal(tf.complex([1], [2]) + '', 'Tensor\n    [1 + 2j]');
  assert.equal(tf.tensor([true, false]) + '', 'Tensor\n    [true, false]');
  const values = tf.grad((v) => (assert.equal('v ' + v, `v ${printed}`), v.square()))(x);
  assert.equal(values.dataSync()[0], 4);
});

test('where only a number will do, the error names the conversion', () => {
  const x = tf.scalar(2);
  const hint = { name: 'LatheError', message: /^Tensor float32 \[\] is no number: .*x\.mul\(2\)/ };
  const operators = [
    () => x - 1,
    () => x * 2,
    () => x / 2,
    () => x % 2,
    () => x ** 2,
    () => -x,
    () => +x,
    () => x < 1,
    () => x >= x,
    () => x | 0,
    () => Math.max(x, 1),
    () => isNaN(x),
  ];
  for (const each of operators) assert.throws(each, hint, String(each));
});

test('traced tensors have no value', async () => {
  const uses = [
    (x) => x + 1,
    (x) => x == 1,
    (x) => 'loss: ' + x.mul(2),
    (x) => x * 2,
    (x) => x < 1,
  ];
  const message = /is no number|reads numbers/;
  for (const use of uses) {
    const traced = ({ x }) => (use(x), { y: x.mul(2) });
    assert.throws(
      () => tf.compile({ x: [] }, traced),
      { name: 'LatheError', message },
      String(use),
    );
    const jitted = tf.jit((x) => (use(x), x.mul(2)));
    assert.throws(() => jitted(tf.scalar(1)), { name: 'LatheError', message }, String(use));
  }
});
