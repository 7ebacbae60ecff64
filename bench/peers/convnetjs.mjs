/** ConvNetJS: plain JavaScript, one example at a time, an update after each batch. */
import convnetjs from 'convnetjs';
import { batchSize, classCount, inputSize, learningRate } from '../networks.mjs';

export const packageName = 'convnetjs';

export async function setup({ layers, units }, batches) {
  const net = new convnetjs.Net();
  net.makeLayers([
    { type: 'input', out_sx: 1, out_sy: 1, out_depth: inputSize },
    ...Array.from({ length: layers }, () => ({
      type: 'fc',
      num_neurons: units,
      activation: 'sigmoid',
    })),
    { type: 'softmax', num_classes: classCount },
  ]);
  const trainer = new convnetjs.Trainer(net, {
    method: 'sgd',
    learning_rate: learningRate,
    momentum: 0,
    l2_decay: 0,
    batch_size: batchSize,
  });
  const volumes = batches.map(({ x }) =>
    Array.from({ length: batchSize }, (_, row) => {
      const volume = new convnetjs.Vol(1, 1, inputSize, 0);
      volume.w.set(x.subarray(row * inputSize, (row + 1) * inputSize));
      return volume;
    }),
  );
  return {
    async step(index) {
      let sum = 0;
      for (let row = 0; row < batchSize; row++) {
        sum += trainer.train(volumes[index][row], batches[index].labels[row]).cost_loss;
      }
      return sum / batchSize;
    },
    dispose() {},
  };
}
