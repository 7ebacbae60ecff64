// Branches and loops that data decides, in one module: against the same in JavaScript, with gradients and errors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { counts, data, drawn, refuses } from '../lib.mjs';

const close = (got, want) => {
  assert.equal(got.length, want.length);
  for (const [at, each] of want.entries()) {
    assert.ok(
      Math.abs(got[at] - each) <= 1e-5 * Math.max(1, Math.abs(each)),
      `${at}: ${got[at]}, not ${each}`,
    );
  }
};
/** Every way a function can run. */
const ways = [{}, { heap: true }];

test('one branch gives the results, of any sizes', () => {
  const before = counts();
  for (const size of drawn(12)) {
    for (const way of ways) {
      const f = tl.compile(
        { x: [size], p: { shape: [], dtype: 'bool' } },
        ({ x, p }, g) => {
          const [y, count] = g.cond(
            p,
            () => [x.log(), 1],
            () => [x.mul(-2), 2],
          );
          return {
            y,
            count,
            z: g.cond(
              p.logicalNot(),
              () => x.add(y),
              () => y,
            ),
          };
        },
        way,
      );
      const x = data([size])
        .dataSync()
        .map((each) => Math.abs(each) + 0.1);
      for (const p of [true, false, true]) {
        const { y, count, z } = f.run({ x, p });
        const want = [...x].map((each) => (p ? Math.log(each) : -2 * each));
        close(y.dataSync(), want);
        assert.equal(count.dataSync()[0], p ? 1 : 2);
        close(
          z.dataSync(),
          want.map((each, at) => (p ? each : each + x[at])),
        );
        for (const each of [y, count, z]) each.dispose();
      }
      f.dispose();
    }
  }
  assert.deepEqual({ ...counts(), heapReserved: 0 }, { ...before, heapReserved: 0 });
});

test('a loop runs as often as data says, and at most as often as it may', () => {
  for (const way of ways) {
    const f = tl.compile(
      { x: [3], n: [] },
      ({ x, n }, g) => {
        const w = g.variable('w', [3]);
        const [i, y] = g.whileLoop(
          (i) => i.less(n),
          (i, y) => [i.add(1), y.mul(x).add(w)],
          [0, x],
          { maxIterations: 6 },
        );
        const loss = y.sum();
        return { i, y, dx: g.grad(loss, [x])[0] };
      },
      way,
    );
    for (const n of [0, 1, 4, 6, 9]) {
      const { i, y, dx } = f.run({ x: [1, 2, -0.5], n });
      const times = Math.min(n, 6);
      assert.equal(i.dataSync()[0], times);
      close(
        y.dataSync(),
        [1, 2, -0.5].map((x) => x ** (times + 1)),
      );
      close(
        dx.dataSync(),
        [1, 2, -0.5].map((x) => (times + 1) * x ** times),
      );
    }
    f.dispose();
  }
});

test('branches and loops lie in one another, and read what is around them', () => {
  // The steps of Collatz, several numbers at a time.
  const f = tl.compile({ x: { shape: [], dtype: 'int32' }, scale: [2] }, ({ x, scale }, g) => {
    const two = scale.mul(2);
    const [last, steps, sum] = g.whileLoop(
      (x) => x.notEqual(1),
      (x, steps, sum) => {
        const isEven = x.mod(2).equal(0);
        const next = g.cond(
          isEven,
          () => x.floorDiv(2),
          () => x.mul(3).add(1),
        );
        const more = g.cond(
          isEven,
          () =>
            g.cond(
              x.greater(10),
              () => two,
              () => two.add(scale),
            ),
          () => scale,
        );
        return [next, steps.add(1), sum.add(more)];
      },
      [x, g.constant(0, [], 'int32'), g.constant([0, 0])],
    );
    return { last, steps, sum };
  });
  for (const first of [1, 7, 27, 97]) {
    let [x, steps, sum] = [first, 0, 0];
    for (; x !== 1; steps++) {
      sum += x % 2 === 0 ? (x > 10 ? 2 : 3) : 1;
      x = x % 2 === 0 ? x / 2 : 3 * x + 1;
    }
    const got = f.run({ x: first, scale: [1, 0.5] });
    assert.equal(got.steps.dataSync()[0], steps);
    close(got.sum.dataSync(), [sum, sum / 2]);
  }
});

test('variables are read in branches and assigned behind them; names for sizes go with them', () => {
  const f = tl.compile({ x: ['n'] }, ({ x }, g) => {
    const w = g.variable('w', [1]);
    const next = g.cond(
      x.sum().greater(w.sum()),
      () => w.add(1),
      () => w.sub(g.variable('v', tl.tensor([2]))),
    );
    g.assign(w, next);
    return { next };
  });
  assert.deepEqual([...f.run({ x: [1, 1] }).next.dataSync()], [1]);
  assert.deepEqual([...f.run({ x: [1, 1, 1] }).next.dataSync()], [2]);
  assert.deepEqual([...f.run({ x: [1] }).next.dataSync()], [0]);
});

test('what cannot be is refused', () => {
  const of = (build) => () =>
    tl.compile({ x: [3], n: [] }, ({ x, n }, g) => ({ y: build(x, n, g) }));
  const grows = (a) => [a.mul(2)];
  refuses(
    of((x, n, g) =>
      g.cond(
        n,
        () => x,
        () => x,
      ),
    ),
    /cond: the predicate must be bool\[\], not f32\[\]/,
  );
  refuses(
    of((x, n, g) =>
      g.cond(
        n.less(1),
        () => x,
        () => n,
      ),
    ),
    /one branch gives f32\[3\], the other f32\[\]/,
  );
  refuses(
    of(
      (x, n, g) =>
        g.cond(
          n.less(1),
          () => [x, n],
          () => [x],
        )[0],
    ),
    /one branch gives 2 tensors, the other 1/,
  );
  refuses(
    of((x, n, g) =>
      g.cond(
        n.less(1),
        () => undefined,
        () => x,
      ),
    ),
    /cond: an operand is missing/,
  );
  refuses(
    of((x, n, g) => g.whileLoop((a) => a.sum(), grows, [n])[0]),
    /the condition must give one tensor, bool\[\]/,
  );
  refuses(
    of(
      (x, n, g) =>
        g.whileLoop(
          (a) => a.less(1),
          (a) => [a.cast('int32')],
          [n],
        )[0],
    ),
    /makes of variable 0, f32\[\], i32\[\]/,
  );
  refuses(
    of(
      (x, n, g) =>
        g.whileLoop(
          (a) => a.less(1),
          (a) => a,
          [n],
        )[0],
    ),
    /must give an array of tensors/,
  );
  refuses(
    of(
      (x, n, g) =>
        g.whileLoop(
          () => true,
          () => [],
          [],
        )[0],
    ),
    /needs variables/,
  );
  refuses(
    of((x, n, g) => g.whileLoop((a) => a.less(1), grows, [n], { maxIterations: -1 })[0]),
    /at most -1 iterations/,
  );
  refuses(
    of((x, n, g) => g.whileLoop((a) => a.less(1), grows, [n], { maxIteration: 1 })[0]),
    /maxIteration/,
  );
  refuses(
    of((x, n, g) => g.grad(g.whileLoop((a) => a.less(1), grows, [n])[0], [n])[0]),
    /how many iterations there are at most/,
  );
  refuses(
    of((x, n, g) =>
      g.cond(
        n.less(1),
        () => {
          g.assign(g.variable('w', [3]), x);
          return x;
        },
        () => x,
      ),
    ),
    /assign: not in a branch/,
  );
  refuses(
    of((x, n, g) =>
      g.cond(
        n.less(1),
        () => g.input('z', []),
        () => n,
      ),
    ),
    /input: not in a branch/,
  );
  refuses(
    of((x, n, g) =>
      g.cond(
        n.less(1),
        () => (g.output('z', n), n),
        () => n,
      ),
    ),
    /output: not in a branch/,
  );
  const outside = (x, g) => () => g.grad(x.mul(x).sum(), [x])[0];
  refuses(
    of((x, n, g) => {
      const y = x.mul(x);
      return g.cond(
        n.less(1),
        () => g.grad(y.sum(), [x])[0],
        () => x,
      );
    }),
    /take them there/,
  );
  refuses(
    of((x, n, g) => {
      const y = x.mul(x);
      return g.cond(
        n.less(1),
        () =>
          g.cond(
            n.less(0),
            () => g.grad(y.add(x).sum(), [x])[0],
            () => x,
          ),
        () => x,
      );
    }),
    /take them there/,
  );
  assert.deepEqual(
    [
      ...of((x, n, g) => g.cond(n.less(1), outside(x, g), () => x))()
        .run({ x: [1, 2, 3], n: 0 })
        .y.dataSync(),
    ],
    [2, 4, 6],
  );
  refuses(
    of((x, n, g) => {
      let inner;
      g.cond(
        n.less(1),
        () => (inner = x.add(1)),
        () => x,
      );
      return inner.add(1);
    }),
    /has ended: return it there/,
  );
});

test('numbers in a body have the type of what they become', () => {
  const f = tl.compile({ n: { shape: [], dtype: 'int32' } }, ({ n }, g) => {
    const [y, z] = g.whileLoop(
      (i) => i.notEqual(5),
      (i, z) => [5, z.add(i)],
      [n, n],
    );
    return { y, z };
  });
  const { y, z } = f.run({ n: 3 });
  assert.equal(y.dataSync()[0], 5);
  assert.equal(z.dataSync()[0], 6);
});

test('a branch that throws leaves the function usable', () => {
  const f = tl.compile({ x: [2] }, ({ x }, g) => {
    const isLarge = x.sum().greater(1);
    assert.throws(
      () =>
        g.cond(
          isLarge,
          () => {
            throw new Error('mine');
          },
          () => x,
        ),
      /mine/,
    );
    return {
      y: g.cond(
        isLarge,
        () => x.add(1),
        () => x,
      ),
    };
  });
  assert.deepEqual([...f.run({ x: [1, 2] }).y.dataSync()], [2, 3]);
});
