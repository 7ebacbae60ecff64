/** TensorFlow.js with its WebAssembly backend: training through its layers, inference through its fused operations. */
import * as tf from '@tensorflow/tfjs';
import { setThreadsCount, setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import { evaluate, fill, Unsupported } from '../models/model.mjs';
import { opened } from '../tensors/programs.mjs';
import { batchSize, classCount, inputSize, learningRate } from '../networks.mjs';

async function start(threads) {
  if (typeof document !== 'undefined')
    setWasmPaths('/node_modules/@tensorflow/tfjs-backend-wasm/dist/');
  setThreadsCount(threads);
  if (!(await tf.setBackend('wasm')))
    throw new Error('the wasm backend of TensorFlow.js did not start');
}

function mlp({ layers, units }) {
  const model = tf.sequential();
  for (let i = 0; i < layers; i++) {
    const inputShape = i === 0 ? [inputSize] : undefined;
    model.add(tf.layers.dense({ units, activation: 'sigmoid', inputShape }));
  }
  model.add(tf.layers.dense({ units: classCount }));
  return model;
}

export async function train(network, batches, { threads }) {
  if (network.kind === 'cnn')
    throw new Unsupported('has no gradient of a convolution in WebAssembly');
  await start(threads);
  const model = mlp(network);
  const optimizer = network.optimizer ?? tf.train.sgd(learningRate);
  model.compile({ loss: tf.losses.softmaxCrossEntropy, optimizer });
  const tensors = batches.map(({ x, y }) => ({
    x: tf.tensor2d(x, [batchSize, inputSize]),
    y: tf.tensor2d(y, [batchSize, classCount]),
  }));
  return {
    step: (index) => model.trainOnBatch(tensors[index].x, tensors[index].y),
    dispose: () => model.dispose(),
  };
}

export async function program(name, { threads }) {
  await start(threads);
  return opened(tf, name);
}

const rules = {
  matMul: ({ transposeA, transposeB }, [a, b]) => tf.matMul(a, b, transposeA, transposeB),
  dense: ({ activation }, [a, b, bias]) =>
    tf.fused.matMul({ a, b, bias, activation: activation ?? 'linear' }),
  conv2d: ({ stride, padding, activation }, [x, filter, bias]) =>
    tf.fused.conv2d({ ...window(stride, padding, activation), x, filter, bias }),
  depthwiseConv2d: ({ stride, padding, activation }, [x, filter, bias]) =>
    tf.fused.depthwiseConv2d({ ...window(stride, padding, activation), x, filter, bias }),
  maxPool2d: ({ size, stride, padding }, [x]) => tf.maxPool(x, size, stride, padding),
  globalAveragePool2d: (_, [x]) => tf.mean(x, [1, 2]),
  add: ({ activation }, [a, b]) => (activation ? tf[activation](tf.add(a, b)) : tf.add(a, b)),
  mul: (_, [a, b]) => tf.mul(a, b),
  relu: (_, [x]) => tf.relu(x),
  sigmoid: (_, [x]) => tf.sigmoid(x),
  gelu: (_, [x]) =>
    x.mul(0.5).mul(
      x
        .add(x.square().mul(x).mul(0.044715))
        .mul(Math.sqrt(2 / Math.PI))
        .tanh()
        .add(1),
    ),
  softmax: (_, [x]) => tf.softmax(x),
  layerNorm: ({ epsilon }, [x, scale, shift]) => {
    const centred = x.sub(x.mean(-1, true));
    return centred.mul(centred.square().mean(-1, true).add(epsilon).rsqrt()).mul(scale).add(shift);
  },
  sum: ({ axes }, [x]) => tf.sum(x, axes),
  transpose: (_, [x]) => tf.transpose(x),
  cumsum: (_, [x]) => tf.cumsum(x, x.rank - 1),
  topK: ({ k }, [x]) => tf.topk(x, k).values,
  resizeBilinear: ({ shape }, [x]) => tf.image.resizeBilinear(x, shape.slice(1, 3), false, true),
  concatChannels: (_, operands) => tf.concat(operands, 3),
};
const window = (strides, pad, activation) => ({
  strides,
  pad,
  activation: activation ?? 'linear',
});

export async function infer(model, { resident, threads }) {
  await start(threads);
  const constants = new Map();
  const inputs = new Map();
  for (const value of model.values) {
    const tensor = () => tf.tensor(fill(value), value.shape);
    if (value.op === 'constant') constants.set(value.id, tensor());
    if (value.op === 'input') inputs.set(value.id, resident ? tensor() : fill(value));
  }
  const operands = {
    ...rules,
    constant: ({ id }) => constants.get(id),
    input: ({ id, shape }) => (resident ? inputs.get(id) : tf.tensor(inputs.get(id), shape)),
  };
  const release = (tensor, { op }) => {
    if (op in rules) tensor.dispose();
  };
  const result = () => tf.tidy(() => evaluate(model, operands, release));
  const read = () => {
    const tensor = result();
    const data = tensor.dataSync();
    tensor.dispose();
    return data;
  };
  return {
    step: resident ? () => result().dispose() : read,
    synchronous: true,
    output: read,
    dispose: () => tf.dispose([...constants.values(), ...inputs.values()]),
  };
}
