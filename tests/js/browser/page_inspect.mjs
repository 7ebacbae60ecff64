// The playground looks into models of ONNX and Keras, and classifies photos.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tl from 'tensorlathe';
import { modelsFolder } from '../models.mjs';

/** Files from base64, dropped on the page. */
const dropBytes = (driver, name, bytes) =>
  driver.run(`(async () => {
    const bytes = await (await fetch('data:;base64,${Buffer.from(bytes).toString('base64')}')).blob();
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], ${JSON.stringify(name)}));
    for (const type of ['dragover', 'drop'])
      document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
  })()`);

/** A photo of a seven, dark on a bright ground, out of the middle. */
const dropPhoto = (driver) =>
  driver.run(`(async () => {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 400;
    const context = canvas.getContext('2d');
    context.fillStyle = '#d8cfc0';
    context.fillRect(0, 0, 400, 400);
    context.strokeStyle = '#222a44';
    context.lineWidth = 20;
    context.lineCap = context.lineJoin = 'round';
    for (const [x, y] of [[110, 90], [250, 90], [170, 290]]) context.lineTo(x, y);
    context.stroke();
    const blob = await new Promise((done) => canvas.toBlob(done));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([blob], 'seven.png', { type: 'image/png' }));
    for (const type of ['dragover', 'drop'])
      document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
  })()`);

/** A network of two branches over images. */
async function onnxFile() {
  await tl.ready();
  const x = tl.input({ shape: [16, 16, 3], name: 'picture' });
  const conv = (filters) =>
    tl.layers.conv2d({ filters, kernelSize: 3, activation: 'relu' }).apply(x);
  const both = tl.layers.concatenate().apply([conv(4), conv(6)]);
  const pooled = tl.layers.globalAveragePooling2d({}).apply(both);
  const y = tl.layers.dense({ units: 4, activation: 'softmax' }).apply(pooled);
  const model = tl.model({ inputs: x, outputs: y });
  const bytes = await tl.toOnnx(model);
  model.dispose();
  return bytes;
}

const isOpen = `!document.getElementById('inspector').hidden`;

async function checkTimes(driver) {
  await driver.click('#inspect-time');
  await driver.untilText('inspect-text', '/^One call takes [\\d.]+ m?s on one thread/');
  const count = await driver.run(`document.querySelectorAll('#inspect-times li').length`);
  assert.ok(count > 1, `${count} parts`);
  return count;
}

/** A Keras file among those of LATHE_DATA. */
export async function checkKeras(driver) {
  await dropBytes(
    driver,
    'vww.h5',
    readFileSync(join(modelsFolder, 'keras/mlperf-tiny/vww_96.h5')),
  );
  await driver.untilText('inspect-title', '/^vww.h5$/');
  assert.match(await driver.text('inspect-operators'), /13 DepthwiseConv2D/);
  assert.match(await driver.text('inspect-facts'), /Keras, HDF5.*221,794/);
  const count = await checkTimes(driver);
  await driver.click('#inspect-close');
  return `${count} layers`;
}

/** `runAxe`: also looks for barriers. */
export async function checkInspector(driver, runAxe = false) {
  await dropPhoto(driver);
  await driver.untilText('draw-title', '/^Your photo$/');
  // Weights and order of the data have fixed seeds: after whole epochs the network is sure.
  if (!runAxe) await driver.untilText('guess', '/^7, I think \\((9\\d|100)\u00a0%\\)$/');
  await driver.click('#clear');
  await dropBytes(driver, 'branches.onnx', await onnxFile());
  await driver.until(isOpen);
  assert.equal(await driver.text('inspect-title'), 'branches.onnx');
  assert.match(await driver.text('inspect-facts'), /Input picture\s*float32 batch × 16 × 16 × 3/);
  assert.match(await driver.text('inspect-operators'), /2 Conv/);
  const boxes = await driver.run(`document.querySelectorAll('.model-graph .box').length`);
  const options = await driver.run(`document.getElementById('inspect-node').options.length`);
  assert.equal(boxes, options + 1, 'each node and the input have a box');
  const conv = await driver.run(
    `[...document.getElementById('inspect-node').options].find(({ text }) => / Conv$/.test(text)).value`,
  );
  await driver.set('#inspect-node', conv);
  assert.match(await driver.text('inspect-details'), /weights \d+ × \d+ × 3 × 3|weights 3 × 3/);
  await checkTimes(driver);
  await dropPhoto(driver);
  await driver.until(`!document.getElementById('inspect-answer').hidden`);
  assert.match(await driver.text('inspect-guess'), /^class \d, it thinks/);
  assert.equal(await driver.run(`document.querySelectorAll('#inspect-bars li').length`), 4);
  await dropBytes(driver, 'broken.onnx', Buffer.from('no model'));
  await driver.untilText('data-problem', '/^broken.onnx: /');
  assert.equal(await driver.text('inspect-title'), 'branches.onnx', 'the model of before stays');
  if (runAxe) await driver.runAxe('a model');
  await driver.click('#inspect-close');
  assert.equal(await driver.run(isOpen), false);
  return `${options} nodes`;
}
