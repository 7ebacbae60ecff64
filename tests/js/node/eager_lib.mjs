// What the tests of operations on tensors share.
import assert from 'node:assert/strict';

/** Numbers that are the same but for rounding. */
export function closeTo(got, wanted, tolerance = 1e-4) {
  assert.equal(got.length, wanted.length);
  got.forEach((value, at) => {
    const off = Math.abs(value - wanted[at]);
    assert.ok(off <= tolerance * Math.max(1, Math.abs(wanted[at])), `${got} is not ${wanted}`);
  });
}

/** Numbers from 0 to 1, the same for each seed (G. Marsaglia, "Xorshift RNGs", 2003). */
export function random(seed) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** What an action gives, and how many modules this thread has compiled itself meanwhile. */
export async function counted(action) {
  const { Module } = WebAssembly;
  let modules = 0;
  WebAssembly.Module = class extends Module {
    constructor(...given) {
      super(...given);
      modules += 1;
    }
  };
  try {
    return { found: await action(), modules };
  } finally {
    WebAssembly.Module = Module;
  }
}
