/** Arithmetic, element by element; operands of different types become the wider one, shapes are broadcast. */
import { apply, type Operand } from '../eager/apply.js';
import { castTo, elementwise, toTensor, toTensors } from '../eager/operands.js';
import { LatheError } from '../base/errors.js';
import type { OperationName } from '../core/names.js';
import { partsOf } from '../tensor/odd.js';
import { tidy } from '../tensor/scopes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import { complexArithmetic, type ComplexOp } from './complex.js';
import { isFloat, ofDType } from './floats.js';
import { clone } from './shapes.js';

const two = ['a', 'b'];

/** Of numbers, or where one is complex of complex ones. */
function linear(op: ComplexOp, a: TensorLike, b: TensorLike): Tensor {
  const isOdd = (x: TensorLike) => x instanceof Tensor && partsOf(x) !== undefined;
  if (!isOdd(a) && !isOdd(b)) return elementwise(op, two, [a, b]);
  return tidy(() => complexArithmetic(op, toTensor(a, 'a', op), toTensor(b, 'b', op)));
}

/** a + b. */
export const add = (a: TensorLike, b: TensorLike): Tensor => linear('add', a, b);
/** a - b. */
export const sub = (a: TensorLike, b: TensorLike): Tensor => linear('sub', a, b);
/** a · b. */
export const mul = (a: TensorLike, b: TensorLike): Tensor => linear('mul', a, b);

/** What remains of a / b, with the sign of b. */
export const mod = (a: TensorLike, b: TensorLike): Tensor => elementwise('mod', two, [a, b]);

/** a / b; of integers the quotient rounded towards negative infinity. */
export function div(a: TensorLike, b: TensorLike): Tensor {
  if ([a, b].some((x) => x instanceof Tensor && partsOf(x) !== undefined))
    return linear('div', a, b);
  return typed('div', a, b, (x, y) =>
    elementwise(typeof y !== 'number' && isWhole(x) && isWhole(y) ? 'floorDiv' : 'div', two, [
      x,
      y,
    ]),
  );
}

const isWhole = ({ dtype }: Tensor) => dtype === 'int32' || dtype === 'bool';

/** a / b rounded towards negative infinity, int32. */
export const floorDiv = (a: TensorLike, b: TensorLike): Tensor =>
  tidy(() => castTo(elementwise('floorDiv', two, [a, b]), 'int32'));

/** a / b, 0 where b is 0. */
export const divNoNan = (a: TensorLike, b: TensorLike): Tensor =>
  typed('divNoNan', a, b, (x, y) => {
    const given = toTensor(y, 'b', 'divNoNan');
    const by = given.dtype === 'bool' ? castTo(given, 'int32') : given;
    const isZero = apply('equal', [by, 0], [], by.dtype);
    const quotient = div(x, apply('where', [isZero, 1, by], [], by.dtype));
    return apply('where', [isZero, 0, quotient], [], quotient.dtype);
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
        : wholePower(castTo(x, 'int32'), castTo(y, 'int32'));
    },
    ['base', 'exp'],
  );
};

/** Of integers by squares: exact, and what is too great wraps. From 62 on exponents count as even or odd ones. */
function wholePower(x: Tensor, y: Tensor): Tensor {
  const on = (op: OperationName, a: Operand, b: Operand) => apply(op, [a, b], [], 'int32');
  const exponent = on('minimum', apply('abs', [y]), on('add', on('mod', y, 2), 62));
  let [power, square] = [on('add', on('mul', exponent, 0), 1), x];
  for (let bit = 1; bit < 64; bit *= 2) {
    const isIn = on('notEqual', on('bitAnd', exponent, bit), 0);
    power = apply('where', [isIn, on('mul', power, square), power]);
    const isMore = on('greaterEqual', exponent, 2 * bit);
    square = apply('where', [isMore, on('mul', square, square), 1], [], 'int32');
  }
  const isWhole = apply('logicalOr', [on('greaterEqual', y, 0), on('equal', on('mul', x, x), 1)]);
  return apply('where', [isWhole, power, 0], [], 'int32');
}

/** The greater one; NaN beside anything is NaN. */
export const maximum = (a: TensorLike, b: TensorLike): Tensor =>
  elementwise('maximum', two, [a, b]);
/** The less one; NaN beside anything is NaN. */
export const minimum = (a: TensorLike, b: TensorLike): Tensor =>
  elementwise('minimum', two, [a, b]);

/** (a - b)². */
export const squaredDifference = (a: TensorLike, b: TensorLike): Tensor =>
  typed('squaredDifference', a, b, (x, y) => {
    const difference = sub(x, y);
    return mul(difference, difference);
  });

/** The angle of the point (b, a). Of integers an integer. */
export const atan2 = (a: TensorLike, b: TensorLike): Tensor =>
  typed('atan2', a, b, (x, y) => {
    const angle = elementwise('atan2' as OperationName, two, [x, y]);
    if (typeof y === 'number' || isFloat(x) || isFloat(y)) return angle;
    return ofDType(angle, 'int32');
  });

/** The bits that both have. Errors: other types than int32; different shapes. */
export const bitwiseAnd = (x: TensorLike, y: TensorLike): Tensor =>
  typed(
    'bitwiseAnd',
    x,
    y,
    (a, given) => {
      const b = typeof given === 'number' ? toTensor(given, 'y', 'bitwiseAnd') : given;
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
      return apply('bitAnd', [a, b]);
    },
    ['x', 'y'],
  );

/** Runs on tensors of what was given; a number behind a tensor stays one. */
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

/** The sum of tensors of the same shape. Errors: none is given; shapes or types differ. */
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
