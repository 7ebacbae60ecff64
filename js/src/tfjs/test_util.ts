/** `tf.test_util`: comparisons for tests. In jasmine and jest they register as expectations. */
import { LatheError } from '../base/errors.js';
import { flatten, isString, isTypedArray } from './util/arrays.js';
import { arraysEqual } from '../shapes/shapes.js';
import { encodeString } from './util.js';
import { inferShape } from './util/infer_shape.js';

export const TEST_EPSILON_FLOAT16 = 1e-1;

type Values = any;

/** The tolerance of float comparisons. */
export const testEpsilon = (): number => 1e-3;

/** Registers an expectation, as test runners may fail tests without one. */
function expectNothing(): void {
  const { expect } = globalThis as { expect?: () => { nothing?(): void } };
  if (expect && 'jasmine' in globalThis) expect().nothing?.();
}

/** Both infinite or NaN, or within epsilon. */
function areClose(a: number, b: number, epsilon: number): boolean {
  if (!Number.isFinite(Number(a)) && !Number.isFinite(Number(b))) return true;
  return Math.abs(a - b) <= epsilon;
}

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

/** Error: other shapes or types, or numbers that differ by more than epsilon. */
export function expectArraysClose(
  actual: Values,
  expected: Values,
  epsilon: number = testEpsilon(),
): void {
  compare(actual, expected, (a, b) => areClose(a, b, epsilon ?? testEpsilon()));
}

/** Error: other shapes, types or elements. */
export function expectArraysEqual(actual: Values, expected: Values): void {
  const expectedList = typeof expected === 'object' ? expected : [expected];
  const isText = [actual, actual[0], expected, expected[0]].some(isString);
  // Booleans equal the numbers that encode them.
  const isSame = (a: any, b: any) => (isText ? a == b : areClose(a, b, 0));
  compare(actual, isText ? expectedList : expected, isSame);
}

/** Error: a difference above epsilon. */
export function expectNumbersClose(a: number, e: number, epsilon: number = testEpsilon()): void {
  if (!areClose(a, e, epsilon))
    throw new LatheError(`Numbers differ: actual === ${a}, expected === ${e}`);
  expectNothing();
}

/** Error: an element outside [low, high]. */
export function expectValuesInRange(actual: ArrayLike<number>, low: number, high: number): void {
  for (let i = 0; i < actual.length; ++i) {
    if (actual[i]! < low || actual[i]! > high) {
      throw new LatheError(`Value out of range:${actual[i]} low: ${low}, high: ${high}`);
    }
  }
}

/** Error: they differ in float32. */
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

/** A muted, looping, autoplaying video, once its first frame is loaded. */
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

/** Plays it until a frame is displayed. */
export async function play(video: HTMLVideoElement): Promise<void> {
  await video.play();
  if ('requestVideoFrameCallback' in video) {
    await new Promise((resolve) => video.requestVideoFrameCallback(resolve));
  }
}
