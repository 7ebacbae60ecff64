/** Complex numbers: tensors of two parts. */
import { LatheError } from '../base/errors.js';
import { alias, apply } from '../eager/apply.js';
import { castTo, toTensor } from '../eager/operands.js';
import { partsOf } from '../tensor/odd.js';
import { zeros } from '../eager/constants.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import { complexOf } from './moving.js';

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

/** The real parts; of numbers themselves. */
export const real = (input: TensorLike): Tensor =>
  tidy(() => {
    const x = toTensor(input, 'input', 'real');
    return alias(partsOf(x)?.real ?? castTo(x, 'float32'));
  });

/** The imaginary parts; of numbers zeros. */
export const imag = (input: TensorLike): Tensor =>
  tidy(() => {
    const x = toTensor(input, 'input', 'imag');
    const parts = partsOf(x);
    return parts === undefined ? zeros([...x.shape]) : alias(parts.imag);
  });

/** Complex numbers with the other sign of their imaginary parts; numbers as they are. */
export function conjugated(x: Tensor): Tensor {
  const parts = partsOf(x);
  return parts === undefined ? x : complexOf(parts.real, apply('neg', [parts.imag]));
}

export type ComplexOp = 'add' | 'sub' | 'mul' | 'div';

interface Pair {
  re: Tensor;
  im: Tensor;
}

const pair = (x: Tensor): Pair => ({ re: real(x), im: imag(x) });
const times = (a: Tensor, b: Tensor) => apply('mul', [a, b]);

/** Arithmetic where one operand at least is complex. */
export function complexArithmetic(op: ComplexOp, a: Tensor, b: Tensor): Tensor {
  return tidy(() => {
    const [x, y] = [pair(a), pair(b)];
    if (op === 'add' || op === 'sub') {
      return complexOf(apply(op, [x.re, y.re]), apply(op, [x.im, y.im]));
    }
    const im = op === 'mul' ? y.im : apply('neg', [y.im]);
    const re = apply('sub', [times(x.re, y.re), times(x.im, im)]);
    const rest = apply('add', [times(x.re, im), times(x.im, y.re)]);
    if (op === 'mul') return complexOf(re, rest);
    const norm = apply('add', [times(y.re, y.re), times(y.im, y.im)]);
    return complexOf(apply('div', [re, norm]), apply('div', [rest, norm]));
  });
}

/** √(re² + im²). */
export function magnitude(x: Tensor): Tensor {
  return tidy(() => {
    const { re, im } = pair(x);
    return apply('sqrt', [apply('add', [times(re, re), times(im, im)])]);
  });
}
