// ONNX models as layers: a small MobileNet learns a new task, first only its head, then its body too.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { model, node, random, tensor, value } from '../../onnx/write.mjs';

const [size, classes] = [8, 3];

/** Depthwise and pointwise convolutions with batch normalization (A. Howard et al., MobileNets, 2017). */
function mobileNet() {
  const initializers = {};
  const nodes = [];
  let seed = 1;
  const weight = (name, shape, deviation) => {
    initializers[name] = random(seed++, shape, deviation);
    return name;
  };
  const fixed = (name, count, value) => {
    initializers[name] = tensor('float32', Array(count).fill(value));
    return name;
  };
  const block = (x, name, [from, to], kernel, group) => {
    const shape = [to, from / group, kernel, kernel];
    const w = weight(`${name}/kernel`, shape, 1 / Math.sqrt((from / group) * kernel * kernel));
    const pads = Array(4).fill((kernel - 1) / 2);
    nodes.push(
      node('Conv', [x, w], [`${name}/conv`], { group, pads, kernel_shape: [kernel, kernel] }),
    );
    const norm = [
      fixed(`${name}/scale`, to, 1),
      fixed(`${name}/bias`, to, 0.1),
      fixed(`${name}/mean`, to, 0.05),
      fixed(`${name}/variance`, to, 0.8),
    ];
    nodes.push(node('BatchNormalization', [`${name}/conv`, ...norm], [`${name}/norm`]));
    nodes.push(node('Relu', [`${name}/norm`], [name]));
    return name;
  };
  let x = block('image', 'first', [3, 6], 3, 1);
  x = block(x, 'depthwise', [6, 6], 3, 6);
  x = block(x, 'pointwise', [6, 10], 1, 1);
  nodes.push(node('GlobalAveragePool', [x], ['pooled']), node('Flatten', ['pooled'], ['features']));
  nodes.push(
    node(
      'Gemm',
      ['features', weight('head/kernel', [10, 5], 0.3), fixed('head/bias', 5, 0)],
      ['logits'],
    ),
  );
  return model({
    nodes,
    initializers,
    inputs: [value('image', 'float32', ['batch', 3, size, size])],
    outputs: [value('logits', 'float32', ['batch', 5])],
  });
}

/** Images whose brightest channel is their class. */
function examples(count) {
  const { data } = random(9, [count, 3, size, size], 0.3);
  const labels = Array.from({ length: count }, (_, at) => at % classes);
  for (const [at, label] of labels.entries()) {
    const begin = (at * 3 + label) * size * size;
    for (let k = 0; k < size * size; k++) data[begin + k] += 0.6;
  }
  return { x: tl.tensor(data, [count, 3, size, size]), y: tl.tensor(labels, [count], 'int32') };
}

async function trained(base, trainable) {
  const input = tl.input({ shape: [3, size, size] });
  const body = base.layer({ trainable, outputs: ['features'] });
  const head = tl.layers.dense({ units: classes, activation: 'softmax' });
  const net = tl.model({ inputs: input, outputs: head.apply(body.apply(input)) });
  net.compile({ optimizer: tl.train.adam(0.02), loss: 'sparseCategoricalCrossentropy' });
  const { x, y } = examples(48);
  const before = body.getWeights().map((each) => each.dataSync().slice());
  const { history } = await net.fit(x, y, { epochs: 30, batchSize: 16, shuffle: false });
  const after = body.getWeights().map((each) => each.dataSync());
  const changed = before.filter((each, at) => each.some((v, k) => v !== after[at][k])).length;
  net.dispose();
  return { losses: history.loss, changed, count: before.length };
}

test('a head on a frozen model is trained, and the model is unchanged', async () => {
  const base = await tl.loadModel(mobileNet());
  const { losses, changed, count } = await trained(base, false);
  assert.equal(count, 9);
  assert.equal(changed, 0);
  assert.ok(losses.at(-1) < 0.9 * losses[0], `loss ${losses[0]} → ${losses.at(-1)}`);
  base.dispose();
});

test('the body of the model is trained where it is trainable', async () => {
  const base = await tl.loadModel(mobileNet());
  const frozen = await trained(base, false);
  const { losses, changed, count } = await trained(base, true);
  assert.equal(changed, count);
  assert.ok(losses.at(-1) < frozen.losses.at(-1), `${losses.at(-1)} < ${frozen.losses.at(-1)}`);
  base.dispose();
});

test('a model within a function has the same result as by itself', async () => {
  const base = await tl.loadModel(mobileNet());
  const { x } = examples(4);
  const twice = tl.compile({ image: [4, 3, size, size] }, ({ image }, g) => {
    const { logits } = base.apply(g, { image });
    return { y: logits.mul(2) };
  });
  const { logits } = await base.run({ image: x });
  const got = twice.run({ image: x }).y.dataSync();
  for (const [k, each] of logits.dataSync().entries())
    assert.ok(Math.abs(got[k] - 2 * each) < 1e-5);
  twice.dispose();
  base.dispose();
});

test('what cannot be part of a function is rejected by name', async () => {
  const base = await tl.loadModel(mobileNet());
  const build = ({ x }, g) => ({ y: base.apply(g, { photo: x }).logits });
  assert.throws(() => tl.compile({ x: [1, 3, size, size] }, build), /input image is missing/);
  const wrong = ({ x }, g) => ({ y: base.apply(g, { image: x }, ['nothing']).nothing });
  assert.throws(() => tl.compile({ x: [1, 3, size, size] }, wrong), /no value 'nothing'/);
  base.dispose();
});
