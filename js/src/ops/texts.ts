/** Operations on texts: split, joined, replaced and hashed in JavaScript. `string` of TensorFlow.js. */
import { LatheError, reasonOf } from '../base/errors.js';
import { checkCount } from '../base/limits.js';
import { toTensor } from '../eager/operands.js';
import { textsOf, textTensor } from '../tensor/odd.js';
import type { DType } from '../tensor/dtypes.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import { fingerPrint64 } from '../shapes/hash_util.js';
import { integers } from './constants.js';

const text = (x: unknown, name: string, op: string): Tensor =>
  toTensor(x as TensorLike, name, op, 'string' as DType);

/** Each text with matches of the pattern replaced, all or the first one. */
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
      return textTensor(
        textsOf(x)!.map((each) => replaced(each, found)),
        x.shape,
      );
    } catch (error) {
      if (error instanceof LatheError) throw error;
      // A string that engines cannot make.
      if (error instanceof RangeError) checkCount('staticRegexReplace', 'letters', Infinity);
      throw new LatheError(`staticRegexReplace: ${reasonOf(error)}`, { cause: error });
    }
  });
}

/** A number below `numBuckets` for each text. Error: no bucket. */
export function stringToHashBucketFast(input: unknown, numBuckets: number): Tensor {
  return tidy(() => {
    const x = text(input, 'input', 'stringToHashBucketFast');
    if (!(numBuckets > 0)) throw new LatheError('Number of buckets must be at least 1');
    const encoder = new TextEncoder();
    const buckets = textsOf(x)!.map((each) => {
      const hash = fingerPrint64(encoder.encode(each));
      return Number(BigInt.asUintN(64, hash.big) % BigInt(numBuckets));
    });
    return integers(buckets, [...x.shape]);
  });
}

/** Parts of each text between any of the delimiters, as a sparse tensor. Errors: other ranks. */
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
    const marks = new Set(textsOf(by)![0]!);
    const rows = textsOf(x)!.map((each) => parts(each, marks, skipEmpty));
    const places = rows.flatMap((row, at) => row.flatMap((_, column) => [at, column]));
    const values = rows.flat();
    const most = rows.reduce((longest, row) => Math.max(longest, row.length), 0);
    return {
      indices: integers(places, [values.length, 2]),
      values: textTensor(values, [values.length]),
      shape: integers([rows.length, most]),
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

/** Runs of n texts of each row, joined; the edges are padded. Errors: splits that do not fit. */
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
    const [words, splits] = [textsOf(x)!, Array.from(splitsTensor.dataSync())];
    checkSplits(splits, words.length);
    const found: string[] = [];
    const longest = [leftPad, rightPad, ...words].reduce(
      (most, { length }) => Math.max(most, length),
      0,
    );
    let letters = 0;
    const ends = splits.length === 0 ? [] : [0];
    for (let row = 1; row < splits.length; row += 1) {
      const own = words.slice(splits[row - 1], splits[row]);
      const before = found.length;
      for (const width of nGramWidths) {
        if (!(width >= 1))
          throw new LatheError(`stringNGrams: a width of ${width}; 1 is the least`);
        const pads = padWidth < 0 ? width - 1 : Math.min(padWidth, width - 1);
        const runs = Math.max(0, own.length + 2 * pads - width + 1);
        letters += 2 * pads + runs * width * (longest + separator.length + 1);
        checkCount('stringNGrams', 'letters', letters);
        const padded = [
          ...new Array<string>(pads).fill(leftPad),
          ...own,
          ...new Array<string>(pads).fill(rightPad),
        ];
        for (let at = 0; at + width <= padded.length; at += 1) {
          found.push(padded.slice(at, at + width).join(separator));
        }
      }
      if (preserveShortSequences && found.length === before && own.length > 0) {
        const widest = padWidth < 0 ? 0 : padWidth;
        letters += (own.length + 2 * widest) * (longest + separator.length + 1);
        checkCount('stringNGrams', 'letters', letters);
        const all = [
          ...new Array<string>(widest).fill(leftPad),
          ...own,
          ...new Array<string>(widest).fill(rightPad),
        ];
        found.push(all.join(separator));
      }
      ends.push(found.length);
    }
    return { nGrams: textTensor(found, [found.length]), nGramsSplits: integers(ends) };
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
