// Mistakes of a first program, and what the error says to do.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
    new RegExp(`${message.source}Array$`),
  );
  throws(
    returning(() => {}),
    new RegExp(`${message.source}Undefined$`),
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
  await rejects(tl.loadLayersModel(onnx), /JSON.*; tl\.loadModel reads ONNX models$/);
  await rejects(tl.loadLayersModel('saved_model.pb'), /must be converted/);
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
