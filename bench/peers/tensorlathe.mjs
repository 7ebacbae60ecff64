/** Ourselves: the layers API of the npm package, which compiles the whole training step to one module. */
import * as tl from 'tensorlathe';
import { batchSize, classCount, inputSize, learningRate } from '../networks.mjs';

export const packageName = 'tensorlathe';

export async function setup({ layers, units }, batches) {
  const model = tl.sequential();
  for (let i = 0; i < layers; i++) {
    const inputShape = i === 0 ? [inputSize] : undefined;
    model.add(tl.layers.dense({ units, activation: 'sigmoid', inputShape }));
  }
  model.add(tl.layers.dense({ units: classCount }));
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: tl.train.sgd(learningRate) });
  const tensors = batches.map(({ x, y }) => ({
    x: tl.tensor(x, [batchSize, inputSize]),
    y: tl.tensor(y, [batchSize, classCount]),
  }));
  return {
    step: (index) => model.trainOnBatch(tensors[index].x, tensors[index].y),
    stats: () => model.stats(),
    dispose: () => model.dispose(),
  };
}
