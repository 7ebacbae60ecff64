// Eager operations: when they are evaluated, in how many modules, which memory they retain, and their gradients.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as tl from 'tensorlathe/tfjs';
import { engine } from '../../../../js/dist/eager/engine.js';
import { tensorCounts } from '../../../../js/dist/tensor/live_tensors.js';
import { closeTo, random } from './lib.mjs';

await tl.ready();

/** The number of modules that `action` compiles. */
function compiledBy(action) {
  const before = engine.plans.modules.made;
  action();
  return engine.plans.modules.made - before;
}

/** The heap blocks and tensors that `action` leaks, after the module cache is cleared. */
function leftBy(action) {
  engine.plans.clear();
  const [{ heapBlocks }, before] = [tl.memory(), tensorCounts()];
  action();
  engine.plans.clear();
  const after = tensorCounts();
  const added = Object.keys(after).map((key) => after[key] - before[key]);
  return [...added, tl.memory().heapBlocks - heapBlocks];
}

test('operations are evaluated when read, in one module', () => {
  engine.plans.clear();
  const x = tl.tensor([1, 2, 3]);
  let y;
  assert.equal(
    compiledBy(() => (y = tl.tidy(() => x.mul(3).add(1).square().sub(x)))),
    0,
  );
  assert.equal(
    compiledBy(() => assert.deepEqual(y.arraySync(), [15, 47, 97])),
    1,
  );
});

test('arguments may change after an operation is recorded', () => {
  engine.plans.clear();
  const sizes = [1, 7, 2];
  const y = tl.tensor(new Float32Array(14)).reshape(sizes);
  sizes[1] = 3;
  assert.equal(y.sum().dataSync()[0], 0);
  assert.deepEqual(y.shape, [1, 7, 2]);
});

test('live intermediate tensors are materialized by the same module', () => {
  const x = tl.tensor([1, 2]);
  const [a, b] = [x.mul(2), x.mul(2).add(1)];
  const c = a.add(b);
  assert.equal(
    compiledBy(() => c.dataSync()),
    1,
  );
  assert.equal(
    compiledBy(() => assert.deepEqual([...a.dataSync()], [2, 4])),
    0,
  );
});

test('reshape of a computed tensor compiles no module and allocates no memory', () => {
  engine.plans.clear();
  const x = tl.variable(tl.tensor([1, 2, 3, 4]));
  const { heapBlocks } = tl.memory();
  let y;
  assert.equal(
    compiledBy(() =>
      assert.deepEqual((y = x.reshape([2, 2])).arraySync(), [
        [1, 2],
        [3, 4],
      ]),
    ),
    0,
  );
  assert.equal(tl.memory().heapBlocks, heapBlocks);
  x.assign(tl.tensor([5, 6, 7, 8]));
  assert.deepEqual(y.add(1).arraySync(), [
    [2, 3],
    [4, 5],
  ]);
  x.dispose();
  assert.deepEqual(y.transpose().arraySync(), [
    [1, 3],
    [2, 4],
  ]);
  const [slope] = tl.grads((a) => a.reshape([3, 1]).square())([tl.tensor([1, 2, 3])]);
  assert.deepEqual([...slope.dataSync()], [2, 4, 6]);
});

test('operands may be disposed before a result is read', () => {
  const left = leftBy(() => {
    const x = tl.tensor1d([1, 2, 3]);
    const y = x.add(1);
    const z = y.mul(y);
    x.dispose();
    y.dispose();
    assert.deepEqual(z.arraySync(), [4, 9, 16]);
    assert.throws(() => y.dataSync(), /disposed/);
    z.dispose();
    z.dispose();
  });
  assert.deepEqual(left, [0, 0, 0, 0]);
});

test('unread results leak nothing', () => {
  const left = leftBy(() => {
    const x = tl.tensor1d([1, 2, 3]);
    const y = x.exp();
    y.add(x).dispose();
    y.dispose();
    tl.tidy(() => void x.exp().add(x).mul(x));
    x.dispose();
  });
  assert.deepEqual(left, [0, 0, 0, 0]);
});

test('one graph structure is compiled once, for any constants and variables', () => {
  const w = tl.variable(tl.tensor1d([1, -2, 3]));
  const steps = compiledBy(() => {
    for (let step = 1; step <= 100; step++) {
      tl.tidy(() => {
        const { value, grads } = tl.variableGrads(() => w.square().mul(0.5).sum());
        w.assign(w.sub(grads[w.name].mul(1 / (step + 10))));
        value.dataSync();
        w.dataSync();
      });
    }
  });
  assert.ok(steps <= 3, `${steps} modules`);
  w.dispose();
});

test('handwritten training steps compile to a few modules, in any order of reads', () => {
  const x = tl.tensor2d(Array.from({ length: 15 }, random(3)), [5, 3]);
  const y = tl.tensor2d(Array.from({ length: 5 }, random(4)), [5, 1]);
  tl.tidy(() => y.add(x).dataSync()); // Both are in the heap from here on.
  const train = (isReadFirst, every) => {
    engine.plans.clear();
    const { heapBlocks } = tl.memory();
    const [w, b, momentum] = tl.tidy(() =>
      [tl.tensor2d([0.1, 0.2, 0.3], [3, 1]), tl.scalar(0), tl.zeros([3, 1])].map((each) =>
        tl.variable(each),
      ),
    );
    let last;
    const modules = compiledBy(() => {
      for (let step = 1; step <= 120; step++) {
        const loss = () => x.matMul(w).add(b).sub(y).square().mean();
        const { value, grads } = tl.variableGrads(loss, [w, b]);
        if (isReadFirst) last = value.dataSync()[0];
        tl.tidy(() => {
          momentum.assign(momentum.mul(0.5).add(grads[w.name]));
          w.assign(w.sub(momentum.mul(0.05)));
          b.assign(b.sub(grads[b.name].mul(0.05)));
        });
        tl.dispose(grads);
        if (step % every === 0) last = value.dataSync()[0];
        value.dispose();
      }
    });
    const results = [last, ...w.dataSync(), ...b.dataSync()];
    tl.dispose([w, b, momentum]);
    engine.plans.clear();
    assert.equal(tl.memory().heapBlocks, heapBlocks);
    return [modules, results];
  };
  const [, expected] = train(true, 1);
  for (const isReadFirst of [true, false]) {
    for (const every of [1, 3, 120]) {
      const [modules, results] = train(isReadFirst, every);
      closeTo(results, expected, 1e-4);
      assert.ok(modules <= 6, `${modules} modules, read ${isReadFirst} and every ${every} steps`);
    }
  }
});

test('consumers of a hidden intermediate are computed together with it, once', () => {
  const x = tl.tensor([1, 2, 3]);
  const [a, b, c] = tl.tidy(() => {
    const hidden = x.exp().mul(x);
    return [hidden.add(1), hidden.sub(1), x.neg()];
  });
  assert.equal(
    compiledBy(() => a.dataSync()),
    1,
  );
  assert.equal(
    compiledBy(() =>
      closeTo(
        [...b.dataSync()],
        [...a.dataSync()].map((each) => each - 2),
        1e-4,
      ),
    ),
    0,
  );
  assert.equal(
    compiledBy(() => c.dataSync()),
    1,
  );
});

test('long chains and shared operands stay bounded', () => {
  let x = tl.tensor([1]);
  for (let step = 0; step < 1000; step++) x = x.add(1);
  assert.equal(x.dataSync()[0], 1001);
  let y = tl.tensor([1]);
  for (let step = 0; step < 60; step++) y = y.add(y);
  assert.equal(y.dataSync()[0], 2 ** 60);
});

test('graphs with more inputs than a module may have parameters are computed in parts', () => {
  const all = Array.from({ length: 1500 }, (_, at) => tl.tensor([at]));
  let sums = all;
  while (sums.length > 1) {
    sums = Array.from({ length: Math.ceil(sums.length / 2) }, (_, at) =>
      2 * at + 1 < sums.length ? sums[2 * at].add(sums[2 * at + 1]) : sums[2 * at].mul(1),
    );
  }
  assert.equal(sums[0].dataSync()[0], (1499 * 1500) / 2);
  const xs = Array.from({ length: 40 }, (_, at) => tl.tensor([at / 40]));
  const gradient = tl.grad((x) => {
    let y = x;
    for (let step = 0; step < 25; step++) for (const each of xs) y = y.add(x.mul(each));
    return y;
  })(tl.tensor([1]));
  closeTo(gradient.arraySync(), [1 + (25 * (39 * 40)) / 80], 1e-3);
});

test('type mismatches throw at the call', () => {
  const x = tl.ones([2, 3]);
  assert.throws(() => x.add(tl.ones([4])), /^LatheError: add: .*\[2,3\].*\[4\]/);
  assert.throws(() => tl.add({}, x), {
    message: `Argument 'a' passed to 'add' must be a Tensor or TensorLike, but got 'Object'`,
  });
});

test('number operands get the type of the tensor operand; int32 and bool become float32', () => {
  assert.equal(tl.add(tl.tensor1d([1], 'int32'), 1.5).dtype, 'float32');
  assert.equal(tl.add(tl.tensor([1], [1], 'float16'), 1.5).dtype, 'float16');
  assert.equal(tl.add(tl.tensor1d([1], 'int32'), tl.scalar(1)).dtype, 'float32');
  assert.equal(tl.add(tl.tensor1d([1], 'int32'), tl.tensor1d([true])).dtype, 'int32');
});

test('traced functions support the same operations', () => {
  const f = tl.compile({ x: { shape: [3] } }, ({ x }) => ({ y: tl.addN([tl.mul(x, 2), x.exp()]) }));
  closeTo(f.run({ x: [0, 1, 2] }).y.arraySync(), [1, 2 + Math.E, 4 + Math.E ** 2]);
  f.dispose();
  tl.compile({ x: { shape: [1] } }, ({ x }) => {
    assert.throws(() => x.dataSync(), /no elements while the function is traced/);
    return { y: x.add(1) };
  }).dispose();
});

test('tidy disposes tensors made inside it, except retained and returned ones', () => {
  const before = tensorCounts().numTensors;
  let retained;
  const [a, { b }] = tl.tidy(() => {
    retained = tl.keep(tl.add([1], 1));
    tl.add([1], 2);
    return [tl.add([1], 3), { b: tl.add([1], 4) }];
  });
  assert.equal(tensorCounts().numTensors, before + 3);
  assert.deepEqual(
    [retained, a, b].map((each) => each.dataSync()[0]),
    [2, 4, 5],
  );
  tl.dispose([retained, a, b]);
  assert.equal(tensorCounts().numTensors, before);
  assert.throws(() => {
    tl.tidy(() => {
      tl.add([1], 1);
      throw new Error('mine');
    });
  }, /mine/);
  assert.equal(tensorCounts().numTensors, before);
});

test('gradients of every order equal finite differences', () => {
  const functions = [
    (x) => x.mul(x).mul(x),
    (x) => x.sin().mul(x.exp()),
    (x) => x.sigmoid().div(x.square().add(1)),
    (x) => x.tanh().add(x.mul(2)).square(),
  ];
  for (const f of functions) {
    let g = f;
    for (let order = 1; order <= 3; order++) {
      const below = g;
      const x = tl.tensor1d([0.3, -0.7, 1.1]);
      const step = 1e-2;
      const [up, down] = [step, -step].map((by) => below(x.add(by)).arraySync());
      const expected = up.map((value, at) => (value - down[at]) / (2 * step));
      g = tl.grad(below);
      closeTo(g(x).arraySync(), expected, 0.02);
    }
  }
});

test('value and gradients of several arguments come from one module', () => {
  engine.plans.clear();
  const [a, b] = [tl.tensor([1, 2]), tl.tensor([3, 4])];
  const { value, grads } = tl.valueAndGrads((x, y) => x.mul(y).square().sum())([a, b]);
  const count = compiledBy(() => {
    assert.equal(value.dataSync()[0], 73);
    closeTo(grads[0].arraySync(), [18, 64]);
    closeTo(grads[1].arraySync(), [6, 32]);
  });
  assert.equal(count <= 2, true, `${count} modules`);
});

test('custom gradients are used, chained and differentiated', () => {
  const steep = tl.customGrad((x, save) => {
    save([x]);
    return { value: x.square(), gradFunc: (dy, [retained]) => dy.mul(retained.mul(10)) };
  });
  const x = tl.tensor1d([1, -2]);
  closeTo(
    tl
      .grad((each) => steep(each.mul(2)).mul(3))(x)
      .arraySync(),
    [120, -240],
  );
  closeTo(
    tl
      .grad((each) => steep(steep(each)))(x)
      .arraySync(),
    [100, 10 * 4 * 10 * -2],
  );
  closeTo(tl.grad(tl.grad(steep))(x).arraySync(), [10, 10]);
  assert.throws(
    () => tl.grad(tl.customGrad((each) => ({ value: each.square(), gradFunc: () => [] })))(x),
    /same number of tensors/,
  );
});

test('gradients leak nothing but their results', () => {
  const left = leftBy(() => {
    const x = tl.tensor1d([1, 2, 3]);
    const w = tl.variable(x);
    const { value, grads } = tl.variableGrads(() => w.mul(x).square().sum());
    assert.equal(value.dataSync()[0], 1 + 16 + 81);
    closeTo(grads[w.name].arraySync(), [2, 16, 54]);
    tl.dispose([value, grads, w, x, tl.grad((each) => each.square())([1, 2])]);
  });
  assert.deepEqual(left, [0, 0, 0, 0]);
});

test('invalid gradients are rejected', () => {
  assert.throws(() => tl.grad((x) => tl.add([1], 1))([1]), /Cannot compute gradient of y=f\(x\)/);
  assert.throws(() => tl.grad(1), /must be a function/);
  assert.throws(() => tl.grad((x) => x.mul(2))([1, 2], [1]), /must match the shape returned/);
  assert.throws(() => tl.variableGrads(() => tl.add([1], 1).sum()), /variable/);
});

test('ten thousand random sequences equal plain JavaScript, and scopes free them', () => {
  const next = random(7);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const two = [
    ['add', (a, b) => a + b],
    ['sub', (a, b) => a - b],
    ['mul', (a, b) => a * b],
    ['maximum', Math.max],
  ];
  const one = [
    ['neg', (a) => -a],
    ['tanh', Math.tanh],
    ['abs', Math.abs],
    ['square', (a) => Math.min(a * a, 1e3)],
  ];
  const left = leftBy(() => {
    for (let round = 0; round < 1000; round++) {
      tl.tidy(() => {
        const size = 1 + Math.floor(next() * 9);
        const first = Array.from({ length: size }, () => next() * 2 - 1);
        const pool = [{ x: tl.tensor1d(first), values: first.map(Math.fround) }];
        for (let step = 0; step < 10; step++) {
          const [a, b] = [pick(pool), pick(pool)];
          if (next() < 0.5) {
            const [name, f] = pick(two);
            pool.push({ x: a.x[name](b.x), values: a.values.map((v, at) => f(v, b.values[at])) });
          } else {
            const [name, f] = pick(one);
            const x = name === 'square' ? a.x.square().minimum(1e3) : a.x[name]();
            pool.push({ x, values: a.values.map(f) });
          }
          if (next() < 0.1) pick(pool).x.dataSync();
        }
        const { x, values } = pick(pool);
        closeTo(x.arraySync(), values, 1e-3);
      });
    }
  });
  assert.deepEqual(left, [0, 0, 0, 0]);
});

test('gradients that alias a value count its elements', () => {
  const before = tensorCounts();
  const x = tl.tensor([1, 5, 3]);
  const custom = tl.customGrad((of, save) => {
    const value = of.square();
    save([of, value]);
    return { value, gradFunc: (dy, [each, squared]) => dy.mul(each).add(squared) };
  });
  for (const f of [(of) => tl.max(of), (of) => tl.min(of), (of) => custom(of).sum()]) {
    const slope = tl.grad(f)(x);
    slope.dataSync();
    const { numTensors, numDataBuffers, numBytes } = tensorCounts();
    assert.deepEqual(
      [numTensors, numDataBuffers, numBytes],
      [before.numTensors + 2, before.numDataBuffers + 2, before.numBytes + 24],
    );
    slope.dispose();
  }
  x.dispose();
  assert.deepEqual(tensorCounts(), before);
});
