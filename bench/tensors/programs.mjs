/**
 * Programs on tensors as users of TensorFlow.js write them: each accepts the namespace, creates its data, and
 * returns step(), which reads its result. Independent of peers.
 */

/** Numbers that are the same everywhere, between -1 and 1. */
function randomNumbers(seed, count) {
  const values = new Float32Array(count);
  let state = seed * 2654435761 + 1;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[i] = state / 2 ** 31 - 1;
  }
  return values;
}

const count = (shape) => shape.reduce((a, b) => a * b, 1);

/** An operation on tensors of these shapes, whose one result is read and freed. */
const operation =
  (shapes, apply, isPositive = false) =>
  (tf) => {
    const operands = shapes.map((shape, i) => {
      const numbers = randomNumbers(i + 1, count(shape));
      return tf.tensor(isPositive ? numbers.map(Math.abs) : numbers, shape);
    });
    const step = () => {
      const result = tf.tidy(() => apply(tf, ...operands));
      const data = result.dataSync();
      result.dispose();
      return data;
    };
    return { step };
  };

const million = [1024, 1024];
const few = [10];
const imageShape = [1, 56, 56, 64];

/** The kernels of TensorFlow.js's benchmarks: name, shapes, operation, whether on positive numbers. */
const operations = [
  ['add', [million, million], (tf, a, b) => tf.add(a, b)],
  ['sub, a row', [million, [1024]], (tf, a, b) => tf.sub(a, b)],
  ['mul, a column', [million, [1024, 1]], (tf, a, b) => tf.mul(a, b)],
  ['div', [million, million], (tf, a, b) => tf.div(a, b)],
  ['maximum', [million, million], (tf, a, b) => tf.maximum(a, b)],
  ['greater', [million, million], (tf, a, b) => tf.greater(a, b)],
  ['where', [million, million], (tf, a, b) => tf.where(tf.greater(a, b), a, b)],
  ['exp', [million], (tf, x) => tf.exp(x)],
  ['log', [million], (tf, x) => tf.log(x), true],
  ['sqrt', [million], (tf, x) => tf.sqrt(x), true],
  ['sin', [million], (tf, x) => tf.sin(x)],
  ['tanh', [million], (tf, x) => tf.tanh(x)],
  ['sigmoid', [million], (tf, x) => tf.sigmoid(x)],
  ['relu', [million], (tf, x) => tf.relu(x)],
  ['relu6', [million], (tf, x) => tf.relu6(x)],
  ['leakyRelu', [million], (tf, x) => tf.leakyRelu(x)],
  ['elu', [million], (tf, x) => tf.elu(x)],
  ['cast to int32', [million], (tf, x) => tf.cast(x, 'int32')],
  ['sum', [million], (tf, x) => tf.sum(x)],
  ['sum of rows', [million], (tf, x) => tf.sum(x, 1)],
  ['sum of columns', [million], (tf, x) => tf.sum(x, 0)],
  ['mean', [million], (tf, x) => tf.mean(x)],
  ['max', [million], (tf, x) => tf.max(x)],
  ['argMax', [million], (tf, x) => tf.argMax(x, 1)],
  ['softmax', [[64, 1000]], (tf, x) => tf.softmax(x)],
  ['cumsum', [million], (tf, x) => tf.cumsum(x, 1)],
  ['topk', [[64, 1000]], (tf, x) => tf.topk(x, 10).values],
  [
    'matMul 128',
    [
      [128, 128],
      [128, 128],
    ],
    (tf, a, b) => tf.matMul(a, b),
  ],
  [
    'matMul 512',
    [
      [512, 512],
      [512, 512],
    ],
    (tf, a, b) => tf.matMul(a, b),
  ],
  [
    'matMul, 16 of 64',
    [
      [16, 64, 64],
      [16, 64, 64],
    ],
    (tf, a, b) => tf.matMul(a, b, false, true),
  ],
  [
    'fused matMul',
    [[128, 784], [784, 128], [128]],
    (tf, a, b, bias) => tf.fused.matMul({ a, b, bias, activation: 'relu' }),
  ],
  ['conv2d 3×3', [imageShape, [3, 3, 64, 64]], (tf, x, w) => tf.conv2d(x, w, 1, 'same')],
  ['conv2d 1×1', [imageShape, [1, 1, 64, 128]], (tf, x, w) => tf.conv2d(x, w, 1, 'same')],
  [
    'depthwiseConv2d',
    [imageShape, [3, 3, 64, 1]],
    (tf, x, w) => tf.depthwiseConv2d(x, w, 1, 'same'),
  ],
  ['maxPool', [imageShape], (tf, x) => tf.maxPool(x, 2, 2, 'valid')],
  ['avgPool', [imageShape], (tf, x) => tf.avgPool(x, 3, 1, 'same')],
  [
    'batchNorm',
    [imageShape, [64], [64]],
    (tf, x, mean, scale) => tf.batchNorm(x, mean, tf.abs(scale), undefined, scale),
  ],
  ['resizeBilinear', [imageShape], (tf, x) => tf.image.resizeBilinear(x, [112, 112])],
  ['transpose', [million], (tf, x) => tf.transpose(x)],
  ['transpose of axes', [[64, 128, 128]], (tf, x) => tf.transpose(x, [2, 0, 1])],
  ['reshape', [million], (tf, x) => tf.reshape(x, [512, 2048])],
  ['concat', [million, million], (tf, a, b) => tf.concat([a, b], 1)],
  ['slice', [million], (tf, x) => tf.slice(x, [100, 100], [800, 800])],
  [
    'pad',
    [million],
    (tf, x) =>
      tf.pad(x, [
        [1, 1],
        [3, 3],
      ]),
  ],
  ['reverse', [million], (tf, x) => tf.reverse(x, 1)],
  ['tile', [[256, 256]], (tf, x) => tf.tile(x, [4, 4])],
  [
    'gather',
    [million, [512]],
    (tf, x, at) => tf.gather(x, tf.cast(tf.mul(tf.abs(at), 1000), 'int32')),
  ],
  ['oneHot', [[1000]], (tf, x) => tf.oneHot(tf.cast(tf.mul(tf.abs(x), 100), 'int32'), 100)],
  ['add, ten numbers', [few, few], (tf, a, b) => tf.add(a, b)],
  ['relu, ten numbers', [few], (tf, x) => tf.relu(x)],
  ['sum, ten numbers', [few], (tf, x) => tf.sum(x)],
  [
    'matMul 8',
    [
      [8, 8],
      [8, 8],
    ],
    (tf, a, b) => tf.matMul(a, b),
  ],
  ['concat, ten numbers', [few, few], (tf, a, b) => tf.concat([a, b])],
];

/** Chains and blocks. */
const chains = {
  '30 operations, a million': operation([million], (tf, x) => {
    let y = x;
    for (let i = 0; i < 10; i++) y = y.add(0.5).mul(0.9).abs();
    return y;
  }),
  'gelu(x·w + b), a million': operation([million, [1024, 1024], [1024]], (tf, x, w, b) => {
    const y = x.matMul(w).mul(0.03).add(b);
    const inner = y.add(y.square().mul(y).mul(0.044715)).mul(Math.sqrt(2 / Math.PI));
    return y.mul(0.5).mul(inner.tanh().add(1));
  }),
  'attention forward': operation(
    [
      [8, 128, 64],
      [8, 128, 64],
      [8, 128, 64],
    ],
    (tf, ...operands) => attention(tf, ...operands),
  ),
  'attention forward and backward'(tf) {
    const shape = [8, 128, 64];
    const operands = [1, 2, 3].map((seed) => tf.tensor(randomNumbers(seed, count(shape)), shape));
    const gradients = tf.grads((...operandTensors) =>
      attention(tf, ...operandTensors)
        .square()
        .sum(),
    );
    const step = () => {
      const results = tf.tidy(() => gradients(operands));
      const [data] = results.map((each) => each.dataSync());
      tf.dispose(results);
      return data;
    };
    return { step };
  },
};

/** Scaled dot-product attention (Vaswani et al. 2017, 3.2.1) of heads × positions × depth. */
function attention(tf, q, k, v) {
  const scores = tf.matMul(q, k, false, true).mul(1 / Math.sqrt(q.shape[2]));
  return tf.matMul(tf.softmax(scores), v);
}

const dense = (tf, seed, inputs, units) => ({
  w: tf.variable(
    tf.tensor(randomNumbers(seed, inputs * units), [inputs, units]).mul(Math.sqrt(3 / inputs)),
  ),
  b: tf.variable(tf.zeros([units])),
});
const pass = (x, { w, b }) => x.matMul(w).add(b);

/** Training loops with operations and minimize, no layers: a step of a batch of 64, its loss read. */
const loops = {
  'digits, 784-128-10, Adam'(tf) {
    const layers = [dense(tf, 1, 784, 128), dense(tf, 2, 128, 10)];
    const optimizer = tf.train.adam(0.001);
    const batches = [1, 2, 3, 4].map((seed) => ({
      x: tf.tensor(randomNumbers(seed, 64 * 784), [64, 784]),
      y: tf.oneHot(
        tf.tensor1d(
          Array.from({ length: 64 }, (_, i) => (i * seed) % 10),
          'int32',
        ),
        10,
      ),
    }));
    return loop((i) => {
      const { x, y } = batches[i % 4];
      return optimizer.minimize(
        () =>
          tf.losses.softmaxCrossEntropy(y, pass(pass(x, layers[0]).relu(), layers[1])).asScalar(),
        true,
      );
    });
  },
  'curve of three coefficients, SGD'(tf) {
    const coefficients = [0.1, -0.2, 0.3].map((value) => tf.variable(tf.scalar(value)));
    const xs = tf.tensor1d(randomNumbers(1, 100));
    const ys = xs.square().mul(0.8).sub(xs.mul(0.2)).add(0.5);
    const optimizer = tf.train.sgd(0.5);
    const predict = ([a, b, c]) => a.mul(xs.square()).add(b.mul(xs)).add(c);
    return loop(() =>
      optimizer.minimize(() => predict(coefficients).sub(ys).square().mean(), true),
    );
  },
  'a step of two networks against each other'(tf) {
    const generator = [dense(tf, 1, 64, 128), dense(tf, 2, 128, 784)];
    const critic = [dense(tf, 3, 784, 128), dense(tf, 4, 128, 1)];
    const generate = (z) => pass(pass(z, generator[0]).relu(), generator[1]).tanh();
    const judge = (x) => pass(pass(x, critic[0]).leakyRelu(0.2), critic[1]);
    const variables = (layers) => layers.flatMap(({ w, b }) => [w, b]);
    const [generatorOptimizer, judgeOptimizer] = [tf.train.adam(0.0002), tf.train.adam(0.0002)];
    const real = tf.tensor(randomNumbers(5, 64 * 784), [64, 784]);
    const noise = [1, 2, 3, 4].map((seed) => tf.tensor(randomNumbers(seed + 9, 64 * 64), [64, 64]));
    const [ones, zeros] = [tf.ones([64, 1]), tf.zeros([64, 1])];
    const loss = (labels, logits) => tf.losses.sigmoidCrossEntropy(labels, logits).asScalar();
    return loop((i) => {
      const z = noise[i % 4];
      const first = judgeOptimizer.minimize(
        () => loss(ones, judge(real)).add(loss(zeros, judge(generate(z)))),
        true,
        variables(critic),
      );
      const second = generatorOptimizer.minimize(
        () => loss(ones, judge(generate(z))),
        true,
        variables(generator),
      );
      const sum = first.add(second);
      tf.dispose([first, second]);
      return sum;
    });
  },
};

/** Steps that read their loss; step i of the program uses batch i. */
function loop(minimize) {
  let at = 0;
  const step = () => {
    const loss = minimize(at++);
    const data = loss.dataSync();
    loss.dispose();
    return data;
  };
  return { step };
}

/** A file of the published models: from the folder of data, in pages from the server of the bench. */
async function readModelFile(path) {
  if (typeof document !== 'undefined') return (await fetch(`/models/${path}`)).arrayBuffer();
  const { readFileSync } = await import('node:fs');
  const { modelsFolder } = await import('../onnx/folder.mjs');
  return readFileSync(`${modelsFolder}/${path}`);
}

/** A published graph model, and its inputs; `executeAsync` where it has branches or loops. */
const published =
  (folder, asynchronous = false) =>
  async (tf) => {
    const read = (path) => readModelFile(`tfjs/${folder}/${path}`);
    const { modelTopology, weightsManifest, ...rest } = JSON.parse(
      new TextDecoder().decode(await read('model.json')),
    );
    const parts = await Promise.all(weightsManifest.flatMap(({ paths }) => paths).map(read));
    const weightData = await new Blob(parts).arrayBuffer();
    const weightSpecs = weightsManifest.flatMap(({ weights }) => weights);
    const model = await tf.loadGraphModel(
      tf.io.fromMemory({ ...rest, modelTopology, weightSpecs, weightData }),
    );
    const inputs = model.inputs.map(({ shape, dtype }, at) => {
      const sizes = shape.map((size) => Math.max(size, 1));
      return tf.tensor(randomNumbers(at + 1, count(sizes)), sizes).cast(dtype);
    });
    const names = model.outputs.map(({ name }) => name).sort();
    const step = asynchronous
      ? async () => readAll(tf, await model.executeAsync(inputs, names))
      : () => readAll(tf, model.execute(inputs, names));
    return { step, asynchronous };
  };

/** The first result's elements; all are read and freed. */
function readAll(tf, results) {
  const [data] = [results].flat().map((each) => each.dataSync());
  tf.dispose(results);
  return data;
}

const models = {
  'graph model: basic-pitch': published('basic-pitch'),
  'graph model: segmentation 224×224': published('segmentation-224-graph'),
  'graph model: LSTM with While': published('lstm-graph-while', true),
};

/** The folder of data that a row needs; undefined where it needs none. */
export const dataOf = (name) => (name in models ? 'models/tfjs' : undefined);

export const programs = {
  ...Object.fromEntries(operations.map(([name, ...rest]) => [name, operation(...rest)])),
  ...chains,
  ...loops,
  ...models,
};

/** The names of the training loops. */
export const loopNames = Object.keys(loops);

/** The program of this name as what a runner drives. */
export async function opened(tf, name) {
  const { step, asynchronous = false } = await programs[name](tf);
  return { step, synchronous: !asynchronous, dispose: () => tf.disposeVariables() };
}
