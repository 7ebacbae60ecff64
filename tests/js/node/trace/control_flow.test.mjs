// Data-dependent branches and loops inside one module, compared with plain JavaScript, with gradients and errors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { counts, data, randomSizes, throws } from '../../lib.mjs';

const close = (actual, expected) => {
  assert.equal(actual.length, expected.length);
  for (const [at, each] of expected.entries()) {
    assert.ok(
      Math.abs(actual[at] - each) <= 1e-5 * Math.max(1, Math.abs(each)),
      `${at}: ${actual[at]}, not ${each}`,
    );
  }
};
/** With static memory, and with memory from the heap at run time. */
const ways = [{}, { heap: true }];

test('cond returns the results of the selected branch, for any sizes', () => {
  const before = counts();
  for (const size of randomSizes(12)) {
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
        const expected = [...x].map((each) => (p ? Math.log(each) : -2 * each));
        close(y.dataSync(), expected);
        assert.equal(count.dataSync()[0], p ? 1 : 2);
        close(
          z.dataSync(),
          expected.map((each, at) => (p ? each : each + x[at])),
        );
        for (const each of [y, count, z]) each.dispose();
      }
      f.dispose();
    }
  }
  assert.deepEqual({ ...counts(), heapReserved: 0 }, { ...before, heapReserved: 0 });
});

test('a loop stops when its condition is false or after maxIterations', () => {
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

test('branches and loops nest and capture values of the enclosing scopes', () => {
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
    const actual = f.run({ x: first, scale: [1, 0.5] });
    assert.equal(actual.steps.dataSync()[0], steps);
    close(actual.sum.dataSync(), [sum, sum / 2]);
  }
});

test('branches read variables, which are assigned after them; symbolic sizes work inside branches', () => {
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

test('invalid branches and loops are rejected', () => {
  const of = (build) => () =>
    tl.compile({ x: [3], n: [] }, ({ x, n }, g) => ({ y: build(x, n, g) }));
  const grows = (a) => [a.mul(2)];
  throws(
    of((x, n, g) =>
      g.cond(
        n,
        () => x,
        () => x,
      ),
    ),
    /cond: the predicate must be bool\[\], not f32\[\]/,
  );
  throws(
    of((x, n, g) =>
      g.cond(
        n.less(1),
        () => x,
        () => n,
      ),
    ),
    /one branch returns f32\[3\], the other f32\[\]/,
  );
  throws(
    of(
      (x, n, g) =>
        g.cond(
          n.less(1),
          () => [x, n],
          () => [x],
        )[0],
    ),
    /one branch returns 2 tensors, the other 1/,
  );
  throws(
    of((x, n, g) =>
      g.cond(
        n.less(1),
        () => undefined,
        () => x,
      ),
    ),
    /cond: an operand is missing/,
  );
  throws(
    of((x, n, g) => g.whileLoop((a) => a.sum(), grows, [n])[0]),
    /the condition must return one tensor, bool\[\]/,
  );
  throws(
    of(
      (x, n, g) =>
        g.whileLoop(
          (a) => a.less(1),
          (a) => [a.cast('int32')],
          [n],
        )[0],
    ),
    /changes variable 0, f32\[\], i32\[\]/,
  );
  throws(
    of(
      (x, n, g) =>
        g.whileLoop(
          (a) => a.less(1),
          (a) => a,
          [n],
        )[0],
    ),
    /must return an array of tensors/,
  );
  throws(
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
  throws(
    of((x, n, g) => g.whileLoop((a) => a.less(1), grows, [n], { maxIterations: -1 })[0]),
    /maxIterations -1 is not between/,
  );
  throws(
    of((x, n, g) => g.whileLoop((a) => a.less(1), grows, [n], { maxIteration: 1 })[0]),
    /maxIteration/,
  );
  throws(
    of((x, n, g) => g.grad(g.whileLoop((a) => a.less(1), grows, [n])[0], [n])[0]),
    /not differentiable; set maxIterations/,
  );
  throws(
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
  throws(
    of((x, n, g) =>
      g.cond(
        n.less(1),
        () => g.input('z', []),
        () => n,
      ),
    ),
    /input: not in a branch/,
  );
  throws(
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
  throws(
    of((x, n, g) => {
      const y = x.mul(x);
      return g.cond(
        n.less(1),
        () => g.grad(y.sum(), [x])[0],
        () => x,
      );
    }),
    /compute them there/,
  );
  throws(
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
    /compute them there/,
  );
  assert.deepEqual(
    [
      ...of((x, n, g) => g.cond(n.less(1), outside(x, g), () => x))()
        .run({ x: [1, 2, 3], n: 0 })
        .y.dataSync(),
    ],
    [2, 4, 6],
  );
  throws(
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

test('number literals in a body get the type of the loop variable', () => {
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
