/** Functions of one tensor, element by element. Those that TensorFlow.js has of floats alone refuse other types. */
import { LatheError } from '../base/errors.js';
import type { OperationName } from '../core/names.js';
import { alias, apply } from '../eager/apply.js';
import { castTo, elementwise, toTensor } from '../eager/operands.js';
import { partsOf } from '../tensor/odd.js';
import { tidy } from '../tensor/scopes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import { magnitude } from './complex.js';
import { isFloat, ofDType, toFloats } from './floats.js';

type Unary = (x: TensorLike) => Tensor;

const names = ['x'];

/** Of floats alone. */
const ofFloats =
  (op: OperationName): Unary =>
  (x) =>
    x instanceof Tensor && isFloat(x)
      ? apply(op, [x])
      : tidy(() => apply(op, [toFloats(x, 'x', op)]));

/** Of all numbers; of integers computed with floats, then cut off. */
const ofNumbers =
  (op: OperationName): Unary =>
  (x) =>
    tidy(() => {
      const given = toTensor(x, 'x', op);
      return ofDType(elementwise(op, names, [given]), given.dtype);
    });

const absolute = ofNumbers('abs');

/** |x|; of complex numbers their magnitudes. */
export const abs = (x: TensorLike): Tensor =>
  x instanceof Tensor && partsOf(x) !== undefined ? magnitude(x) : absolute(x);
export const acos = ofNumbers('acos');
export const acosh = ofNumbers('acosh');
export const asin = ofNumbers('asin');
export const asinh = ofNumbers('asinh');
export const atan = ofNumbers('atan');
export const atanh = ofNumbers('atanh');
/** The next integer above. */
export const ceil = ofFloats('ceil');
export const cos = ofFloats('cos');
export const cosh = ofFloats('cosh');
/** e^x. */
export const exp: Unary = (x) => elementwise('exp', names, [x]);
/** e^x - 1. */
export const expm1 = ofNumbers('expm1');
/** The next integer below. */
export const floor = ofFloats('floor');
/** Whether it is neither infinite nor NaN. */
export const isFinite: Unary = (x) => elementwise('isFinite', names, [x]);
/** Whether it is ∞ or -∞. */
export const isInf: Unary = (x) => elementwise('isInf', names, [x]);
export const isNaN: Unary = (x) => elementwise('isNaN', names, [x]);
export const log = ofFloats('log');
/** log(1 + x). */
export const log1p = ofNumbers('log1p');
/** -x. */
export const neg = ofNumbers('neg');
export const rsqrt = ofFloats('rsqrt');
export const sigmoid = ofFloats('sigmoid');
export const sin = ofFloats('sin');
export const sinh = ofNumbers('sinh');
export const sqrt = ofFloats('sqrt');
export const tan = ofFloats('tan');
export const tanh = ofFloats('tanh');

/** The error function. Error: bools. */
export function erf(x: TensorLike): Tensor {
  const dtype = x instanceof Tensor ? x.dtype : 'float32';
  if (dtype === 'bool') throw new LatheError('Input dtype must be `int32` or `float32`.');
  return elementwise('erf', names, [x]);
}

/** The nearest integer, of two the even one. */
export const round: Unary = (x) =>
  tidy(() => {
    const given = toTensor(x, 'x', 'round');
    return isFloat(given) ? apply('round', [given]) : alias(given);
  });

/** 1 / x. */
export const reciprocal: Unary = (x) =>
  tidy(() => {
    const given = toTensor(x, 'x', 'reciprocal');
    const floats = isFloat(given) ? given : castTo(given, 'float32');
    return ofDType(apply('reciprocal', [floats]), given.dtype);
  });

/** x². */
export const square: Unary = (x) =>
  tidy(() => {
    const given = toTensor(x, 'x', 'square');
    const numbers = given.dtype === 'bool' ? castTo(given, 'int32') : given;
    return ofDType(apply('square', [numbers]), given.dtype);
  });

/** -1, 0 or 1; of NaN 0. */
export const sign: Unary = (x) =>
  tidy(() => {
    const given = toTensor(x, 'x', 'sign');
    const found = elementwise('sign', names, [given]);
    const numbers = isFloat(given)
      ? apply('where', [isNaN(given), 0, found], [], given.dtype)
      : found;
    return ofDType(numbers, given.dtype);
  });
