// Helpers of the tests of eager operations.
import assert from 'node:assert/strict';

/** Asserts that the numbers are equal within a relative tolerance. */
export function closeTo(actual, expected, tolerance = 1e-4) {
  assert.equal(actual.length, expected.length);
  actual.forEach((value, at) => {
    const off = Math.abs(value - expected[at]);
    assert.ok(
      off <= tolerance * Math.max(1, Math.abs(expected[at])),
      `${actual} is not ${expected}`,
    );
  });
}

/** A generator of numbers from 0 to 1, deterministic per seed (G. Marsaglia, "Xorshift RNGs", 2003). */
export function random(seed) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** The result of an action as `actual`, and the number of `modules` that this thread compiled during it. */
export async function countModules(action) {
  const { Module } = WebAssembly;
  let modules = 0;
  WebAssembly.Module = class extends Module {
    constructor(...args) {
      super(...args);
      modules += 1;
    }
  };
  try {
    return { actual: await action(), modules };
  } finally {
    WebAssembly.Module = Module;
  }
}
