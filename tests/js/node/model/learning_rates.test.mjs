// Learning rate schedules: their values, and that fit follows them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { blobs, largestDifference, throws, smallModel } from '../../lib.mjs';

const { learningRates } = tl;
const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-12, `${a}, ${b}`);

test('schedules return their defined values', () => {
  const exponential = learningRates.exponentialDecay(0.1, 10, 0.5);
  close(exponential(0), 0.1);
  close(exponential(5), 0.1 * Math.SQRT1_2);
  close(learningRates.exponentialDecay(0.1, 10, 0.5, true)(19), 0.05);
  close(learningRates.inverseTimeDecay(0.1, 10, 3)(10), 0.025);
  const cosine = learningRates.cosineDecay(0.2, 100, 0.1);
  close(cosine(0), 0.2);
  close(cosine(50), 0.11);
  close(cosine(1000), 0.02);
  const steps = learningRates.piecewiseConstant([10, 20], [1, 0.5, 0.1]);
  assert.deepEqual([0, 10, 11, 20, 21].map(steps), [1, 1, 0.5, 0.5, 0.1]);
});

test('schedules reject invalid arguments', () => {
  throws(() => learningRates.cosineDecay(0.1, 0), /decaySteps must be a number above 0, got 0/);
  throws(() => learningRates.exponentialDecay(-1, 5, 2), /initial must be a number ≥ 0, got -1/);
  throws(() => learningRates.piecewiseConstant([1], [1]), /1 boundaries need 2 values, got 1/);
  throws(() => learningRates.piecewiseConstant([2, 1], [1, 1, 1]), /boundaries must ascend/);
});

test('fit follows a schedule', async () => {
  const [x, y] = blobs(30);
  const compiled = { loss: 'categoricalCrossentropy', optimizer: tl.train.sgd(1) };
  const [scheduled, stepwise] = [smallModel(), smallModel()];
  const schedule = learningRates.exponentialDecay(0.5, 2, 0.5);
  scheduled.compile(compiled);
  stepwise.compile(compiled);
  const callbacks = tl.scheduleLearningRate(scheduled, schedule);
  const args = { batchSize: 10, shuffle: false, callbacks };
  await scheduled.fit(x, y, args);
  await scheduled.fit(x, y, args);
  const [xs, ys] = [x.dataSync(), y.dataSync()];
  for (let step = 0; step < 6; ++step) {
    const from = (step % 3) * 10;
    stepwise.setLearningRate(schedule(step));
    await stepwise.trainOnBatch(
      tl.tensor(xs.slice(2 * from, 2 * from + 20), [10, 2]),
      tl.tensor(ys.slice(from, from + 10)),
    );
  }
  scheduled.getWeights().forEach((weight, at) => {
    const other = stepwise.getWeights()[at];
    assert.ok(largestDifference(weight.dataSync(), other.dataSync()) < 1e-6);
  });
});
