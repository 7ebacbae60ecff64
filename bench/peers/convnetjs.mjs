/** ConvNetJS: plain JavaScript, one example at a time, an update after each batch. */
import convnetjs from 'convnetjs';
import { Unsupported } from '../models/model.mjs';
import { batchSize, classCount, imageSize, inputSize, learningRate } from '../networks.mjs';

const networks = {
  mlp: ({ layers, units }) => [
    { type: 'input', out_sx: 1, out_sy: 1, out_depth: inputSize },
    ...Array(layers).fill({ type: 'fc', num_neurons: units, activation: 'sigmoid' }),
  ],
  cnn: ({ filters }) => [
    { type: 'input', out_sx: imageSize, out_sy: imageSize, out_depth: 1 },
    ...filters.flatMap((count) => [
      { type: 'conv', sx: 3, filters: count, stride: 1, pad: 1, activation: 'relu' },
      { type: 'pool', sx: 2, stride: 2 },
    ]),
  ],
};

export async function train(network, batches) {
  if (network.optimizer) throw new Unsupported('is measured with SGD');
  const net = new convnetjs.Net();
  const layers = networks[network.kind](network);
  net.makeLayers([...layers, { type: 'softmax', num_classes: classCount }]);
  const trainer = new convnetjs.Trainer(net, {
    method: 'sgd',
    learning_rate: learningRate,
    momentum: 0,
    l2_decay: 0,
    batch_size: batchSize,
  });
  const [{ out_sx: width, out_sy: height, out_depth: depth }] = layers;
  const volumes = batches.map(({ x }) =>
    Array.from({ length: batchSize }, (_, row) => {
      const volume = new convnetjs.Vol(width, height, depth, 0);
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
