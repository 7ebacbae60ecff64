// Mistakes of a first program, and what the error says to do.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import * as tl from 'tensorlathe';
import { rejects, throws } from '../../lib.mjs';

const folder = mkdtempSync(join(tmpdir(), 'messages-'));
after(() => rmSync(folder, { recursive: true }));
const fileOf = (name, contents) => {
  writeFileSync(join(folder, name), contents);
  return join(folder, name);
};

const classifier = (units = 10) => {
  const model = tl.sequential();
  model.add(tl.layers.dense({ units, activation: 'softmax', inputShape: [4] }));
  return model;
};

test('a function of tl.compile that returns a tensor, a list or nothing', () => {
  const returning = (value) => () => tl.compile({ x: [2] }, ({ x }) => value(x));
  const message =
    /^compile: the function must return its results by name, such as .*; it returned /;
  throws(
    returning((x) => x.mul(2)),
    new RegExp(`${message.source}a tensor$`),
  );
  throws(
    returning((x) => [x]),
    new RegExp(`${message.source}an array$`),
  );
  throws(
    returning(() => {}),
    new RegExp(`${message.source}undefined$`),
  );
  throws(
    returning(async (x) => ({ x })),
    new RegExp(`${message.source}Promise$`),
  );
});

test('a loss over the classes of one output warns', (t) => {
  const warn = t.mock.method(console, 'warn', () => {});
  classifier(2).compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
  assert.equal(warn.mock.callCount(), 0);
  for (const loss of ['softmaxCrossEntropy', 'categoricalCrossentropy']) {
    classifier(1).compile({ loss, optimizer: 'sgd' });
    const [said] = warn.mock.calls.at(-1).arguments;
    assert.match(
      said,
      new RegExp(`${loss} of one class is always 0; .*sigmoid.*binaryCrossentropy`),
    );
  }
  assert.equal(warn.mock.callCount(), 2);
});

test('a learning rate that is no number, at once', () => {
  throws(
    () => tl.train.adam('0.001'),
    /^train\.adam: learningRate must be a number, got "0\.001"$/,
  );
  throws(
    () => tl.train.sgd({ learningRate: 0.1 }),
    /^train\.sgd: learningRate must be a number, got \{/,
  );
  throws(() => tl.train.momentum(0.1, 0.9, 1), /useNesterov must be a boolean, got 1/);
  assert.equal(tl.train.adam(undefined, 0.8).beta1, 0.8);
});

test('files of another kind name the function that reads them', async () => {
  const tflite = fileOf('x.tflite', Buffer.from('\x1c\0\0\0TFL3\0\0\0\0'));
  await rejects(tl.loadModel(tflite), /TensorFlow Lite must be converted to ONNX/);
  await rejects(tl.loadLayersModel(tflite), /TensorFlow Lite must be converted to ONNX/);
  const layers = fileOf('model.json', '{"format":"layers-model","modelTopology":{}}');
  await rejects(tl.loadModel(layers), /tl\.loadLayersModel reads models of layers/);
  const graph = fileOf('graph.json', '{"format":"graph-model","modelTopology":{}}');
  await rejects(tl.loadModel(graph), /loadGraphModel of tensorlathe\/tfjs reads graph models/);
  await rejects(
    tl.loadLayersModel('x.onnx'),
    /^cannot read x\.onnx: ENOENT.*; tl\.loadModel reads ONNX models$/,
  );
  const onnx = fileOf('y.onnx', Buffer.from([8, 7, 18, 0]));
  await rejects(
    tl.loadLayersModel(onnx),
    /this is no model\.json: it begins like an ONNX model; tl\.loadModel reads ONNX models$/,
  );
  await rejects(tl.loadLayersModel('saved_model.pb'), /must be converted/);
});

test('files of other formats are named by their first bytes', async () => {
  const beginnings = {
    'a JPEG image; tl.image.toTensor makes an input of an image': [0xff, 0xd8, 0xff, 0xe0, 0, 16],
    'a PNG image': '\x89PNG\r\n\x1a\n',
    'a WebP image': 'RIFF\xf0\xff\0\0WEBPVP8 ',
    'a file of PyTorch; torch.onnx.export': 'PK\x03\x04\0\0\x08\x08\0\0archive/data.pkl',
    "a ZIP archive; tl.loadModel reads '.keras'": 'PK\x03\x04\x14\0',
    'a gzip archive; unpack it': '\x1f\x8b\x08',
    'an HDF5 file': '\x89HDF\r\n\x1a\n',
    'a safetensors file; it contains weights only': '\xf8\xc3\xa9\0\0\0\0\0{"w":{"dtype":"F32"',
    'a GGUF file': 'GGUF\x03\0',
    'a pointer of Git LFS; get the file itself': 'version https://git-lfs.github.com/spec/v1\noid',
    'an HTML or XML page; check the address': '\n<!doctype html>',
    'a WebAssembly module': '\0asm\x01\0\0\0',
    'a saved model of TensorFlow; saved models': '\x08\x01\x12\x04',
  };
  for (const [format, bytes] of Object.entries(beginnings)) {
    const file = fileOf('page.bin', Buffer.from(bytes, 'latin1'));
    const found = `it begins like ${format.replaceAll('.', '\\.')}`;
    await rejects(tl.loadModel(file), new RegExp(`page.bin: this is no ONNX model: ${found}`));
    await rejects(tl.loadLayersModel(file), new RegExp(`this is no model.json: ${found}`));
  }
  const empty = fileOf('page.bin', '');
  await rejects(tl.loadModel(empty), /page\.bin: this is no ONNX model: it is empty$/);
  const folder = dirname(empty);
  await rejects(tl.loadModel(folder), /is a folder; .*(y\.onnx|model\.json)/);
  // A truncated file of the right format is not described as another.
  await rejects(tl.loadModel(fileOf('cut.onnx', Buffer.from([8, 7, 58, 9]))), /truncated/);
  await rejects(tl.loadLayersModel(fileOf('cut.json', '{"format":"graph-model"')), /no JSON/);
});

test('a string among numbers names the argument', async () => {
  const model = classifier();
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
  throws(() => tl.tensor([1, 'two']), /^tensor: values must be numbers, got two$/);
  throws(
    () => model.predict([[1, 2, 3, 'four']]),
    /^predict: x: values must be numbers, got four$/,
  );
  await rejects(model.fit([[1, 2, 3, 4]], ['one']), /^fit: y: values must be numbers, got one$/);
  const double = tl.compile({ x: [2] }, ({ x }) => ({ y: x.mul(2) }));
  throws(() => double.run({ x: [1, 'two'] }), /x: values must be numbers, got two$/);
});

test('labels of a wrong count', async () => {
  const model = classifier();
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
  await rejects(
    model.fit(tl.zeros([20, 4]), new Int32Array(19)),
    /^fit: y has 19 values for 20 rows; 20 class numbers or 200 values are needed$/,
  );
});

test('a run without its inputs lists them', async () => {
  const build = ({ x, n }) => ({ y: x.mul(n.cast('float32')) });
  const specs = { x: [2, 3], n: { shape: [], dtype: 'int32' } };
  const listed = 'x float32 \\[2,3\\], n int32 \\[\\]';
  const model = await tl.loadModel(await tl.toOnnx(classifier()));
  const cases = [
    [tl.compile(specs, build), listed],
    [tl.compile(specs, build, { heap: true }), listed],
    [tl.compile(specs, build, { segments: true }), listed],
    [tl.compile({ ...specs, x: ['rows', 3] }, build), listed.replace('[2', '[rows')],
    [model, '\\S+ float32 \\[batch,4\\]'],
  ];
  for (const [net, inputs] of cases) {
    const said = async (...args) => net.run(...args);
    for (const [args, got] of [
      [[], 'undefined'],
      [[null], 'null'],
      [[[1]], 'an array'],
      [[tl.tensor([1])], 'a tensor'],
    ]) {
      const start = `^run: expects an object of values by name, got ${got}`;
      await rejects(said(...args), new RegExp(`${start}; inputs: ${inputs}$`));
    }
    await rejects(said({}), new RegExp(`^run: input \\S+ is missing; inputs: ${inputs}$`));
  }
  throws(
    () => tl.compile({ x: [null, 3] }, build),
    /^compile: x needs a shape: integers, or names such as 'rows'/,
  );
});

test('arguments of another kind than a first program needs', async () => {
  const build = ({ x }) => ({ y: x.mul(2) });
  throws(() => tl.compile(build), /^compile: an object of shapes is needed, got function$/);
  throws(() => tl.compile([[2]], build), /^compile: an object of shapes is needed, got an array$/);
  throws(
    () => tl.compile({ x: 2 }, build),
    /^compile: x needs a shape: integers, or names such as 'rows'/,
  );
  throws(() => tl.compile({ x: [2] }), /^compile: a function is needed, got undefined$/);
  throws(() => tl.compile({ x: { shape: [2], dtype: 'float' } }, build), /^input x: unknown dtype/);
  throws(
    () => tl.compile({ x: [2] }, ({ x }, g) => ({ d: g.grad(x.sum(), x) })),
    /^grad: expects an array of tensors$/,
  );
  throws(
    () => tl.compile({ x: [2] }, ({ x }, g) => ({ y: x.mul(g.variable('w', [2], [3, 4])) })),
    /^variable w: an array is a shape; pass a tensor of values$/,
  );
  throws(() => tl.sequential([]), /^sequential: an object of options is needed, got an array$/);
  throws(
    () => tl.layers.activation('relu'),
    /^layers\.activation: an object of options is needed, got string$/,
  );
  throws(() => tl.layers.dense(3), /^layers\.dense: an object of options is needed, got number$/);
  const model = classifier();
  model.compile({ loss: 'softmaxCrossEntropy', optimizer: 'sgd' });
  await rejects(
    model.fit([tl.zeros([4]), tl.zeros([4])], [0, 1]),
    /^fit: x: values must be numbers, got a tensor; tl\.stack joins them$/,
  );
  await rejects(model.save('out'), /^save: "out" is not a model .*did you mean "file:\/\/out"\?$/);
  await rejects(
    model.save(`file://${folder}/net.onnx`),
    /net\.onnx: models are saved as a folder .*; tl\.toOnnx\(model\) makes an ONNX model$/,
  );
  assert.ok(!existsSync(join(folder, 'net.onnx')));
  const net = await tl.loadModel(await tl.toOnnx(model));
  await rejects(
    net.run({ [net.inputs[0].name]: new Float32Array(6) }),
    /: 6 values do not fill the shape \[batch,4\]: no multiple of 4$/,
  );
});

test('one example without the axis of the batch', async () => {
  const model = classifier();
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  throws(
    () => model.predict(tl.zeros([4])),
    /^predict: x has shape \[4\], .* \[batch,4\]; expandDims\(0\) makes a batch$/,
  );
  const rows = tl.data.array([{ xs: [1, 2, 3, 4], ys: Array(10).fill(0) }]);
  await rejects(model.fitDataset(rows), /, but .* \[batch,4\]; batch\(32\) makes a batch$/);
});
