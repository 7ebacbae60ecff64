// Operations that ops/operations.def states as formulas: values and gradients in float64, equal and infinite operands, types, and
// every way to call them.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tl from 'tensorlathe/tfjs';
import { closeTo, random } from '../eager/lib.mjs';

await tl.ready();

const next = random(5);
const numbers = (count) => Array.from({ length: count }, () => 20 * next() - 10);
const logAddExp = (a, b) => Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));

test('logAddExp: values and gradients, broadcast', () => {
  const [a, b] = [numbers(21), numbers(7)];
  const [x, y] = [tl.tensor(a, [3, 7]), tl.tensor(b)];
  closeTo(
    tl.logAddExp(x, y).dataSync(),
    a.map((each, at) => logAddExp(each, b[at % 7])),
    1e-6,
  );
  const [dx, dy] = tl.grads(tl.logAddExp)([x, y]);
  const share = a.map((each, at) => 1 / (1 + Math.exp(b[at % 7] - each)));
  closeTo(dx.dataSync(), share, 1e-6);
  const others = b.map((_, at) => share.reduce((s, w, i) => (i % 7 === at ? s + 1 - w : s), 0));
  closeTo(dy.dataSync(), others, 3e-6);
});

test('logAddExp: large, equal and infinite operands', () => {
  const a = [1000, -1000, 0, -Infinity, -Infinity, Infinity, Infinity, NaN];
  const b = [1000, 1000, 0, -Infinity, 3, Infinity, -Infinity, 1];
  const [x, y] = [tl.tensor(a), tl.tensor(b)];
  const expected = [1000 + Math.LN2, 1000, Math.LN2, -Infinity, 3, Infinity, Infinity, NaN];
  assert.deepEqual(Array.from(tl.logAddExp(x, y).dataSync()), expected.map(Math.fround));
  const [dx, dy] = tl.grads(tl.logAddExp)([x.slice(0, 4), y.slice(0, 4)]);
  assert.deepEqual(Array.from(dx.dataSync()), [0.5, 0, 0.5, 0.5]);
  assert.deepEqual(Array.from(dy.dataSync()), [0.5, 1, 0.5, 0.5]);
});

test('logAddExp: a method, a kernel, traced, batched; integers become floats', () => {
  const [x, y] = [tl.tensor([1, 2, 3]), tl.tensor([3, 2, 1])];
  const expected = [logAddExp(1, 3), logAddExp(2, 2), logAddExp(3, 1)];
  const traced = tl.compile({ a: [3], b: [3] }, ({ a, b }) => ({ z: a.logAddExp(b) }));
  for (const each of [
    x.logAddExp(y),
    tl.engine().runKernel('LogAddExp', { a: x, b: y }),
    tl.vmap(tl.logAddExp)(x, y),
    tl.logAddExp(tl.tensor([1, 2, 3], [3], 'int32'), tl.tensor([3, 2, 1], [3], 'int32')),
    traced.run({ a: x, b: y }).z,
  ]) {
    assert.equal(each.dtype, 'float32');
    closeTo(each.dataSync(), expected, 1e-6);
  }
});
