// Images of digits: drawn here, or read from MNIST idx files of the user.
import { drawDigits, toFloats } from '../../../../examples/lib/digits.mjs';
import { readDigits } from '../../../../examples/lib/idx.mjs';
import { nextTask } from '../dom';
import type { DataSet, Part } from './data_set';

interface Digits {
  images: Uint8Array;
  labels: Uint8Array;
  count: number;
}

const chunk = 200;
const classes = Array.from({ length: 10 }, (_, digit) => String(digit));

const partOf = ({ images, labels, count }: Digits): Part => ({
  features: toFloats(images),
  labels: Int32Array.from(labels),
  count,
});

const dataSetOf = (train: Digits, test: Digits, source: string): DataSet => ({
  source,
  shape: [28, 28, 1],
  classes,
  target: 'the digit',
  train: partOf(train),
  test: partOf(test),
});

/** Draws `count` digits and a fifth as many to test on, a few at a time so that the page stays alive. */
export async function drawDataSet(
  count: number,
  seed: number,
  onProgress: (share: number) => void,
): Promise<DataSet> {
  const total = count + Math.ceil(count / 5);
  const images = new Uint8Array(total * 784);
  const labels = new Uint8Array(total);
  for (let first = 0; first < total; first += chunk) {
    const part = drawDigits(Math.min(chunk, total - first), seed, first);
    images.set(part.images, first * 784);
    labels.set(part.labels, first);
    onProgress((first + part.count) / total);
    await nextTask();
  }
  const range = (from: number, to: number): Digits => ({
    images: images.subarray(from * 784, to * 784),
    labels: labels.subarray(from, to),
    count: to - from,
  });
  return dataSetOf(range(0, count), range(count, total), 'digits drawn in this page');
}

/**
 * Reads idx files, recognized by "train", "t10k" or "test" and "images" or "labels" in their names.
 * Errors: one of the four is missing, or its content does not match its name.
 */
export async function readIdxDataSet(files: readonly File[]): Promise<DataSet> {
  const pick = async (set: RegExp, kind: RegExp, what: string) => {
    const file = files.find(({ name }) => set.test(name) && kind.test(name));
    if (file === undefined) {
      const names = files.map(({ name }) => name).join(', ');
      throw new Error(
        `There is no file of ${what} among ${names}. Four are needed: train-images, train-labels, ` +
          't10k-images and t10k-labels.',
      );
    }
    return { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
  };
  const pair = async (set: RegExp, what: string): Promise<Digits> =>
    readDigits(
      await pick(set, /images/i, `${what} images`),
      await pick(set, /labels/i, `${what} labels`),
    );
  const train = await pair(/train/i, 'training');
  const test = await pair(/t10k|test/i, 'test');
  return dataSetOf(train, test, 'idx files');
}
