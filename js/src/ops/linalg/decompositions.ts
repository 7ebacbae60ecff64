/**
 * Linear systems and matrix decompositions, by the names of TensorFlow's `tf.linalg`. TensorFlow.js has only `bandPart`,
 * `gramSchmidt` and `qr`, which are in `linalg.ts`. The algorithms depend on values, so operands are read and computed in
 * JavaScript, in float64: `matrix_factorization.ts`.
 * Leading axes are batches. Gradients follow M. Giles, "Collected matrix derivative results for forward and
 * reverse mode algorithmic differentiation", 2008, composed of operations, so they are differentiable themselves.
 */
import { valueOf } from '../../eager/engine.js';
import { LatheError } from '../../base/errors.js';
import { elementCount } from '../../base/shape.js';
import { applyOperation } from '../../eager/apply.js';
import { customGrad } from '../../eager/autodiff/gradients.js';
import { toTensor } from '../../eager/operands.js';
import { aliasTensor } from '../../eager/values.js';
import { convert, decodeElements } from '../../tensor/convert.js';
import type { DType } from '../../tensor/dtypes.js';
import { tracked } from '../../tensor/live_tensors.js';
import { tidy } from '../../tensor/scopes.js';
import { Tensor, type TensorLike } from '../../tensor/tensor.js';
import { TracedTensor } from '../../trace/trace.js';
import { where } from '../elementwise/compare.js';
import { eye, range, zerosLike } from '../arrays/create.js';
import {
  cofactors,
  determinant,
  eigen,
  identity,
  type Numbers,
  rootTriangle,
  singular,
  solved,
  transposed,
  triangles,
} from './matrix_factorization.js';
import { split } from '../arrays/concat_and_slice.js';
import { matMul } from './products.js';
import { expandDims, reshape, transpose } from '../common/shapes.js';

type Sizes = readonly number[];

const add = (x: Tensor, y: Tensor): Tensor => applyOperation('add', [x, y]);
const sub = (x: Tensor, y: Tensor): Tensor => applyOperation('sub', [x, y]);
const mul = (x: Tensor, y: Tensor | number): Tensor => applyOperation('mul', [x, y], [], x.dtype);
const listOf = (shape: Sizes): string => `[${shape.join(',')}]`;

/** The operand as a tensor. Errors: fewer than two axes; a dtype that is no float; a tensor of a trace. */
function matrices(op: string, name: string, values: TensorLike): Tensor {
  const x = toTensor(values, name, `linalg.${op}`);
  const fail = (why: string): never => {
    throw new LatheError(`linalg.${op}(): ${name} ${why}`);
  };
  if (x.rank < 2) {
    fail(`must have a rank of at least 2, got the shape ${listOf(x.shape)}; reshape makes one`);
  }
  if (!x.dtype.includes('float')) fail(`must be of floats, got ${x.dtype}; x.toFloat() makes some`);
  if (x instanceof TracedTensor) {
    fail('has no numbers within tl.compile and layers, and they are needed here; call it outside');
  }
  return x;
}

/** As `matrices`. Further error: the last two axes differ in size. */
function squareMatrices(op: string, name: string, values: TensorLike): Tensor {
  const x = matrices(op, name, values);
  if (x.shape.at(-1) === x.shape.at(-2)) return x;
  throw new LatheError(
    `linalg.${op}(): ${name} must have square matrices, got the shape ${listOf(x.shape)}`,
  );
}

/** Computes one result from the elements of one matrix of each operand, at an index of the batch. */
type Work = (matrices: Numbers[], at: number) => Numbers;

/**
 * Applies `work` at each index of the batch, which all operands share. Its results have the shape `resultShape`; the tensor
 * of them has the shape [...batch, ...resultShape] and the dtype of the first operand.
 */
function eachOf(xs: readonly Tensor[], resultShape: Sizes, work: Work): Tensor {
  const [{ shape, dtype }] = xs as [Tensor];
  const batch = shape.slice(0, -2);
  const all = xs.map((x) =>
    Float64Array.from(decodeElements(x.dataSync<DType>(), x.dtype), Number),
  );
  const [count, size] = [elementCount(batch), elementCount(resultShape)];
  const found = new Float64Array(count * size);
  for (let at = 0; at < count; at += 1) {
    const current = all.map((each) => {
      const length = each.length / count;
      return each.slice(at * length, (at + 1) * length);
    });
    found.set(work(current, at), at * size);
  }
  return new Tensor(convert(found, dtype), [...batch, ...resultShape], dtype)[tracked]();
}

/** Names the index of a matrix in the flattened batch, for errors; empty for a tensor of two axes. */
const ofBatch = (x: Tensor, at: number): string =>
  x.rank > 2 ? ` (number ${at} of the batch)` : '';

/** Returns the gradients of the inputs xs, from the gradient dy of the result y. */
type Rule = (dy: Tensor, y: Tensor, ...xs: Tensor[]) => Tensor[];

/** The result of `value` with a custom gradient. Higher-order gradients flow through the result and the inputs. */
function withGradient(xs: readonly Tensor[], value: () => Tensor, rule: Rule): Tensor {
  const inputs = xs.map(valueOf);
  const gradFunc = (dy: Tensor): Tensor[] =>
    rule(dy, aliasTensor(resultValue), ...inputs.map(aliasTensor));
  const result = customGrad(() => ({ value: value(), gradFunc }))(...xs);
  const resultValue = valueOf(result);
  return result;
}

/** The transpose of each matrix. */
function matrixTranspose(x: Tensor): Tensor {
  const axes = x.shape.map((_, axis) => axis);
  return transpose(x, [...axes.slice(0, -2), x.rank - 1, x.rank - 2]);
}

/** The symmetric part of each matrix. */
const symmetric = (x: Tensor): Tensor => mul(add(x, matrixTranspose(x)), 0.5);

/**
 * Solves matrix·x = rhs by Gaussian elimination with partial pivoting (G. Golub, C. Van Loan, "Matrix Computations", 4th
 * edition, section 3.4). Gradient: Giles, section 2.3.1.
 *
 * @param matrix [..., n, n]
 * @param rhs [..., n, k], of the same leading axes
 * @param adjoint solves with the transpose of the matrix
 * @returns [..., n, k]
 *
 * Errors: other shapes; a matrix that is singular.
 */
export function solve(matrix: TensorLike, rhs: TensorLike, adjoint = false): Tensor {
  return tidy(() => {
    const a = squareMatrices('solve', 'matrix', matrix);
    const b = matrices('solve', 'rhs', rhs);
    const expected = a.shape.slice(0, -1);
    if (b.dtype !== a.dtype || b.shape.slice(0, -1).join() !== expected.join()) {
      throw new LatheError(
        `linalg.solve(): for a matrix of ${a.type} rhs must be ${a.dtype} [${[...expected, 'k'].join(',')}], ` +
          `got ${b.type}; expandDims(-1) makes a column of a vector`,
      );
    }
    const [n, columns] = b.shape.slice(-2) as [number, number];
    const value = () =>
      eachOf([a, b], [n, columns], ([one, right], at) => {
        const found = triangles(adjoint ? transposed(one!, n, n) : one!, n);
        if (found.isSingular) throw singularError('solve', a, at);
        return solved(found, n, right!, columns);
      });
    return withGradient([a, b], value, (dy, x, a) => {
      const db = solve(a!, dy, !adjoint);
      const da = adjoint ? matMul(x, db, false, true) : matMul(db, x, false, true);
      return [mul(da, -1), db];
    });
  });
}

const singularError = (op: string, x: Tensor, at: number): LatheError =>
  new LatheError(
    `linalg.${op}(): the matrix of the shape ${listOf(x.shape)} is singular${ofBatch(x, at)}: it has no inverse; ` +
      'add a small multiple of the identity, or use linalg.svd',
  );

/**
 * The inverse, by Gaussian elimination with partial pivoting, as `solve`. Gradient: Giles, section 2.2.3.
 *
 * @param input [..., n, n]
 * @param adjoint inverts the transpose
 *
 * Errors: another shape; a matrix that is singular.
 */
export function inv(input: TensorLike, adjoint = false): Tensor {
  return tidy(() => {
    const x = squareMatrices('inv', 'input', input);
    const n = x.shape.at(-1)!;
    const value = () =>
      eachOf([x], [n, n], ([one], at) => {
        const found = triangles(one!, n);
        if (found.isSingular) throw singularError('inv', x, at);
        return solved(found, n, identity(n), n);
      });
    const inverse = withGradient([x], value, (dy, y) => [
      mul(matMul(matMul(y, dy, true), y, false, true), -1),
    ]);
    return adjoint ? matrixTranspose(inverse) : inverse;
  });
}

/**
 * The determinant, by Gaussian elimination with partial pivoting, as `solve`. Gradient: Giles, section 2.2.4; where the
 * batch has a singular matrix it is computed from cofactors instead of the inverse. Those are constants, so second
 * derivatives are correct only for batches without singular matrices.
 *
 * @param input [..., n, n]
 * @returns [...]
 *
 * Error: another shape.
 */
export function det(input: TensorLike): Tensor {
  return tidy(() => {
    const x = squareMatrices('det', 'input', input);
    const n = x.shape.at(-1)!;
    const batch = x.shape.slice(0, -2);
    const value = () =>
      eachOf([x], [], ([one]) => Float64Array.of(determinant(triangles(one!, n), n)));
    return withGradient([x], value, (dy, y, x) => {
      const outer = (each: Tensor) => reshape(each, [...batch, 1, 1]);
      const isRegular = y.dataSync().every((each) => each !== 0);
      const found = isRegular
        ? mul(matrixTranspose(inv(x!)), outer(y))
        : eachOf([x!], [n, n], ([one]) => cofactors(one!, n));
      return [mul(found, outer(dy))];
    });
  });
}

/**
 * The lower triangle whose product with its transpose is the matrix ("Matrix Computations", section 4.2). Only the lower
 * triangle is read; the gradient is that of symmetric matrices, the same in both triangles. Gradient: I. Murray,
 * "Differentiation of the Cholesky decomposition", 2016, section 3.
 *
 * @param input [..., n, n]
 *
 * Errors: another shape; a matrix that is not positive definite.
 */
export function cholesky(input: TensorLike): Tensor {
  return tidy(() => {
    const x = squareMatrices('cholesky', 'input', input);
    const n = x.shape.at(-1)!;
    const value = () =>
      eachOf([x], [n, n], ([one], at) => {
        const found = rootTriangle(one!, n);
        if (typeof found !== 'number') return found;
        throw new LatheError(
          `linalg.cholesky(): the matrix of the shape ${listOf(x.shape)} is not positive definite${ofBatch(x, at)}: ` +
            `its first ${found} rows and columns are not; it must be symmetric, with eigenvalues above 0: add a little to its diagonal`,
        );
      });
    return withGradient([x], value, (dy, l) => {
      const inner = matMul(l, dy, true);
      const half = mul(scaleDiagonal(inner, 0.5), lowerOnes(n, inner));
      const left = solve(l, half, true);
      return [symmetric(matrixTranspose(solve(l, matrixTranspose(left), true)))];
    });
  });
}

/** Multiplies the diagonal of each matrix. */
const scaleDiagonal = (x: Tensor, factor: number): Tensor =>
  mul(x, sub(onesLike(x), mul(identityLike(x), 1 - factor)));

const onesLike = (x: Tensor): Tensor => applyOperation('add', [zerosLike(x), 1], [], x.dtype);
const identityLike = (x: Tensor): Tensor =>
  applyOperation('cast', [eye(x.shape.at(-1)!)], [x.dtype]);

/** Ones in the lower triangle, the diagonal included. */
function lowerOnes(n: number, like: Tensor): Tensor {
  const [rows, columns] = [reshape(range(0, n), [n, 1]), reshape(range(0, n), [1, n])];
  return applyOperation('cast', [applyOperation('greaterEqual', [rows, columns])], [like.dtype]);
}

/** Splits the last axis of a tensor [..., size] into consecutive parts, and reshapes these to [..., ...shape]. */
function unpack(x: Tensor, shapes: readonly Sizes[]): Tensor[] {
  const batch = x.shape.slice(0, -1);
  const all = split(x, shapes.map(elementCount), -1);
  return all.map((each, at) => reshape(each, [...batch, ...shapes[at]!]));
}

function concatenated(parts: readonly Numbers[]): Numbers {
  const found = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const each of parts) {
    found.set(each, at);
    at += each.length;
  }
  return found;
}

/** For vectors x, matrices of 1/(xⱼ - xᵢ) in row i and column j; 0 where xᵢ = xⱼ. */
function reciprocalDifferences(x: Tensor): Tensor {
  return reciprocal(sub(expandDims(x, -2), expandDims(x, -1)));
}

/** 1/x; 0 where x is 0. */
function reciprocal(x: Tensor): Tensor {
  const isZero = applyOperation('equal', [x, 0], [], x.dtype);
  const one = onesLike(x);
  return where(isZero, zerosLike(x), applyOperation('div', [one, where(isZero, one, x)]));
}

/** Multiplies column j of each matrix by element j of the vector `by`. */
const scaled = (x: Tensor, by: Tensor): Tensor => mul(x, expandDims(by, -2));

/**
 * Eigenvalues of symmetric matrices, ascending, and their eigenvectors, as columns, by Jacobi's method ("Matrix
 * Computations", section 8.5). Only the lower triangle is read; the gradient is that of symmetric matrices, the same in
 * both triangles. The signs of eigenvectors are unspecified. Gradient: Giles, section 3.1. Where eigenvalues are equal
 * their eigenvectors are any that span the same space, and have no derivative: their mutual terms are 0, so
 * gradients of eigenvalues, and of values independent of the choice, are correct there, others are not.
 *
 * @param input [..., n, n]
 * @returns values [..., n] and vectors [..., n, n]; NaNs for matrices that are not finite
 *
 * Error: another shape.
 */
export function eigh(input: TensorLike): [Tensor, Tensor] {
  return tidy(() => {
    const x = squareMatrices('eigh', 'input', input);
    const n = x.shape.at(-1)!;
    const shapes = [[n], [n, n]];
    const value = () =>
      eachOf([x], [n + n * n], ([one]) => {
        const { values, vectors } = eigen(one!, n);
        return concatenated([values, vectors]);
      });
    const both = withGradient([x], value, (dy, y) => {
      const [w, v] = unpack(y, shapes) as [Tensor, Tensor];
      const [dw, dv] = unpack(dy, shapes) as [Tensor, Tensor];
      const off = mul(reciprocalDifferences(w), matMul(v, dv, true));
      const inner = add(off, mul(identityLike(off), expandDims(dw, -2)));
      return [symmetric(matMul(matMul(v, inner), v, false, true))];
    });
    return unpack(both, shapes) as [Tensor, Tensor];
  });
}

/**
 * Singular values, descending, and singular vectors, as columns: a = u·diag(s)·vᵀ, by one-sided Jacobi ("Matrix
 * Computations", section 8.6.3; J. Demmel, K. Veselić, "Jacobi's method is more accurate than QR", 1992). The signs of pairs
 * of vectors are unspecified. Gradient: Giles, section 3.2, of the values; J. Townsend, "Differentiating the singular
 * value decomposition", 2016, of the vectors. Where singular values are equal, or 0, vectors have no derivative: as in
 * `eigh`.
 *
 * @param a [..., m, n]; below, k = min(m, n)
 * @param fullMatrices u is [..., m, m] and v [..., n, n], instead of [..., m, k] and [..., n, k]; there is no gradient then
 *   unless m = n
 * @param computeUV false: only s is returned
 * @returns [s, u, v], in TensorFlow's order, or s; NaNs for matrices that are not finite
 *
 * Errors: another shape; at the gradient, full matrices that are not square.
 */
export function svd(a: TensorLike, fullMatrices: boolean | undefined, computeUV: false): Tensor;
export function svd(
  a: TensorLike,
  fullMatrices?: boolean,
  computeUV?: true,
): [Tensor, Tensor, Tensor];
export function svd(
  a: TensorLike,
  fullMatrices = false,
  computeUV = true,
): Tensor | [Tensor, Tensor, Tensor] {
  return tidy(() => {
    const x = matrices('svd', 'a', a);
    const [m, n] = x.shape.slice(-2) as [number, number];
    const k = Math.min(m, n);
    const isFull = fullMatrices && computeUV && m !== n;
    const shapes = [[k], [m, isFull ? m : k], [n, isFull ? n : k]];
    const value = () =>
      eachOf([x], [shapes.map(elementCount).reduce((all, each) => all + each)], ([one]) => {
        const { s, u, v } = singular(one!, m, n, isFull);
        return concatenated([s, u, v]);
      });
    const all = withGradient([x], value, (dy, y) => {
      if (isFull) {
        throw new LatheError(
          `linalg.svd(): full matrices of the shape ${listOf(x.shape)} have no gradient; leave out fullMatrices`,
        );
      }
      return [singularGradient(unpack(y, shapes), unpack(dy, shapes))];
    });
    const parts = unpack(all, shapes) as [Tensor, Tensor, Tensor];
    return computeUV ? parts : parts[0];
  });
}

/** The gradient of the operand of `svd`, from y = [s, u, v] and the gradients of these. */
function singularGradient(y: Tensor[], dy: Tensor[]): Tensor {
  const [s, u, v] = y as [Tensor, Tensor, Tensor];
  const [ds, du, dv] = dy as [Tensor, Tensor, Tensor];
  const between = reciprocalDifferences(applyOperation('mul', [s, s]));
  const rotationTerm = (vectors: Tensor, cotangent: Tensor) => {
    const along = matMul(vectors, cotangent, true);
    return mul(between, sub(along, matrixTranspose(along)));
  };
  const inverse = reciprocal(s);
  const orthogonalComplementTerm = (vectors: Tensor, cotangent: Tensor) => {
    const out = sub(cotangent, matMul(vectors, matMul(vectors, cotangent, true)));
    return scaled(out, inverse);
  };
  const left = scaled(rotationTerm(u, du), s);
  const right = matrixTranspose(scaled(matrixTranspose(rotationTerm(v, dv)), s));
  const inner = add(add(left, right), mul(identityLike(left), expandDims(ds, -2)));
  const middle = matMul(matMul(u, inner), v, false, true);
  const k = s.shape.at(-1)!;
  if (u.shape.at(-2)! > k)
    return add(middle, matMul(orthogonalComplementTerm(u, du), v, false, true));
  return v.shape.at(-2)! > k
    ? add(middle, matMul(u, orthogonalComplementTerm(v, dv), false, true))
    : middle;
}
