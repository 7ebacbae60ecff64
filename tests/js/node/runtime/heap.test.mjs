// The heap shared by tensors and functions: its allocator, functions that run in it, eager operations.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as tl from 'tensorlathe';
import { Heap } from '../../../../js/dist/runtime/wasm/heap.js';
import { engine } from '../../../../js/dist/eager/engine.js';
import { counts } from '../../lib.mjs';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

function randomly(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('blocks never overlap, and adjacent free blocks are merged', () => {
  const heap = new Heap(false);
  const random = randomly(1);
  const alive = [];
  for (let step = 0; step < 20_000; step++) {
    if (alive.length > 0 && random(100) < 48) {
      heap.free(alive.splice(random(alive.length), 1)[0]);
    } else {
      const bytes = random(2) === 0 ? random(300) : Math.floor(2 ** (random(1900) / 100));
      alive.push(heap.allocate(bytes));
    }
    if (step % 1000 !== 999) continue;
    const sorted = [...alive].sort((a, b) => a.address - b.address);
    for (const [at, { address, units, bytes }] of sorted.entries()) {
      assert.equal(address % 64, 0);
      assert.ok(bytes <= units * 64);
      assert.ok(address + units * 64 <= (sorted[at + 1]?.address ?? heap.counts.reserved));
    }
    const bytes = alive.reduce((sum, { bytes }) => sum + bytes, 0);
    assert.deepEqual([heap.counts.bytes, heap.counts.buffers], [bytes, alive.length]);
  }
  for (const block of alive) heap.free(block);
  const { reserved } = heap.counts;
  assert.equal(heap.allocate(reserved).address, 0);
  assert.deepEqual(heap.counts, { bytes: reserved, buffers: 1, reserved });
});

test('the error of an allocation beyond the limit lists live blocks', () => {
  const heap = new Heap(false);
  heap.allocate(100);
  for (const bytes of [2 ** 32, 2 ** 45]) {
    assert.throws(() => heap.allocate(bytes), {
      name: 'OutOfMemoryError',
      message: new RegExp(`^out of memory: ${bytes} bytes more than the 100 of tensors that are`),
    });
  }
  heap.allocate(1);
});

const numbers = (random, shape) => {
  const size = shape.reduce((product, each) => product * each, 1);
  return tl.tensor(
    Float32Array.from({ length: size }, () => random(2000) / 500 - 2),
    shape,
  );
};

test('functions in the heap equal functions with static memory', () => {
  const random = randomly(2);
  for (let round = 0; round < 60; round++) {
    const [m, k, n] = [1 + random(40), 1 + random(40), 1 + random(40)];
    const build = ({ a, b, c }, g) => {
      const seen = g.variable('seen', [n]);
      const y = a.matMul(b).add(c).tanh();
      g.assign(seen, seen.add(y.sum(0)));
      return { y, mean: y.mean(), alias: a };
    };
    const specs = { a: [m, k], b: [k, n], c: [n] };
    const [fixed, heap] = [tl.compile(specs, build), tl.compile(specs, build, { heap: true })];
    for (let call = 0; call < 3; call++) {
      const inputs = {
        a: numbers(random, [m, k]),
        b: numbers(random, [k, n]),
        c: numbers(random, [n]),
      };
      const expected = fixed.run(inputs);
      const actual = heap.run(call === 0 ? { ...inputs, c: inputs.c.dataSync() } : inputs);
      for (const name of ['y', 'mean', 'alias']) {
        assert.deepEqual(
          actual[name].dataSync(),
          expected[name].dataSync(),
          `${name} of ${m},${k},${n}`,
        );
        assert.deepEqual(actual[name].shape, expected[name].shape);
      }
      for (const each of [...Object.values(inputs), ...Object.values(actual)]) each.dispose();
    }
    assert.deepEqual(heap.variable('seen').dataSync(), fixed.variable('seen').dataSync());
    heap.setVariable('seen', new Float32Array(n).fill(7));
    assert.equal(heap.variable('seen').dataSync()[n - 1], 7);
    fixed.dispose();
    heap.dispose();
  }
});

test('a result is passed to the next function without a copy', () => {
  const before = counts();
  const twice = tl.compile({ x: [1000] }, ({ x }) => ({ y: x.mul(2) }), { heap: true });
  const blocks = tl.memory().heapBlocks;
  let x = tl.tensor(new Float32Array(1000).fill(1));
  for (let step = 0; step < 10; step++) {
    const { y } = twice.run({ x });
    assert.equal(tl.memory().heapBlocks, blocks + 2);
    x.dispose();
    x = y;
  }
  assert.equal(x.dataSync()[999], 1024);
  x.dispose();
  assert.throws(() => twice.run({ x }), { message: /has been disposed/ });
  assert.throws(() => twice.run({ x: [1, 2] }), {
    message: 'input x: expects shape [1000], got [2]',
  });
  assert.throws(() => twice.run({}), /run: input x is missing; inputs: x /);
  assert.throws(() => twice.run({ x: new Float32Array(1000), z: 1 }), { message: /no input z/ });
  twice.dispose();
  twice.dispose();
  assert.throws(() => twice.run({ x: new Float32Array(1000) }), { message: /disposed/ });
  assert.deepEqual(counts(), { ...before, heapReserved: counts().heapReserved });
});

test('modules contain an origins section when requested', () => {
  for (const heap of [false, true]) {
    for (const origins of [false, true]) {
      const build = ({ x }) => ({ y: x.exp() });
      const f = tl.compile({ x: [9] }, build, { heap, origins });
      const module = new WebAssembly.Module(f.module());
      const sections = WebAssembly.Module.customSections(module, 'tensorlathe.origins');
      assert.equal(sections.length, origins ? 1 : 0);
      f.dispose();
      if (!origins) continue;
      const { kernels, places } = JSON.parse(new TextDecoder().decode(sections[0]));
      assert.equal(kernels[0].entry, 'run');
      assert.ok(places.some(([, kernel, statement]) => kernel === 0 && statement >= 0));
    }
  }
});

test('the buffer of data that was read may be transferred', () => {
  for (const x of [tl.tensor([1, 2]), tl.tensor([0, 1]).add(1)]) {
    x.add(1).dispose();
    structuredClone(x.dataSync(), { transfer: [x.dataSync().buffer] });
    assert.deepEqual([...x.dataSync()], [1, 2]);
    assert.deepEqual(x.add(1).arraySync(), [2, 3]);
  }
});

test('five thousand functions can be alive simultaneously', () => {
  const before = counts();
  const functions = Array.from({ length: 5000 }, (_, at) =>
    tl.compile({ x: [2] }, ({ x }) => ({ y: x.add(at) }), { heap: true }),
  );
  assert.equal(tl.memory().heapModules - before.heapModules, 5000);
  let sum = 0;
  for (const each of functions) {
    const { y } = each.run({ x: [0, 1] });
    sum += y.dataSync()[1];
    y.dispose();
  }
  assert.equal(sum, (5000 * 4999) / 2 + 5000);
  for (const each of functions) each.dispose();
  assert.deepEqual(counts(), { ...before, heapReserved: counts().heapReserved });
});

/** Asserts that an eager operation equals the compiled one. */
function agrees(operands, apply) {
  const got = apply(...operands);
  const specs = Object.fromEntries(
    operands.map(({ shape, dtype }, at) => [`x${at}`, { shape, dtype }]),
  );
  const f = tl.compile(specs, (traced) => ({ y: apply(...Object.values(traced)) }));
  const { y } = f.run(Object.fromEntries(operands.map((each, at) => [`x${at}`, each])));
  assert.deepEqual(got.dataSync(), y.dataSync(), String(apply));
  assert.deepEqual([got.shape, got.dtype], [y.shape, y.dtype], String(apply));
  f.dispose();
  got.dispose();
}

test('eager operations equal compiled functions', () => {
  const random = randomly(3);
  for (let round = 0; round < 12; round++) {
    const [m, n] = [1 + random(40), 1 + random(40)];
    const [a, b] = [numbers(random, [m, n]), numbers(random, [m, n])];
    const row = numbers(random, [n]);
    for (const apply of [
      (x, y) => x.add(y),
      (x, y) => x.mul(y).sub(x).div(3),
      (x, y) => x.greater(y),
      (x, y) => x.where(x.less(y), y),
      (x, y) => x.matMul(y, false, true),
      (x, y) => x.concat([y, x], 1),
      (x, y) => x.concat(y),
    ]) {
      agrees([a, b], apply);
    }
    agrees([a, row], (x, y) => x.add(y));
    for (const apply of [
      (x) => x.softmax(),
      (x) => x.sum(0).sqrt(),
      (x) => x.transpose(),
      (x) => x.cast('int32').mul(3),
      (x) => x.cast('float16').add(1),
      (x) => x.topk(1).indices,
      (x) => x.reshape([n, m]).argMax(0),
    ]) {
      agrees([a], apply);
    }
  }
});

test('operations with different attributes are compiled separately', () => {
  const x = tl.tensor([1, 2]);
  const values = [0, -0, 1, -1];
  for (const value of [...values, ...values]) {
    assert.deepEqual(x.pad([[1, 0]], value).arraySync(), [value, 1, 2]);
  }
  const y = tl.tensor([[1], [2]]);
  assert.deepEqual(y.sum(0).shape, [1]);
  assert.deepEqual(y.sum([0, 1]).shape, []);
  assert.deepEqual(y.sum().shape, []);
  assert.deepEqual(y.sum(0, true).shape, [1, 1]);
  assert.equal(tl.tensor([1, 2], [2], 'int32').add(1).dtype, 'int32');
  assert.equal(tl.tensor([1n], [1], 'int64').add(2n).dataSync()[0], 3n);
});

test('errors of operations name the operation', () => {
  const x = tl.tensor([1, 2]);
  assert.throws(() => x.add(tl.tensor([1, 2, 3])), {
    name: 'LatheError',
    message: /^add: .*\[2\].*\[3\]/,
  });
  assert.throws(() => x.reshape([3]), { message: /^reshape: / });
  assert.throws(() => x.add(undefined), {
    name: 'LatheError',
    message: 'add: an operand is missing',
  });
  const disposed = tl.tensor([1]);
  disposed.dispose();
  assert.throws(() => disposed.add(1), { message: /disposed/ });
});

test('operations are compiled once per set of features, and evicted from the cache', () => {
  engine.plans.clear();
  const x = tl.tensor([1, 2, 3]);
  for (let step = 0; step < 10; step++) {
    const sum = x.add(step);
    assert.equal(sum.dataSync()[0], 1 + step);
    sum.dispose();
  }
  x.mul(2).dispose();
  assert.equal(engine.plans.modules.size, 1);
  tl.env().set('SIMD', false);
  assert.deepEqual(x.add(1).arraySync(), [2, 3, 4]);
  assert.equal(engine.plans.modules.size, 1);
  tl.env().reset();
  for (let size = 1; size <= 2100; size++) {
    const sum = tl.tensor(new Float32Array(size)).add(1);
    sum.dataSync();
    sum.dispose();
  }
  assert.ok(engine.plans.modules.size <= 2000, String(engine.plans.modules.size));
  engine.plans.clear();
  assert.equal(tl.memory().heapModules, 0);
});

test('tensors without references are freed from the heap', async () => {
  const before = tl.memory().heapBlocks;
  (() => {
    let x = tl.tensor(new Float32Array(1000));
    for (let step = 0; step < 500; step++) x = x.add(1);
    assert.equal(x.dataSync()[0], 500);
  })();
  for (let round = 0; round < 50 && tl.memory().heapBlocks > before + 20; round++) {
    collect();
    await pause(10);
  }
  assert.ok(tl.memory().heapBlocks <= before + 20, `${tl.memory().heapBlocks}, ${before} before`);
});

test('blocks move to a smaller memory with their content', () => {
  for (const isShared of [false, true]) {
    const heap = new Heap(isShared);
    const random = randomly(5);
    const alive = [];
    for (let step = 0; step < 3000; step++) {
      if (alive.length > 0 && random(100) < 45) heap.free(alive.splice(random(alive.length), 1)[0]);
      else alive.push(heap.allocate(random(20_000)));
    }
    while (alive.length > 50) heap.free(alive.splice(random(alive.length), 1)[0]);
    const bytesOf = ({ address, bytes }) => new Uint8Array(heap.memory.buffer, address, bytes);
    for (const [at, each] of alive.entries()) bytesOf(each).fill(at + 1);
    const before = heap.counts;
    heap.moveTo(heap.smallerMemory());
    const { reserved, ...counts } = heap.counts;
    assert.ok(reserved < before.reserved / 2, `${reserved} of ${before.reserved}`);
    assert.deepEqual(counts, { bytes: before.bytes, buffers: before.buffers });
    for (const [at, each] of alive.entries()) {
      assert.ok(bytesOf(each).every((byte) => byte === at + 1));
      assert.equal(each.address % 64, 0);
    }
    for (const each of alive) heap.free(each);
    assert.equal(heap.counts.bytes, 0);
    const whole = heap.allocate(reserved - 8192);
    assert.equal(heap.counts.reserved, reserved, `${whole.address}`);
  }
});

test('the heap shrinks after a peak; tensors, variables and programs stay', async (context) => {
  let later = 0;
  const { now } = performance;
  context.mock.method(performance, 'now', () => now.call(performance) + later);
  const f = tl.compile(
    { x: [4] },
    ({ x }, g) => {
      const sum = g.variable('sum', [4]);
      g.assign(sum, sum.add(x));
      return { y: sum.mul(1) };
    },
    { heap: true },
  );
  const x = tl.tensor([1, 2, 3, 4]);
  const square = x.square();
  await square.data();
  f.run({ x });
  // Runs on threads from its second run on.
  const wide = tl.tensor(
    Float32Array.from({ length: 512 * 512 }, (_, at) => Math.sin(at)),
    [512, 512],
  );
  const product = async () => {
    for (let run = 0; run < 4; run++) {
      await wide.matMul(wide).data();
      await pause(20);
    }
    return Array.from(await wide.matMul(wide).data());
  };
  const expected = await product();
  const large = Array.from({ length: 20 }, () => tl.ones([5_000_000]).add(x.slice(0, 1)));
  for (const each of large) each.max().dataSync();
  const peak = tl.memory().heapReserved;
  assert.ok(peak > 400e6);
  tl.dispose(large);
  await x.add(1).data();
  for (let at = 0; at < 2; at++) {
    later += 20_000;
    await x.add(1).data();
  }
  const { heapReserved } = tl.memory();
  assert.ok(heapReserved < 50e6, `${heapReserved} bytes`);
  assert.deepEqual(Array.from(await square.add(0).data()), [1, 4, 9, 16]);
  assert.deepEqual(Array.from(await f.run({ x }).y.data()), [1, 2, 3, 4]); // the sum before
  assert.equal((await x.square().sum().data())[0], 30);
  assert.deepEqual(await product(), expected);
  f.dispose();
});
