/** What tests of TensorFlow.js programs compare with: `tf.test_util`. */
import { LatheError } from '../base/errors.js';
import { TextEncoder } from '../base/text.js';
import { Tensor } from '../tensor/tensor.js';

/** How far numbers may be apart unless a test says it. */
const usual = 1e-3;
export const TEST_EPSILON_FLOAT16 = 0.1;

export const testEpsilon = (): number => usual;

/** Numbers, texts, bytes; tensors too. */
type Values = unknown;

function flat(values: Values): unknown[] {
  if (values instanceof Tensor) return flat(values.dataSync());
  if (ArrayBuffer.isView(values)) return Array.from(values as Float32Array);
  return Array.isArray(values) ? values.flatMap(flat) : [values];
}

function compare(
  actual: Values,
  expected: Values,
  same: (a: unknown, b: unknown) => boolean,
): void {
  const [got, wanted] = [flat(actual), flat(expected)];
  if (got.length !== wanted.length) {
    throw new LatheError(
      `Arrays have different lengths actual: ${got.length} vs expected: ${wanted.length}.\n` +
        `Actual:   ${got.join()}.\nExpected: ${wanted.join()}.`,
    );
  }
  got.forEach((value, at) => {
    if (same(value, wanted[at])) return;
    throw new LatheError(
      `Arrays differ: actual[${at}] = ${String(value)}, expected[${at}] = ${String(wanted[at])}.\n` +
        `Actual:   ${got.join()}.\nExpected: ${wanted.join()}.`,
    );
  });
  // A test of jasmine's without an expectation would be reported.
  (globalThis as { expect?: () => { nothing(): void } }).expect?.().nothing();
}

function isNear(a: unknown, b: unknown, epsilon: number): boolean {
  const [x, y] = [Number(a), Number(b)];
  if (!Number.isFinite(x) && !Number.isFinite(y)) return true;
  return Math.abs(x - y) <= epsilon;
}

/** Error: numbers are further apart than epsilon, or not as many; what is not finite on both sides is the same. */
export function expectArraysClose(actual: Values, expected: Values, epsilon = usual): void {
  compare(actual, expected, (a, b) => isNear(a, b, epsilon));
}

/** Error: values differ, or are not as many. */
export function expectArraysEqual(actual: Values, expected: Values): void {
  const isText = (values: Values): boolean =>
    typeof (Array.isArray(values) ? flat(values)[0] : values) === 'string';
  if (isText(expected) || isText(actual)) compare(actual, expected, (a, b) => a === b);
  else expectArraysClose(actual, expected, 0);
}

/** Error: numbers are further apart than epsilon. */
export function expectNumbersClose(a: number, e: number, epsilon = usual): void {
  if (!isNear(a, e, epsilon))
    throw new LatheError(`Numbers differ: actual === ${a}, expected === ${e}`);
  (globalThis as { expect?: () => { nothing(): void } }).expect?.().nothing();
}

/** Error: a number is outside of the range. */
export function expectValuesInRange(actual: ArrayLike<number>, low: number, high: number): void {
  for (const value of Array.from(actual)) {
    if (value < low || value > high)
      throw new LatheError(`Value out of range:${value} low: ${low}, high: ${high}`);
  }
}

/** Error: bytes differ. */
export function expectArrayBuffersEqual(actual: ArrayBuffer, expected: ArrayBuffer): void {
  expectArraysEqual(new Uint8Array(actual), new Uint8Array(expected));
}

/** For jasmine and mocha: fails where the promise is kept. */
export function expectPromiseToFail(
  action: () => Promise<unknown>,
  done: { (): void; fail: (message?: unknown) => void },
): void {
  action().then(
    () => done.fail(),
    () => done(),
  );
}

/** The texts of nested arrays as UTF-8. */
export function encodeStrings(values: unknown[]): unknown[] {
  return values.map((each) =>
    Array.isArray(each) ? encodeStrings(each) : new TextEncoder().encode(String(each)),
  );
}
