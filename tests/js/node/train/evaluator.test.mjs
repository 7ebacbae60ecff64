// Compiled training compared with the slow graph evaluator: 200 steps of six networks on MNIST.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import * as tl from 'tensorlathe';
import { mnistAbsent, oneHot, readMnist, tensors } from '../../lib.mjs';

const batch = 64;
const steps = 200;
const folder = 'build/tests/parity';
const evaluator = 'build/native/tests/parity/evaluate_losses';

const bytesOf = (arrays) =>
  Buffer.concat(arrays.map((a) => Buffer.from(a.buffer, a.byteOffset, a.byteLength)));

async function evaluatedLosses(name, [depth, width], weights, batches) {
  mkdirSync(folder, { recursive: true });
  const files = ['weights', 'batches'].map((what) => `${folder}/${name}-${what}.bin`);
  writeFileSync(files[0], bytesOf(weights));
  writeFileSync(files[1], bytesOf(batches));
  const { stdout } = await promisify(execFile)(evaluator, [
    `${depth}`,
    `${width}`,
    `${steps}`,
    ...files,
  ]);
  files.forEach((file) => rmSync(file));
  return stdout.trim().split('\n').map(Number);
}

const networks = [1, 2, 4].flatMap((depth) => [64, 128].map((width) => [depth, width]));

test(
  'losses equal those of the graph evaluator',
  { skip: mnistAbsent, concurrency: 2 },
  async (context) => {
    const { train } = await readMnist();
    const compare = ([depth, width]) => {
      return context.test(`784-${depth}x${width}-10 over ${steps} steps`, async (inner) => {
        const [images, classes] = tensors(train, batch * steps).map((tensor) => tensor.dataSync());
        const labels = oneHot(classes, 10);
        const model = tl.sequential({ seed: depth * 1000 + width });
        for (let at = 0; at < depth; ++at) {
          const inputShape = at === 0 ? [784] : undefined;
          model.add(tl.layers.dense({ units: width, activation: 'sigmoid', inputShape }));
        }
        model.add(tl.layers.dense({ units: 10 }));
        model.compile({ loss: 'softmaxCrossEntropy', optimizer: tl.train.sgd(0.02) });
        const weights = model.getWeights().map((weight) => weight.dataSync().slice());
        const ours = [];
        const batches = [];
        for (let step = 0; step < steps; ++step) {
          const x = images.subarray(step * batch * 784, (step + 1) * batch * 784);
          const y = labels.subarray(step * batch * 10, (step + 1) * batch * 10);
          batches.push(x, y);
          ours.push(
            await model.trainOnBatch(tl.tensor(x, [batch, 784]), tl.tensor(y, [batch, 10])),
          );
        }
        model.dispose();
        const expected = await evaluatedLosses(
          `${depth}x${width}`,
          [depth, width],
          weights,
          batches,
        );
        assert.equal(expected.length, steps);
        const differences = expected.map((loss, at) => Math.abs(ours[at] - loss) / loss);
        const worst = Math.max(...differences);
        inner.diagnostic(`largest relative difference ${worst.toExponential(1)}`);
        assert.ok(worst < 1e-3, `step ${differences.indexOf(worst)}: ${worst}`);
      });
    };
    await Promise.all(networks.map(compare));
  },
);
