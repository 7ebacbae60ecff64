/** What networks apply to their values, element by element. NaN stays NaN. */
import { LatheError } from '../base/errors.js';
import { apply } from '../eager/apply.js';
import { castTo, elementwise, toTensor } from '../eager/operands.js';
import { ones } from '../eager/constants.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import { mul } from './arithmetic.js';
import { asFloats, isFloat, ofDType, toFloats } from './floats.js';
import { neg } from './unary.js';

const names = ['x'];

/** `at` where the condition holds, else `otherwise`, a number or a tensor. */
const choose = (condition: Tensor, at: Tensor | number, otherwise: Tensor | number, of: Tensor) =>
  apply('where', [condition, at, otherwise], [], of.dtype);

/** A function of numbers; bools are counted as integers. */
function ofNumbers(x: TensorLike, op: string, action: (x: Tensor) => Tensor): Tensor {
  return tidy(() => {
    const given = toTensor(x, 'x', op);
    const numbers = given.dtype === 'bool' ? castTo(given, 'int32') : given;
    return ofDType(action(numbers), given.dtype);
  });
}

/** A function of floats, of integers computed with them. */
const throughFloats = (x: TensorLike, op: string, action: (x: Tensor) => Tensor): Tensor =>
  ofNumbers(x, op, (given) => action(isFloat(given) ? given : castTo(given, 'float32')));

/** x where it is positive, else 0. */
export const relu = (x: TensorLike): Tensor =>
  ofNumbers(x, 'relu', (given) => apply('relu', [given]));

/** x between 0 and 6. */
export const relu6 = (x: TensorLike): Tensor =>
  ofNumbers(x, 'relu6', (given) => apply('relu6', [given]));

/** x where it is positive, else alpha · x. */
export const leakyRelu = (x: TensorLike, alpha = 0.2): Tensor =>
  tidy(() => apply('leakyRelu', [asFloats(x, 'x', 'leakyRelu')], [alpha]));

/** x where it is positive, else alpha · x with an alpha for each, of a shape that is broadcast. */
export const prelu = (x: TensorLike, alpha: TensorLike): Tensor =>
  tidy(() => {
    const given = asFloats(x, 'x', 'prelu');
    const scaled = mul(given, asFloats(alpha, 'alpha', 'prelu'));
    return choose(elementwise('greater', names, [given, 0]), given, scaled, given);
  });

/** x where it is positive, else e^x - 1. */
export const elu = (x: TensorLike): Tensor => tidy(() => apply('elu', [toFloats(x, 'x', 'elu')]));

/** The constants of G. Klambauer et al., "Self-Normalizing Neural Networks", 2017. */
const seluScale = 1.0507009873554805;
const seluAlpha = 1.6732632423543772;

/** scale · x where it is positive, else scale · alpha · (e^x - 1). */
export const selu = (x: TensorLike): Tensor =>
  throughFloats(x, 'selu', (given) => {
    const isAbove = apply('greater', [given, 0]);
    const below = apply('expm1', [choose(isAbove, 0, given, given)]);
    return choose(isAbove, mul(given, seluScale), mul(below, seluScale * seluAlpha), given);
  });

/** log(1 + e^x). */
export const softplus = (x: TensorLike): Tensor =>
  throughFloats(x, 'softplus', (given) => apply('softplus', [given]));

/** log(1 / (1 + e^-x)). */
export const logSigmoid = (x: TensorLike): Tensor =>
  throughFloats(x, 'logSigmoid', (given) => neg(softplus(neg(given))));

/** 1 where x is positive, else alpha; no gradient flows through it. */
export const step = (x: TensorLike, alpha = 0): Tensor =>
  ofNumbers(x, 'step', (given) => {
    const steps = choose(apply('greater', [given, 0], [], given.dtype), 1, alpha, given);
    if (!isFloat(given)) return steps;
    return choose(apply('isNaN', [given]), apply('detach', [given]), steps, given);
  });

/** x brought between two numbers. Error: the lower one is above the other. */
export function clipByValue(x: TensorLike, clipValueMin: number, clipValueMax: number): Tensor {
  return tidy(() => {
    const given = toTensor(x, 'x', 'clipByValue');
    if (!(clipValueMin <= clipValueMax)) {
      throw new LatheError(
        `Error in clip: min (${clipValueMin}) must be less than or equal to max (${clipValueMax}).`,
      );
    }
    if (clipValueMin === clipValueMax) {
      return mul(ones(given.shape, given.dtype), clipValueMin).cast(given.dtype);
    }
    const { dtype } = given;
    const [low, high] = isFloat(given)
      ? [clipValueMin, clipValueMax]
      : [whole(clipValueMin), whole(clipValueMax)];
    return apply('clipByValue', [given, low, high], [], dtype);
  });
}

/** The nearest int32 towards zero. */
const whole = (value: number) => Math.trunc(Math.min(Math.max(value, -(2 ** 31)), 2 ** 31 - 1));

/** e^x / Σ e^x along the last axis. Error: another axis. */
export const softmax = (logits: TensorLike, dim = -1): Tensor =>
  tidy(() =>
    apply('softmax', [alongLast(toFloats(logits, 'logits', 'softmax'), 'Softmax', dim)], [-1]),
  );

/** log of `softmax`. Error: another axis than the last. */
export const logSoftmax = (logits: TensorLike, axis = -1): Tensor =>
  tidy(() => {
    const given = asFloats(logits, 'logits', 'logSoftmax');
    return apply('logSoftmax', [alongLast(given, 'Log Softmax', axis)], [-1]);
  });

function alongLast(logits: Tensor, what: string, axis: number): Tensor {
  if (axis === -1 || axis === logits.rank - 1) return logits;
  throw new LatheError(
    `${what} along a non-last dimension is not yet supported. ` +
      `Logits was rank ${logits.rank} and ${what === 'Softmax' ? 'dim' : 'axis'} was ${axis}`,
  );
}
