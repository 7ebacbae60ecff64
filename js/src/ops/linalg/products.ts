/** Matrix and vector products, einsum. */
import { LatheError } from '../../base/errors.js';
import { applyOperation } from '../../eager/apply.js';
import { castTo, promoteTypes, toTensor } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import { Tensor, type TensorLike } from '../../tensor/tensor.js';
import { checkEinsumDimSizes, decodeEinsumEquation } from '../../shapes/einsum.js';

/** The matrix product, batched with broadcasting. Errors: inner sizes differ. */
export function matMul(
  a: TensorLike,
  b: TensorLike,
  transposeA = false,
  transposeB = false,
): Tensor {
  if (isFloat32(a) && isFloat32(b)) return product(a, b, transposeA, transposeB);
  return tidy(() => {
    const [x, y] = promoteTypes(toTensor(a, 'a', 'matMul'), toTensor(b, 'b', 'matMul'));
    return product(x!, y!, transposeA, transposeB);
  });
}

/** The fast path without conversions. */
const isFloat32 = (x: TensorLike): x is Tensor => x instanceof Tensor && x.dtype === 'float32';

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
  return applyOperation('matMul', [x, y], [transposeA, transposeB]);
}

/** The dot product of vectors, or of a matrix and a vector in either order. Errors: other ranks; inner sizes differ. */
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
    const rows = x.rank === 1 ? applyOperation('reshape', [x], [[1, inner]]) : x;
    const columns = y.rank === 1 ? applyOperation('reshape', [y], [[inner, 1]]) : y;
    const shape = [...(x.rank === 1 ? [] : [x.shape[0]!]), ...(y.rank === 1 ? [] : [y.shape[1]!])];
    return applyOperation('reshape', [matMul(rows, columns)], [shape]);
  });
}

/** The outer product of two vectors. Errors: other ranks. */
export function outerProduct(v1: TensorLike, v2: TensorLike): Tensor {
  return tidy(() => {
    const [x, y] = [toTensor(v1, 'v1', 'outerProduct'), toTensor(v2, 'v2', 'outerProduct')];
    if (x.rank !== 1 || y.rank !== 1) {
      throw new LatheError(
        `Error in outerProduct: inputs must be rank 1, but got ranks ${x.rank} and ${y.rank}.`,
      );
    }
    return matMul(
      applyOperation('reshape', [x], [[-1, 1]]),
      applyOperation('reshape', [y], [[1, -1]]),
    );
  });
}

/**
 * Products summed as the equation specifies: 'ij,jk->ik'. Sums over labels of both inputs are computed as products of
 * matrices. Errors: an equation that does not match the shapes.
 */
export function einsum(equation: string, ...tensors: TensorLike[]): Tensor {
  return tidy(() => {
    const all = tensors.map((each, at) => toTensor(each, `tensors[${at}]`, 'einsum'));
    const { allDims, summedDims, idDims } = decodeEinsumEquation(equation, all.length);
    checkEinsumDimSizes(allDims.length, idDims, all);
    const left = allDims.length - summedDims.length;
    const isSummed = (id: number) => id >= left;
    const reduced = promoteTypes(...all).map((x, at) =>
      summed(
        { x, ids: idDims[at]! },
        (id) => isSummed(id) && idDims.every((each, of) => of === at || !each.includes(id)),
      ),
    );
    const order = allDims.slice(0, left).map((_, id) => id);
    const [x, y] = reduced as [Lettered, Lettered?];
    if (y === undefined) return inOrder(x, order);
    const isProduct =
      x.x.dtype !== 'bool' && x.ids.some((id) => isSummed(id) && y.ids.includes(id));
    if (isProduct) return inOrder(contracted(x, y, isSummed), order);
    const spread = [x, y].map((each) => {
      const sorted = [...each.ids].sort((a, b) => a - b);
      const shape = allDims.map((_, id) => (sorted.includes(id) ? sizeOf(each, id) : 1));
      return applyOperation('reshape', [inOrder(each, sorted)], [shape]);
    });
    const product = applyOperation('mul', spread);
    const axes = summedDims.map((_, at) => left + at);
    return axes.length === 0 ? product : applyOperation('sum', [product], [axes]);
  });
}

/** A tensor with the labels of its axes. */
interface Lettered {
  readonly x: Tensor;
  readonly ids: readonly number[];
}

const sizeOf = ({ x, ids }: Lettered, id: number): number => x.shape[ids.indexOf(id)]!;

/** Sums over labels that are not in the result. */
function summed({ x, ids }: Lettered, goes: (id: number) => boolean): Lettered {
  const axes = [...ids.keys()].filter((axis) => goes(ids[axis]!));
  if (axes.length === 0) return { x, ids };
  return { x: applyOperation('sum', [x], [axes]), ids: ids.filter((id) => !goes(id)) };
}

/** Transposes to the order of labels. */
function inOrder({ x, ids }: Lettered, order: readonly number[]): Tensor {
  const axes = order.map((id) => ids.indexOf(id));
  return axes.every((axis, at) => axis === at) ? x : applyOperation('transpose', [x], [axes]);
}

/** Contracts the shared labels that are not in the result, as a matrix product. */
function contracted(x: Lettered, y: Lettered, goes: (id: number) => boolean): Lettered {
  const both = x.ids.filter((id) => y.ids.includes(id));
  const [batch, inner] = [both.filter((id) => !goes(id)), both.filter(goes)];
  const [rows, columns] = [x, y].map(({ ids }) => ids.filter((id) => !both.includes(id))) as [
    number[],
    number[],
  ];
  const count = (of: Lettered, ids: readonly number[]) =>
    ids.reduce((all, id) => all * sizeOf(of, id), 1);
  const sizes = batch.map((id) => sizeOf(x, id));
  const flat = (of: Lettered, first: number[], last: number[]) => {
    const shape = [...sizes, count(of, first), count(of, last)];
    return applyOperation('reshape', [inOrder(of, [...batch, ...first, ...last])], [shape]);
  };
  const product = applyOperation(
    'matMul',
    [flat(x, rows, inner), flat(y, inner, columns)],
    [false, false],
  );
  const shape = [
    ...sizes,
    ...rows.map((id) => sizeOf(x, id)),
    ...columns.map((id) => sizeOf(y, id)),
  ];
  return { x: applyOperation('reshape', [product], [shape]), ids: [...batch, ...rows, ...columns] };
}
