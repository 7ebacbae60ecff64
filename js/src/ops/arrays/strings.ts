/** String operations, in JavaScript: split, n-grams, replace, hash. `string` of TensorFlow.js. */
import { LatheError, reasonOf } from '../../base/errors.js';
import { checkCount } from '../../base/limits.js';
import { toTensor } from '../../eager/operands.js';
import { stringsOf, stringTensor } from '../../tensor/string_complex.js';
import type { DType } from '../../tensor/dtypes.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { fingerPrint64 } from '../../shapes/hash_util.js';
import { integers } from '../common/constants.js';

const text = (x: unknown, name: string, op: string): Tensor =>
  toTensor(x as TensorLike, name, op, 'string' as DType);

/** Replaces all matches of the pattern, or the first, in each string. */
export function staticRegexReplace(
  input: unknown,
  pattern: string,
  rewrite: string,
  replaceGlobal = true,
): Tensor {
  return tidy(() => {
    const x = text(input, 'input', 'staticRegexReplace');
    let letters = 0;
    const replaced = (each: string, found: RegExp) => {
      const made = each.replace(found, rewrite);
      letters += made.length;
      checkCount('staticRegexReplace', 'letters', letters);
      return made;
    };
    try {
      const found = new RegExp(pattern, replaceGlobal ? 'g' : '');
      return stringTensor(
        stringsOf(x)!.map((each) => replaced(each, found)),
        x.shape,
      );
    } catch (error) {
      if (error instanceof LatheError) throw error;
      // Longer than the maximum string length of engines.
      if (error instanceof RangeError) checkCount('staticRegexReplace', 'letters', Infinity);
      throw new LatheError(`staticRegexReplace: ${reasonOf(error)}`, { cause: error });
    }
  });
}

/** The hash bucket of each string, below `numBuckets`. Error: no buckets. */
export function stringToHashBucketFast(input: unknown, numBuckets: number): Tensor {
  return tidy(() => {
    const x = text(input, 'input', 'stringToHashBucketFast');
    if (!(numBuckets > 0)) throw new LatheError('Number of buckets must be at least 1');
    const encoder = new TextEncoder();
    const buckets = stringsOf(x)!.map((each) => {
      const hash = fingerPrint64(encoder.encode(each));
      return Number(BigInt.asUintN(64, hash.big) % BigInt(numBuckets));
    });
    return integers(buckets, [...x.shape]);
  });
}

/** Splits each string at any of the delimiters, as a sparse tensor. Errors: other ranks. */
export function stringSplit(
  input: unknown,
  delimiter: unknown,
  skipEmpty = true,
): { indices: Tensor; values: Tensor; shape: Tensor } {
  return tidy(() => {
    const x = text(input, 'input', 'stringSplit');
    const by = text(delimiter, 'delimiter', 'stringSplit');
    if (x.rank !== 1) {
      throw new LatheError(`Input should be Tensor1D but received shape ${x.shape.join(',')}`);
    }
    if (by.rank !== 0) {
      throw new LatheError(`Delimiter should be a scalar but received shape ${by.shape.join(',')}`);
    }
    const marks = new Set(stringsOf(by)![0]!);
    const rows = stringsOf(x)!.map((each) => parts(each, marks, skipEmpty));
    const coordinates = rows.flatMap((row, at) => row.flatMap((_, column) => [at, column]));
    const values = rows.flat();
    const maxLength = rows.reduce((longest, row) => Math.max(longest, row.length), 0);
    return {
      indices: integers(coordinates, [values.length, 2]),
      values: stringTensor(values, [values.length]),
      shape: integers([rows.length, maxLength]),
    };
  });
}

function parts(each: string, marks: ReadonlySet<string>, skipEmpty: boolean): string[] {
  if (each === '') return [];
  const found = [''];
  for (const letter of each) {
    if (marks.size === 0 || marks.has(letter)) found.push(marks.size === 0 ? letter : '');
    else found[found.length - 1] += letter;
  }
  if (marks.size === 0) found.shift();
  return skipEmpty ? found.filter((part) => part !== '') : found;
}

/** n-grams of the strings of each row, concatenated; edges are padded. Errors: splits that do not fit. */
export function stringNGrams(
  data: unknown,
  dataSplits: TensorLike,
  separator: string,
  nGramWidths: readonly number[],
  leftPad: string,
  rightPad: string,
  padWidth: number,
  preserveShortSequences: boolean,
): { nGrams: Tensor; nGramsSplits: Tensor } {
  return tidy(() => {
    const x = text(data, 'data', 'stringNGrams');
    if (x.rank !== 1) {
      throw new LatheError(`Data must be a vector, saw: ${x.shape.join(',')}`);
    }
    const splitsTensor = toTensor(dataSplits, 'dataSplits', 'stringNGrams');
    if (splitsTensor.dtype !== 'int32') {
      throw new LatheError('Data splits must be of datatype int32');
    }
    const [words, splits] = [stringsOf(x)!, Array.from(splitsTensor.dataSync())];
    checkSplits(splits, words.length);
    const found: string[] = [];
    const longest = [leftPad, rightPad, ...words].reduce(
      (maxLength, { length }) => Math.max(maxLength, length),
      0,
    );
    let letters = 0;
    const ends = splits.length === 0 ? [] : [0];
    for (let row = 1; row < splits.length; row += 1) {
      const rowWords = words.slice(splits[row - 1], splits[row]);
      const before = found.length;
      for (const width of nGramWidths) {
        if (!(width >= 1))
          throw new LatheError(`stringNGrams: a width of ${width}; 1 is the least`);
        const pads = padWidth < 0 ? width - 1 : Math.min(padWidth, width - 1);
        const runs = Math.max(0, rowWords.length + 2 * pads - width + 1);
        letters += 2 * pads + runs * width * (longest + separator.length + 1);
        checkCount('stringNGrams', 'letters', letters);
        const padded = [
          ...new Array<string>(pads).fill(leftPad),
          ...rowWords,
          ...new Array<string>(pads).fill(rightPad),
        ];
        for (let at = 0; at + width <= padded.length; at += 1) {
          found.push(padded.slice(at, at + width).join(separator));
        }
      }
      if (preserveShortSequences && found.length === before && rowWords.length > 0) {
        const widest = padWidth < 0 ? 0 : padWidth;
        letters += (rowWords.length + 2 * widest) * (longest + separator.length + 1);
        checkCount('stringNGrams', 'letters', letters);
        const all = [
          ...new Array<string>(widest).fill(leftPad),
          ...rowWords,
          ...new Array<string>(widest).fill(rightPad),
        ];
        found.push(all.join(separator));
      }
      ends.push(found.length);
    }
    return { nGrams: stringTensor(found, [found.length]), nGramsSplits: integers(ends) };
  });
}

function checkSplits(splits: readonly number[], size: number): void {
  if (splits.length === 0) return;
  if (splits[0] !== 0) throw new LatheError(`First split value must be 0, got ${splits[0]}`);
  splits.forEach((each, at) => {
    if (at === 0 || (each >= splits[at - 1]! && each <= size)) return;
    throw new LatheError(`Invalid split value ${each}, must be in [${splits[at - 1]}, ${size}]`);
  });
  if (splits.at(-1) !== size) {
    throw new LatheError(
      `Last split value must be data size. Expected ${size}, got ${splits.at(-1)}`,
    );
  }
}
