/**
 * `tf.test_util`: comparisons for tests, which throw a LatheError where values differ. Where Jasmine's globals exist most
 * also register an empty expectation: `expectNothing`.
 */
import { LatheError } from '../base/errors.js';
import { flatten, isString, isTypedArray } from './util/arrays.js';
import { arraysEqual } from '../shapes/shapes.js';
import { encodeString } from './util.js';
import { inferShape } from './util/infer_shape.js';

export const TEST_EPSILON_FLOAT16 = 1e-1;

type Values = any;

/** The default absolute tolerance of comparisons: 0.001. */
export const testEpsilon = (): number => 1e-3;

/** In Jasmine, calls `expect().nothing()`: it reports specs without expectations. */
function expectNothing(): void {
  const { expect } = globalThis as { expect?: () => { nothing?(): void } };
  if (expect && 'jasmine' in globalThis) expect().nothing?.();
}

/** Whether neither is finite (NaN and the infinities, of either sign, are all alike), or |a - b| ≤ epsilon. */
function areClose(a: number, b: number, epsilon: number): boolean {
  if (!Number.isFinite(Number(a)) && !Number.isFinite(Number(b))) return true;
  return Math.abs(a - b) <= epsilon;
}

/**
 * Compares element by element with `isSame`. Errors: both are typed arrays, or neither is, and their constructors have
 * different names; nested arrays of other shapes; other numbers of elements; elements that differ.
 */
function compare(actual: Values, expected: Values, isSame: (a: any, b: any) => boolean): void {
  const [typedA, typedB] = [isTypedArray(actual), isTypedArray(expected)];
  const [nameA, nameB] = [actual, expected].map((each) => each.constructor.name as string);
  if (typedA === typedB && nameA !== nameB) {
    throw new LatheError(`Arrays are of different type. Actual: ${nameA}. Expected: ${nameB}`);
  }
  if (Array.isArray(actual) && Array.isArray(expected)) {
    const [shapeA, shapeB] = [inferShape(actual), inferShape(expected)];
    if (!arraysEqual(shapeA, shapeB)) {
      throw new LatheError(
        `Arrays have different shapes. Actual: [${shapeA}]. Expected: [${shapeB}]`,
      );
    }
  }
  const a: any = typedA ? actual : flatten(actual);
  const b: any = typedB ? expected : flatten(expected);
  const both = `Actual:   ${a}.\nExpected: ${b}.`;
  if (a.length !== b.length) {
    throw new LatheError(
      `Arrays have different lengths actual: ${a.length} vs expected: ${b.length}.\n${both}`,
    );
  }
  for (let i = 0; i < b.length; ++i) {
    if (isSame(a[i], b[i])) continue;
    throw new LatheError(
      `Arrays differ: actual[${i}] = ${a[i]}, expected[${i}] = ${b[i]}.\n${both}`,
    );
  }
  expectNothing();
}

/**
 * Compares numbers in (nested) arrays or typed arrays. An array and a typed array may be equal; their shapes are not
 * compared. Errors: those of `compare`; numbers that differ by more than epsilon, unless neither is finite.
 */
export function expectArraysClose(
  actual: Values,
  expected: Values,
  epsilon: number = testEpsilon(),
): void {
  compare(actual, expected, (a, b) => areClose(a, b, epsilon ?? testEpsilon()));
}

/**
 * Compares values as `expectArraysClose` with an epsilon of 0; strings, if the values or their first elements are some,
 * with ==. A single expected string equals [string]. Errors: those of `compare`.
 */
export function expectArraysEqual(actual: Values, expected: Values): void {
  const expectedList = typeof expected === 'object' ? expected : [expected];
  const isText = [actual, actual[0], expected, expected[0]].some(isString);
  // Booleans equal the numbers that encode them.
  const isSame = (a: any, b: any) => (isText ? a == b : areClose(a, b, 0));
  compare(actual, isText ? expectedList : expected, isSame);
}

/** Error: numbers that differ by more than epsilon, unless neither is finite. */
export function expectNumbersClose(a: number, e: number, epsilon: number = testEpsilon()): void {
  if (!areClose(a, e, epsilon))
    throw new LatheError(`Numbers differ: actual === ${a}, expected === ${e}`);
  expectNothing();
}

/** Error: an element below `low` or above `high`; NaN is neither. */
export function expectValuesInRange(actual: ArrayLike<number>, low: number, high: number): void {
  for (let i = 0; i < actual.length; ++i) {
    if (actual[i]! < low || actual[i]! > high) {
      throw new LatheError(`Value out of range:${actual[i]} low: ${low}, high: ${high}`);
    }
  }
}

/** Compares the buffers as float32 with ===: NaN differs from itself, -0 equals 0. Error: another length or element. */
export function expectArrayBuffersEqual(actual: ArrayBuffer, expected: ArrayBuffer): void {
  const [a, b] = [new Float32Array(actual), new Float32Array(expected)];
  if (a.length !== b.length) {
    throw new LatheError(
      `Expected ArrayBuffer to be of length ${b.length}, but it was ${a.length}`,
    );
  }
  for (let i = 0; i < b.length; ++i) {
    if (a[i] !== b[i]) {
      throw new LatheError(
        `Expected ArrayBuffer value at ${i} to be ${b[i]} but got ${a[i]} instead`,
      );
    }
  }
}

interface Done {
  (): void;
  fail(): void;
}

/** Calls `done` once the promise rejects, and `done.fail` if it does not. */
export function expectPromiseToFail(action: () => Promise<unknown>, done: Done): void {
  action().then(
    () => done.fail(),
    () => done(),
  );
  expectNothing();
}

/** Replaces nested strings by their UTF-8 in the array itself. */
export function encodeStrings(nested: any[]): any[] {
  nested.forEach((each, at) => {
    if (Array.isArray(each)) encodeStrings(each);
    else nested[at] = encodeString(each as string);
  });
  return nested;
}

/** Resolves to a muted, looping video of the source once its first frame is loaded. It does not start to play. */
export function createVideoElement(source: Node): Promise<HTMLVideoElement> {
  const video = document.createElement('video');
  Object.assign(video, { playsInline: true, muted: true, loop: true, preload: 'auto' });
  video.style.cssText = 'position: fixed; left: 0; top: 0';
  video.appendChild(source);
  return new Promise((resolve) => {
    video.addEventListener('loadeddata', () => resolve(video));
    video.load();
  });
}

/** Starts to play the video; resolves after the first frame is displayed, where the browser reports that. */
export async function play(video: HTMLVideoElement): Promise<void> {
  await video.play();
  if ('requestVideoFrameCallback' in video) {
    await new Promise((resolve) => video.requestVideoFrameCallback(resolve));
  }
}
