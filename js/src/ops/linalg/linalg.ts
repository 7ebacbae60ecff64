/** Linear algebra. `linalg` of TensorFlow.js, plus further functions of TensorFlow's `tf.linalg`. */
import { LatheError } from '../../base/errors.js';
import { elementCount } from '../../base/shape.js';
import { applyOperation } from '../../eager/apply.js';
import { toTensor } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import { scalar } from '../../tensor/create.js';
import { Tensor, type TensorLike } from '../../tensor/tensor.js';
import { where } from '../elementwise/compare.js';
import { eye, range, zerosLike } from '../arrays/create.js';
import { concat, slice, split, stack, unstack } from '../arrays/concat_and_slice.js';
import { matMul } from './products.js';
import { reshape, squeeze, transpose } from '../common/shapes.js';

export { cholesky, det, eigh, inv, solve, svd } from './decompositions.js';

/** The band of a matrix: so many diagonals below and above the main one, all if negative. Error: plain numbers above the matrix size. */
export function bandPart(
  a: TensorLike,
  numLower: number | Tensor,
  numUpper: number | Tensor,
): Tensor {
  return tidy(() => {
    const x = toTensor(a, 'a', 'bandPart');
    if (x.rank < 2) throw new LatheError(`bandPart(): Rank must be at least 2, got ${x.rank}.`);
    const [m, n] = [x.shape.at(-2)!, x.shape.at(-1)!];
    const lower = limit('numLower', numLower, m);
    const upper = limit('numUpper', numUpper, n);
    const rows = reshape(range(0, m, 1, 'int32'), [-1, 1]);
    const off = applyOperation('sub', [rows, range(0, n, 1, 'int32')]);
    const isIn = applyOperation('logicalAnd', [
      applyOperation('lessEqual', [off, lower], [], 'int32'),
      applyOperation('greaterEqual', [off, -upper], [], 'int32'),
    ]);
    return where(isIn, x, zerosLike(x));
  });
}

function limit(name: string, bound: number | Tensor, size: number): number {
  const count = bound instanceof Tensor ? bound.dataSync()[0]! : bound;
  if (typeof bound === 'number' && !Number.isInteger(bound)) {
    throw new LatheError(`bandPart(): ${name} must be an integer, got ${bound}.`);
  }
  if (bound instanceof Tensor && bound.dtype !== 'int32') {
    throw new LatheError(`bandPart(): ${name}'s dtype must be an int32.`);
  }
  if (typeof bound === 'number' && count > size) {
    throw new LatheError(
      `bandPart(): ${name} (${count}) must not be greater than the number of ${name === 'numLower' ? 'rows' : 'columns'} (${size}).`,
    );
  }
  return count < 0 ? size : Math.min(count, size);
}

/** Orthonormalizes vectors. Errors: an empty list; sizes differ; more vectors than dimensions. */
export function gramSchmidt(xs: Tensor | Tensor[]): Tensor | Tensor[] {
  const isArray = Array.isArray(xs);
  if (isArray) {
    if (xs.length === 0)
      throw new LatheError('Gram-Schmidt process: input must not be null, undefined, or empty');
    for (const each of xs) {
      if (each.shape[0] === xs[0]!.shape[0]) continue;
      throw new LatheError(
        `Gram-Schmidt: Non-unique lengths found in the input vectors: (${each.shape[0]} vs. ${xs[0]!.shape[0]})`,
      );
    }
  }
  if (!isArray && xs.rank < 2)
    throw new LatheError(`Gram-Schmidt: the rows of a matrix are needed, got [${xs.shape.join()}]`);
  return tidy(() => {
    const all = isArray ? xs : split(xs, xs.shape[0]!, 0).map((each) => squeeze(each, [0]));
    if (all.length > all[0]!.shape[0]!) {
      throw new LatheError(
        `Gram-Schmidt: Number of vectors (${all.length}) exceeds number of dimensions (${all[0]!.shape[0]}).`,
      );
    }
    const found: Tensor[] = [];
    for (const each of all) {
      let x = each;
      for (const other of found) {
        const along = applyOperation('sum', [applyOperation('mul', [other, x])]);
        x = applyOperation('sub', [x, applyOperation('mul', [along, other])]);
      }
      found.push(
        applyOperation('div', [
          x,
          applyOperation('sqrt', [applyOperation('sum', [applyOperation('mul', [x, x])])]),
        ]),
      );
    }
    return isArray ? found : stack(found, 0);
  });
}

/** The QR decomposition by Householder reflections. Error: rank < 2. */
export function qr(x: Tensor, fullMatrices = false): [Tensor, Tensor] {
  if (x.rank < 2) {
    throw new LatheError(`qr() requires input tensor to have a rank >= 2, but got rank ${x.rank}`);
  }
  return tidy(() => {
    if (x.rank === 2) return factors(x, fullMatrices);
    const [m, n] = [x.shape.at(-2)!, x.shape.at(-1)!];
    const batch = x.shape.slice(0, -2);
    const each = unstack(reshape(x, [elementCount(batch), m, n]), 0).map((one) =>
      factors(one, fullMatrices),
    );
    const join = (at: 0 | 1) => {
      const all = stack(
        each.map((one) => one[at]),
        0,
      );
      return reshape(all, [...batch, ...all.shape.slice(1)]);
    };
    return [join(0), join(1)];
  });
}

function factors(x: Tensor, fullMatrices: boolean): [Tensor, Tensor] {
  const [m, n] = x.shape as unknown as [number, number];
  let [q, r] = [eye(m), x];
  for (let at = 0; at < Math.min(m, n); at += 1) {
    const column = slice(r, [at, at], [m - at, 1]);
    const first = slice(r, [at, at], [1, 1]);
    const length = applyOperation('sqrt', [
      applyOperation('sum', [applyOperation('mul', [column, column])]),
    ]);
    const sign = where(applyOperation('greater', [first, 0]), scalar(-1), scalar(1));
    const pivot = applyOperation('sub', [first, applyOperation('mul', [sign, length])]);
    const scaled = applyOperation('div', [column, pivot]);
    const one = eye(1);
    const w = m - at === 1 ? one : concat([one, slice(scaled, [1, 0], [m - at - 1, 1])], 0);
    const tau = applyOperation('neg', [
      applyOperation('div', [applyOperation('mul', [sign, pivot]), length]),
    ]);
    const tauW = applyOperation('mul', [tau, w]);
    const below = slice(r, [at, 0], [m - at, n]);
    const next = applyOperation('sub', [below, matMul(tauW, matMul(transpose(w), below))]);
    r = at === 0 ? next : concat([slice(r, [0, 0], [at, n]), next], 0);
    const right = slice(q, [0, at], [m, m - at]);
    const update = applyOperation('sub', [right, matMul(matMul(right, w), transpose(tauW))]);
    q = at === 0 ? update : concat([slice(q, [0, 0], [m, at]), update], 1);
  }
  if (!fullMatrices && m > n) {
    q = slice(q, [0, 0], [m, n]);
    r = slice(r, [0, 0], [n, n]);
  }
  return [q, r];
}
