/** Complex tensors: pairs of real and imaginary tensors. */
import { LatheError } from '../../base/errors.js';
import { alias, applyOperation } from '../../eager/apply.js';
import { castTo, toTensor } from '../../eager/operands.js';
import { partsOf } from '../../tensor/string_complex.js';
import { zeros } from '../../eager/constants.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { complexOf } from './data_movement.js';

/** real + i·imag, complex64. Error: shapes differ. */
export function complex(real: TensorLike, imag: TensorLike): Tensor {
  return tidy(() => {
    const re = toTensor(real, 'real', 'complex');
    const im = toTensor(imag, 'imag', 'complex');
    if (re.shape.join() !== im.shape.join()) {
      throw new LatheError(
        `real and imag shapes, ${re.shape.join(',')} and ${im.shape.join(',')}, must match in call to tf.complex().`,
      );
    }
    return complexOf(castTo(re, 'float32'), castTo(im, 'float32'));
  });
}

/** The real parts; a real tensor itself. */
export const real = (input: TensorLike): Tensor =>
  tidy(() => {
    const x = toTensor(input, 'input', 'real');
    return alias(partsOf(x)?.real ?? castTo(x, 'float32'));
  });

/** The imaginary parts; zeros for a real tensor. */
export const imag = (input: TensorLike): Tensor =>
  tidy(() => {
    const x = toTensor(input, 'input', 'imag');
    const parts = partsOf(x);
    return parts === undefined ? zeros([...x.shape]) : alias(parts.imag);
  });

/** The complex conjugate; a real tensor is unchanged. */
export function conjugated(x: Tensor): Tensor {
  const parts = partsOf(x);
  return parts === undefined ? x : complexOf(parts.real, applyOperation('neg', [parts.imag]));
}

export type ComplexOp = 'add' | 'sub' | 'mul' | 'div';

interface Pair {
  re: Tensor;
  im: Tensor;
}

const pair = (x: Tensor): Pair => ({ re: real(x), im: imag(x) });
const times = (a: Tensor, b: Tensor) => applyOperation('mul', [a, b]);

/** Arithmetic with at least one complex operand. */
export function complexArithmetic(op: ComplexOp, a: Tensor, b: Tensor): Tensor {
  return tidy(() => {
    const [x, y] = [pair(a), pair(b)];
    if (op === 'add' || op === 'sub') {
      return complexOf(applyOperation(op, [x.re, y.re]), applyOperation(op, [x.im, y.im]));
    }
    const im = op === 'mul' ? y.im : applyOperation('neg', [y.im]);
    const re = applyOperation('sub', [times(x.re, y.re), times(x.im, im)]);
    const rest = applyOperation('add', [times(x.re, im), times(x.im, y.re)]);
    if (op === 'mul') return complexOf(re, rest);
    const norm = applyOperation('add', [times(y.re, y.re), times(y.im, y.im)]);
    return complexOf(applyOperation('div', [re, norm]), applyOperation('div', [rest, norm]));
  });
}

/** √(re² + im²). */
export function magnitude(x: Tensor): Tensor {
  return tidy(() => {
    const { re, im } = pair(x);
    return applyOperation('sqrt', [applyOperation('add', [times(re, re), times(im, im)])]);
  });
}
