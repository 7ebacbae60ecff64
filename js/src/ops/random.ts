/** Random numbers. With a seed the same ones come again, though not those of TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { checkCount, mostElements } from '../base/limits.js';
import { elementCount } from '../base/shape.js';
import { alias, apply } from '../eager/apply.js';
import { checkBytes } from '../eager/constants.js';
import { castTo, toTensor } from '../eager/operands.js';
import { randomSeed } from '../eager/seeds.js';
import { scalar, tensor } from '../tensor/create.js';
import type { Rank, ShapeOf } from '../tensor/ranks.js';
import type { DType } from '../tensor/dtypes.js';
import { tidy } from '../tensor/scopes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import { add, div, mul } from './arithmetic.js';
import { greater } from './compare.js';
import { checkShape } from './create.js';
import { asFloats } from './floats.js';
import { sum } from './reduce.js';
import { softmax } from './activations.js';
import { floor } from './unary.js';

type Shape = readonly number[];

/** The seed as an operand, so that another one compiles nothing; left out: one that nobody knows. */
const seedOf = (seed?: number | string | null): Tensor =>
  seed === undefined || seed === null ? randomSeed('int32') : scalar(bitsOf(seed), 'int32');

function bitsOf(seed?: number | string | null): number {
  if (seed === undefined || seed === null) return Math.floor(Math.random() * 2 ** 31);
  if (typeof seed === 'number' && Number.isInteger(seed)) return seed | 0;
  let hash = 0;
  for (const each of String(seed)) hash = (Math.imul(hash, 31) + each.codePointAt(0)!) | 0;
  return hash;
}

/** Numbers of a distribution by the core, then shifted and stretched. */
function drawn(
  op: 'randomUniform' | 'randomNormal' | 'truncatedNormal',
  shape: Shape,
  [from, by]: readonly [number, number],
  given: DType | null,
  seed?: number | string | null,
): Tensor {
  const dtype = given ?? 'float32';
  checkShape(shape);
  checkBytes(op, shape, dtype);
  return tidy(() => {
    const numbers = apply(op, [seedOf(seed)], [[...shape], 0, 1]);
    const spread = apply('add', [apply('mul', [numbers, by]), from]);
    const isWhole = op !== 'randomUniform' && !dtype.includes('float');
    return castTo(isWhole ? apply('round', [spread]) : spread, dtype);
  });
}

/** Numbers that a function of yours gives, one for each element. */
export function rand(shape: Shape, randFunction: () => number, dtype: DType = 'float32'): Tensor {
  checkBytes('rand', shape, dtype);
  const values = Float64Array.from({ length: elementCount(shape) }, () => randFunction());
  return tensor(values, [...shape], dtype);
}

/** Numbers of the range from minval up to maxval, each as likely; of bool true or false. */
export function randomUniform<R extends Rank = any>(
  shape: ShapeOf<R>,
  minval = 0,
  maxval = 1,
  dtype: DType = 'float32',
  seed?: number | string,
): Tensor<R> {
  return drawn('randomUniform', shape, [minval, maxval - minval], dtype, seed);
}

/** Integers from minval up to maxval without it. */
export const randomUniformInt = (
  shape: Shape,
  minval: number,
  maxval: number,
  seed?: number | string,
): Tensor =>
  tidy(() => castTo(floor(randomUniform(shape, minval, maxval, 'float32', seed)), 'int32'));

/** Normally distributed numbers. Error: bool. */
export function randomNormal<R extends Rank = any>(
  shape: ShapeOf<R>,
  mean = 0,
  stdDev = 1,
  dtype: DType = 'float32',
  seed?: number,
): Tensor<R> {
  if (dtype === 'bool') throw new LatheError(`Unsupported data type ${dtype}`);
  return drawn('randomNormal', shape, [mean, stdDev], dtype, seed);
}

/** `randomNormal` of mean 0 and standard deviation 1. */
export const randomStandardNormal = (shape: Shape, dtype?: DType, seed?: number): Tensor => {
  if (dtype === 'bool') throw new LatheError(`Unsupported data type ${dtype}`);
  return randomNormal(shape, 0, 1, dtype, seed);
};

/** Normally distributed numbers, none further from the mean than twice the standard deviation. Error: bool. */
export function truncatedNormal<R extends Rank = any>(
  shape: ShapeOf<R>,
  mean = 0,
  stdDev = 1,
  dtype: DType = 'float32',
  seed?: number,
): Tensor<R> {
  if (dtype === 'bool') throw new LatheError(`Unsupported data type ${dtype}`);
  return drawn('truncatedNormal', shape, [mean, stdDev], dtype, seed);
}

/** Gamma-distributed numbers of shape alpha and rate beta. Error: other types than float32 and int32. */
export function randomGamma(
  shape: Shape,
  alpha: number,
  beta = 1,
  dtype: DType = 'float32',
  seed?: number,
): Tensor {
  const rate = beta ?? 1;
  if (dtype !== 'float32' && dtype !== 'int32') {
    throw new LatheError(`Unsupported data type ${String(dtype)}`);
  }
  checkShape(shape);
  checkBytes('randomGamma', shape, dtype);
  const next = generator(bitsOf(seed));
  const values = Float64Array.from(
    { length: elementCount(shape) },
    () => gamma(alpha, next) / rate,
  );
  return tensor(values, [...shape], dtype);
}

/** Numbers from 0 to 1 without both (G. Marsaglia, "Xorshift RNGs", 2003), the seed spread by a Weyl step. */
function generator(seed: number): () => number {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ 0x27d4eb2f) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state >>> 0) + 0.5) / 2 ** 32;
  };
}

/** G. E. P. Box, M. E. Muller, "A Note on the Generation of Random Normal Deviates", 1958. */
const normal = (next: () => number): number =>
  Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());

/** G. Marsaglia, W. W. Tsang, "A Simple Method for Generating Gamma Variables", 2000; alpha below 1 by its section 6. */
function gamma(alpha: number, next: () => number): number {
  if (alpha < 1) return gamma(alpha + 1, next) * next() ** (1 / alpha);
  const d = alpha - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(next);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(next()) < x * x * 0.5 + d * (1 - v + Math.log(v))) return d * v;
  }
}

/**
 * Classes drawn by their probabilities, int32 [numSamples] or [rows, numSamples].
 *
 * @param logits logarithms of the probabilities, [classes] or [rows, classes]; `normalized`: the probabilities
 *
 * Errors: another rank; fewer than two classes.
 */
export function multinomial(
  logits: TensorLike,
  numSamples: number,
  seed?: number,
  normalized = false,
): Tensor {
  return tidy(() => {
    const given = asFloats(logits, 'logits', 'multinomial');
    const [classes, { rank }] = [given.size / (given.rank === 2 ? given.shape[0]! : 1), given];
    if (classes < 2) {
      throw new LatheError(
        `Error in multinomial: you need at least 2 outcomes, but got ${classes}.`,
      );
    }
    if (rank !== 1 && rank !== 2) {
      throw new LatheError(`Rank of probabilities must be 1 or 2, but is ${rank}`);
    }
    const rows = given.size / classes;
    const table = apply('reshape', [given], [[rows, 1, classes]]);
    const shares = normalized ? table : softmax(table);
    const bounds = apply(
      'cumsum',
      [
        apply(
          'slice',
          [shares],
          [
            [0, 0, 0],
            [rows, 1, classes - 1],
          ],
        ),
      ],
      [2],
    );
    const what = 'comparisons of samples with classes';
    checkCount('multinomial', what, rows * numSamples * (classes - 1), mostElements);
    const chance = randomUniform([rows, numSamples, 1], 0, 1, 'float32', seed);
    const found = sum(greater(chance, bounds), 2);
    return rank === 1 ? apply('reshape', [found], [[numSamples]]) : found;
  });
}

/**
 * x with each element set to 0 with the probability `rate`, the others divided by 1 - rate.
 *
 * @param noiseShape where it is 1 or null, the same is kept along the whole axis
 *
 * Errors: no floats; a rate that is not from 0 to 1 without 1.
 */
export function dropout(
  x: TensorLike,
  rate: number,
  noiseShape?: readonly (number | null)[],
  seed?: number | string,
): Tensor {
  return tidy(() => {
    const given = toTensor(x, 'x', 'dropout');
    if (!given.dtype.includes('float')) {
      throw new LatheError(
        `x has to be a floating point tensor since it's going to be scaled, but got a ${given.dtype} tensor instead.`,
      );
    }
    if (!(rate >= 0 && rate < 1)) {
      throw new LatheError(`rate must be a float in the range [0, 1), but got ${rate}.`);
    }
    if (rate === 0) return x instanceof Tensor ? alias(given) : given;
    const shape = noiseShape?.map((size, axis) => size ?? given.shape[axis]!) ?? given.shape;
    const kept = floor(add(randomUniform(shape, 0, 1, 'float32', seed), 1 - rate));
    return mul(given, div(kept, 1 - rate));
  });
}
