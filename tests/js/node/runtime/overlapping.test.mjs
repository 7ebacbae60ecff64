// Overlapping calls: each has separate data and results, in program order, whatever threads and tuning do concurrently.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import * as tl from 'tensorlathe';
import { throws, rejects } from '../../lib.mjs';

afterEach(() => tl.env().reset());

const size = 64;

/** Small integers, others for every number: exact in any order of summation. */
const data = (number) =>
  Float32Array.from({ length: size * size }, (_, i) => ((i * 7 + number * 13 + (i >> 3)) % 5) - 2);

const multiply = () =>
  tl.compile({ x: [size, size], c: [1] }, ({ x, c }) => ({
    y: x.matMul(x).relu().add(c),
    z: x.add(c),
  }));

/** A function that counts its calls, so that their order shows. */
const counter = () =>
  tl.compile({ x: [size, size] }, ({ x }, g) => {
    const total = g.variable('total', [1]);
    const next = total.mul(2).add(x.matMul(x).mean());
    g.assign(total, next);
    return { y: next };
  });

/** The defaults of users: threads where there are cores, and background tuning. */
function asUsers() {
  tl.env().set('AUTO_TUNE', true);
}

function force(count) {
  asUsers();
  tl.env().set('THREADS_COUNT', count);
  tl.env().set('THREADS_MIN_WORK', 1);
}

const settings = {
  'as usual': asUsers,
  'one thread': () => force(1),
  'four threads': () => force(4),
};

/** Waits until the threads have started, if there are any. */
async function warmUp(f, inputs) {
  const start = performance.now();
  while (performance.now() - start < 300) await f.runAsync(inputs);
}

for (const [name, set] of Object.entries(settings)) {
  test(`each call has separate inputs and results: ${name}`, async () => {
    set();
    const functions = [multiply(), multiply()];
    for (const f of functions) await warmUp(f, { x: data(0), c: [0] });
    const numbers = Array.from({ length: 12 }, (_, number) => number);
    const expected = numbers.map((number) => {
      const { y, z } = functions[0].run({ x: data(number), c: [number] });
      return [[...y.dataSync()], [...z.dataSync()]];
    });
    for (let round = 0; round < 5; ++round) {
      const x = new Float32Array(size * size);
      const calls = numbers.map((number) => {
        x.set(data(number)); // the caller may reuse the array once the call returns
        return functions[(number + round) % 2].runAsync({ x, c: Float32Array.of(number) });
      });
      x.fill(NaN);
      const between = functions[round % 2].run({ x: data(100), c: [100] });
      assert.equal(between.z.dataSync()[0], data(100)[0] + 100);
      for (const [number, { y, z }] of (await Promise.all(calls)).entries()) {
        assert.deepEqual([[...y.dataSync()], [...z.dataSync()]], expected[number]);
      }
    }
    for (const f of functions) f.dispose();
  });

  test(`calls change variables in their order: ${name}`, async () => {
    set();
    const [f, g, reference] = [counter(), counter(), counter()];
    await warmUp(f, { x: data(0) });
    await warmUp(g, { x: data(0) });
    f.setVariable('total', [0]);
    const expected = [];
    for (let number = 0; number < 9; ++number)
      expected.push(reference.run({ x: data(number) }).y.dataSync()[0]);
    const [results, others] = [[], []];
    for (let number = 0; number < 9; ++number) {
      others.push(g.runAsync({ x: data(number) }));
      if (number % 3 === 2) results.push(f.run({ x: data(number) }));
      else if (number % 3 === 1) results.push(f.runAsync({ x: data(number) }));
      else {
        f.input('x').set(data(number));
        results.push(f.callAsync());
      }
    }
    const actual = await Promise.all(results);
    actual.forEach((each, at) => each && assert.equal(each.y.dataSync()[0], expected[at]));
    assert.equal(f.variable('total').dataSync()[0], expected.at(-1));
    await Promise.all(others);
    for (const each of [f, g, reference]) each.dispose();
  });

  test(`calls use the inputs' values at call time, also while others occupy the threads: ${name}`, async () => {
    set();
    const [f, other, reference] = [counter(), multiply(), counter()];
    await warmUp(f, { x: data(0) });
    await warmUp(other, { x: data(0), c: [0] });
    f.setVariable('total', [0]);
    for (let number = 1; number < 4; ++number) reference.run({ x: data(number) });
    const busy = other.runAsync({ x: data(9), c: [9] });
    const x = f.input('x');
    const calls = [1, 2, 3].map((number) => {
      x.set(data(number));
      return f.callAsync();
    });
    await Promise.all(calls);
    assert.equal(f.output('y')[0], reference.output('y')[0]);
    assert.equal((await busy).z.dataSync()[0], data(9)[0] + 9);
    for (const each of [f, other, reference]) each.dispose();
  });

  test(`an error affects only its call: ${name}`, async () => {
    set();
    const f = multiply();
    await warmUp(f, { x: data(0), c: [0] });
    const calls = [
      f.runAsync({ x: data(1), c: [1] }),
      f.runAsync({ x: [1, 2], c: [2] }),
      f.runAsync({ x: data(3) }),
      f.runAsync({ x: data(4), c: [4] }),
    ];
    await rejects(calls[1], /^input x: expects shape \[64,64\]/);
    await rejects(calls[2], /^run: input c is missing; inputs: /);
    assert.equal((await calls[0]).z.dataSync()[0], data(1)[0] + 1);
    assert.equal((await calls[3]).z.dataSync()[0], data(4)[0] + 4);
    throws(() => f.run({ x: data(7), c: [1, 2] }), /^input c: expects shape \[1\]/);
    await f.callAsync();
    assert.equal(f.output('z')[0], data(4)[0] + 4, 'a rejected call changes nothing');
    f.dispose();
  });

  test(`dispose rejects waiting calls: ${name}`, async () => {
    set();
    const f = multiply();
    await warmUp(f, { x: data(0), c: [0] });
    const calls = [1, 2, 3].map((number) => f.runAsync({ x: data(number), c: [number] }));
    calls.push(f.callAsync());
    f.dispose();
    for (const [at, { status, value, reason }] of (await Promise.allSettled(calls)).entries()) {
      if (status === 'rejected') assert.equal(reason.message, 'this function has been disposed');
      else if (at < 3) assert.equal(value.z.dataSync()[0], data(at + 1)[0] + at + 1);
    }
    await rejects(f.runAsync({ x: data(1), c: [1] }), 'this function has been disposed');
    await rejects(f.callAsync(), 'this function has been disposed');
  });

  test(`tuning preserves calls and the buffers of inputs and outputs: ${name}`, async () => {
    set();
    const [f, g] = [multiply(), counter()];
    const [x, c, z] = [f.input('x'), f.input('c'), f.output('z')];
    await warmUp(f, { x: data(0), c: [0] });
    f.run({ x: data(8), c: [8] });
    const tuned = [f, g].map((each) => tl.tune(each, { budgetMs: 50, candidates: [{ rows: 2 }] }));
    const calls = [1, 2, 3].map((number) => f.runAsync({ x: data(number), c: [number] }));
    await Promise.all(tuned);
    for (const [at, { z: result }] of (await Promise.all(calls)).entries()) {
      assert.equal(result.dataSync()[0], data(at + 1)[0] + at + 1);
    }
    await tl.tune(f, { budgetMs: 50, candidates: [{ rows: 3 }] });
    f.call();
    assert.equal(f.output('z')[0], data(3)[0] + 3, 'inputs are as they were');
    x.set(data(5));
    c.set([5]);
    f.call();
    assert.deepEqual([z[0], f.output('z')[0]], Array(2).fill(data(5)[0] + 5));
    c.set([6]);
    await f.callAsync();
    assert.deepEqual([z[0], f.output('z')[0]], Array(2).fill(data(5)[0] + 6));
    f.run({ x: data(7), c: [7] });
    assert.deepEqual([x[0], c[0], z[0]], [data(7)[0], 7, data(7)[0] + 7]);
    for (const each of [f, g]) each.dispose();
  });
}
