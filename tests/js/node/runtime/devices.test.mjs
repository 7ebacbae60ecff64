// Devices by name, and a device that cannot wait: eager code gives on it what it gives on the Wasm device.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setImmediate as nextTask } from 'node:timers/promises';
import * as tf from 'tensorlathe/tfjs';
import { registerDevice } from '../../../../js/dist/devices/registry.js';
import { engine } from '../../../../js/dist/eager/engine.js';
import { plainDevice } from './plain_device.mjs';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

await tf.ready();
registerDevice('plain', async () => plainDevice());
registerDevice('absent', async () => {
  throw new Error('the machine has none');
});
afterEach(() => tf.setBackend('wasm'));

const seeded = (shape, seed, dtype = 'float32') => {
  const size = shape.reduce((product, each) => product * each, 1);
  const at = (index) => 2 * Math.sin(12.9898 * (index + 1) + seed);
  return tf.tensor(
    Float32Array.from({ length: size }, (_, index) => at(index)),
    shape,
    dtype,
  );
};

/** The elements of the tensors that `f` returns, computed on a device. */
async function on(device, f) {
  assert.equal(await tf.setBackend(device), true);
  const results = [tf.tidy(f)].flat();
  const data = [];
  for (const each of results) data.push([each.dtype, ...each.shape, ...(await each.data())]);
  tf.dispose(results);
  return data;
}

const programs = {
  elementwise: () =>
    seeded([3, 4], 1)
      .mul(seeded([4], 2))
      .sub(1)
      .tanh()
      .exp(),
  'numbers and casts': () => [
    seeded([5], 1).mul(100).toInt(),
    seeded([5], 2).greater(0),
    seeded([5], 3).greater(0).cast('float32').add(0.5),
  ],
  'matrix products': () =>
    tf.matMul(seeded([2, 3, 4], 1), seeded([2, 5, 4], 2), false, true).softmax(),
  reductions: () => [
    seeded([4, 5], 1).sum(1),
    seeded([4, 5], 2).max(),
    seeded([4, 5], 3).argMax(0),
    tf.moments(seeded([4, 5], 4), 0).variance,
  ],
  convolutions: () => [
    tf.conv2d(seeded([1, 6, 6, 2], 1), seeded([3, 3, 2, 4], 2), 1, 'same').relu(),
    tf.maxPool(seeded([1, 6, 6, 2], 1), 2, 2, 'valid'),
  ],
  movement: () => [
    tf.concat([seeded([2, 3], 1), seeded([1, 3], 2)]).transpose(),
    tf.stack([seeded([2], 1), seeded([2], 2)]).reshape([4]),
    seeded([4, 4], 3).slice([1, 2], [2, 2]),
    tf.gather(seeded([4, 2], 4), tf.tensor1d([3, 0], 'int32')),
    tf.reverse(tf.pad(seeded([2, 2], 5), [[1, 0], [0, 1]])), // prettier-ignore
  ],
  'constants and random numbers': () => [
    tf.zeros([70_000]).add(tf.range(0, 70_000)).slice(69_990, 5),
    tf.ones([3], 'int32'),
    tf.randomNormal([4], 0, 1, 'float32', 7),
    tf.fill([70_000], 2).sum(),
  ],
  'sorting and segments': () => [
    tf.topk(seeded([9], 1), 3).values,
    tf.cumsum(seeded([6], 2)),
    tf.unsortedSegmentSum(seeded([4], 3), tf.tensor1d([0, 1, 0, 1], 'int32'), 2),
  ],
  'complex numbers': () => tf.real(tf.ifft(tf.fft(tf.complex(seeded([8], 1), seeded([8], 2))))),
  gradients: () => {
    const f = (x, w) => x.matMul(w).square().mean();
    const { value, grads } = tf.valueAndGrads(f)([seeded([2, 3], 1), seeded([3, 2], 2)]);
    return [value, ...grads];
  },
  'second derivatives': () =>
    tf.grad((x) =>
      tf
        .grad((y) => y.pow(3).sum())(x)
        .sum(),
    )(seeded([4], 1)),
  'custom gradients': () => {
    const f = tf.customGrad((x, save) => {
      save([x]);
      return { value: x.square(), gradFunc: (dy, [saved]) => dy.mul(saved).mul(5) };
    });
    return tf.grad((x) => f(x).sum())(seeded([3], 1));
  },
  'long plans': () => {
    let [x, y] = [seeded([3], 1), seeded([4], 2)];
    for (let step = 0; step < 150; step++) {
      x = x.mul(0.9).add(step);
      y = step % 2 === 0 ? y.sin() : y.add(seeded([4], step)).tanh();
    }
    return [x, y];
  },
  'jit and vmap': () => {
    const captured = seeded([3], 9);
    const f = tf.jit((x, scale) => x.mul(captured).mul(scale).sum());
    const results = [f(seeded([3], 1), 2), f(seeded([3], 2), 3)];
    f.dispose();
    return [...results, tf.vmap((x) => x.mul(2).sum())(seeded([4, 3], 3))];
  },
};

for (const [name, f] of Object.entries(programs)) {
  test(`${name} on a device that cannot wait`, async () => {
    const expected = await on('wasm', f);
    const { devices, heapModules } = tf.memory();
    assert.deepEqual(await on('plain', f), expected);
    assert.equal(tf.getBackend(), 'plain');
    await nextTask();
    const after = tf.memory();
    assert.ok(after.heapModules > heapModules || name === 'constants and random numbers');
    assert.equal(after.devices.plain.buffers, devices.plain?.buffers ?? 0);
  });
}

/** Losses and weights of a small network that is trained by an optimizer, with variables created on the device. */
async function trained(device, optimizer, readEach) {
  await tf.setBackend(device);
  const before = tf.memory().numTensors;
  const x = seeded([16, 4], 1);
  const y = seeded([16, 2], 2);
  const weights = [seeded([4, 8], 3), seeded([8, 2], 4)].map((each) => tf.variable(each));
  const bias = tf.variable(tf.zeros([2]));
  const losses = [];
  const loss = () =>
    x.matMul(weights[0]).tanh().matMul(weights[1]).add(bias).sub(y).square().mean();
  const made = optimizer();
  for (let step = 0; step < 20; step++) {
    const cost = made.minimize(loss, true);
    losses.push(readEach ? (await cost.data())[0] : cost);
    if (readEach) cost.dispose();
  }
  if (!readEach) {
    for (const [at, cost] of losses.entries()) losses[at] = (await cost.data())[0];
  }
  const result = [losses];
  for (const each of [...weights, bias]) result.push([...(await each.data())]);
  tf.disposeVariables();
  assert.ok(tf.memory().numTensors >= before);
  return result;
}

const optimizers = {
  sgd: () => tf.train.sgd(0.1),
  momentum: () => tf.train.momentum(0.05, 0.9),
  adam: () => tf.train.adam(0.05),
  rmsprop: () => tf.train.rmsprop(0.01),
};
for (const [name, optimizer] of Object.entries(optimizers)) {
  test(`training by ${name} on a device that cannot wait`, async () => {
    const expected = await trained('wasm', optimizer, true);
    assert.deepEqual(await trained('plain', optimizer, true), expected);
    assert.deepEqual(await trained('plain', optimizer, false), expected);
    assert.ok(expected[0].at(-1) < expected[0][0]);
  });
}

test('reading without waiting is an error that says what to await', async () => {
  await tf.setBackend('plain');
  const x = seeded([3], 1).mul(2);
  const message =
    "elements on plain cannot be read synchronously: await tensor.data() before, or await tensor.to('wasm')";
  assert.throws(() => x.dataSync(), { name: 'LatheError', message });
  assert.throws(() => x.toString(), { name: 'LatheError', message });
  const data = await x.data();
  assert.equal(x.dataSync(), data);
  assert.deepEqual([...tf.zeros([70_000]).dataSync().slice(0, 2)], [0, 0]);
  assert.deepEqual([...tf.tensor([1, 2]).dataSync()], [1, 2]);
});

test('operations that look at elements report it, and accept tensors that have been read', async () => {
  await tf.setBackend('plain');
  const matrix = () => seeded([4, 4], 1).add(tf.eye(4).mul(3));
  const row = () => seeded([4], 1).mul(1);
  const indices = (...at) => tf.tensor1d(at, 'int32').neg().neg();
  const calls = {
    unique: [tf.unique, row()],
    lowerBound: [tf.lowerBound, row().mul(0), row()],
    nonMaxSuppression: [(boxes, x) => tf.image.nonMaxSuppression(boxes, x, 2), matrix(), row()],
    'linalg.bandPart': [(x, to) => tf.linalg.bandPart(x, to, 1), matrix(), indices(1).reshape([])],
    'linalg.svd': [(x) => tf.linalg.svd(x, false, false), matrix()],
    broadcastArgs: [tf.broadcastArgs, indices(1, 4), indices(3, 1)],
    'sparse.sparseReshape': [
      (at, shape, next) => tf.sparse.sparseReshape(at, shape, next).outputShape,
      tf
        .tensor2d([[0, 1]], [1, 2], 'int32')
        .neg()
        .neg(),
      indices(2, 3),
      indices(3, 2),
    ],
    sparseToDense: [
      (at, x) => tf.sparseToDense(at, x, [5]),
      tf
        .tensor2d([[0], [2], [3], [4]], [4, 1], 'int32')
        .neg()
        .neg(),
      row(),
    ],
    tensorScatterUpdate: [
      (at, x) => tf.tensorScatterUpdate(tf.zeros([5]), at, x),
      tf
        .tensor2d([[0], [2], [3], [4]], [4, 1], 'int32')
        .neg()
        .neg(),
      row(),
    ],
  };
  for (const [name, [call, ...operands]] of Object.entries(calls)) {
    assert.throws(() => call(...operands), { message: /on plain cannot be read sync/ }, name);
    await Promise.all(operands.map((each) => each.data()));
    const result = call(...operands);
    const data = await (result.values ?? result).data();
    assert.ok(data.length > 0, name);
  }
  // Their asynchronous forms wait.
  assert.equal((await tf.whereAsync(row().greater(0))).rank, 2);
  assert.equal((await tf.setdiff1dAsync(row(), row()))[0].size, 0);
  assert.ok((await tf.image.nonMaxSuppressionAsync(matrix(), row(), 2)).size > 0);
});

test('pending values are computed on the device that recorded them', async () => {
  await tf.setBackend('plain');
  const pending = seeded([3], 1).square();
  const other = pending.add(1);
  await tf.setBackend('wasm');
  const { buffers } = tf.memory().devices.plain;
  const data = await other.data();
  assert.ok(tf.memory().devices.plain.buffers > buffers);
  await assert.rejects(async () => other.add(1).add(pending), {
    message: /on plain cannot be read/,
  });
  await pending.data();
  assert.deepEqual([...pending.add(1).dataSync()], [...data]);
});

test('tensors move to the device of the operation, as in TensorFlow.js', async () => {
  const [x, w] = [seeded([3], 1).add(0), tf.variable(seeded([3], 2))];
  const alias = x.clone();
  const { numTensors, numDataBuffers } = tf.memory();
  await tf.setBackend('plain');
  const y = x.mul(w);
  assert.equal(tf.memory().numDataBuffers, numDataBuffers + 3);
  const expected = [...(await y.data())];
  await tf.setBackend('wasm');
  assert.deepEqual([...alias.mul(seeded([3], 2)).dataSync()], expected);
  const unread = tf.variable(y);
  await tf.setBackend('plain');
  unread.assign(x.mul(w).add(0));
  await tf.setBackend('wasm');
  assert.throws(() => unread.add(1), /on plain cannot be read/);
  await unread.to('wasm');
  assert.deepEqual([...unread.add(0).dataSync()], expected);
  assert.deepEqual([...x.mul(w).dataSync()], expected);
  assert.ok(tf.memory().numTensors > numTensors);
});

test('a gradient with respect to a variable that has moved', async () => {
  const w = tf.variable(seeded([3], 2));
  const loss = () => w.square().sum();
  const expected = await tf.variableGrads(loss).grads[w.name].data();
  await tf.setBackend('plain');
  const { value, grads } = tf.variableGrads(loss);
  assert.deepEqual(await grads[w.name].data(), expected);
  assert.equal((await value.data()).length, 1);
});

test('parts of complex tensors on another device are copied', async () => {
  const [real, imag] = [seeded([3], 1).add(0), seeded([3], 2).add(0)];
  const z = tf.complex(real, imag);
  const expected = [...z.dataSync()];
  await tf.setBackend('plain');
  assert.deepEqual([...(await tf.real(z).add(0).data())], [...real.dataSync()]);
  tf.dispose([real, z]);
  assert.deepEqual(
    [...(await imag.add(0).data())],
    expected.filter((_, at) => at % 2 === 1),
  );
  const there = tf.complex(seeded([3], 1).add(0), seeded([3], 2).add(0));
  assert.deepEqual([...(await there.data())], expected);
});

test('in the native interface operations name both devices', async () => {
  engine.movesTensors = false;
  try {
    const x = seeded([2, 3], 1).add(0);
    await tf.setDevice('plain');
    assert.equal(tf.getDevice(), 'plain');
    const message = "float32 [2,3] on wasm is used on plain: await tensor.to('plain') before";
    assert.throws(() => x.add(1), { name: 'LatheError', message });
    assert.equal(x.clone().shape.length, 2);
    assert.equal(await x.to('plain'), x);
    const y = x.add(1);
    const data = await y.data();
    await y.to('wasm');
    assert.deepEqual([...y.dataSync()], [...data]);
    const f = tf.compile({ x: [2, 3] }, ({ x }) => ({ y: x.neg() }), { heap: true });
    assert.throws(() => f.run({ x: x.mul(2) }), { message: /on plain is used on wasm/ });
    f.dispose();
  } finally {
    engine.movesTensors = true;
  }
});

test('the device stays while something is recorded', async () => {
  const other = engine.device;
  await tf.setBackend('plain');
  const { device } = engine;
  const error = { name: 'LatheError', message: /^setDevice: not while gradients/ };
  tf.grad((x) => {
    assert.throws(() => engine.use(other), error);
    return x.sum();
  })(tf.scalar(1));
  const f = tf.jit((x) => {
    assert.throws(() => engine.use(engine.device === other ? device : other), error);
    return x.neg();
  });
  assert.deepEqual([...(await f(tf.scalar(2)).data())], [-2]);
  await tf.setBackend('wasm');
  assert.deepEqual([...f(tf.scalar(2)).dataSync()], [-2]);
  assert.equal(f.traces, 2);
});

test('storage is freed on dispose and by garbage collection', async () => {
  await tf.setBackend('plain');
  await nextTask();
  collect();
  await nextTask();
  const before = tf.memory().devices.plain;
  const kept = seeded([100], 1).add(0);
  await kept.data();
  assert.ok(tf.memory().devices.plain.bytes >= before.bytes + 400);
  kept.dispose();
  for (let step = 0; step < 200; step++) await seeded([100], step).add(0).data();
  for (let round = 0; round < 50 && tf.memory().devices.plain.bytes > before.bytes; round++) {
    collect();
    await nextTask();
  }
  assert.ok(tf.memory().devices.plain.bytes <= before.bytes);
});

test('an error of a run rejects the reads of its results', async () => {
  await tf.setBackend('plain');
  const program = { run: () => {}, dispose() {} };
  const { compile } = engine.device;
  engine.plans.clear();
  engine.device.compile = () => ({
    run: (inputs, outputs) => {
      for (const each of outputs) each.allocate().materialize().error = new Error('it failed');
    },
    dispose: program.dispose,
  });
  try {
    await assert.rejects(seeded([3], 1).erf().data(), { message: 'it failed' });
  } finally {
    engine.device.compile = compile;
    engine.plans.clear();
  }
  assert.equal((await seeded([3], 1).erf().data()).length, 3);
});

test('devices by name', async () => {
  await assert.rejects(tf.setDevice('abacus'), {
    name: 'LatheError',
    message: /^unknown device "abacus"; known: wasm, .*plain/,
  });
  await assert.rejects(tf.scalar(1).to('abacus'), { message: /unknown device/ });
  const message = 'device "absent" is not available: the machine has none';
  await assert.rejects(tf.setDevice('absent'), { name: 'LatheError', message });
});

test('backends by the names of devices', async () => {
  const warned = [];
  const { warn } = console;
  console.warn = (...all) => warned.push(all.join(' '));
  try {
    assert.equal(await tf.setBackend('absent'), false);
  } finally {
    console.warn = warn;
  }
  assert.match(warned.join(), /device "absent" is not available: the machine has none/);
  assert.deepEqual([tf.getBackend(), tf.getDevice()], ['wasm', 'wasm']);
  const set = tf.setBackend('plain');
  await tf.ready();
  assert.equal(await set, true);
  assert.deepEqual([tf.getBackend(), tf.getDevice()], ['plain', 'plain']);
  assert.equal(await tf.setBackend('lathe'), true);
  assert.deepEqual([tf.getBackend(), tf.getDevice()], ['lathe', 'wasm']);
  await tf.setDevice('plain');
  assert.deepEqual([tf.getBackend(), tf.getDevice()], ['plain', 'plain']);
  await tf.setDevice('wasm');
  assert.deepEqual([tf.getBackend(), tf.getDevice()], ['lathe', 'wasm']);
});
