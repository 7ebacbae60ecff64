// Random equations of `einsum`, compared with float64 sums in loops.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tf from 'tensorlathe/tfjs';
import { closeTo, random } from '../eager/lib.mjs';

const letters = 'abcdef';

/** The same by loops over all letters. */
function referenceSum(terms, output, sizes, tensors) {
  const all = [...new Set([...terms.join(''), ...output])];
  const stepsOf = (term) => {
    let step = 1;
    const steps = {};
    for (const letter of [...term].reverse()) {
      steps[letter] = step;
      step *= sizes[letter];
    }
    return steps;
  };
  const [to, ...from] = [output, ...terms].map(stepsOf);
  const data = tensors.map((each) => each.dataSync());
  const found = new Float64Array([...output].reduce((count, letter) => count * sizes[letter], 1));
  const at = {};
  const offset = (steps) =>
    Object.keys(steps).reduce((sum, letter) => sum + steps[letter] * at[letter], 0);
  const loop = (depth) => {
    if (depth === all.length) {
      found[offset(to)] += data.reduce((product, each, of) => product * each[offset(from[of])], 1);
      return;
    }
    for (let i = 0; i < sizes[all[depth]]; i++) {
      at[all[depth]] = i;
      loop(depth + 1);
    }
  };
  loop(0);
  return found;
}

function drawn(seed) {
  const next = random(seed * 7919 + 1);
  for (let at = 0; at < 5; at++) next();
  const below = (n) => Math.floor(next() * n);
  const shuffled = (list) =>
    list
      .map((each) => [next(), each])
      .sort(([a], [b]) => a - b)
      .map(([, each]) => each);
  const term = () =>
    shuffled([...letters])
      .slice(0, 1 + below(4))
      .join('');
  const terms = below(5) === 0 ? [term()] : [term(), term()];
  const distinct = [...new Set(terms.join(''))];
  const output = shuffled(distinct)
    .slice(0, below(distinct.length + 1))
    .join('');
  const sizes = Object.fromEntries(distinct.map((letter) => [letter, 1 + below(4)]));
  const tensors = terms.map((each) => {
    const shape = [...each].map((letter) => sizes[letter]);
    const count = shape.reduce((all, size) => all * size, 1);
    return tf.tensor(
      Float32Array.from({ length: count }, () => 2 * next() - 1),
      shape,
    );
  });
  return { terms, output, sizes, tensors };
}

test('equations drawn at random', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const { terms, output, sizes, tensors } = drawn(seed);
    const equation = `${terms.join()}->${output}`;
    const actual = tf.tidy(() => tf.einsum(equation, ...tensors));
    assert.deepEqual(
      actual.shape,
      [...output].map((letter) => sizes[letter]),
      equation,
    );
    closeTo([...actual.dataSync()], referenceSum(terms, output, sizes, tensors), 1e-4);
  }
});

test('sums over what both have are products of matrices', async () => {
  for (const [equation, ...shapes] of [
    ['ij,jk->ik', [6, 7], [7, 5]],
    ['ij,kj->ki', [6, 7], [5, 7]],
    ['bhqd,bhkd->bhqk', [2, 3, 4, 5], [2, 3, 6, 5]],
    ['i,i->', [6], [6]],
  ]) {
    const tensors = shapes.map((shape) => tf.ones(shape));
    const { kernelNames } = await tf.profile(() => tf.einsum(equation, ...tensors));
    assert.ok(kernelNames.includes('BatchMatMul') && !kernelNames.includes('Multiply'), equation);
  }
});

test('gradients, integers and bools', () => {
  const [x, y] = [tf.range(1, 7).reshape([2, 3]), tf.range(0, 12).reshape([3, 4])];
  const f = (a, b) => tf.einsum('ij,jk->ki', a, b).square().sum();
  const g = (a, b) => tf.matMul(a, b).square().sum();
  const [actual, expected] = [f, g].map((each) => tf.grads(each)([x, y]));
  actual.forEach((each, at) => closeTo([...each.dataSync()], [...expected[at].dataSync()]));
  const integers = tf.einsum('ij,jk->ik', x.toInt(), y.toInt());
  assert.equal(integers.dtype, 'int32');
  closeTo([...integers.dataSync()], [...tf.matMul(x, y).dataSync()]);
});
