// One compiled case: writes inputs and states, calls each entry, compares outputs and states. Runs in Node and browsers.

const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

const views = { f32: Float32Array, i32: Int32Array, bool: Uint8Array };

/** A text that says what is wrong, or undefined. */
export function runCase(test, bytes) {
  for (const [index, entry] of test.metadata.entries.entries()) {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
    const memory = new Uint8Array(exports.memory.buffer);
    for (const input of entry.inputs) memory.set(fromHex(test.inputs[input.name]), input.offset);
    for (const state of test.metadata.states) {
      memory.set(fromHex(test.states[state.name]), state.offset);
    }
    exports[entry.name]();
    const expected = test.expected[index];
    const problem =
      compareAll(memory, entry.name, entry.outputs, expected.outputs, test.exact) ??
      compareAll(memory, entry.name, test.metadata.states, expected.states, test.exact);
    if (problem) return problem;
  }
  return undefined;
}

function compareAll(memory, entry, buffers, expected, exact) {
  for (const { name, dtype, offset } of buffers) {
    const want = new views[dtype](fromHex(expected[name]).buffer);
    const got = new views[dtype](memory.buffer, offset, want.length);
    for (let i = 0; i < want.length; i++) {
      const tolerance = exact ? 0 : 1e-5 + 2e-5 * Math.abs(want[i]);
      const near = Math.abs(want[i] - got[i]) <= tolerance;
      if (!near && !Object.is(want[i], got[i])) {
        return `${entry}.${name}[${i}]: want ${want[i]}, got ${got[i]}`;
      }
    }
  }
  return undefined;
}
