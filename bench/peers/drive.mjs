/** How a package of ours is driven, whichever it is: training through its layers, inference through traced functions. */
import { evaluate, fill, fillShort, Unsupported } from '../models/model.mjs';
import { batchSize, classCount, imageSize, inputSize, learningRate } from '../networks.mjs';

const networks = {
  mlp(tl, { layers, units }) {
    const model = tl.sequential();
    for (let i = 0; i < layers; i++) {
      const inputShape = i === 0 ? [inputSize] : undefined;
      model.add(tl.layers.dense({ units, activation: 'sigmoid', inputShape }));
    }
    return model;
  },
  cnn(tl, { filters }) {
    if (!tl.layers.conv2d) throw new Unsupported('has no conv2d layer');
    const model = tl.sequential();
    filters.forEach((count, i) => {
      const inputShape = i === 0 ? [imageSize, imageSize, 1] : undefined;
      const shape = { filters: count, kernelSize: 3, padding: 'same', inputShape };
      model.add(tl.layers.conv2d({ ...shape, activation: 'relu' }));
      model.add(tl.layers.maxPooling2d({ poolSize: 2 }));
    });
    model.add(tl.layers.flatten());
    return model;
  },
};
const exampleShapes = { mlp: [inputSize], cnn: [imageSize, imageSize, 1] };

export async function train(tl, network, batches, { threads, tuneMs }) {
  tl.env().set('THREADS_COUNT', threads);
  const model = networks[network.kind](tl, network);
  model.add(tl.layers.dense({ units: classCount }));
  const optimizer = network.optimizer ?? tl.train.sgd(learningRate);
  model.compile({ loss: 'softmaxCrossEntropy', optimizer });
  if (tuneMs > 0) await tl.tune(model, { budgetMs: tuneMs });
  const tensors = batches.map(({ x, y }) => ({
    x: tl.tensor(x, [batchSize, ...exampleShapes[network.kind]]),
    y: tl.tensor(y, [batchSize, classCount]),
  }));
  return {
    step: (index) => model.trainOnBatch(tensors[index].x, tensors[index].y),
    stats: () => model.stats(),
    dispose: () => model.dispose(),
  };
}

const clip = {
  relu: (x) => x.relu(),
  relu6: (x) => x.clipByValue(0, 6),
  sigmoid: (x) => x.sigmoid(),
};
const activate = (x, activation) => (activation ? clip[activation](x) : x);

/** Operations have the names and arguments of TensorFlow.js. */
const rules = {
  matMul: ({ transposeA, transposeB }, [a, b]) => a.matMul(b, transposeA, transposeB),
  dense: ({ activation }, [x, weights, bias]) => activate(x.matMul(weights).add(bias), activation),
  conv2d: ({ stride, padding, activation }, [x, filter, bias]) =>
    activate(apply(x, 'conv2d', filter, stride, padding).add(bias), activation),
  depthwiseConv2d: ({ stride, padding, activation }, [x, filter, bias]) =>
    activate(apply(x, 'depthwiseConv2d', filter, stride, padding).add(bias), activation),
  maxPool2d: ({ size, stride, padding }, [x]) => apply(x, 'maxPool', size, stride, padding),
  globalAveragePool2d: (_, [x]) => x.mean([1, 2]),
  add: ({ activation }, [a, b]) => activate(a.add(b), activation),
  mul: (_, [a, b]) => a.mul(b),
  relu: (_, [x]) => x.relu(),
  sigmoid: (_, [x]) => x.sigmoid(),
  gelu: (_, [x]) => x.gelu(true),
  softmax: (_, [x]) => x.softmax(),
  layerNorm({ epsilon }, [x, scale, shift]) {
    const centred = x.sub(x.mean(-1, true));
    const variance = centred.mul(centred).mean(-1, true);
    return centred.mul(variance.add(epsilon).rsqrt()).mul(scale).add(shift);
  },
  sum: ({ axes }, [x]) => x.sum(axes),
  transpose: (_, [x]) => x.transpose(),
  cumsum: (_, [x]) => apply(x, 'cumsum', x.rank - 1),
  topK: ({ k }, [x]) => apply(x, 'topk', k).values,
  resizeBilinear: ({ shape }, [x]) => apply(x, 'resizeBilinear', shape.slice(1, 3), false, true),
  concatChannels: (_, operands) => operands[0].concat(operands.slice(1), 3),
};

/** An operation that may not exist yet. */
function apply(x, name, ...options) {
  if (!x[name]) throw new Unsupported(`has no ${name}`);
  return x[name](...options);
}

export async function infer(tl, model, { resident, threads, tuneMs }) {
  tl.env().set('THREADS_COUNT', threads);
  const inputs = model.values.filter(({ op }) => op === 'input' || op === 'shortInput');
  const nameOf = ({ id }) => `x${id}`;
  const specOf = ({ shape, dtype }) => (dtype ? { shape, dtype } : shape);
  const specs = Object.fromEntries(inputs.map((value) => [nameOf(value), specOf(value)]));
  const compiled = tl.compile(specs, (leaves, g) => ({
    y: evaluate(model, {
      ...rules,
      input: (value) => leaves[nameOf(value)],
      shortInput: (value) => leaves[nameOf(value)],
      constant: (value) => g.constant(fill(value), value.shape),
      shortConstant: (value) => g.constant(tl.tensor(fillShort(value), value.shape, value.dtype)),
    }),
  }));
  if (tuneMs > 0) await tl.tune(compiled, { budgetMs: tuneMs });
  const data = inputs.map((value) => (value.dtype ? fillShort(value) : fill(value)));
  const buffers = inputs.map((value) => compiled.input(nameOf(value)));
  const write = () => buffers.forEach((buffer, i) => buffer.set(data[i]));
  const readNow = () => {
    write();
    compiled.call();
    return compiled.output('y').slice();
  };
  const readLater = async () => {
    write();
    await compiled.callAsync();
    return compiled.output('y').slice();
  };
  // The main thread of a page may not sleep: what it does not await runs only on it.
  const synchronous = compiled.stats().threads === 1 || typeof document === 'undefined';
  const read = synchronous ? readNow : readLater;
  const call = synchronous ? () => compiled.call() : () => compiled.callAsync();
  write();
  return {
    step: resident ? call : read,
    synchronous,
    output: read,
    stats: () => compiled.stats(),
    dispose: () => compiled.dispose(),
  };
}
