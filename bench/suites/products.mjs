/** A: products of two matrices that are inputs, except short weights that are constants. */
import { randomProducts } from '../random_rows.mjs';
import { describe } from '../models/model.mjs';
import { inferenceRow } from './rows.mjs';

function product(
  name,
  [rows, depth, columns],
  { batch, transposeA, transposeB, dtype, isConstant } = {},
) {
  const m = describe(name);
  const input = (shape) => (dtype ? m.shortInput(shape, dtype) : m.input(shape));
  const lead = batch ? [batch] : [];
  const a = input([...lead, ...(transposeA ? [depth, rows] : [rows, depth])]);
  const shape = [...lead, ...(transposeB ? [columns, depth] : [depth, columns])];
  const b = isConstant ? m.shortConstant(shape, dtype) : input(shape);
  return inferenceRow(m.output(m.matMul(a, b, { transposeA, transposeB })));
}
const square = (name, size, options) => product(name, [size, size, size], options);

const squares = ['128³', '256³', '512³', '1024³'];
const large = squares.slice(1);
const awkward = ['127³', '257×129×511'];
const others = ['64³', ...awkward, '1×1024×1024', 'AᵀB 256³', 'ABᵀ 256³', '16 × 128³'];

export const products = {
  title: 'Products',
  about:
    'Products of two matrices that are inputs (`constant`: the second one is a constant); operands and results stay in the memory of each peer.',
  task: 'infer',
  options: { resident: true },
  peers: ['tensorlathe', 'wide', 'litert', 'tfjs', 'onnxruntime', 'jax', 'openblas'],
  rows: [
    ...[64, 128, 256, 512, 1024].map((size) => square(`${size}³`, size)),
    square('127³', 127),
    product('257×129×511', [257, 129, 511]),
    product('1×1024×1024', [1, 1024, 1024]),
    square('AᵀB 256³', 256, { transposeA: true }),
    square('ABᵀ 256³', 256, { transposeB: true }),
    square('16 × 128³', 128, { batch: 16 }),
    square('512³ int8', 512, { dtype: 'int8' }),
    product('1×1024×1024 int8', [1, 1024, 1024], { dtype: 'int8' }),
    product('1×1024×1024 float16', [1, 1024, 1024], { dtype: 'float16' }),
    ...['int8', 'float16', 'bfloat16'].map((dtype) =>
      product(`1×1024×1024 ${dtype} constant`, [1, 1024, 1024], { dtype, isConstant: true }),
    ),
  ],
  randomRows: randomProducts,
  targets: [
    { engine: 'chromium', threads: 1, rows: squares, fastest: 1.35, ceiling: 0.8 },
    { engine: 'chromium', threads: 1, rows: others, fastest: 1.7 },
    { engine: 'chromium', threads: 1, rows: awkward, squareRate: 0.7 },
    { engine: 'node', threads: 1, rows: large, narrow: 1.7 },
    { threads: 1, rows: ['512³ int8'], overFloats: 1 },
    { threads: 1, rows: ['1×1024×1024 int8'], overFloats: 2.5 },
    { threads: 1, rows: ['1×1024×1024 float16'], overFloats: 1.5 },
    { threads: 2, rows: large, oneThread: 1.7 },
    { threads: 2, oneThread: 0.95 },
  ],
};
