// Functions with symbolic sizes: each combination is compiled once, equals a function of static shapes, and shares the variables.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import * as tl from 'tensorlathe';
import { compiled, counts, data, randomSizes, throws, rejects } from '../../lib.mjs';

afterEach(() => tl.env().reset());

/** A step of a regression on rows of 5 numbers; `w` changes with every call. */
const specs = { x: ['rows', 5], y: ['rows'] };
function step({ x, y }, g) {
  const w = g.variable('w', data([5, 3]));
  const v = g.variable('v', [3]);
  const hidden = x.matMul(w).tanh();
  const error = hidden.mul(v.add(0.5)).sum(1).sub(y);
  const loss = error.square().mean();
  const [dw, dv] = g.grad(loss, [w, v]);
  g.assign(w, w.sub(dw.mul(0.1)));
  g.assign(v, v.sub(dv.mul(0.1)));
  return { loss, hidden };
}
const inputsOf = (rows, seed) => ({ x: data([rows, 5], seed), y: data([rows], seed + 9) });

test('any sizes equal static shapes bit by bit, and share their variables', () => {
  const before = counts();
  const f = tl.compile(specs, step);
  let [w, v] = [data([5, 3]), tl.tensor([0, 0, 0])];
  for (const [at, rows] of randomSizes(24).entries()) {
    const fixed = tl.compile({ x: [rows, 5], y: [rows] }, step);
    fixed.setVariable('w', w);
    fixed.setVariable('v', v);
    const expected = fixed.run(inputsOf(rows, at));
    const actual = f.run(inputsOf(rows, at));
    for (const name of ['loss', 'hidden']) {
      assert.deepEqual(actual[name].shape, expected[name].shape);
      assert.deepEqual(actual[name].dataSync(), expected[name].dataSync());
    }
    [w, v] = [fixed.variable('w'), fixed.variable('v')];
    assert.deepEqual(f.variable('w').dataSync(), w.dataSync());
    assert.deepEqual(f.variable('v').dataSync(), v.dataSync());
    fixed.dispose();
  }
  f.dispose();
  assert.deepEqual(counts(), before);
});

test('two sizes in turn are compiled once each; 16 are cached in addition to the current one', async () => {
  const before = counts();
  const f = tl.compile(specs, step);
  const run = (rows) => f.run(inputsOf(rows, rows));
  const turns = () => [3, 8, 3, 8, 3].forEach(run);
  assert.equal(await compiled(turns), 2);
  assert.equal(await compiled(turns), 0);
  const all = () => Array.from({ length: 17 }, (_, i) => run(i + 1));
  assert.equal(await compiled(all), 15);
  assert.equal(await compiled(all), 0);
  assert.equal(counts().modules - before.modules, 17);
  run(18);
  assert.equal(counts().modules - before.modules, 17);
  assert.equal(await compiled(() => run(2)), 0);
  assert.equal(await compiled(() => run(1)), 0);
  assert.equal(
    await compiled(() => run(17)),
    1,
    'a build that returned no sooner than others was evicted',
  );
  f.dispose();
  f.dispose();
  assert.deepEqual(counts(), before);
  throws(() => run(3), 'this function has been disposed');
});

test('builds that are too large are not cached, but their variables are retained', async () => {
  const before = counts();
  const f = tl.compile({ x: ['n'] }, ({ x }, g) => {
    const total = g.variable('total', [1]);
    g.assign(total, total.add(x.sum()));
    return { y: x.add(1) };
  });
  const large = new Float32Array(9 * 2 ** 20).fill(1);
  f.run({ x: large });
  f.run({ x: [1, 2] });
  assert.equal(counts().modules - before.modules, 1);
  assert.equal(f.variable('total').dataSync()[0], large.length + 3);
  assert.equal(await compiled(() => f.run({ x: large })), 1);
  f.dispose();
});

test('typed arrays are accepted where their length determines the sizes', () => {
  const f = tl.compile(
    { x: ['rows', 'cols'], y: ['rows'], s: ['n', 'n', 2], c: [2] },
    ({ x, y, s, c }) => ({ z: x.sum(1).add(y), t: s.add(c) }),
  );
  const [s, c] = [new Float32Array(18), [1, 2]];
  const of = (x, y, rest = { s, c }) => f.run({ x, y, ...rest });
  const { z, t } = of(new Float32Array(6), [1, 2]);
  assert.deepEqual([z.shape, t.shape], [[2], [3, 3, 2]]);
  assert.deepEqual(of([[1, 2, 3]], new Float32Array(1)).z.dataSync()[0], 6);
  assert.deepEqual(of(data([2, 0]), [1, 2]).z.dataSync()[1], 2);
  throws(
    () => of(data([6]).dataSync(), new Float32Array(5)),
    'input x: expects shape [rows,cols] with rows = 5, got 6 values',
  );
  throws(() => of(new Float32Array(6), tl.tensor(1)), 'input y: expects shape [rows], got []');
  throws(
    () => of(data([2, 3]), new Float32Array(3)),
    /^input y: expects shape \[rows\] with rows = 2/,
  );
  throws(
    () => of(data([2, 3]), [1, 2], { s: new Float32Array(20), c }),
    'input s: expects shape [n,n,2], got 20 values',
  );
  f.dispose();
  const g = tl.compile({ x: ['rows', 'cols'] }, ({ x }) => ({ y: x.add(1) }));
  throws(
    () => g.run({ x: new Float32Array(12) }),
    'input x: 12 values do not determine rows and cols of shape [rows,cols]; pass a tl.tensor with a shape',
  );
  g.dispose();
});

test('errors of mismatched shapes contain the names', async () => {
  const f = tl.compile(specs, step);
  const of = (x, y) => f.run({ x: data(x), y: data(y) });
  throws(() => of([3, 5], [4]), 'x has rows 3, y has rows 4');
  throws(() => of([3, 6], [3]), 'input x: expects shape [rows,5], got [3,6]');
  throws(() => of([15], [3]), 'input x: expects shape [rows,5], got [15]');
  throws(() => f.run({ x: data([3, 5]) }), /^run: input y is missing; inputs: x /);
  throws(() => f.run({ ...inputsOf(3, 1), z: [1] }), /^run: there is no input z; inputs: x .*, y /);
  await rejects(f.runAsync({ x: data([3, 5]), y: data([4]) }), 'x has rows 3, y has rows 4');
  const square = tl.compile({ x: ['n', 'n'] }, ({ x }) => ({ y: x.matMul(x) }));
  throws(() => square.run({ x: data([2, 3]) }), 'input x: expects shape [n,n], got [2,3]');
  for (const each of [f, square]) each.dispose();
});

test('errors within the function state the sizes', () => {
  const before = counts();
  const f = tl.compile({ x: ['rows', 4], y: ['cols'] }, ({ x, y }) => {
    if (x.shape[0] === 7) throw new TypeError('not seven');
    return { z: x.add(y) };
  });
  throws(
    () => f.run({ x: data([2, 4]), y: data([3]) }),
    /^add: .*\[2,4\].*\[3\].* \(with rows = 2, cols = 3\)$/,
  );
  assert.throws(() => f.bind({ rows: 7, cols: 4 }), {
    name: 'TypeError',
    message: 'not seven (with rows = 7, cols = 4)',
  });
  for (const rows of [-1, 1.5, NaN, Infinity]) throws(() => f.bind({ rows, cols: 1 }), /\(with /);
  throws(() => f.bind({ rows: 1 }), 'bind: cols must be a number, got undefined');
  throws(() => f.bind({ rows: '1', cols: 1 }), 'bind: rows must be a number, got 1');
  throws(() => f.bind({ row: 1 }), 'bind: there is no size row; known: rows, cols');
  throws(() => f.variable('w'), 'variable: no sizes are known yet; call run or bind before');
  assert.deepEqual(f.run({ x: data([0, 4]), y: data([4]) }).z.shape, [0, 4]);
  f.dispose();
  assert.deepEqual(counts(), before);
  throws(
    () => tl.compile({ x: ['3'] }, () => ({})),
    'compile: the name "3" of a size must begin with a letter',
  );
  throws(
    () => tl.compile({ x: ['n'] }, () => ({}), { segments: true }),
    /names .* do not go with segments/,
  );
});

test('variables are the same for all sizes', () => {
  const run = (build) => {
    const f = tl.compile({ x: ['n'] }, build);
    f.run({ x: [1, 2] });
    const expected = f.run({ x: [1, 2] }).y.dataSync();
    return [f, expected];
  };
  const make = (name, shape, dtype) => (_, g) =>
    g.variable(name(_), shape(_), undefined, dtype?.(_));
  const cases = [
    [
      make(
        () => 'w',
        ({ x }) => x.shape,
      ),
      /^variable w: is float32 \[3\], but was float32 \[2\] with/,
    ],
    [
      make(
        ({ x }) => `w${x.shape[0]}`,
        () => [1],
      ),
      /^variable w2: is not there, but was float32 \[1\]/,
    ],
    [
      make(
        () => 'w',
        () => [1],
        ({ x }) => (x.shape[0] === 2 ? 'int32' : 'float32'),
      ),
      /^variable w: is float32 \[1\], but was int32 \[1\] .* \(with n = 3\)$/,
    ],
  ];
  for (const [variable, message] of cases) {
    const [f, expected] = run((inputs, g) => {
      variable(inputs, g);
      return { y: inputs.x.mul(2) };
    });
    throws(() => f.run({ x: [1, 2, 3] }), message);
    assert.deepEqual(f.run({ x: [1, 2] }).y.dataSync(), expected);
    f.dispose();
  }
});

test('bound functions have views and the newest variables', () => {
  const before = counts();
  const f = tl.compile({ x: ['n'] }, ({ x }, g) => {
    const total = g.variable('total', [1]);
    const next = total.mul(2).add(x.sum());
    g.assign(total, next);
    return { y: next };
  });
  let expected = 0;
  const bound = [2, 3].map((n) => f.bind({ n }));
  for (const each of [...bound, ...bound]) {
    const x = each.input('x');
    x.fill(1);
    each.call();
    expected = 2 * expected + x.length;
    assert.equal(each.output('y')[0], expected);
    assert.equal(f.variable('total').dataSync()[0], expected);
  }
  assert.equal(f.bind({ n: 2 }), bound[0]);
  f.setVariable('total', [5]);
  assert.equal(bound[1].variable('total').dataSync()[0], 5);
  bound[1].call();
  bound[1].dispose();
  assert.equal(f.variable('total').dataSync()[0], 13);
  assert.equal(f.run({ x: [1, 1, 1] }).y.dataSync()[0], 29);
  throws(() => bound[1].call(), /^this function has been disposed, or .* bind them once more$/);
  f.dispose();
  throws(() => bound[0].call(), /^this function has been disposed/);
  assert.deepEqual(counts(), before);
});

/** Until threads are up, if there are any. */
async function warmUp(f, inputs) {
  const start = performance.now();
  while (performance.now() - start < 300) await f.runAsync(inputs);
}

for (const threads of [1, 4]) {
  const force = () => {
    tl.env().set('THREADS_COUNT', threads);
    tl.env().set('THREADS_MIN_WORK', 1);
  };
  const counter = () =>
    tl.compile({ x: ['n', 'n'] }, ({ x }, g) => {
      const total = g.variable('total', [1]);
      const next = total.mul(0.5).add(x.matMul(x).mean());
      g.assign(total, next);
      return { y: next };
    });

  test(`calls of other sizes that overlap run in their order: ${threads} threads`, async () => {
    force();
    const before = counts();
    const [f, g] = [counter(), counter()];
    await warmUp(f, { x: data([64, 64]) });
    f.setVariable('total', [0]);
    const sizes = [64, 32, 64, 48, 32, 100, 64, 20, 48, 64];
    const actual = sizes.map((n, at) => {
      const x = data([n, n], at).dataSync().slice();
      const call = f.runAsync({ x });
      x.fill(0);
      return call;
    });
    const expected = sizes.map((n, at) => g.run({ x: data([n, n], at) }).y.dataSync()[0]);
    const values = (await Promise.all(actual)).map(({ y }) => y.dataSync()[0]);
    assert.deepEqual(values, expected);
    assert.equal(f.variable('total').dataSync()[0], expected.at(-1));
    for (const each of [f, g]) each.dispose();
    assert.deepEqual(counts(), before);
  });

  test(`more sizes than are cached overlap; dispose rejects those that wait: ${threads} threads`, async () => {
    force();
    const [f, g] = [counter(), counter()];
    const sizes = randomSizes(40);
    const calls = sizes.map((n, at) => f.runAsync({ x: data([n, n], at) }));
    const expected = sizes.map((n, at) => g.run({ x: data([n, n], at) }).y.dataSync()[0]);
    assert.deepEqual(
      (await Promise.all(calls)).map(({ y }) => y.dataSync()[0]),
      expected,
    );
    const waiting = [64, 32, 64].map((n) => f.runAsync({ x: data([n, n]) }));
    f.dispose();
    for (const { status, reason } of await Promise.allSettled(waiting)) {
      if (status === 'rejected') assert.equal(reason.message, 'this function has been disposed');
    }
    await rejects(f.runAsync({ x: data([2, 2]) }), 'this function has been disposed');
    g.dispose();
  });
}

test('tune works on the sizes at hand and leaves the variables', async () => {
  const f = tl.compile({ x: ['n', 'n'] }, ({ x }, g) => {
    const total = g.variable('total', [1]);
    g.assign(total, total.add(1));
    return { y: x.matMul(x) };
  });
  throws(() => f.stats(), /no sizes are known yet/);
  const expected = [24, 33].map((n) => f.run({ x: data([n, n]) }).y.dataSync());
  await tl.tune(f, { budgetMs: 50, candidates: [{ rows: 2 }] });
  assert.equal(f.variable('total').dataSync()[0], 2);
  for (const [at, n] of [24, 33].entries()) {
    const actual = f.run({ x: data([n, n]) }).y.dataSync();
    assert.ok(actual.every((value, i) => Math.abs(value - expected[at][i]) < 1e-5));
  }
  assert.equal(f.variable('total').dataSync()[0], 4);
  assert.ok(f.stats().memoryBytes > 0);
  f.dispose();
});
