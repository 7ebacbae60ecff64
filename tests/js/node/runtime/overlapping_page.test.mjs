// Overlapping calls on a thread that must not block, such as a page's: steps, predictions and evaluations have separate data.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

// Atomics.wait as on a page's main thread; workers have another Atomics object.
Atomics.wait = () => {
  throw new TypeError('Atomics.wait cannot be called in this context');
};
const tl = await import('tensorlathe');
const { mayBlock } = await import('../../../../js/dist/runtime/may_block.js');

afterEach(() => tl.env().reset());

function force(count) {
  tl.env().set('AUTO_TUNE', true);
  tl.env().set('THREADS_COUNT', count);
  tl.env().set('THREADS_MIN_WORK', 1);
}

const rows = 48;

/** Rows and targets, others for every number. */
function batch(number) {
  const x = Float32Array.from({ length: rows * 40 }, (_, i) => Math.sin(i + 100 * number));
  const y = Float32Array.from({ length: rows }, (_, i) => Math.cos(i * number));
  return [tl.tensor(x, [rows, 40]), tl.tensor(y, [rows, 1])];
}

function network() {
  const model = tl.sequential({ seed: 5 });
  model.add(tl.layers.dense({ units: 64, activation: 'tanh', inputShape: [40] }));
  model.add(tl.layers.dense({ units: 1 }));
  model.compile({ loss: 'meanSquaredError', optimizer: 'adam' });
  return model;
}

async function warmUp(model) {
  for (let i = 0; i < 20; ++i) {
    await model.predict(batch(0)[0]).data();
    await new Promise((done) => setTimeout(done, 10));
  }
}

test('this thread may not sleep', () => assert.equal(mayBlock, false));

for (const count of [1, 4]) {
  test(`steps, predictions and evaluations at the same time, ${count} threads`, async () => {
    force(1);
    const reference = network();
    const expected = [];
    for (let number = 0; number < 8; ++number) {
      expected.push(await reference.trainOnBatch(...batch(number)));
      if (number === 3)
        expected.push(
          reference.predict(batch(9)[0]).dataSync(),
          reference.evaluate(...batch(2), { asObject: true }).loss,
        );
    }
    force(count);
    const models = [network(), network()];
    for (const model of models) await warmUp(model);
    const calls = models.map(() => []);
    for (let number = 0; number < 8; ++number) {
      for (const [at, model] of models.entries()) {
        const [x, y] = batch(number);
        calls[at].push(model.trainOnBatch(x, y));
        x.dataSync().fill(NaN); // the caller may reuse the rows
        if (number !== 3) continue;
        calls[at].push(
          model.predict(batch(9)[0]).data(),
          model.evaluate(...batch(2), { asObject: true }).loss,
        );
      }
    }
    for (const [at, model] of models.entries()) {
      assert.deepEqual(await Promise.all(calls[at]), expected);
      assert.deepEqual(
        model.getWeights().map((each) => each.dataSync()),
        reference.getWeights().map((each) => each.dataSync()),
      );
      model.dispose();
    }
    reference.dispose();
  });

  test(`evaluate and predict while fit runs change nothing of it, ${count} threads`, async () => {
    force(1);
    const reference = network();
    const expected = (await reference.fit(...batch(1), { epochs: 20, batchSize: 16 })).history.loss;
    force(count);
    const model = network();
    await warmUp(model);
    let isOver = false;
    const training = model.fit(...batch(1), { epochs: 20, batchSize: 16 });
    void training.then(() => (isOver = true));
    for (let number = 0; !isOver; ++number) {
      const [x, y] = batch(number % 5);
      model.evaluate(x, y, { asObject: true });
      const predicted = model.predict(x);
      await (number % 2 === 0 ? undefined : new Promise((done) => setTimeout(done)));
      assert.ok(predicted.dataSync().every(Number.isFinite));
    }
    assert.deepEqual((await training).history.loss, expected);
    model.dispose();
    reference.dispose();
  });

  test(`other batch sizes lose no step, ${count} threads`, async () => {
    force(1);
    const reference = network();
    const firstRows = (number, size) =>
      batch(number).map((each) =>
        tl.tensor(each.dataSync().slice(0, size * each.shape[1]), [size, each.shape[1]]),
      );
    const sizes = [48, 32, 32, 48, 16, 48];
    const expected = [];
    for (const [number, size] of sizes.entries())
      expected.push(await reference.trainOnBatch(...firstRows(number, size)));
    force(count);
    const model = network();
    await warmUp(model);
    const actual = sizes.map((size, number) => model.trainOnBatch(...firstRows(number, size)));
    assert.deepEqual(await Promise.all(actual), expected);
    model.dispose();
    reference.dispose();
  });
}

test('operations on tensors are shared by threads while a model trains', async () => {
  force(4);
  const model = network();
  const [x, y] = batch(1);
  const product = () => tl.tidy(() => x.matMul(x, true, false).sum(1).dataSync());
  const expected = product();
  const training = model.fit(x, y, { epochs: 10, verbose: 0 });
  let isOver = false;
  void training.then(() => (isOver = true));
  while (!isOver || tl.memory().threads === 0) {
    assert.deepEqual(product(), expected);
    await new Promise((done) => setImmediate(done));
  }
  for (let round = 0; round < 100; ++round) assert.deepEqual(product(), expected);
  model.dispose();
});

for (const count of [1, 4]) {
  const recurrent = () => {
    const model = tl.sequential({ seed: 5 });
    model.add(tl.layers.gru({ units: 8, inputShape: [null, 3] }));
    model.add(tl.layers.dense({ units: 1 }));
    model.compile({ loss: 'meanSquaredError', optimizer: 'adam' });
    return model;
  };
  const sequences = (time, number) => [
    tl.tensor(
      batch(number)[0]
        .dataSync()
        .slice(0, 8 * time * 3),
      [8, time, 3],
    ),
    tl.tensor(batch(number)[1].dataSync().slice(0, 8), [8, 1]),
  ];
  const lengths = [5, 9, 5, 3, 9, 9, 5, 7];

  test(`steps on sequences of other lengths at the same time, ${count} threads`, async () => {
    force(count);
    const [model, reference] = [recurrent(), recurrent()];
    const calls = [];
    for (const [at, time] of lengths.entries()) {
      const [x, y] = sequences(time, at);
      calls.push(model.trainOnBatch(x, y), model.predict(sequences(time + 1, at)[0]).data());
      x.dataSync().fill(NaN);
    }
    const expected = [];
    for (const [at, time] of lengths.entries()) {
      expected.push(await reference.trainOnBatch(...sequences(time, at)));
      expected.push(await reference.predict(sequences(time + 1, at)[0]).data());
    }
    assert.deepEqual(await Promise.all(calls), expected);
    for (const each of [model, reference]) each.dispose();
  });

  test(`functions of other sizes at the same time, ${count} threads`, async () => {
    force(count);
    const [f, reference] = [1, 2].map(() =>
      tl.compile({ x: ['n', 40] }, ({ x }, g) => {
        const w = g.variable('w', [40, 40]);
        const y = x.matMul(w.add(1)).tanh();
        g.assign(w, w.mul(0.5).add(y.mean()));
        return { y };
      }),
    );
    const input = (n, number) =>
      batch(number)[0]
        .dataSync()
        .slice(0, n * 40);
    for (let i = 0; i < 20; ++i) await f.runAsync({ x: input(9, i) });
    f.setVariable('w', new Float32Array(1600));
    const calls = [];
    for (let round = 0; round < 4; ++round) {
      for (const [at, n] of lengths.entries()) {
        const x = input(n, at);
        calls.push(f.runAsync({ x }));
        x.fill(NaN);
      }
    }
    const bound = f.bind({ n: 3 });
    bound.input('x').set(input(3, 1));
    calls.push(bound.callAsync().then(() => ({ y: tl.tensor(bound.output('y')) })));
    const expected = [];
    for (let round = 0; round < 4; ++round) {
      for (const [at, n] of lengths.entries())
        expected.push(reference.run({ x: input(n, at) }).y.dataSync());
    }
    expected.push(reference.run({ x: input(3, 1) }).y.dataSync());
    const actual = (await Promise.all(calls)).map(({ y }) => y.dataSync());
    assert.deepEqual(actual, expected);
    assert.deepEqual(f.variable('w').dataSync(), reference.variable('w').dataSync());
    for (const each of [f, reference]) each.dispose();
  });
}

test("models that share a layer wait for each other's steps, which run on threads", async () => {
  force(1);
  const made = () => {
    const layer = tl.layers.dense({ units: 64, activation: 'tanh', inputShape: [40] });
    return [1, 2].map((seed) => {
      const model = tl.sequential({ seed, layers: [layer, tl.layers.dense({ units: 1 })] });
      model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
      return model;
    });
  };
  const reference = made();
  for (const model of reference) await warmUp(model);
  for (let number = 0; number < 8; ++number)
    for (const model of reference) await model.trainOnBatch(...batch(number));
  force(4);
  const models = made();
  for (const model of models) await warmUp(model);
  const steps = [];
  for (let number = 0; number < 8; ++number)
    for (const model of models) steps.push(model.trainOnBatch(...batch(number)));
  await Promise.all(steps);
  const weights = (all) => all.map((each) => each.getWeights().map((weight) => weight.dataSync()));
  assert.deepEqual(weights(models), weights(reference));
  for (const model of [...reference, ...models]) model.dispose();
});
