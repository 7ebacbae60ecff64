/** Task of one row times a matrix of 4096² weights in every form, and a sum over 64 MiB of floats as the limit. */
import * as tl from 'tensorlathe';
import { model, node, random, tensor, value } from '../../tests/js/onnx/write.mjs';
import { inTurns } from '../turns.mjs';

const size = 4096;
const block = 32;
const blocks = size / block;

const noise = (Kind, length) => {
  const bytes = new Uint8Array(
    random(1, [length * Kind.BYTES_PER_ELEMENT]).data.map((x) => x * 99),
  );
  return new Kind(bytes.buffer);
};
/** float16 numbers around 1/8 of both signs. */
const float16s = () => noise(Uint16Array, size * size).map((bits) => (bits & 0x83ff) | 0x3000);

/** The bytes of a model of these nodes, from `x` to `y`, and of its weights. */
function product(nodes, initializers) {
  return {
    bytes: model({
      inputs: [value('x', 'float32', [1, size])],
      outputs: [value('y', 'float32', [1, size])],
      nodes,
      initializers,
      opsets: { 'com.microsoft': 1 },
    }),
    read: Object.values(initializers).reduce((total, { data }) => total + data.byteLength, 0),
  };
}

const nbits = (bits, zeros = {}) =>
  product(
    [
      node(
        'MatMulNBits',
        ['x', 'w', 's', ...Object.keys(zeros)],
        ['y'],
        { K: size, N: size, bits, block_size: block },
        { domain: 'com.microsoft' },
      ),
    ],
    {
      w: tensor('uint8', noise(Uint8Array, (size * size * bits) / 8), [
        size,
        blocks,
        (block * bits) / 8,
      ]),
      s: random(2, [size, blocks]),
      ...zeros,
    },
  );

const forms = {
  float32: () => product([node('MatMul', ['x', 'w'], ['y'])], { w: random(1, [size, size]) }),
  float16: () =>
    product([node('Cast', ['w'], ['f'], { to: 1 }), node('MatMul', ['x', 'f'], ['y'])], {
      w: tensor('float16', float16s(), [size, size]),
    }),
  'int8 by column': () =>
    product(
      [node('DequantizeLinear', ['w', 's'], ['f'], { axis: 1 }), node('MatMul', ['x', 'f'], ['y'])],
      { w: tensor('int8', noise(Int8Array, size * size), [size, size]), s: random(2, [size]) },
    ),
  'int8 by block': () => nbits(8),
  'int4 by block': () => nbits(4),
  'int4 by block, zero points': () =>
    nbits(4, { z: tensor('uint8', noise(Uint8Array, (size * blocks) / 2), [size, blocks / 2]) }),
};

/** Of each the bytes that it reads, and milliseconds. */
export async function products({ threads, settings }) {
  await tl.ready();
  tl.env().set('THREADS_COUNT', threads);
  const floats = 1 << 24;
  // From four streams at once: one core reads more of memory from several.
  const sum = ({ a }) => ({
    sum: [0, 1, 2, 3]
      .map((k) => a.slice([k, 0], [1, floats / 4]))
      .reduce((x, y) => x.add(y))
      .sum(),
  });
  const total = tl.compile({ a: [4, floats / 4] }, sum, { heap: false });
  // Untouched memory is mapped to one page of zeros.
  total.input('a').fill(1);
  const x = tl.tensor(random(3, [1, size]).data, [1, size]);
  const models = [];
  for (const [name, make] of Object.entries(forms)) {
    const { bytes, read } = make();
    models.push({ name, read, loaded: await tl.loadModel(bytes) });
  }
  const calls = models.map(({ loaded }) => async () => {
    const { y } = await loaded.run({ x });
    y.dispose();
  });
  const [limit, ...times] = await inTurns([() => total.callAsync(), ...calls], settings);
  for (const { loaded } of models) loaded.dispose();
  const rows = models.map(({ name, read }, at) => ({ name, read, ms: times[at] }));
  return { rows: [{ name: 'a sum, 64 MiB', read: 4 * floats, ms: limit }, ...rows] };
}
