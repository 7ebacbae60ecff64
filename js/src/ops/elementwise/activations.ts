/** Activation functions, elementwise. NaN is propagated. */
import { LatheError } from '../../base/errors.js';
import { applyOperation } from '../../eager/apply.js';
import { castTo, elementwise, toTensor } from '../../eager/operands.js';
import { ones } from '../../eager/constants.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { mul } from './arithmetic.js';
import { asFloats, isFloat, ofDType, toFloats } from '../common/floats.js';
import { neg } from './unary.js';

const names = ['x'];

/** `at` where the condition is true, else `otherwise`, a number or a tensor. */
const choose = (condition: Tensor, at: Tensor | number, otherwise: Tensor | number, of: Tensor) =>
  applyOperation('where', [condition, at, otherwise], [], of.dtype);

/** Applies `action` to a numeric tensor; bools are cast to int32 before and back after. */
function onNumeric(x: TensorLike, op: string, action: (x: Tensor) => Tensor): Tensor {
  return tidy(() => {
    const input = toTensor(x, 'x', op);
    const numbers = input.dtype === 'bool' ? castTo(input, 'int32') : input;
    return ofDType(action(numbers), input.dtype);
  });
}

/** Applies `action` to floats; integers are cast to float32 before and back after. */
const onFloats = (x: TensorLike, op: string, action: (x: Tensor) => Tensor): Tensor =>
  onNumeric(x, op, (input) => action(isFloat(input) ? input : castTo(input, 'float32')));

/** max(x, 0). */
export const relu = (x: TensorLike): Tensor =>
  onNumeric(x, 'relu', (input) => applyOperation('relu', [input]));

/** min(max(x, 0), 6). */
export const relu6 = (x: TensorLike): Tensor =>
  onNumeric(x, 'relu6', (input) => applyOperation('relu6', [input]));

/** x where it is positive, else alpha · x. */
export const leakyRelu = (x: TensorLike, alpha = 0.2): Tensor =>
  tidy(() => applyOperation('leakyRelu', [asFloats(x, 'x', 'leakyRelu')], [alpha]));

/** x where it is positive, else alpha · x; alpha is broadcast. */
export const prelu = (x: TensorLike, alpha: TensorLike): Tensor =>
  tidy(() => {
    const input = asFloats(x, 'x', 'prelu');
    const scaled = mul(input, asFloats(alpha, 'alpha', 'prelu'));
    return choose(elementwise('greater', names, [input, 0]), input, scaled, input);
  });

/** x where it is positive, else e^x - 1. */
export const elu = (x: TensorLike): Tensor =>
  tidy(() => applyOperation('elu', [toFloats(x, 'x', 'elu')]));

/** The constants of G. Klambauer et al., "Self-Normalizing Neural Networks", 2017. */
const seluScale = 1.0507009873554805;
const seluAlpha = 1.6732632423543772;

/** scale · x where it is positive, else scale · alpha · (e^x - 1). */
export const selu = (x: TensorLike): Tensor =>
  onFloats(x, 'selu', (input) => {
    const isAbove = applyOperation('greater', [input, 0]);
    const below = applyOperation('expm1', [choose(isAbove, 0, input, input)]);
    return choose(isAbove, mul(input, seluScale), mul(below, seluScale * seluAlpha), input);
  });

/** log(1 + e^x). */
export const softplus = (x: TensorLike): Tensor =>
  onFloats(x, 'softplus', (input) => applyOperation('softplus', [input]));

/** log(1 / (1 + e^-x)). */
export const logSigmoid = (x: TensorLike): Tensor =>
  onFloats(x, 'logSigmoid', (input) => neg(softplus(neg(input))));

/** 1 where x is positive, else alpha; its gradient is zero. */
export const step = (x: TensorLike, alpha = 0): Tensor =>
  onNumeric(x, 'step', (input) => {
    const steps = choose(applyOperation('greater', [input, 0], [], input.dtype), 1, alpha, input);
    if (!isFloat(input)) return steps;
    return choose(
      applyOperation('isNaN', [input]),
      applyOperation('detach', [input]),
      steps,
      input,
    );
  });

/** Clamps x to [clipValueMin, clipValueMax]. Error: an empty interval. */
export function clipByValue(x: TensorLike, clipValueMin: number, clipValueMax: number): Tensor {
  return tidy(() => {
    const input = toTensor(x, 'x', 'clipByValue');
    if (!(clipValueMin <= clipValueMax)) {
      throw new LatheError(
        `Error in clip: min (${clipValueMin}) must be less than or equal to max (${clipValueMax}).`,
      );
    }
    if (clipValueMin === clipValueMax) {
      return mul(ones(input.shape, input.dtype), clipValueMin).cast(input.dtype);
    }
    const { dtype } = input;
    const [low, high] = isFloat(input)
      ? [clipValueMin, clipValueMax]
      : [toInt32(clipValueMin), toInt32(clipValueMax)];
    return applyOperation('clipByValue', [input, low, high], [], dtype);
  });
}

/** Truncates and clamps to int32. */
const toInt32 = (value: number) => Math.trunc(Math.min(Math.max(value, -(2 ** 31)), 2 ** 31 - 1));

/** e^x / Σ e^x along the last axis. Error: another axis. */
export const softmax = (logits: TensorLike, dim = -1): Tensor =>
  tidy(() =>
    applyOperation(
      'softmax',
      [checkLastAxis(toFloats(logits, 'logits', 'softmax'), 'Softmax', dim)],
      [-1],
    ),
  );

/** log of `softmax`. Error: another axis than the last. */
export const logSoftmax = (logits: TensorLike, axis = -1): Tensor =>
  tidy(() => {
    const input = asFloats(logits, 'logits', 'logSoftmax');
    return applyOperation('logSoftmax', [checkLastAxis(input, 'Log Softmax', axis)], [-1]);
  });

function checkLastAxis(logits: Tensor, what: string, axis: number): Tensor {
  if (axis === -1 || axis === logits.rank - 1) return logits;
  throw new LatheError(
    `${what} along a non-last dimension is not yet supported. ` +
      `Logits was rank ${logits.rank} and ${what === 'Softmax' ? 'dim' : 'axis'} was ${axis}`,
  );
}
