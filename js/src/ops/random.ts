/** Random numbers. A seed makes them reproducible; the streams are not those of TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { checkCount, maxElements } from '../base/limits.js';
import { elementCount } from '../base/shape.js';
import { alias, applyOperation } from '../eager/apply.js';
import { checkBytes } from '../eager/constants.js';
import { castTo, toTensor } from '../eager/operands.js';
import { randomSeed } from '../eager/seeds.js';
import { scalar, tensor } from '../tensor/create.js';
import type { Rank, ShapeOf } from '../tensor/ranks.js';
import type { DType } from '../tensor/dtypes.js';
import { tidy } from '../tensor/scopes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import { add, div, mul } from './elementwise/arithmetic.js';
import { greater } from './elementwise/compare.js';
import { checkShape } from './arrays/create.js';
import { asFloats } from './common/floats.js';
import { sum } from './reductions/reduce.js';
import { softmax } from './elementwise/activations.js';
import { floor } from './elementwise/unary.js';

type Shape = readonly number[];

/** The seed as an operand, so that another seed does not recompile; by default a random one. */
const seedOf = (seed?: number | string | null): Tensor =>
  seed === undefined || seed === null ? randomSeed('int32') : scalar(bitsOf(seed), 'int32');

function bitsOf(seed?: number | string | null): number {
  if (seed === undefined || seed === null) return Math.floor(Math.random() * 2 ** 31);
  if (typeof seed === 'number' && Number.isInteger(seed)) return seed | 0;
  let hash = 0;
  for (const each of String(seed)) hash = (Math.imul(hash, 31) + each.codePointAt(0)!) | 0;
  return hash;
}

/** Samples a distribution in the core, then scales and shifts. */
function drawn(
  op: 'randomUniform' | 'randomNormal' | 'truncatedNormal',
  shape: Shape,
  [from, by]: readonly [number, number],
  input: DType | null,
  seed?: number | string | null,
): Tensor {
  const dtype = input ?? 'float32';
  checkShape(shape);
  checkBytes(op, shape, dtype);
  return tidy(() => {
    const numbers = applyOperation(op, [seedOf(seed)], [[...shape], 0, 1]);
    const spread = applyOperation('add', [applyOperation('mul', [numbers, by]), from]);
    const isInteger = op !== 'randomUniform' && !dtype.includes('float');
    return castTo(isInteger ? applyOperation('round', [spread]) : spread, dtype);
  });
}

/** Numbers from a user function, called once for each element. */
export function rand(shape: Shape, randFunction: () => number, dtype: DType = 'float32'): Tensor {
  checkBytes('rand', shape, dtype);
  const values = Float64Array.from({ length: elementCount(shape) }, () => randFunction());
  return tensor(values, [...shape], dtype);
}

/** Uniform samples of [minval, maxval); for bool, true or false. */
export function randomUniform<R extends Rank = any>(
  shape: ShapeOf<R>,
  minval = 0,
  maxval = 1,
  dtype: DType = 'float32',
  seed?: number | string,
): Tensor<R> {
  return drawn('randomUniform', shape, [minval, maxval - minval], dtype, seed);
}

/** Uniform integers of [minval, maxval). */
export const randomUniformInt = (
  shape: Shape,
  minval: number,
  maxval: number,
  seed?: number | string,
): Tensor =>
  tidy(() => castTo(floor(randomUniform(shape, minval, maxval, 'float32', seed)), 'int32'));

/** Normal samples. Error: bool. */
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

/** Normal samples truncated at two standard deviations. Error: bool. */
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

/** Gamma samples of shape alpha and rate beta. Error: other types than float32 and int32. */
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

/** Uniform samples of the open interval (0, 1) (G. Marsaglia, "Xorshift RNGs", 2003), the seed spread by a Weyl step. */
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
 * Class indices sampled from a categorical distribution, int32 [numSamples] or [rows, numSamples].
 *
 * @param logits unnormalized log-probabilities, [classes] or [rows, classes]; `normalized`: the probabilities
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
    const input = asFloats(logits, 'logits', 'multinomial');
    const [classes, { rank }] = [input.size / (input.rank === 2 ? input.shape[0]! : 1), input];
    if (classes < 2) {
      throw new LatheError(
        `Error in multinomial: you need at least 2 outcomes, but got ${classes}.`,
      );
    }
    if (rank !== 1 && rank !== 2) {
      throw new LatheError(`Rank of probabilities must be 1 or 2, but is ${rank}`);
    }
    const rows = input.size / classes;
    const table = applyOperation('reshape', [input], [[rows, 1, classes]]);
    const shares = normalized ? table : softmax(table);
    const bounds = applyOperation(
      'cumsum',
      [
        applyOperation(
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
    checkCount('multinomial', what, rows * numSamples * (classes - 1), maxElements);
    const chance = randomUniform([rows, numSamples, 1], 0, 1, 'float32', seed);
    const found = sum(greater(chance, bounds), 2);
    return rank === 1 ? applyOperation('reshape', [found], [[numSamples]]) : found;
  });
}

/**
 * Dropout: sets elements to 0 with probability `rate` and divides the others by 1 - rate.
 *
 * @param noiseShape where it is 1 or null, one mask is broadcast along the axis
 *
 * Errors: not floats; a rate outside [0, 1).
 */
export function dropout(
  x: TensorLike,
  rate: number,
  noiseShape?: readonly (number | null)[],
  seed?: number | string,
): Tensor {
  return tidy(() => {
    const input = toTensor(x, 'x', 'dropout');
    if (!input.dtype.includes('float')) {
      throw new LatheError(
        `x has to be a floating point tensor since it's going to be scaled, but got a ${input.dtype} tensor instead.`,
      );
    }
    if (!(rate >= 0 && rate < 1)) {
      throw new LatheError(`rate must be a float in the range [0, 1), but got ${rate}.`);
    }
    if (rate === 0) return x instanceof Tensor ? alias(input) : input;
    const shape = noiseShape?.map((size, axis) => size ?? input.shape[axis]!) ?? input.shape;
    const keepMask = floor(add(randomUniform(shape, 0, 1, 'float32', seed), 1 - rate));
    return mul(input, div(keepMask, 1 - rate));
  });
}
