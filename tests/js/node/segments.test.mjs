// Functions in which data gives sizes: cut there, compiled for what is read, and kept.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { counts, data, drawn, refuses } from '../lib.mjs';

const heapIsEmpty = (before) => {
  assert.deepEqual({ ...counts(), heapReserved: 0 }, { ...before, heapReserved: 0 });
};

test('what is not zero is found, of any sizes', () => {
  const before = counts();
  for (const size of drawn(10)) {
    const f = tl.compile(
      { x: [size, 3], scale: [] },
      ({ x, scale }) => {
        const dear = x.exp().mul(scale);
        const places = x.greater(0).nonZero();
        const rows = places.slice([0, 0], [places.shape[0], 1]).reshape([-1]);
        return { places, rows: dear.gather(rows), dear };
      },
      { segments: true },
    );
    for (const seed of [1, 2, 3, 1]) {
      const given = data([size, 3], seed);
      const x = [...given.dataSync()];
      const results = f.run({ x: given, scale: 0.5 });
      given.dispose();
      const want = x.flatMap((each, at) => (each > 0 ? [[Math.floor(at / 3), at % 3]] : []));
      assert.deepEqual(results.places.shape, [want.length, 2]);
      assert.deepEqual([...results.places.dataSync()], want.flat());
      const dear = results.dear.dataSync();
      assert.deepEqual(
        [...results.rows.dataSync()],
        want.flatMap(([row]) => [...dear.slice(3 * row, 3 * row + 3)]),
      );
      for (const each of Object.values(results)) each.dispose();
    }
    f.dispose();
  }
  heapIsEmpty(before);
});

test('nothing and everything may be found; tensors do it at once', () => {
  const f = tl.compile({ x: [5] }, ({ x }) => ({ y: x.nonZero() }), { segments: true });
  for (const x of [
    [0, 0, 0, 0, 0],
    [1, 2, NaN, -1, 3],
  ]) {
    const wanted = x.flatMap((each, at) => (each === 0 ? [] : [at]));
    for (const y of [f.run({ x }).y, tl.tensor(x).nonZero()]) {
      assert.deepEqual(y.shape, [wanted.length, 1]);
      assert.deepEqual([...y.dataSync()], wanted);
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
  refuses(() => tl.compile({ x: [5] }, ({ x }) => ({ y: x.nonZero() })), /segments: true/);
});

test('sizes that depend on one another, with variables that change', () => {
  const before = counts();
  let written = 0;
  const f = tl.compile(
    { x: [4] },
    ({ x }, g) => {
      written += 1;
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
  const random = drawn(12);
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
    assert.equal(f.variable('w').dataSync()[0], w);
    for (const each of Object.values(results)) each.dispose();
  }
  assert.ok(written < 45, `written down ${written} times for 24 calls`);
  f.setVariable('w', [5]);
  assert.equal(f.variable('w').dataSync()[0], 5);
  f.dispose();
  refuses(() => f.run({ x: [1, 1, 1, 1] }), /disposed/);
  heapIsEmpty(before);
});

test('as many sizes as come, in bounded room', () => {
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

test('gradients reach behind a cut', () => {
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

test('gradients behind a cut by loops that only some sizes ask for', () => {
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
      const want = n === 1 ? [4, 32] : [54000, 432000];
      assert.deepEqual([...f.run({ x: [1, 2], n }).dx.dataSync()], want);
    }
    f.dispose();
  }
});

test('more cuts than parts that are usually kept', () => {
  let written = 0;
  const f = tl.compile(
    { x: [2], n: { shape: [], dtype: 'int32' } },
    ({ x, n }, g) => {
      written += 1;
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
  assert.ok(written < 30, `written down ${written} times`);
  f.dispose();
});

test('a part that there is no room to keep', () => {
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
    refuses(
      () => f.run({ n: 2 }),
      /variable w: is float32 \[1\], and for the sizes 2 float\d\d \[\d\]; it must have one type/,
    );
    assert.deepEqual([...f.run({ n: 1 }).y.dataSync()], [1]);
    f.dispose();
  }
});

test('what cannot be is refused', () => {
  const of =
    (build, specs = { x: [3] }) =>
    () =>
      tl.compile(specs, build, { segments: true });
  refuses(
    of(({ x }, g) => ({
      y: g.cond(
        x.sum().greater(1),
        () => x.nonZero(),
        () => x,
      ),
    })),
    /size: not in a branch/,
  );
  refuses(
    of(({ x }, g) => ({ y: g.size(x) })),
    /size: wants one int32, got TracedTensor float32 \[3\]/,
  );
  refuses(
    of(({ x }) => ({ y: x.nonZero() }), { x: ['n'] }),
    /names for sizes do not go with segments/,
  );
  refuses(
    of(({ x }) => ({ '%1': x })),
    /no name begins with %/,
  );
  refuses(
    () => tl.compile({ x: [3] }, ({ x }) => ({ x }), { segments: true, dumps: [] }),
    /several modules/,
  );
  const f = tl.compile(
    { x: [] },
    ({ x }, g) => ({ y: g.constant(new Float32Array(g.size(x.cast('int32')))) }),
    { segments: true },
  );
  refuses(() => f.run({ x: -2 }), /size: data gives -2/);
  refuses(() => f.run({ x: [1, 2] }), /input x: wants shape \[\]/);
  refuses(() => f.run({ z: 1 }), /there is no input z/);
  assert.deepEqual([...f.run({ x: 2 }).y.dataSync()], [0, 0]);
  refuses(
    of(({ x }, g) => ({
      y: g.cond(
        x.sum().greater(1),
        () => (g.size(x.sum().cast('int32')), x),
        () => x,
      ),
    })),
    /size: not in a branch/,
  );
  refuses(
    of(({ x }, g) => ({ y: g.size(x.sum().cast('int64')) })),
    /size: wants one int32, got TracedTensor int64 \[\]/,
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
  refuses(() => drifts.run({ x: 2 }), /must do the same each time/);
  let asks = 0;
  const odd = tl.compile(
    { x: [] },
    ({ x }, g) => {
      asks += 1;
      if (asks > 1) return { y: x };
      g.size(x.cast('int32'));
      return { y: x };
    },
    { segments: true },
  );
  refuses(() => odd.run({ x: 1 }), /must do the same/);
});
