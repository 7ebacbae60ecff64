/** The networks of the training benchmark, their work in floating-point operations, and the data they learn. */

export const batchSize = 64;
export const imageSize = 28;
export const inputSize = imageSize ** 2;
export const classCount = 10;
export const learningRate = 0.02;

/** Dense networks with sigmoid hidden layers. */
export const networks = [1, 2, 4, 8].flatMap((layers) =>
  [64, 128, 256].map((units) => ({
    kind: 'mlp',
    name: `784-${layers}x${units}-10`,
    layers,
    units,
  })),
);

/** Convolutions of 3×3 with same padding, each with a rectifier and a maximum pooling of 2×2, then one dense layer. */
export const smallCnn = { kind: 'cnn', name: '28×28 conv 8-16 dense 10', filters: [8, 16] };

/** One of them with the usual optimizer, Adam, with the defaults of TensorFlow.js. */
export const withAdam = {
  ...networks.find(({ name }) => name === '784-1x128-10'),
  name: '784-1x128-10, Adam',
  optimizer: 'adam',
};

/** Floating-point operations of the products and convolutions of one training step. */
export function flopsPerStep(network) {
  const [first, ...rest] = multipliesOf[network.kind](network);
  // Forward and weight gradient for every layer; the gradient of the input for all but the first.
  return 2 * batchSize * (2 * first + 3 * rest.reduce((sum, each) => sum + each, 0));
}

const multipliesOf = {
  mlp: ({ layers, units }) => [
    inputSize * units,
    ...Array(layers - 1).fill(units * units),
    units * classCount,
  ],
  cnn: ({ filters }) => [
    ...filters.map((count, i) => 9 * count * (filters[i - 1] ?? 1) * (inputSize >> (2 * i))),
    filters.at(-1) * (inputSize >> (2 * filters.length)) * classCount,
  ],
};

/** Batches of ten noisy prototypes, the same for every peer and every run. */
export function makeBatches(count) {
  let state = 20240501;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const prototypes = Array.from({ length: classCount }, () =>
    Float32Array.from({ length: inputSize }, () => (random() < 0.2 ? random() : 0)),
  );
  return Array.from({ length: count }, () => {
    const x = new Float32Array(batchSize * inputSize);
    const y = new Float32Array(batchSize * classCount);
    const labels = new Uint8Array(batchSize);
    for (let row = 0; row < batchSize; row++) {
      const label = Math.floor(random() * classCount);
      labels[row] = label;
      y[row * classCount + label] = 1;
      for (let i = 0; i < inputSize; i++) {
        x[row * inputSize + i] = 0.7 * prototypes[label][i] + 0.3 * random() ** 4;
      }
    }
    return { x, y, labels };
  });
}
