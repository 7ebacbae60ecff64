/** jax-js on its WebAssembly device: value, gradient and update in one jitted function. */
import { defaultDevice, init, jit, nn, numpy as np, random, valueAndGrad } from '@jax-js/jax';
import { batchSize, classCount, inputSize, learningRate } from '../networks.mjs';

export const packageName = '@jax-js/jax';

function predict(parameters, x) {
  const last = parameters.length - 1;
  return parameters.reduce((value, { weights, bias }, i) => {
    const sum = np.dot(value, weights).add(bias);
    return i === last ? sum : nn.sigmoid(sum);
  }, x);
}

const loss = (parameters, x, y) =>
  nn
    .logSoftmax(predict(parameters, x))
    .mul(y)
    .sum()
    .mul(-1 / batchSize);

const trainStep = jit((parameters, x, y) => {
  const [value, gradients] = valueAndGrad(loss)(
    parameters.map(({ weights, bias }) => ({ weights: weights.ref, bias: bias.ref })),
    x,
    y,
  );
  const updated = parameters.map(({ weights, bias }, i) => ({
    weights: weights.sub(gradients[i].weights.mul(learningRate)),
    bias: bias.sub(gradients[i].bias.mul(learningRate)),
  }));
  return [value, updated];
});

export async function setup({ layers, units }, batches) {
  await init('wasm');
  defaultDevice('wasm');
  const sizes = [inputSize, ...Array(layers).fill(units), classCount];
  let parameters = sizes.slice(1).map((size, i) => ({
    weights: random.normal(random.key(i), [sizes[i], size]).mul(Math.sqrt(2 / (sizes[i] + size))),
    bias: np.zeros([size]),
  }));
  const arrays = batches.map(({ x, y }) => ({
    x: np.array(x).reshape([batchSize, inputSize]),
    y: np.array(y).reshape([batchSize, classCount]),
  }));
  return {
    async step(index) {
      const [value, updated] = trainStep(parameters, arrays[index].x.ref, arrays[index].y.ref);
      parameters = updated;
      return (await value.data())[0];
    },
    dispose() {},
  };
}
