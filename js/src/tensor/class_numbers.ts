/** One-hot encoding and confusion matrices of class indices. */
import { LatheError } from '../base/errors.js';
import { checkCount } from '../base/options.js';
import { elementCount } from '../base/shape.js';
import { decodeElements } from './convert.js';
import type { DType } from './dtypes.js';
import { Tensor, tensor, type TensorLike } from './tensor.js';

/**
 * One-hot rows, int32 [...indices.shape, depth]: onValue at the index, offValue elsewhere; an index
 * out of range yields a row of offValue, as in TensorFlow.js. Error: a depth that is no positive integer.
 */
export function oneHot(indices: TensorLike, depth: number, onValue = 1, offValue = 0): Tensor {
  const { shape, classes } = classNumbers('oneHot: indices', indices);
  checkCount('oneHot: depth', depth);
  const rows = new Int32Array(elementCount(shape) * depth).fill(offValue);
  classes.forEach((each, row) => {
    if (each >= 0 && each < depth) rows[row * depth + each] = onValue;
  });
  return new Tensor(rows, [...shape, depth], 'int32');
}

/**
 * How often each class was predicted for each label, int32 [numClasses, numClasses]: rows are labels, columns
 * predictions, both class numbers [n]. Errors: other shapes, no class number, another length.
 */
function confusionMatrix(labels: TensorLike, predictions: TensorLike, numClasses: number): Tensor {
  checkCount('confusionMatrix: numClasses', numClasses);
  const [rows, columns] = [
    classNumbers('confusionMatrix: labels', labels, numClasses),
    classNumbers('confusionMatrix: predictions', predictions, numClasses),
  ];
  if (rows.classes.length !== columns.classes.length) {
    throw new LatheError(
      `confusionMatrix: ${rows.classes.length} labels, but ${columns.classes.length} predictions`,
    );
  }
  const counts = new Int32Array(numClasses * numClasses);
  rows.classes.forEach((label, at) => (counts[label * numClasses + columns.classes[at]!]! += 1));
  return new Tensor(counts, [numClasses, numClasses], 'int32');
}

/** As in TensorFlow.js. */
export const math = { confusionMatrix };

/** Integers of any dtype; with `count` of one axis and classes below it. */
function classNumbers(
  what: string,
  values: TensorLike,
  count?: number,
): { shape: readonly number[]; classes: number[] } {
  const { shape, data } = hostOf(values);
  const classes = Array.from<number | bigint, number>(data, Number);
  if (count !== undefined && shape.length !== 1) {
    throw new LatheError(`${what} must be class numbers [n], got the shape [${shape.join(',')}]`);
  }
  const end = count ?? Infinity;
  const wrong = classes.findIndex(
    (each) => !Number.isInteger(each) || (count !== undefined && (each < 0 || each >= end)),
  );
  if (wrong >= 0) {
    const expected = count === undefined ? 'an integer' : `a class number from 0 to ${end - 1}`;
    throw new LatheError(`${what}: ${classes[wrong]} at ${wrong} is not ${expected}`);
  }
  return { shape, classes };
}

function hostOf(values: TensorLike): {
  shape: readonly number[];
  data: ArrayLike<number> | ArrayLike<bigint>;
} {
  const host = values instanceof Tensor ? values : tensor(values);
  return { shape: host.shape, data: decodeElements(host.dataSync<DType>(), host.dtype) };
}
