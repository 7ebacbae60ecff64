/** How often numbers and classes occur. */
import { LatheError } from '../base/errors.js';
import { checkCount, mostElements } from '../base/limits.js';
import { apply } from '../eager/apply.js';
import { castTo, toTensor } from '../eager/operands.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import { equal, greater, less, logicalAnd, where } from './compare.js';
import { onesLike, range, zerosLike } from './create.js';
import { any, sum } from './reduce.js';

/**
 * How often each number from 0 below `size` occurs, or the sum of the weights where it does.
 *
 * @param x int32 [n]
 * @param weights one for each, or none
 *
 * Errors: other types, ranks or sizes.
 */
export function bincount(x: TensorLike, weights: TensorLike, size: number): Tensor {
  return tidy(() => {
    const given = toTensor(x, 'x', 'bincount');
    if (given.dtype !== 'int32') throw notWhole('bincount', given);
    const by = weightsOf('bincount', weights, given, size);
    return counted(given, by, size);
  });
}

/** `bincount` of the rows of [n] or [rows, n]; with `binaryOutput` 1 where a number occurs at all. */
export function denseBincount(
  x: TensorLike,
  weights: TensorLike,
  size: number,
  binaryOutput = false,
): Tensor {
  return tidy(() => {
    const given = toTensor(x, 'x', 'denseBincount');
    if (given.dtype !== 'int32') throw notWhole('denseBincount', given);
    if (given.rank > 2) {
      throw new LatheError(
        `Error in denseBincount: input must be at most rank 2, but got rank ${given.rank}.`,
      );
    }
    const by = weightsOf('denseBincount', weights, given, size);
    if (!binaryOutput) return counted(given, by, size);
    return castTo(any(places(given, size), -2), by.dtype);
  });
}

const notWhole = (op: string, { dtype }: Tensor) =>
  new LatheError(`Error in ${op}: input dtype must be int32, but got ${dtype}`);

function weightsOf(op: string, weights: TensorLike, x: Tensor, size: number): Tensor {
  const given = toTensor(weights, 'weights', op);
  if (!(size >= 0)) throw new LatheError(`size must be non-negative, but got ${size}.`);
  checkCount(op, 'numbers', size, mostElements);
  checkCount(op, 'comparisons', x.size * size, 2 ** 33);
  if (given.size === x.size || given.size === 0) return given;
  throw new LatheError(
    `Error in ${op}: weights must have the same shape as x or 0-length, but got x shape: ` +
      `${x.shape.join(',')}, weights shape: ${given.shape.join(',')}.`,
  );
}

/** Which number each one is, bool [...x.shape, size]. */
const places = (x: Tensor, size: number): Tensor =>
  equal(apply('reshape', [x], [[...x.shape, 1]]), range(0, size, 1, 'int32'));

function counted(x: Tensor, weights: Tensor, size: number): Tensor {
  const by = weights.size > 0 ? weights : castTo(onesLike(x), weights.dtype);
  const column = apply('reshape', [by], [[...x.shape, 1]]);
  const spread = where(places(x, size), column, zerosLike(column));
  return x.rank === 0 ? spread : sum(spread, x.rank - 1);
}

/**
 * How often each class was taken for each, int32 [numClasses, numClasses]: rows are labels, columns predictions.
 *
 * Errors: no class numbers [n]; different lengths; a number of classes that is no positive integer.
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
    const pairs = apply('add', [
      apply('mul', [castTo(rows, 'int32'), numClasses], [], 'int32'),
      castTo(columns, 'int32'),
    ]);
    const isKnown = logicalAnd(greater(columns, -1), less(columns, numClasses));
    const kept = where(
      isKnown,
      pairs,
      castTo(apply('sub', [zerosLike(pairs), 1], [], 'int32'), 'int32'),
    );
    const flat = counted(kept, castTo(onesLike(pairs), 'int32'), numClasses * numClasses);
    return apply('reshape', [flat], [[numClasses, numClasses]]);
  });
}
