/** Products of matrices and vectors. */
import { LatheError } from '../base/errors.js';
import { apply } from '../eager/apply.js';
import { castTo, matched, toTensor } from '../eager/operands.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import { checkEinsumDimSizes, decodeEinsumEquation } from '../shapes/einsum.js';

/** The product of matrices, of batches of them; batches are broadcast. Errors: inner sizes differ. */
export function matMul(
  a: TensorLike,
  b: TensorLike,
  transposeA = false,
  transposeB = false,
): Tensor {
  return tidy(() => {
    const [x, y] = matched(toTensor(a, 'a', 'matMul'), toTensor(b, 'b', 'matMul'));
    return product(x!, y!, transposeA, transposeB);
  });
}

function product(x: Tensor, y: Tensor, transposeA: boolean, transposeB: boolean): Tensor {
  const inner = x.shape.at(transposeA ? -2 : -1);
  if (x.rank < 2 || y.rank < 2 || inner !== y.shape.at(transposeB ? -1 : -2)) {
    throw new LatheError(
      `Error in matMul: inner shapes of Tensors with shapes [${x.shape.join(',')}] and [${y.shape.join(',')}] ` +
        `and transposeA=${transposeA} and transposeB=${transposeB} must match.`,
    );
  }
  if (x.dtype === 'bool') {
    return product(castTo(x, 'int32'), castTo(y, 'int32'), transposeA, transposeB);
  }
  return apply('matMul', [x, y], [transposeA, transposeB]);
}

/** The product of vectors, or of a matrix and a vector, either way. Errors: other ranks; inner sizes differ. */
export function dot(t1: TensorLike, t2: TensorLike): Tensor {
  return tidy(() => {
    const [x, y] = [toTensor(t1, 't1', 'dot'), toTensor(t2, 't2', 'dot')];
    if (![x, y].every(({ rank }) => rank === 1 || rank === 2)) {
      throw new LatheError(
        `Error in dot: inputs must all be rank 1 or 2, but got ranks ${x.rank} and ${y.rank}.`,
      );
    }
    const inner = x.rank === 1 ? x.size : x.shape[1]!;
    const other = y.rank === 1 ? y.size : y.shape[0]!;
    if (inner !== other) {
      throw new LatheError(
        `Error in dot: inner dimensions of inputs must match, but got ${inner} and ${other}.`,
      );
    }
    const rows = x.rank === 1 ? apply('reshape', [x], [[1, inner]]) : x;
    const columns = y.rank === 1 ? apply('reshape', [y], [[inner, 1]]) : y;
    const shape = [...(x.rank === 1 ? [] : [x.shape[0]!]), ...(y.rank === 1 ? [] : [y.shape[1]!])];
    return apply('reshape', [matMul(rows, columns)], [shape]);
  });
}

/** Each element of one vector with each of the other one. Errors: other ranks. */
export function outerProduct(v1: TensorLike, v2: TensorLike): Tensor {
  return tidy(() => {
    const [x, y] = [toTensor(v1, 'v1', 'outerProduct'), toTensor(v2, 'v2', 'outerProduct')];
    if (x.rank !== 1 || y.rank !== 1) {
      throw new LatheError(
        `Error in outerProduct: inputs must be rank 1, but got ranks ${x.rank} and ${y.rank}.`,
      );
    }
    return matMul(apply('reshape', [x], [[-1, 1]]), apply('reshape', [y], [[1, -1]]));
  });
}

/** Products summed over what the equation says: 'ij,jk->ik'. Errors: an equation that does not fit. */
export function einsum(equation: string, ...tensors: TensorLike[]): Tensor {
  return tidy(() => {
    const all = tensors.map((each, at) => toTensor(each, `tensors[${at}]`, 'einsum'));
    const { allDims, summedDims, idDims } = decodeEinsumEquation(equation, all.length);
    checkEinsumDimSizes(allDims.length, idDims, all);
    const left = allDims.length - summedDims.length;
    const spread = all.map((each, at) => {
      const ids = idDims[at]!;
      const order = ids.map((_, axis) => axis).sort((a, b) => ids[a]! - ids[b]!);
      const moved = each.rank > 1 ? apply('transpose', [each], [order]) : each;
      const shape = allDims.map((_, id) => {
        const axis = ids.indexOf(id);
        return axis < 0 ? 1 : each.shape[axis]!;
      });
      return apply('reshape', [moved], [shape]);
    });
    const product = spread.reduce((x, y) => apply('mul', matched(x, y)));
    const axes = allDims.map((_, id) => id).slice(left);
    return axes.length === 0 ? product : apply('sum', [product], [axes]);
  });
}
