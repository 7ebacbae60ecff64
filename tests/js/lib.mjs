// Shared by the JavaScript tests: the MNIST files, one-hot rows, assertions of errors.
import assert from 'node:assert/strict';
import * as tl from 'tensorlathe';
import { toFloats } from '../../examples/lib/digits.mjs';
import { idxDigits } from '../../examples/lib/load.mjs';
import { dataPath, missingData } from '../../tools/data.mjs';

/** Where the MNIST files are. */
export const mnistFolder = dataPath('train/mnist');

/** For `test(…, { skip })`: why the tests on MNIST do not run, or false. */
export const mnistAbsent = missingData('train/mnist');

/** Training and test digits of MNIST. */
export const readMnist = () => idxDigits(mnistFolder);

/** Digits as [x, y], with class numbers for labels. */
export function tensors({ images, labels, count }, first = count) {
  return [
    tl.tensor(toFloats(images.subarray(0, first * 784)), [first, 784]),
    tl.tensor(labels.subarray(0, first), [first]),
  ];
}

/** Class numbers as rows of zeros with a one. */
export function oneHot(labels, classes) {
  const rows = new Float32Array(labels.length * classes);
  labels.forEach((label, at) => (rows[at * classes + label] = 1));
  return rows;
}

/** Asserts that the call throws a LatheError with this message. */
export const throws = (action, message) => assert.throws(action, { name: 'LatheError', message });

/** Asserts that the promise rejects with a LatheError with this message. */
export const rejects = (promise, message) =>
  assert.rejects(promise, { name: 'LatheError', message });

/** A small classifier of two inputs and three classes. */
export function smallModel(options = {}) {
  const model = tl.sequential({ seed: 3, ...options });
  model.add(tl.layers.dense({ units: 8, activation: 'tanh', inputShape: [2] }));
  model.add(tl.layers.dense({ units: 3, activation: 'softmax' }));
  return model;
}

/** Points of three blobs: x [count, 2], y [count] class numbers. */
export function blobs(count) {
  const x = new Float32Array(count * 2);
  const y = new Int32Array(count);
  for (let i = 0; i < count; ++i) {
    y[i] = i % 3;
    x[2 * i] = [-1, 0, 1][y[i]] + 0.5 * Math.sin(12.9898 * i);
    x[2 * i + 1] = [0, 1, 0][y[i]] + 0.5 * Math.sin(78.233 * i + 1);
  }
  return [tl.tensor(x, [count, 2]), tl.tensor(y)];
}

/** Largest absolute difference of two arrays. */
export function largestDifference(a, b) {
  assert.equal(a.length, b.length);
  return a.reduce((worst, value, at) => Math.max(worst, Math.abs(value - b[at])), 0);
}

/** A list to which workers are added when they start. */
export function startedWorkers() {
  const threads = process.getBuiltinModule('node:worker_threads');
  const started = [];
  threads.Worker = class extends threads.Worker {
    constructor(...options) {
      super(...options);
      started.push(this);
    }
  };
  return started;
}

/** Counts of live objects; the memory of the core never shrinks. */
export function counts() {
  const { coreBytes, devices, ...rest } = tl.memory();
  return rest;
}

/** The number of generated modules that `work` instantiates. */
export async function compiled(work) {
  const { Instance } = WebAssembly;
  let count = 0;
  WebAssembly.Instance = class extends Instance {
    constructor(...args) {
      super(...args);
      count++;
    }
  };
  try {
    await work();
  } finally {
    WebAssembly.Instance = Instance;
  }
  return count;
}

/** A tensor of deterministic pseudo-random numbers. */
export function data(shape, seed = 1) {
  const count = shape.reduce((product, size) => product * size, 1);
  const values = Float32Array.from({ length: count }, (_, i) => Math.sin(12.9898 * (i + seed)));
  return tl.tensor(values, shape);
}

/** Deterministic pseudo-random sizes from 1 to `max`. */
export function randomSizes(count, max = 40, seed = 7) {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return 1 + (Math.floor(state / 65536) % max);
  });
}
