/** Counts of values, and confusion matrices. */
import { LatheError } from '../../base/errors.js';
import { checkCount, maxElements } from '../../base/limits.js';
import { applyOperation } from '../../eager/apply.js';
import { castTo, toTensor } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { equal, greater, less, logicalAnd, where } from '../elementwise/compare.js';
import { onesLike, range, zerosLike } from '../arrays/create.js';
import { any, sum } from './reduce.js';

/**
 * Counts each value in [0, size), or sums its weights.
 *
 * @param x int32 [n]
 * @param weights one per value, or empty
 *
 * Errors: other types, ranks or sizes.
 */
export function bincount(x: TensorLike, weights: TensorLike, size: number): Tensor {
  return tidy(() => {
    const values = toTensor(x, 'x', 'bincount');
    if (values.dtype !== 'int32') throw notInteger('bincount', values);
    const by = weightsOf('bincount', weights, values, size);
    return weightedCounts(values, by, size);
  });
}

/** `bincount` of the rows of [n] or [rows, n]; with `binaryOutput` 1 for values that occur. */
export function denseBincount(
  x: TensorLike,
  weights: TensorLike,
  size: number,
  binaryOutput = false,
): Tensor {
  return tidy(() => {
    const values = toTensor(x, 'x', 'denseBincount');
    if (values.dtype !== 'int32') throw notInteger('denseBincount', values);
    if (values.rank > 2) {
      throw new LatheError(
        `Error in denseBincount: input must be at most rank 2, but got rank ${values.rank}.`,
      );
    }
    const by = weightsOf('denseBincount', weights, values, size);
    if (!binaryOutput) return weightedCounts(values, by, size);
    return castTo(any(isInBin(values, size), -2), by.dtype);
  });
}

const notInteger = (op: string, { dtype }: Tensor) =>
  new LatheError(`Error in ${op}: input dtype must be int32, but got ${dtype}`);

function weightsOf(op: string, weights: TensorLike, x: Tensor, size: number): Tensor {
  const values = toTensor(weights, 'weights', op);
  if (!(size >= 0)) throw new LatheError(`size must be non-negative, but got ${size}.`);
  checkCount(op, 'numbers', size, maxElements);
  checkCount(op, 'comparisons', x.size * size, 2 ** 33);
  if (values.size === x.size || values.size === 0) return values;
  throw new LatheError(
    `Error in ${op}: weights must have the same shape as x or 0-length, but got x shape: ` +
      `${x.shape.join(',')}, weights shape: ${values.shape.join(',')}.`,
  );
}

/** One-hot bins, bool [...x.shape, size]. */
const isInBin = (x: Tensor, size: number): Tensor =>
  equal(applyOperation('reshape', [x], [[...x.shape, 1]]), range(0, size, 1, 'int32'));

function weightedCounts(x: Tensor, weights: Tensor, size: number): Tensor {
  const by = weights.size > 0 ? weights : castTo(onesLike(x), weights.dtype);
  const column = applyOperation('reshape', [by], [[...x.shape, 1]]);
  const spread = where(isInBin(x, size), column, zerosLike(column));
  return x.rank === 0 ? spread : sum(spread, x.rank - 1);
}

/**
 * Confusion counts, int32 [numClasses, numClasses]: rows are labels, columns predictions.
 *
 * Errors: not class indices [n]; different lengths; numClasses that is not a positive integer.
 */
export function confusionMatrix(
  labels: TensorLike,
  predictions: TensorLike,
  numClasses: number,
): Tensor {
  return tidy(() => {
    const rows = toTensor(labels, 'labels', 'confusionMatrix');
    const columns = toTensor(predictions, 'predictions', 'confusionMatrix');
    if (!(numClasses > 0 && Number.isInteger(numClasses))) {
      throw new LatheError(
        `If provided, numClasses must be a positive integer, but got ${numClasses}`,
      );
    }
    checkCount('confusionMatrix', 'classes', numClasses, 2 ** 14);
    for (const [name, { rank }] of Object.entries({ labels: rows, predictions: columns })) {
      if (rank === 1) continue;
      throw new LatheError(`Expected the rank of ${name} to be 1, but got ${rank}`);
    }
    if (rows.size !== columns.size) {
      throw new LatheError(
        `Mismatch in the number of examples: ${rows.size} vs. ${columns.size}. ` +
          'Labels and predictions should have the same number of elements.',
      );
    }
    const pairs = applyOperation('add', [
      applyOperation('mul', [castTo(rows, 'int32'), numClasses], [], 'int32'),
      castTo(columns, 'int32'),
    ]);
    const isInRange = logicalAnd(greater(columns, -1), less(columns, numClasses));
    const valid = where(
      isInRange,
      pairs,
      castTo(applyOperation('sub', [zerosLike(pairs), 1], [], 'int32'), 'int32'),
    );
    const flat = weightedCounts(valid, castTo(onesLike(pairs), 'int32'), numClasses * numClasses);
    return applyOperation('reshape', [flat], [[numClasses, numClasses]]);
  });
}
