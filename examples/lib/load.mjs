// Gets the training and test digits of the demo in Node: drawn ones, or the idx files of MNIST from a folder.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawDigits } from './digits.mjs';
import { readDigits } from './idx.mjs';

/** 10,000 + 2,000 drawn digits; the test digits follow the training digits in the row of the seed. */
export function drawnDigits(seed, trainCount = 10000, testCount = 2000) {
  return {
    train: drawDigits(trainCount, seed),
    test: drawDigits(testCount, seed, trainCount),
  };
}

/** {train-,t10k-}{images-idx3,labels-idx1}-ubyte of a folder, plain or .gz. Errors: a file is missing or wrong. */
export async function idxDigits(folder) {
  const pair = (set) =>
    readDigits(read(folder, `${set}-images-idx3-ubyte`), read(folder, `${set}-labels-idx1-ubyte`));
  return { train: await pair('train'), test: await pair('t10k') };
}

function read(folder, name) {
  const path = [join(folder, name), join(folder, `${name}.gz`)].find(existsSync);
  if (path === undefined) throw new Error(`${join(folder, name)} (or .gz) is missing`);
  return { name: path, bytes: new Uint8Array(readFileSync(path)) };
}
