/** Discrete Fourier transforms along the last axis in n·log n, and what is made of them. */
import { LatheError } from '../base/errors.js';
import { checkCount } from '../base/limits.js';
import { elementCount } from '../base/shape.js';
import { apply } from '../eager/apply.js';
import { toTensor } from '../eager/operands.js';
import { partsOf } from '../tensor/odd.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import { complex, imag, real } from './complex.js';
import { constant } from './constants.js';

interface Parts {
  re: Tensor;
  im: Tensor;
}

/** Sizes up to which a transform is a product with a matrix. */
const direct = 16;

/** cos and sin of sign·2π·row·column/n. */
function waves(rows: number, columns: number, n: number, sign: number): Parts {
  const [re, im] = [new Float32Array(rows * columns), new Float32Array(rows * columns)];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const angle = (sign * 2 * Math.PI * ((row * column) % n)) / n;
      re[row * columns + column] = Math.cos(angle);
      im[row * columns + column] = Math.sin(angle);
    }
  }
  return { re: constant(re, [rows, columns]), im: constant(im, [rows, columns]) };
}

function combined(op: 'mul' | 'matMul', a: Parts, b: Parts): Parts {
  const of = (x: Tensor, y: Tensor) => apply(op, [x, y]);
  return {
    re: apply('sub', [of(a.re, b.re), of(a.im, b.im)]),
    im: apply('add', [of(a.re, b.im), of(a.im, b.re)]),
  };
}

const each = ({ re, im }: Parts, action: (x: Tensor) => Tensor): Parts => ({
  re: action(re),
  im: action(im),
});
const shaped = (x: Parts, shape: number[]) => each(x, (part) => apply('reshape', [part], [shape]));

/** Of rows [rows, n]: Cooley and Tukey by the smallest factors; of large primes Bluestein's convolution. */
function transformed(x: Parts, rows: number, n: number, sign: number): Parts {
  if (n <= direct) return combined('matMul', x, waves(n, n, n, sign));
  const factor = factorOf(n);
  if (factor === n) {
    return n <= 64 ? combined('matMul', x, waves(n, n, n, sign)) : convolved(x, rows, n, sign);
  }
  const rest = n / factor;
  const split = each(shaped(x, [rows, rest, factor]), (part) =>
    apply('transpose', [part], [[0, 2, 1]]),
  );
  const inner = transformed(shaped(split, [rows * factor, rest]), rows * factor, rest, sign);
  const turned = combined('mul', shaped(inner, [rows, factor, rest]), waves(factor, rest, n, sign));
  const columns = each(turned, (part) => apply('transpose', [part], [[0, 2, 1]]));
  const outer = combined(
    'matMul',
    shaped(columns, [rows * rest, factor]),
    waves(factor, factor, factor, sign),
  );
  const back = each(shaped(outer, [rows, rest, factor]), (part) =>
    apply('transpose', [part], [[0, 2, 1]]),
  );
  return shaped(back, [rows, n]);
}

/** The largest factor up to `direct`, else the smallest prime one. */
function factorOf(n: number): number {
  for (let factor = direct; factor > 1; factor -= 1) if (n % factor === 0) return factor;
  for (let factor = direct + 1; factor * factor <= n; factor += 1) {
    if (n % factor === 0) return factor;
  }
  return n;
}

function convolved(x: Parts, rows: number, n: number, sign: number): Parts {
  const size = 2 ** Math.ceil(Math.log2(2 * n - 1));
  const [re, im] = [new Float32Array(n), new Float32Array(n)];
  const [all, along] = [new Float32Array(size), new Float32Array(size)];
  for (let at = 0; at < n; at += 1) {
    const angle = (sign * Math.PI * ((at * at) % (2 * n))) / n;
    re[at] = Math.cos(angle);
    im[at] = Math.sin(angle);
    for (const to of [at, (size - at) % size]) {
      all[to] = re[at]!;
      along[to] = -im[at]!;
    }
  }
  const chirp = { re: constant(re, [1, n]), im: constant(im, [1, n]) };
  const other = { re: constant(all, [1, size]), im: constant(along, [1, size]) };
  const padded = each(combined('mul', x, chirp), (part) =>
    apply(
      'pad',
      [part],
      [
        [
          [0, 0],
          [0, size - n],
        ],
        0,
      ],
    ),
  );
  const product = combined(
    'mul',
    transformed(padded, rows, size, -1),
    transformed(other, 1, size, -1),
  );
  const back = each(transformed(product, rows, size, 1), (part) =>
    apply('mul', [
      apply(
        'slice',
        [part],
        [
          [0, 0],
          [rows, n],
        ],
      ),
      1 / size,
    ]),
  );
  return combined('mul', back, chirp);
}

function run(input: Tensor, sign: number): Tensor {
  const n = input.shape.at(-1) ?? 1;
  const rows = elementCount(input.shape.slice(0, -1));
  const parts = { re: real(input), im: imag(input) };
  if (input.size === 0) return complex(parts.re, parts.im);
  const shape = [...input.shape];
  const scaled = transformed(shaped(parts, [rows, n]), rows, n, sign);
  const found = sign > 0 ? each(scaled, (x) => apply('mul', [x, 1 / n])) : scaled;
  const { re, im } = shaped(found, shape);
  return complex(re, im);
}

function checkComplex(op: string, input: Tensor): Tensor {
  if (partsOf(input) !== undefined) return input;
  throw new LatheError(
    `The dtype for tf.spectral.${op}() must be complex64 but got ${input.dtype}.`,
  );
}

/** The transform of complex numbers. Error: of others. */
export const fft = (input: Tensor): Tensor => tidy(() => run(checkComplex('fft', input), -1));
/** What `fft` gives that for. Error: no complex numbers. */
export const ifft = (input: Tensor): Tensor => tidy(() => run(checkComplex('ifft', input), 1));

/** The first half, with the middle, of the transform of numbers, cut or filled up to `fftLength`. */
export function rfft(input: TensorLike, fftLength?: number): Tensor {
  return tidy(() => {
    const x = toTensor(input, 'input', 'rfft');
    if (x.dtype !== 'float32') {
      throw new LatheError(`The dtype for rfft() must be real value but got ${x.dtype}`);
    }
    const n = fftLength ?? x.shape.at(-1)!;
    if (fftLength !== undefined) checkCount('rfft', 'elements', fftLength);
    const fitted = fit(x, n);
    const all = run(fitted, -1);
    const half = (part: Tensor) => cut(part, 0, Math.floor(n / 2) + 1);
    return complex(half(real(all)), half(imag(all)));
  });
}

function cut(x: Tensor, from: number, size: number): Tensor {
  const begin = x.shape.map((_: number, axis: number) => (axis === x.rank - 1 ? from : 0));
  return apply('slice', [x], [begin, [...x.shape.slice(0, -1), size]]);
}

function fit(x: Tensor, n: number): Tensor {
  const size = x.shape.at(-1)!;
  if (size === n) return x;
  if (size > n) return cut(x, 0, n);
  const more = x.shape.map((_: number, axis: number) => [0, axis === x.rank - 1 ? n - size : 0]);
  return apply('pad', [x], [more, 0]);
}

/** Numbers whose transform begins with this. */
export function irfft(input: Tensor): Tensor {
  return tidy(() => {
    const n = input.shape.at(-1)!;
    const [re, im] = [real(input), imag(input)];
    const rows = elementCount(input.shape.slice(0, -1));
    const flat = [re, im].map((x) => apply('reshape', [x], [[rows, n]])) as [Tensor, Tensor];
    if (n <= 2) {
      const all = run(complex(...flat), 1);
      return apply('reshape', [real(all)], [[...input.shape.slice(0, -1), n]]);
    }
    const mirrored = flat.map((x) =>
      apply(
        'reverse',
        [
          apply(
            'slice',
            [x],
            [
              [0, 1],
              [rows, n - 2],
            ],
          ),
        ],
        [[1]],
      ),
    ) as [Tensor, Tensor];
    const whole = complex(
      apply('concat', [flat[0], mirrored[0]], [1]),
      apply('concat', [flat[1], apply('neg', [mirrored[1]])], [1]),
    );
    const found = real(run(whole, 1));
    const shape = [...input.shape.slice(0, -1), 2 * n - 2];
    return apply('reshape', [found], [shape]);
  });
}
