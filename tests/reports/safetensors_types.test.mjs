// Seen with files of quantized models: float8, U32 and U64 tensors, and unknown types, made an entire safetensors file fail although nothing
// needs them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';

/** A file of tensors as [dtype, shape, bytes]. */
function fileOf(tensors) {
  const header = {};
  let end = 0;
  for (const [name, [dtype, shape, bytes]] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [end, (end += bytes.length)] };
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Uint8Array.from(
    Buffer.concat([length, text, ...Object.values(tensors).map(([, , bytes]) => bytes)]),
  );
}
const bytesOf = (array) => new Uint8Array(array.buffer);
const dense = () =>
  tl.sequential({ name: 'm', layers: [tl.layers.dense({ name: 'd', units: 2, inputShape: [2] })] });
const weights = {
  'd/kernel': ['F32', [2, 2], bytesOf(Float32Array.of(1, 2, 3, 4))],
  'd/bias': ['F32', [2], bytesOf(Float32Array.of(5, 6))],
};

test('tensors of any type among the weights', async () => {
  const file = fileOf({
    ...weights,
    scale: ['F8_E8M0', [3], Uint8Array.of(1, 2, 3)],
    packed: ['F4', [4], Uint8Array.of(1, 2)],
    ids: ['U64', [1], bytesOf(BigUint64Array.of(2n ** 63n))],
    long: ['I64', [1], bytesOf(BigInt64Array.of(2n ** 40n))],
    count: ['U32', [1], bytesOf(Uint32Array.of(7))],
  });
  const model = dense();
  await model.loadWeights(file, { strict: false });
  assert.deepEqual([...model.predict(tl.tensor([[1, 1]])).dataSync()], [9, 12]);
  const read = await tl.io.decodeSafetensors(file, 'f');
  const data = (name) => read.find((each) => each.name === name).data;
  assert.deepEqual([...data('count')], [7]);
  assert.throws(() => data('packed'), {
    name: 'LatheError',
    message: /the tensor packed has the type "F4"; known: F32, I32, .*F8_E4M3/,
  });
  assert.throws(() => data('ids'), /the tensor ids: 9223372036854775808 does not fit 32 bits/);
  await assert.rejects(
    dense().loadWeights(file),
    /the model has no weight scale, packed, ids, long, count/,
  );
});

test('weights of float8, and a weight that cannot be read', async () => {
  const e4m3 = Uint8Array.of(0x38, 0x7e, 0x01, 0xbc);
  const model = dense();
  await model.loadWeights(
    fileOf({
      'd/kernel': ['F8_E4M3', [2, 2], e4m3],
      'd/bias': ['F8_E5M2', [2], Uint8Array.of(0x3c, 0xc1)],
    }),
  );
  const [kernel, bias] = model.getWeights().map((each) => [...each.dataSync()]);
  assert.deepEqual(kernel, [1, 448, 2 ** -9, -1.5]);
  assert.deepEqual(bias, [1, -2.5]);
  const unread = fileOf({ ...weights, 'd/bias': ['F6_E2M3', [2], Uint8Array.of(1, 2)] });
  const before = model.getWeights().map((each) => [...each.dataSync()]);
  for (const strict of [true, false]) {
    await assert.rejects(model.loadWeights(unread, { strict }), {
      name: 'LatheError',
      message: /the tensor d\/bias has the type "F6_E2M3"/,
    });
  }
  assert.deepEqual(
    model.getWeights().map((each) => [...each.dataSync()]),
    before,
  );
});

test('all 256 values of both types of float8', async () => {
  const all = Uint8Array.from({ length: 256 }, (_, at) => at);
  const read = await tl.io.decodeSafetensors(
    fileOf({ a: ['F8_E4M3', [256], all], b: ['F8_E5M2', [256], all] }),
    'f',
  );
  const value = (byte, fractionBits, bias, isIeee) => {
    const exponent = (byte & 127) >> fractionBits;
    const fraction = (byte & ((1 << fractionBits) - 1)) / (1 << fractionBits);
    const last = 2 ** (7 - fractionBits) - 1;
    const sign = byte & 128 ? -1 : 1;
    if (isIeee && exponent === last) return fraction === 0 ? sign * Infinity : NaN;
    if (!isIeee && (byte & 127) === 127) return NaN;
    return (
      sign * (exponent === 0 ? fraction * 2 ** (1 - bias) : (1 + fraction) * 2 ** (exponent - bias))
    );
  };
  assert.deepEqual(
    [...read[0].data],
    [...all].map((byte) => value(byte, 3, 7, false)),
  );
  assert.deepEqual(
    [...read[1].data],
    [...all].map((byte) => value(byte, 2, 15, true)),
  );
});
