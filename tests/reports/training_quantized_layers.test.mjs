// Quantized (QDQ) models as layers had a gradient of 0 in front of every QuantizeLinear: nothing before it trained. The
// gradient now passes straight through the rounding: 1 within the range, 0 where it saturates.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { model, node, tensor, value } from '../js/onnx/write.mjs';

/** x → QuantizeLinear → `between` → DequantizeLinear. */
const quantizing = ({
  type = 'uint8',
  zero = 128,
  scale = [0.5],
  axis = 1,
  between = [],
  dtype = 'float32',
} = {}) =>
  model({
    nodes: [
      node('QuantizeLinear', ['x', 'scale', 'zero'], ['q'], { axis }),
      ...between,
      node('DequantizeLinear', [between.at(-1)?.outputs[0] ?? 'q', 'scale', 'zero'], ['y'], {
        axis,
      }),
    ],
    initializers: {
      scale: tensor(dtype, scale, scale.length === 1 ? [] : [scale.length]),
      zero: tensor(
        type,
        scale.map(() => zero),
        scale.length === 1 ? [] : [scale.length],
      ),
    },
    inputs: [value('x', dtype, [2, 4])],
    outputs: [value('y', dtype)],
  });

/** The gradient of Σ y · (1, 2, …) by x. */
async function gradient(bytes, data) {
  const net = await tl.loadModel(bytes);
  const f = tl.compile({ x: [2, 4] }, ({ x }, g) => {
    const { y } = net.apply(g, { x });
    const weights = tl.tensor(
      Array.from({ length: 8 }, (_, at) => at + 1),
      [8],
    );
    return { y, d: g.grad(y.reshape([8]).mul(g.constant(weights)).sum(), [x])[0] };
  });
  const { y, d } = f.run({ x: tl.tensor(data, [2, 4]) });
  const result = { y: [...y.dataSync()], d: [...d.dataSync()] };
  f.dispose();
  net.dispose();
  return result;
}

const data = [-100, -64, -0.3, 0, 0.2, 63.5, 63.8, 100];
const inside = [0, 2, 3, 4, 5, 6, 0, 0];

test('1 within the range, its ends included, 0 where it saturates', async () => {
  const { y, d } = await gradient(quantizing(), data);
  assert.deepEqual(y, [-64, -64, -0.5, 0, 0, 63.5, 63.5, 63.5]);
  assert.deepEqual(d, inside);
});

for (const [type, zero] of [
  ['int8', 0],
  ['int16', 0],
  ['uint16', 32768],
]) {
  test(`of ${type}`, async () => {
    const { d } = await gradient(quantizing({ type, zero }), data);
    assert.deepEqual(d, type === 'int8' ? inside : [1, 2, 3, 4, 5, 6, 7, 8]);
  });
}

test('with a scale for each column', async () => {
  const { d } = await gradient(quantizing({ scale: [0.5, 1, 2, 0.25] }), data);
  assert.deepEqual(d, [0, 2, 3, 4, 5, 6, 7, 0]);
});

test('through what moves the integers', async () => {
  const between = [node('Transpose', ['q'], ['moved'], { perm: [1, 0] })];
  const { d } = await gradient(quantizing({ between }), data);
  assert.deepEqual(d, [0, 3, 5, 7, 2, 4, 0, 0]);
});

test('gradients pass through a quantized layer to a dense one', async () => {
  const quantized = await tl.loadModel(quantizing({ scale: [1 / 64] }));
  const input = tl.input({ shape: [3] });
  const hidden = tl.layers.dense({ units: 4 }).apply(input);
  const net = tl.model({ inputs: input, outputs: quantized.layer().apply(hidden) });
  net.compile({ optimizer: tl.train.adam(0.05), loss: 'meanSquaredError' });
  const x = tl.tensor([1, 0, -1, 0.5, 1, 0], [2, 3]);
  const y = tl.tensor([0.5, -0.5, 0.25, 0, 1, 0.5, -0.25, 0.75], [2, 4]);
  const { history } = await net.fit(x, y, { epochs: 100, batchSize: 2, shuffle: false });
  assert.ok(history.loss.at(-1) < 0.001, `loss ${history.loss[0]} → ${history.loss.at(-1)}`);
  net.dispose();
  quantized.dispose();
});
