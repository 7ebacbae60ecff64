/** Elementwise functions of one tensor. Those that TensorFlow.js defines only for floats reject other types. */
import { LatheError } from '../../base/errors.js';
import type { OperationName } from '../../core/names.js';
import { alias, applyOperation } from '../../eager/apply.js';
import { castTo, elementwise, toTensor } from '../../eager/operands.js';
import { partsOf } from '../../tensor/string_complex.js';
import { tidy } from '../../tensor/scopes.js';
import { Tensor, type TensorLike } from '../../tensor/tensor.js';
import { magnitude } from '../common/complex.js';
import { isFloat, ofDType, toFloats } from '../common/floats.js';

type Unary = (x: TensorLike) => Tensor;

const names = ['x'];

/** Accepts only floats. */
const ofFloats =
  (op: OperationName): Unary =>
  (x) =>
    x instanceof Tensor && isFloat(x)
      ? applyOperation(op, [x])
      : tidy(() => applyOperation(op, [toFloats(x, 'x', op)]));

/** Accepts all numbers; integers are computed as floats, then truncated. */
const onNumeric =
  (op: OperationName): Unary =>
  (x) =>
    tidy(() => {
      const input = toTensor(x, 'x', op);
      return ofDType(elementwise(op, names, [input]), input.dtype);
    });

const absolute = onNumeric('abs');

/** |x|; for complex numbers their magnitudes. */
export const abs = (x: TensorLike): Tensor =>
  x instanceof Tensor && partsOf(x) !== undefined ? magnitude(x) : absolute(x);
export const acos = onNumeric('acos');
export const acosh = onNumeric('acosh');
export const asin = onNumeric('asin');
export const asinh = onNumeric('asinh');
export const atan = onNumeric('atan');
export const atanh = onNumeric('atanh');
/** ⌈x⌉. */
export const ceil = ofFloats('ceil');
export const cos = ofFloats('cos');
export const cosh = ofFloats('cosh');
/** e^x. */
export const exp: Unary = (x) => elementwise('exp', names, [x]);
/** e^x - 1. */
export const expm1 = onNumeric('expm1');
/** ⌊x⌋. */
export const floor = ofFloats('floor');
/** Whether it is neither infinite nor NaN. */
export const isFinite: Unary = (x) => elementwise('isFinite', names, [x]);
/** Whether it is ∞ or -∞. */
export const isInf: Unary = (x) => elementwise('isInf', names, [x]);
export const isNaN: Unary = (x) => elementwise('isNaN', names, [x]);
export const log = ofFloats('log');
/** log(1 + x). */
export const log1p = onNumeric('log1p');
/** -x. */
export const neg = onNumeric('neg');
export const rsqrt = ofFloats('rsqrt');
export const sigmoid = ofFloats('sigmoid');
export const sin = ofFloats('sin');
export const sinh = onNumeric('sinh');
export const sqrt = ofFloats('sqrt');
export const tan = ofFloats('tan');
export const tanh = ofFloats('tanh');

/** The error function. Error: bools. */
export function erf(x: TensorLike): Tensor {
  const dtype = x instanceof Tensor ? x.dtype : 'float32';
  if (dtype === 'bool') throw new LatheError('Input dtype must be `int32` or `float32`.');
  return elementwise('erf', names, [x]);
}

/** The nearest integer, ties to even. */
export const round: Unary = (x) =>
  tidy(() => {
    const input = toTensor(x, 'x', 'round');
    return isFloat(input) ? applyOperation('round', [input]) : alias(input);
  });

/** 1 / x. */
export const reciprocal: Unary = (x) =>
  tidy(() => {
    const input = toTensor(x, 'x', 'reciprocal');
    const floats = isFloat(input) ? input : castTo(input, 'float32');
    return ofDType(applyOperation('reciprocal', [floats]), input.dtype);
  });

/** x². */
export const square: Unary = (x) =>
  tidy(() => {
    const input = toTensor(x, 'x', 'square');
    const numbers = input.dtype === 'bool' ? castTo(input, 'int32') : input;
    return ofDType(applyOperation('square', [numbers]), input.dtype);
  });

/** -1, 0 or 1; 0 for NaN. */
export const sign: Unary = (x) =>
  tidy(() => {
    const input = toTensor(x, 'x', 'sign');
    const found = elementwise('sign', names, [input]);
    const numbers = isFloat(input)
      ? applyOperation('where', [isNaN(input), 0, found], [], input.dtype)
      : found;
    return ofDType(numbers, input.dtype);
  });
