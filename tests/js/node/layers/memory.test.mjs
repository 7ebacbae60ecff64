// Leaks of models and datasets, compared with TensorFlow.js.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe/tfjs';
import { compiled, dense, same } from './lib.mjs';

const alive = (lib) => lib.memory().numTensors;

test('datasets dispose of the tensors of their functions', () =>
  same(async (lib) => {
    const model = compiled(lib, dense(lib, { inputShape: [3] }));
    const retained = lib.tensor1d([1, 2, 3]);
    const pairs = lib.data
      .array([...Array(12).keys()])
      .map((i) => ({ xs: lib.tensor1d([i, 1, 2]), ys: lib.tensor1d([0, 1]) }));
    const twice = pairs.map(({ xs, ys }) => ({ xs: xs.mul(2), ys })).skip(1);
    const batches = twice.filter(({ xs }) => xs.dataSync()[0] > 2).batch(4);
    const grown = [];
    for (const dataset of [
      pairs.batch(4),
      batches,
      batches.map(({ xs, ys }) => ({ xs: xs.add(1), ys })),
    ]) {
      await model.fitDataset(dataset, { epochs: 1, verbose: 0 });
      const start = alive(lib);
      await model.fitDataset(dataset, { epochs: 2, verbose: 0 });
      grown.push(alive(lib) - start);
    }
    return [grown, retained.isDisposed];
  }));

test('training and evaluation dispose of tensors from generators and iterators of the program', () =>
  same(async (lib) => {
    const model = compiled(lib, dense(lib, { inputShape: [3] }));
    const batch = () => ({ xs: lib.ones([2, 3]), ys: lib.ones([2, 2]) });
    const generated = lib.data.generator(function* () {
      for (let at = 0; at < 3; ++at) yield batch();
    });
    const walked = {
      size: null,
      iterator: async () => {
        let at = 0;
        const next = async () =>
          at++ < 3 ? { done: false, value: batch() } : { done: true, value: null };
        return { next };
      },
    };
    const grown = [];
    for (const dataset of [generated, walked]) {
      await model.fitDataset(dataset, { epochs: 1, verbose: 0 });
      const start = alive(lib);
      await model.fitDataset(dataset, { epochs: 2, verbose: 0 });
      lib.dispose(await model.evaluateDataset(dataset, { batches: 3 }));
      grown.push(alive(lib) - start);
    }
    return grown;
  }));

test('tensors of the program are not disposed when datasets pass them on', async () => {
  const element = tl.tensor1d([1, 2]);
  const dataset = tl.data.array([element, element]).map((x) => x);
  await dataset.batch(2).forEachAsync(() => {});
  assert.equal(element.isDisposed, false);
  const made = await dataset.map((x) => x.add(1)).toArray();
  assert.deepEqual(
    made.map((each) => [...each.dataSync()]),
    [
      [2, 3],
      [2, 3],
    ],
  );
});

test('predict and evaluate return tensors that memory() counts and tidy disposes of', () =>
  same(async (lib) => {
    const model = compiled(lib, dense(lib, { inputShape: [3] }));
    const [x, y] = [lib.ones([2, 3]), lib.ones([2, 2])];
    await model.fit(x, y, { verbose: 0 });
    const start = alive(lib);
    const counts = [];
    for (const run of [() => model.predict(x), () => model.evaluate(x, y)]) {
      run();
      counts.push(alive(lib) - start);
      let result;
      lib.tidy(() => {
        result = run();
      });
      counts.push(result.isDisposed, alive(lib) - start);
    }
    return counts;
  }));
