// Functions with data-dependent sizes: split into segments, compiled for the sizes that are read, and cached.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { counts, data, randomSizes, throws } from '../../lib.mjs';

const heapIsEmpty = (before) => {
  assert.deepEqual({ ...counts(), heapReserved: 0 }, { ...before, heapReserved: 0 });
};

test('nonZero of any sizes', () => {
  const before = counts();
  for (const size of randomSizes(10)) {
    const f = tl.compile(
      { x: [size, 3], scale: [] },
      ({ x, scale }) => {
        const scaled = x.exp().mul(scale);
        const indices = x.greater(0).nonZero();
        const rows = indices.slice([0, 0], [indices.shape[0], 1]).reshape([-1]);
        return { indices, rows: scaled.gather(rows), scaled };
      },
      { segments: true },
    );
    for (const seed of [1, 2, 3, 1]) {
      const input = data([size, 3], seed);
      const x = [...input.dataSync()];
      const results = f.run({ x: input, scale: 0.5 });
      input.dispose();
      const expected = x.flatMap((each, at) => (each > 0 ? [[Math.floor(at / 3), at % 3]] : []));
      assert.deepEqual(results.indices.shape, [expected.length, 2]);
      assert.deepEqual([...results.indices.dataSync()], expected.flat());
      const scaled = results.scaled.dataSync();
      assert.deepEqual(
        [...results.rows.dataSync()],
        expected.flatMap(([row]) => [...scaled.slice(3 * row, 3 * row + 3)]),
      );
      for (const each of Object.values(results)) each.dispose();
    }
    f.dispose();
  }
  heapIsEmpty(before);
});

test('nonZero of none and of all elements; eagerly on tensors', () => {
  const f = tl.compile({ x: [5] }, ({ x }) => ({ y: x.nonZero() }), { segments: true });
  for (const x of [
    [0, 0, 0, 0, 0],
    [1, 2, NaN, -1, 3],
  ]) {
    const expected = x.flatMap((each, at) => (each === 0 ? [] : [at]));
    for (const y of [f.run({ x }).y, tl.tensor(x).nonZero()]) {
      assert.deepEqual(y.shape, [expected.length, 1]);
      assert.deepEqual([...y.dataSync()], expected);
    }
  }
  assert.deepEqual(
    tl
      .tensor([
        [0, 1],
        [3, 2],
      ])
      .nonZero(4)
      .arraySync(),
    [
      [0, 1],
      [1, 0],
      [1, 1],
      [0, 0],
    ],
  );
  throws(() => tl.compile({ x: [5] }, ({ x }) => ({ y: x.nonZero() })), /segments: true/);
});

test('sizes that depend on one another, with variables that change', () => {
  const before = counts();
  let traceCount = 0;
  const f = tl.compile(
    { x: [4] },
    ({ x }, g) => {
      traceCount += 1;
      const w = g.variable('w', tl.tensor([1]));
      const n = g.size(x.sum().cast('int32'));
      const first = x.mul(n).add(w);
      const m = g.size(first.sum().cast('int32').mod(3));
      const [total] = g.whileLoop(
        (t) => t.less(10),
        (t) => [t.add(n + 1)],
        [w.sum()],
      );
      g.assign(w, w.add(m));
      return { first, rows: x.reshape([1, 4]).tile([m + 1, 1]), total };
    },
    { segments: true },
  );
  let w = 1;
  const random = randomSizes(12);
  for (const seed of [...random, ...random]) {
    const x = [seed % 2, seed % 3, 1, 0];
    const n = x[0] + x[1] + 1;
    const first = x.map((each) => each * n + w);
    const m = first.reduce((sum, each) => sum + each, 0) % 3;
    let total = w;
    while (total < 10) total += n + 1;
    const results = f.run({ x });
    assert.deepEqual([...results.first.dataSync()], first);
    assert.deepEqual(results.rows.shape, [m + 1, 4]);
    assert.equal(results.total.dataSync()[0], total);
    w += m;
    const variable = f.variable('w');
    assert.equal(variable.dataSync()[0], w);
    for (const each of [variable, ...Object.values(results)]) each.dispose();
  }
  assert.ok(traceCount < 45, `traced ${traceCount} times for 24 calls`);
  f.setVariable('w', [5]);
  assert.equal(
    tl.tidy(() => f.variable('w').dataSync()[0]),
    5,
  );
  f.dispose();
  throws(() => f.run({ x: [1, 1, 1, 1] }), /disposed/);
  heapIsEmpty(before);
});

test('any number of sizes, in bounded memory', () => {
  const before = counts();
  const f = tl.compile(
    { n: { shape: [], dtype: 'int32' } },
    ({ n }, g) => {
      const size = g.size(n);
      return { y: g.constant(new Float32Array(size).fill(2)).add(n.cast('float32')) };
    },
    { segments: true },
  );
  for (let n = 0; n < 300; n++) {
    const { y } = f.run({ n });
    assert.deepEqual([...y.dataSync()], new Array(n).fill(n + 2));
    y.dispose();
  }
  assert.ok(tl.memory().heapModules <= before.heapModules + 257);
  f.dispose();
  heapIsEmpty(before);
});

test('gradients pass a segment boundary', () => {
  const f = tl.compile(
    { x: [6] },
    ({ x }, g) => {
      const [, loop] = g.whileLoop(
        (i) => i.less(2),
        (i, y) => [i.add(1), y.mul(x)],
        [0, x],
        { maxIterations: 3 },
      );
      const n = g.size(x.greater(0).cast('int32').sum());
      const loss = loop.mul(n).sum();
      return { dx: g.grad(loss, [x])[0] };
    },
    { segments: true },
  );
  for (const x of [
    [1, -2, 3, 0, 1, 1],
    [1, 2, 3, 0, 1, 1],
  ]) {
    const n = x.filter((each) => each > 0).length;
    assert.deepEqual(
      [...f.run({ x }).dx.dataSync()],
      x.map((each) => 3 * n * each * each),
    );
  }
});

test('gradients past a segment boundary by loops that only some sizes require', () => {
  const make = () =>
    tl.compile(
      { x: [2], n: { shape: [], dtype: 'int32' } },
      ({ x, n }, g) => {
        const run = (scale, start) =>
          g.whileLoop(
            (i) => i.less(2),
            (i, y) => [i.add(1), y.mul(y).mul(scale)],
            [0, start],
            { maxIterations: 3 },
          )[1];
        const [a, b] = [run(1, x), run(3, x.tile([500]))];
        const k = g.size(n);
        return { dx: g.grad((k === 1 ? a : b).sum(), [x])[0] };
      },
      { segments: true },
    );
  for (const order of [
    [1, 2, 1],
    [2, 1, 2],
  ]) {
    const f = make();
    for (const n of order) {
      const expected = n === 1 ? [4, 32] : [54000, 432000];
      assert.deepEqual([...f.run({ x: [1, 2], n }).dx.dataSync()], expected);
    }
    f.dispose();
  }
});

test('more segments than the cache usually retains', () => {
  let traceCount = 0;
  const f = tl.compile(
    { x: [2], n: { shape: [], dtype: 'int32' } },
    ({ x, n }, g) => {
      traceCount += 1;
      const [, a] = g.whileLoop(
        (i) => i.less(2),
        (i, y) => [i.add(1), y.mul(y)],
        [0, x],
        { maxIterations: 3 },
      );
      let sum = 0;
      for (let i = 0; i < 20; i++) sum += g.size(n.add(i));
      return { dx: g.grad(a.mul(sum).sum(), [x])[0] };
    },
    { segments: true },
  );
  for (const n of [0, 0, 0]) {
    const sum = 20 * n + 190;
    assert.deepEqual([...f.run({ x: [1, 2], n }).dx.dataSync()], [4 * sum, 32 * sum]);
  }
  assert.ok(traceCount < 30, `traced ${traceCount} times`);
  f.dispose();
});

test('a segment too large for the cache', () => {
  const f = tl.compile(
    { x: [1] },
    ({ x }, g) => {
      const large = g.constant(new Float32Array(18e6).fill(1));
      const y = large.mul(x).sum();
      const n = g.size(x.sum().cast('int32'));
      return { y: y.mul(n) };
    },
    { segments: true },
  );
  for (const x of [1, 2]) assert.equal(f.run({ x: [x] }).y.dataSync()[0], 18e6 * x * x);
  f.dispose();
});

test('a variable has one type, whatever the sizes', () => {
  for (const build of [
    (g, k) => g.variable('w', [k]),
    (g, k) => g.variable('w', [1], undefined, k === 1 ? 'float32' : 'float64'),
  ]) {
    const f = tl.compile(
      { n: { shape: [], dtype: 'int32' } },
      ({ n }, g) => ({ y: build(g, g.size(n)).add(1) }),
      { segments: true },
    );
    f.run({ n: 1 });
    throws(
      () => f.run({ n: 2 }),
      /variable w: is float32 \[1\], and for the sizes 2 float\d\d \[\d\]; it must have one type/,
    );
    assert.deepEqual([...f.run({ n: 1 }).y.dataSync()], [1]);
    f.dispose();
  }
});

test('invalid sizes are rejected', () => {
  const of =
    (build, specs = { x: [3] }) =>
    () =>
      tl.compile(specs, build, { segments: true });
  throws(
    of(({ x }, g) => ({
      y: g.cond(
        x.sum().greater(1),
        () => x.nonZero(),
        () => x,
      ),
    })),
    /size: not in a branch/,
  );
  throws(
    of(({ x }, g) => ({ y: g.size(x) })),
    /size: expects one int32, got TracedTensor float32 \[3\]/,
  );
  throws(
    of(({ x }) => ({ y: x.nonZero() }), { x: ['n'] }),
    /names for sizes do not go with segments/,
  );
  throws(
    of(({ x }) => ({ '%1': x })),
    /no name begins with %/,
  );
  throws(
    () => tl.compile({ x: [3] }, ({ x }) => ({ x }), { segments: true, dumps: [] }),
    /several modules/,
  );
  const f = tl.compile(
    { x: [] },
    ({ x }, g) => ({ y: g.constant(new Float32Array(g.size(x.cast('int32')))) }),
    { segments: true },
  );
  throws(() => f.run({ x: -2 }), /size: expects an integer ≥ 0, got -2/);
  throws(() => f.run({ x: [1, 2] }), /input x: expects shape \[\]/);
  throws(() => f.run({ z: 1 }), /there is no input z/);
  assert.deepEqual([...f.run({ x: 2 }).y.dataSync()], [0, 0]);
  throws(
    of(({ x }, g) => ({
      y: g.cond(
        x.sum().greater(1),
        () => (g.size(x.sum().cast('int32')), x),
        () => x,
      ),
    })),
    /size: not in a branch/,
  );
  throws(
    of(({ x }, g) => ({ y: g.size(x.sum().cast('int64')) })),
    /size: expects one int32, got TracedTensor int64 \[\]/,
  );
  let prefixes = 0;
  const drifts = tl.compile(
    { x: [] },
    ({ x }, g) => {
      prefixes += 1;
      const handed = prefixes > 2 ? x.reshape([1, 1]).tile([3, 7]) : x.reshape([1]).tile([5]);
      const n = g.size(x.cast('int32'));
      return { y: handed.mul(n).add(n) };
    },
    { segments: true },
  );
  assert.deepEqual([...drifts.run({ x: 1 }).y.dataSync()], [2, 2, 2, 2, 2]);
  throws(() => drifts.run({ x: 2 }), /must do the same each time/);
  let runs = 0;
  const odd = tl.compile(
    { x: [] },
    ({ x }, g) => {
      runs += 1;
      if (runs > 1) return { y: x };
      g.size(x.cast('int32'));
      return { y: x };
    },
    { segments: true },
  );
  throws(() => odd.run({ x: 1 }), /must do the same/);
});
