/** Elementwise arithmetic with type promotion and broadcasting. */
import { applyOperation, type Operand } from '../../eager/apply.js';
import { castTo, elementwise, toTensor, toTensors } from '../../eager/operands.js';
import { LatheError } from '../../base/errors.js';
import type { OperationName } from '../../core/names.js';
import { partsOf } from '../../tensor/string_complex.js';
import { tidy } from '../../tensor/scopes.js';
import { Tensor, type TensorLike } from '../../tensor/tensor.js';
import { complexArithmetic, type ComplexOp } from '../common/complex.js';
import { isFloat, ofDType } from '../common/floats.js';
import { clone } from '../common/shapes.js';

const two = ['a', 'b'];

/** A binary operation on numbers, or on complex numbers if an operand is complex. */
function linear(op: ComplexOp, a: TensorLike, b: TensorLike): Tensor {
  const isStringOrComplex = (x: TensorLike) => x instanceof Tensor && partsOf(x) !== undefined;
  if (!isStringOrComplex(a) && !isStringOrComplex(b)) return elementwise(op, two, [a, b]);
  return tidy(() => complexArithmetic(op, toTensor(a, 'a', op), toTensor(b, 'b', op)));
}

/** a + b. */
export const add = (a: TensorLike, b: TensorLike): Tensor => linear('add', a, b);
/** a - b. */
export const sub = (a: TensorLike, b: TensorLike): Tensor => linear('sub', a, b);
/** a · b. */
export const mul = (a: TensorLike, b: TensorLike): Tensor => linear('mul', a, b);

/** a mod b, with the sign of b. */
export const mod = (a: TensorLike, b: TensorLike): Tensor => elementwise('mod', two, [a, b]);

/** a / b; of integers the quotient rounded towards negative infinity. */
export function div(a: TensorLike, b: TensorLike): Tensor {
  if ([a, b].some((x) => x instanceof Tensor && partsOf(x) !== undefined))
    return linear('div', a, b);
  return typed('div', a, b, (x, y) =>
    elementwise(typeof y !== 'number' && isInteger(x) && isInteger(y) ? 'floorDiv' : 'div', two, [
      x,
      y,
    ]),
  );
}

const isInteger = ({ dtype }: Tensor) => dtype === 'int32' || dtype === 'bool';

/** a / b rounded towards negative infinity, int32. */
export const floorDiv = (a: TensorLike, b: TensorLike): Tensor =>
  tidy(() => castTo(elementwise('floorDiv', two, [a, b]), 'int32'));

/** a / b, 0 where b is 0. */
export const divNoNan = (a: TensorLike, b: TensorLike): Tensor =>
  typed('divNoNan', a, b, (x, y) => {
    const input = toTensor(y, 'b', 'divNoNan');
    const by = input.dtype === 'bool' ? castTo(input, 'int32') : input;
    const isZero = applyOperation('equal', [by, 0], [], by.dtype);
    const quotient = div(x, applyOperation('where', [isZero, 1, by], [], by.dtype));
    return applyOperation('where', [isZero, 0, quotient], [], quotient.dtype);
  });

/** a^b. Of integers an integer. */
export const pow = (base: TensorLike, exp: TensorLike): Tensor => {
  return typed(
    'pow',
    base,
    exp,
    (x, y) => {
      return typeof y === 'number' || isFloat(x) || isFloat(y)
        ? elementwise('pow', ['base', 'exp'], [x, y])
        : integerPower(castTo(x, 'int32'), castTo(y, 'int32'));
    },
    ['base', 'exp'],
  );
};

/** Integer power by repeated squaring: exact, wraps on overflow. For exponents from 62 on only the parity matters. */
function integerPower(x: Tensor, y: Tensor): Tensor {
  const on = (op: OperationName, a: Operand, b: Operand) => applyOperation(op, [a, b], [], 'int32');
  const exponent = on('minimum', applyOperation('abs', [y]), on('add', on('mod', y, 2), 62));
  let [power, square] = [on('add', on('mul', exponent, 0), 1), x];
  for (let bit = 1; bit < 64; bit *= 2) {
    const isIn = on('notEqual', on('bitAnd', exponent, bit), 0);
    power = applyOperation('where', [isIn, on('mul', power, square), power]);
    const isMore = on('greaterEqual', exponent, 2 * bit);
    square = applyOperation('where', [isMore, on('mul', square, square), 1], [], 'int32');
  }
  const isInteger = applyOperation('logicalOr', [
    on('greaterEqual', y, 0),
    on('equal', on('mul', x, x), 1),
  ]);
  return applyOperation('where', [isInteger, power, 0], [], 'int32');
}

/** The elementwise maximum; NaN where either operand is NaN. */
export const maximum = (a: TensorLike, b: TensorLike): Tensor =>
  elementwise('maximum', two, [a, b]);
/** The elementwise minimum; NaN where either operand is NaN. */
export const minimum = (a: TensorLike, b: TensorLike): Tensor =>
  elementwise('minimum', two, [a, b]);

/** log(e^a + e^b) without overflow: the sum of probabilities given by their logarithms. Integers become float32. */
export const logAddExp = (a: TensorLike, b: TensorLike): Tensor =>
  elementwise('logAddExp', two, [a, b]);

/** (a - b)². */
export const squaredDifference = (a: TensorLike, b: TensorLike): Tensor =>
  typed('squaredDifference', a, b, (x, y) => {
    const difference = sub(x, y);
    return mul(difference, difference);
  });

/** The angle of the point (b, a). An integer for integers. */
export const atan2 = (a: TensorLike, b: TensorLike): Tensor =>
  typed('atan2', a, b, (x, y) => {
    const angle = elementwise('atan2' as OperationName, two, [x, y]);
    if (typeof y === 'number' || isFloat(x) || isFloat(y)) return angle;
    return ofDType(angle, 'int32');
  });

/** Bitwise and. Errors: other types than int32; different shapes. */
export const bitwiseAnd = (x: TensorLike, y: TensorLike): Tensor =>
  typed(
    'bitwiseAnd',
    x,
    y,
    (a, input) => {
      const b = typeof input === 'number' ? toTensor(input, 'y', 'bitwiseAnd') : input;
      if (a.shape.join() !== b.shape.join()) {
        throw new LatheError(
          `BitwiseAnd: Tensors must have the same shape. x: ${a.shape.join(',')}, y: ${b.shape.join(',')}`,
        );
      }
      if (a.dtype !== 'int32' || b.dtype !== 'int32') {
        throw new LatheError(
          `BitwiseAnd: Only supports 'int32' values in tensor, found type: ${a.dtype} and ${b.dtype}`,
        );
      }
      return applyOperation('bitAnd', [a, b]);
    },
    ['x', 'y'],
  );

/** Converts the operands to tensors; a number as second operand stays a number. */
function typed(
  op: string,
  a: TensorLike,
  b: TensorLike,
  action: (a: Tensor, b: Tensor | number) => Tensor,
  names: readonly string[] = two,
): Tensor {
  return tidy(() => {
    const x = toTensor(a, names[0]!, op);
    const isNumber = typeof b === 'number' && a instanceof Tensor;
    return action(x, isNumber ? b : toTensor(b, names[1]!, op));
  });
}

/** The sum of tensors of the same shape. Errors: an empty list; shapes or types differ. */
export function addN(tensors: readonly TensorLike[]): Tensor {
  if (!Array.isArray(tensors)) {
    throw new LatheError('The argument passed to tf.addN() must be a list of tensors');
  }
  if (tensors.length === 0) {
    throw new LatheError('Must pass at least one tensor to tf.addN(), but got 0');
  }
  return tidy(() => {
    const all = toTensors(tensors, 'tensors', 'addN');
    const [first] = all;
    for (const each of all) {
      if (each.dtype !== first!.dtype) {
        throw new LatheError('All tensors passed to tf.addN() must have the same dtype');
      }
      if (each.shape.join() !== first!.shape.join()) {
        throw new LatheError('All tensors passed to tf.addN() must have the same shape');
      }
    }
    return all.slice(1).reduce((sum, each) => add(sum, each), clone(first!));
  });
}
