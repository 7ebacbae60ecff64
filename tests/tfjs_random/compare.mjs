// Tolerances: results of TensorFlow.js with slightly perturbed operands.
import * as tf from '@tensorflow/tfjs';
import { Draw } from '../js/draw.mjs';
import { disposeAll, resultsOf } from './program.mjs';
import { rows } from './rows.mjs';

/** The relative perturbation of operands. */
const off = 3e-6;
const runs = 2;
/** Factor of the resulting differences. */
const share = 10;

/** Slightly perturbed numbers. */
export const disturbed = (values, d) =>
  Float32Array.from(values, (each) => each * (1 + off * (2 * d.next() - 1)));

/** Results of TensorFlow.js with perturbed operands of inexact operations. */
async function disturbedResults(program, run) {
  const d = new Draw(run);
  const made = [];
  const operand = (x, { name }) => {
    if (rows[name].exact || rows[name].isDiscontinuous || x.dtype !== 'float32') return x;
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

/** The tolerance of each number; NaN where it cannot be determined. */
export function tolerances({ values, dtype = 'float32' }, others) {
  const finite = values.filter(Number.isFinite);
  const largest = finite.reduce((max, each) => Math.max(max, Math.abs(each)), 0);
  return Float64Array.from(values, (each, at) => {
    const differences = others.map((other) =>
      isSame(other[at], each) ? 0 : Math.abs(other[at] - each),
    );
    const spread = Math.max(...differences);
    if (!/float|complex/.test(dtype)) return spread === 0 ? 0 : share * spread + 1;
    const magnitude = Number.isFinite(each) ? Math.abs(each) : 0;
    return 2e-5 * magnitude + 3e-6 * largest + 1e-6 + share * spread;
  });
}

/** Tolerances of all tensors of a program, by their ids. */
export async function tolerancesOf(program) {
  const others = [];
  for (let run = 0; run < runs; ++run) others.push(await disturbedResults(program, run));
  const found = new Map();
  for (const [id, expected] of program.expected) {
    const values = others.map((each) => each.get(id)?.values);
    const isComparable = values.every((each) => each?.length === expected.values.length);
    found.set(id, isComparable ? tolerances(expected, values) : expected.values.map(() => NaN));
  }
  return found;
}

/** Throws where shape, dtype or a number differs. */
export function compare(what, mine, expected, within) {
  const type = ({ dtype, shape }) => `${dtype} [${shape}]`;
  if (expected.dtype !== undefined && type(mine) !== type(expected))
    throw new Error(`${what} is ${type(mine)}, TensorFlow.js ${type(expected)}`);
  if (mine.values.length !== expected.values.length)
    throw new Error(`${what}: ${mine.values.length} numbers for ${expected.values.length}`);
  expected.values.forEach((each, at) => {
    const value = mine.values[at];
    if (isSame(value, each) || !Number.isFinite(within[at])) return;
    if (Math.abs(value - each) <= within[at]) return;
    throw new Error(
      `${what}: ${value} at ${at} of [${mine.shape}], TensorFlow.js ${each} ± ${within[at].toPrecision(2)}`,
    );
  });
}
