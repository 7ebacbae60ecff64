// timm#646, pytorch#27838: padding that depends on the size of an image, exported as a constant, is wrong for every other size.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';

ort.env.wasm.numThreads = 1;
const options = { executionProviders: ['wasm'], logSeverityLevel: 4 };
const sizes = [
  [6, 6],
  [7, 9],
  [8, 5],
  [12, 10],
  [13, 16],
  [11, 24],
];

/** Asserts that the file computes what the model predicts, for sizes of all remainders. */
async function check(what, make) {
  const x = tl.input({ shape: [null, null, 2] });
  const model = tl.model({ inputs: x, outputs: make(x) });
  const session = await ort.InferenceSession.create(await tl.toOnnx(model), options);
  for (const [height, width] of sizes) {
    const data = Float32Array.from({ length: height * width * 2 }, (_, at) => ((at * 7) % 11) - 5);
    const expected = model.predict(tl.tensor(data, [1, height, width, 2]));
    const feeds = {
      [session.inputNames[0]]: new ort.Tensor('float32', data, [1, height, width, 2]),
    };
    const got = (await session.run(feeds))[session.outputNames[0]];
    assert.deepEqual([...got.dims], [...expected.shape], `${what}: ${height}×${width}`);
    expected.dataSync().forEach((value, at) => {
      const near = Math.abs(value - got.data[at]) < 1e-3;
      assert.ok(near, `${what}, ${height}×${width}, [${at}]: ${got.data[at]} for ${value}`);
    });
  }
  await session.release();
  model.dispose();
}

const { layers } = tl;
const windows = {
  conv2d: (args) => layers.conv2d({ filters: 2, ...args }),
  depthwiseConv2d: (args) => layers.depthwiseConv2d(args),
  separableConv2d: (args) => layers.separableConv2d({ filters: 2, ...args }),
  maxPooling2d: ({ kernelSize, ...args }) => layers.maxPooling2d({ poolSize: kernelSize, ...args }),
};
const heads = {
  mean: (y) => layers.globalAveragePooling2d().apply(y),
  max: (y) => layers.globalMaxPooling2d().apply(y),
  none: (y) => y,
};

for (const [name, make] of Object.entries(windows)) {
  test(`${name} with strides on null axes`, async () => {
    for (const [padding, strides, kernelSize, head] of [
      ...(name === 'maxPooling2d' ? [] : [['same', 3, 2, 'none']]),
      ['same', 2, 3, 'mean'],
      ['same', 2, 2, 'none'],
      ['same', 4, 5, 'max'],
      ['valid', 2, 3, 'none'],
      ['valid', 3, 2, 'mean'],
    ]) {
      const what = `${name} ${padding} ${strides} ${kernelSize} ${head}`;
      await check(what, (x) => heads[head](make({ kernelSize, strides, padding }).apply(x)));
    }
  });
}

test('consecutive layers with strides', () =>
  check('deep', (x) => {
    const args = { filters: 4, kernelSize: 3, strides: 2, padding: 'same', activation: 'relu' };
    let y = x;
    for (let at = 0; at < 3; ++at) y = layers.conv2d(args).apply(y);
    return layers.dense({ units: 3 }).apply(heads.mean(y));
  }));

const assertRejected = async (make, message) => {
  const fn = await tl.compile({ x: ['n', 2] }, make);
  await assert.rejects(tl.toOnnx(fn), message);
};

test('rejects paddings that auto_pad of ONNX Runtime cannot express', async () => {
  const x = tl.input({ shape: [null, null, 2] });
  const y = layers.maxPooling2d({ poolSize: 2, strides: 3, padding: 'same' }).apply(x);
  await assert.rejects(tl.toOnnx(tl.model({ inputs: x, outputs: y })), /in more than shapes/);
});

test('rejects functions whose graph depends on a remainder of a size', async () => {
  for (const by of [2, 3, 4, 8]) {
    await assertRejected(
      ({ x }) => ({ y: x.mul(x.shape[0] % by === 0 ? 2 : 1).sum() }),
      /depends on n in more than shapes/,
    );
  }
});

test('shapes of quotients follow from the size', async () => {
  const fn = await tl.compile({ x: ['n', 2] }, ({ x }, g) => ({
    y: g.slice(x, [0, 0], [Math.floor(x.shape[0] / 2), 2]),
    z: g.slice(x, [Math.ceil(x.shape[0] / 4), 0], [1, 2]),
  }));
  const session = await ort.InferenceSession.create(await tl.toOnnx(fn), options);
  for (const n of [5, 6, 7, 8, 21]) {
    const data = Float32Array.from({ length: 2 * n }, (_, at) => at);
    const expected = fn.run({ x: tl.tensor(data, [n, 2]) });
    const got = await session.run({ x: new ort.Tensor('float32', data, [n, 2]) });
    for (const name of ['y', 'z']) {
      assert.deepEqual([...got[name].data], [...expected[name].dataSync()], `${name} of ${n}`);
    }
  }
});
