/** Fast Fourier transforms along the last axis. */
import { LatheError } from '../../base/errors.js';
import { checkCount } from '../../base/limits.js';
import { elementCount } from '../../base/shape.js';
import { applyOperation } from '../../eager/apply.js';
import { toTensor } from '../../eager/operands.js';
import { partsOf } from '../../tensor/string_complex.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { complex, imag, real } from '../common/complex.js';
import { constant } from '../common/constants.js';

interface Parts {
  re: Tensor;
  im: Tensor;
}

/** The largest size computed as a product with the DFT matrix. */
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
  const of = (x: Tensor, y: Tensor) => applyOperation(op, [x, y]);
  return {
    re: applyOperation('sub', [of(a.re, b.re), of(a.im, b.im)]),
    im: applyOperation('add', [of(a.re, b.im), of(a.im, b.re)]),
  };
}

const each = ({ re, im }: Parts, action: (x: Tensor) => Tensor): Parts => ({
  re: action(re),
  im: action(im),
});
const shaped = (x: Parts, shape: number[]) =>
  each(x, (part) => applyOperation('reshape', [part], [shape]));

/** DFT of rows [rows, n]: mixed-radix Cooley-Tukey; Bluestein's algorithm for large primes. */
function transformed(x: Parts, rows: number, n: number, sign: number): Parts {
  if (n <= direct) return combined('matMul', x, waves(n, n, n, sign));
  const factor = factorOf(n);
  if (factor === n) {
    return n <= 64 ? combined('matMul', x, waves(n, n, n, sign)) : convolved(x, rows, n, sign);
  }
  const rest = n / factor;
  const split = each(shaped(x, [rows, rest, factor]), (part) =>
    applyOperation('transpose', [part], [[0, 2, 1]]),
  );
  const inner = transformed(shaped(split, [rows * factor, rest]), rows * factor, rest, sign);
  const twiddled = combined(
    'mul',
    shaped(inner, [rows, factor, rest]),
    waves(factor, rest, n, sign),
  );
  const columns = each(twiddled, (part) => applyOperation('transpose', [part], [[0, 2, 1]]));
  const outer = combined(
    'matMul',
    shaped(columns, [rows * rest, factor]),
    waves(factor, factor, factor, sign),
  );
  const back = each(shaped(outer, [rows, rest, factor]), (part) =>
    applyOperation('transpose', [part], [[0, 2, 1]]),
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
    applyOperation(
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
    applyOperation('mul', [
      applyOperation(
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
  const found = sign > 0 ? each(scaled, (x) => applyOperation('mul', [x, 1 / n])) : scaled;
  const { re, im } = shaped(found, shape);
  return complex(re, im);
}

function checkComplex(op: string, input: Tensor): Tensor {
  if (partsOf(input) !== undefined) return input;
  throw new LatheError(
    `The dtype for tf.spectral.${op}() must be complex64 but got ${input.dtype}.`,
  );
}

/** The DFT of complex numbers. Error: not complex64. */
export const fft = (input: Tensor): Tensor => tidy(() => run(checkComplex('fft', input), -1));
/** The inverse of `fft`. Error: not complex64. */
export const ifft = (input: Tensor): Tensor => tidy(() => run(checkComplex('ifft', input), 1));

/** The non-negative frequencies of the FFT of real numbers, truncated or zero-padded to `fftLength`. */
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
    const half = (part: Tensor) => firstOf(part, 0, Math.floor(n / 2) + 1);
    return complex(half(real(all)), half(imag(all)));
  });
}

function firstOf(x: Tensor, from: number, size: number): Tensor {
  const begin = x.shape.map((_: number, axis: number) => (axis === x.rank - 1 ? from : 0));
  return applyOperation('slice', [x], [begin, [...x.shape.slice(0, -1), size]]);
}

function fit(x: Tensor, n: number): Tensor {
  const size = x.shape.at(-1)!;
  if (size === n) return x;
  if (size > n) return firstOf(x, 0, n);
  const more = x.shape.map((_: number, axis: number) => [0, axis === x.rank - 1 ? n - size : 0]);
  return applyOperation('pad', [x], [more, 0]);
}

/** The inverse of `rfft`. */
export function irfft(input: Tensor): Tensor {
  return tidy(() => {
    const n = input.shape.at(-1)!;
    const [re, im] = [real(input), imag(input)];
    const rows = elementCount(input.shape.slice(0, -1));
    const flat = [re, im].map((x) => applyOperation('reshape', [x], [[rows, n]])) as [
      Tensor,
      Tensor,
    ];
    if (n <= 2) {
      const all = run(complex(...flat), 1);
      return applyOperation('reshape', [real(all)], [[...input.shape.slice(0, -1), n]]);
    }
    const mirrored = flat.map((x) =>
      applyOperation(
        'reverse',
        [
          applyOperation(
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
    const full = complex(
      applyOperation('concat', [flat[0], mirrored[0]], [1]),
      applyOperation('concat', [flat[1], applyOperation('neg', [mirrored[1]])], [1]),
    );
    const found = real(run(full, 1));
    const shape = [...input.shape.slice(0, -1), 2 * n - 2];
    return applyOperation('reshape', [found], [shape]);
  });
}
