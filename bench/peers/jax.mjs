/** jax-js on its WebAssembly device, every model and every training step one jitted function; channels come first. */
import {
  blockUntilReady,
  defaultDevice,
  init,
  jit,
  lax,
  nn,
  numpy as np,
  random,
  tree,
  valueAndGrad,
} from '@jax-js/jax';
import { channelsFirst, permute, toChannelsFirst, toChannelsLast } from '../builders/channels.mjs';
import { evaluate, fill, Unsupported } from '../models/model.mjs';
import { batchSize, classCount, imageSize, inputSize, learningRate } from '../networks.mjs';

async function start() {
  await init('wasm');
  defaultDevice('wasm');
}

const networks = {
  mlp: {
    shapes({ layers, units }) {
      const sizes = [inputSize, ...Array(layers).fill(units), classCount];
      return sizes.slice(1).map((size, i) => [sizes[i], size]);
    },
    predict: (parameters, x) =>
      parameters.reduce((value, { weights, bias }, i) => {
        const sum = np.dot(value, weights).add(bias);
        return i === parameters.length - 1 ? sum : nn.sigmoid(sum);
      }, x),
  },
  cnn: {
    shapes: ({ filters }) => [
      ...filters.map((count, i) => [count, i === 0 ? 1 : filters[i - 1], 3, 3]),
      [filters.at(-1) * (imageSize / 4) ** 2, classCount],
    ],
    predict(parameters, x) {
      let value = x.reshape([batchSize, 1, imageSize, imageSize]);
      for (const { weights, bias } of parameters.slice(0, -1)) {
        const sum = lax.conv(value, weights, [1, 1], 'SAME').add(bias.reshape([-1, 1, 1]));
        value = halfRelu(nn.relu(sum));
      }
      const { weights, bias } = parameters.at(-1);
      return np.dot(value.reshape([batchSize, -1]), weights).add(bias);
    },
  },
};

/** Maximum pooling of 2×2; reduceWindow has no gradient. */
function halfRelu(x) {
  const [count, channels, height, width] = x.shape;
  return np.max(x.reshape([count, channels, height / 2, 2, width / 2, 2]), [3, 5]);
}

export async function train(network, batches) {
  if (network.optimizer) throw new Unsupported('is measured with SGD');
  await start();
  const { shapes, predict } = networks[network.kind];
  const loss = (parameters, x, y) =>
    nn
      .logSoftmax(predict(parameters, x))
      .mul(y)
      .sum()
      .mul(-1 / batchSize);
  const trainStep = jit((parameters, x, y) => {
    const [value, gradients] = valueAndGrad(loss)(tree.ref(parameters), x, y);
    const updated = parameters.map(({ weights, bias }, i) => ({
      weights: weights.sub(gradients[i].weights.mul(learningRate)),
      bias: bias.sub(gradients[i].bias.mul(learningRate)),
    }));
    return [value, updated];
  });
  let parameters = shapes(network).map((shape, i) => {
    const outputs = shape.length === 4 ? shape[0] : shape[1];
    const limit = (shape.reduce((a, b) => a * b) / outputs + outputs) / 2;
    return {
      weights: random.normal(random.key(i), shape).mul(Math.sqrt(1 / limit)),
      bias: np.zeros([outputs]),
    };
  });
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

const rules = {
  matMul({ transposeA, transposeB, shape }, [a, b]) {
    if (shape.length > 2) return np.matmul(a, b);
    return lax.dot(a, b, {
      lhsContractingDims: [transposeA ? 0 : 1],
      rhsContractingDims: [transposeB ? 1 : 0],
    });
  },
  dense: ({ activation }, [x, weights, bias]) => activate(np.dot(x, weights).add(bias), activation),
  conv2d: (value, operands) => convolve(value, operands, 1),
  depthwiseConv2d: (value, operands) => convolve(value, operands, value.shape[3]),
  maxPool2d({ size, stride, shape }, [x]) {
    const isPadded = [2, 3].some((axis) => (shape[axis - 1] - 1) * stride + size > x.shape[axis]);
    if (isPadded) throw new Unsupported('pads with zeros only, which may be the maximum');
    return lax.reduceWindow(x, np.max, [size, size], [stride, stride]);
  },
  globalAveragePool2d: (_, [x]) => np.mean(x, [2, 3]),
  add: ({ activation }, [a, b]) => activate(a.add(b), activation),
  mul: (_, [a, b]) => a.mul(b),
  relu: (_, [x]) => nn.relu(x),
  sigmoid: (_, [x]) => nn.sigmoid(x),
  gelu: (_, [x]) => nn.gelu(x),
  softmax: (_, [x]) => nn.softmax(x),
  layerNorm: ({ epsilon }, [x, scale, shift]) =>
    nn.standardize(x, -1, { epsilon }).mul(scale).add(shift),
  sum: ({ axes }, [x]) => np.sum(x, axes),
  transpose: (_, [x]) => np.transpose(x),
  cumsum: (_, [x]) => np.cumsum(x, -1),
  topK({ k }, [x]) {
    const [values, indices] = lax.topK(x, k);
    indices.dispose();
    return values;
  },
  concatChannels: (_, operands) => np.concatenate(operands, 1),
};

function convolve({ stride, padding, activation }, [x, filter, bias], featureGroupCount) {
  const strides = [stride, stride];
  const sum = lax.convGeneralDilated(x, filter, strides, padding.toUpperCase(), {
    featureGroupCount,
  });
  return activate(sum.add(bias.reshape([-1, 1, 1])), activation);
}
const activate = (x, activation) => (activation ? nn[activation](x) : x);

/** A filter is [rows, columns, in, out] in a description and [out, in / groups, rows, columns] here. */
function makeConstant(model, value) {
  const reader = model.values.find(({ inputs }) => inputs[1] === value.id);
  const axes = { conv2d: [3, 2, 0, 1], depthwiseConv2d: [2, 3, 0, 1] }[reader?.op];
  if (!axes) return np.array(fill(value)).reshape(value.shape);
  const data = permute(fill(value), value.shape, axes);
  return np.array(data).reshape(axes.map((axis) => value.shape[axis]));
}

export async function infer(model, { resident }) {
  await start();
  const arguments_ = model.values.filter(({ op }) => op === 'input' || op === 'constant');
  const write = (value, data) => np.array(data).reshape(channelsFirst(value.shape));
  const residentArrays = new Map();
  const data = new Map();
  for (const value of arguments_) {
    if (value.op === 'constant') residentArrays.set(value.id, makeConstant(model, value));
    else {
      data.set(value.id, toChannelsFirst(fill(value), value.shape));
      if (resident) residentArrays.set(value.id, write(value, data.get(value.id)));
    }
  }
  const compute = jit((leaves) => {
    const operands = Object.fromEntries(
      Object.entries(rules).map(([op, rule]) => [
        op,
        (value, operands) =>
          rule(
            value,
            operands.map((each) => each.ref),
          ),
      ]),
    );
    const leaf = ({ id }) => leaves[id];
    return evaluate(model, { ...operands, input: leaf, constant: leaf }, (each) => each.dispose());
  });
  const result = () =>
    compute(
      Object.fromEntries(
        arguments_.map((value) => {
          const { id } = value;
          return [
            id,
            residentArrays.has(id) ? residentArrays.get(id).ref : write(value, data.get(id)),
          ];
        }),
      ),
    );
  const read = async () => await result().data();
  return {
    step: resident ? async () => (await blockUntilReady(result())).dispose() : read,
    output: async () => toChannelsLast(await read(), model.values[model.output].shape),
    dispose() {
      for (const array of residentArrays.values()) array.dispose();
    },
  };
}
