// How far numbers may be apart: what comes out where TensorFlow.js computes with operands that are a little off.
import * as tf from '@tensorflow/tfjs';
import { Draw } from '../js/draw.mjs';
import { disposeAll, resultsOf } from './program.mjs';
import { rows } from './rows.mjs';

/** How far off operands are, relative to themselves. */
const off = 3e-6;
const runs = 2;
/** What counts of the differences that makes. */
const share = 10;

/** The numbers a little off. */
export const disturbed = (values, d) =>
  Float32Array.from(values, (each) => each * (1 + off * (2 * d.next() - 1)));

/** What TensorFlow.js gives where operands of operations that round are a little off. */
async function disturbedResults(program, run) {
  const d = new Draw(run);
  const made = [];
  const operand = (x, { name }) => {
    if (rows[name].exact || rows[name].cuts || x.dtype !== 'float32') return x;
    made.push(tf.tensor(disturbed(x.dataSync(), d), x.shape));
    return made.at(-1);
  };
  try {
    return await resultsOf(program, tf, operand);
  } finally {
    disposeAll(made);
  }
}

const isSame = (a, b) => a === b || (Number.isNaN(a) && Number.isNaN(b));

/** How far each number may be from where it is; NaN where nothing can be said. */
export function tolerances({ values, dtype = 'float32' }, others) {
  const finite = values.filter(Number.isFinite);
  const greatest = finite.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
  return Float64Array.from(values, (each, at) => {
    const apart = others.map((other) => (isSame(other[at], each) ? 0 : Math.abs(other[at] - each)));
    const spread = Math.max(...apart);
    if (!/float|complex/.test(dtype)) return spread === 0 ? 0 : share * spread + 1;
    const own = Number.isFinite(each) ? Math.abs(each) : 0;
    return 2e-5 * own + 3e-6 * greatest + 1e-6 + share * spread;
  });
}

/** Tolerances of all tensors of a program, by their ids. */
export async function tolerancesOf(program) {
  const others = [];
  for (let run = 0; run < runs; ++run) others.push(await disturbedResults(program, run));
  const found = new Map();
  for (const [id, wanted] of program.wanted) {
    const values = others.map((each) => each.get(id)?.values);
    const isKnown = values.every((each) => each?.length === wanted.values.length);
    found.set(id, isKnown ? tolerances(wanted, values) : wanted.values.map(() => NaN));
  }
  return found;
}

/** Error: shape, type or a number is another one. */
export function compare(what, mine, wanted, within) {
  const type = ({ dtype, shape }) => `${dtype} [${shape}]`;
  if (wanted.dtype !== undefined && type(mine) !== type(wanted))
    throw new Error(`${what} is ${type(mine)}, TensorFlow.js ${type(wanted)}`);
  if (mine.values.length !== wanted.values.length)
    throw new Error(`${what}: ${mine.values.length} numbers for ${wanted.values.length}`);
  wanted.values.forEach((each, at) => {
    const value = mine.values[at];
    if (isSame(value, each) || !Number.isFinite(within[at])) return;
    if (Math.abs(value - each) <= within[at]) return;
    throw new Error(
      `${what}: ${value} at ${at} of [${mine.shape}], TensorFlow.js ${each} ± ${within[at].toPrecision(2)}`,
    );
  });
}
