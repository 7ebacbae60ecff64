// The digits the page trains on: drawn here, or read from files the user picks.
import * as tl from 'tensorlathe';
import { drawDigits, toFloats } from '../../../examples/lib/digits.mjs';
import { readDigits } from '../../../examples/lib/idx.mjs';

/** Images as bytes, 784 each, with their classes. */
export interface Digits {
  images: Uint8Array;
  labels: Uint8Array;
  count: number;
}

/** Training and test digits, and where they come from. */
export interface DataSet {
  train: Digits;
  test: Digits;
  source: string;
}

const trainCount = 10000;
const testCount = 2000;
const chunk = 200;

/** Draws 10,000 + 2,000 digits, a few at a time so that the page stays alive. */
export async function drawDataSet(
  seed: number,
  onProgress: (share: number) => void,
): Promise<DataSet> {
  const total = trainCount + testCount;
  const images = new Uint8Array(total * 784);
  const labels = new Uint8Array(total);
  for (let first = 0; first < total; first += chunk) {
    const part = drawDigits(Math.min(chunk, total - first), seed, first);
    images.set(part.images, first * 784);
    labels.set(part.labels, first);
    onProgress((first + part.count) / total);
    await new Promise((done) => setTimeout(done));
  }
  const cut = (from: number, to: number): Digits => ({
    images: images.subarray(from * 784, to * 784),
    labels: labels.subarray(from, to),
    count: to - from,
  });
  return { train: cut(0, trainCount), test: cut(trainCount, total), source: 'drawn in this page' };
}

/**
 * Reads idx files, told apart by "train", "t10k" or "test" and "images" or "labels" in their names.
 * Errors: one of the four is missing, or is not what its name says.
 */
export async function readDataSet(files: File[]): Promise<DataSet> {
  const pick = async (set: RegExp, kind: RegExp, what: string) => {
    const file = files.find(({ name }) => set.test(name) && kind.test(name));
    if (file === undefined) {
      throw new Error(`no file of ${what} among ${files.map(({ name }) => name).join(', ')}`);
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
  return { train, test, source: 'your files' };
}

/** Digits as the tensors a model takes. */
export function tensors({ images, labels, count }: Digits): [tl.Tensor, tl.Tensor] {
  return [tl.tensor(toFloats(images), [count, 784]), tl.tensor(labels, [count])];
}
