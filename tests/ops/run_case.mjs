// One compiled case: writes inputs and states, calls each entry, compares outputs and states. Runs in Node and browsers.

const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

const views = { f32: Float32Array, i32: Int32Array, bool: Uint8Array };

const onePage = 65536;

/** What the one thread of a run passes to an entry; those without threads take no argument. */
export const alone = 4;

/** The module with a memory of its own, shared if the module wants it so. */
export function instantiate(module, memoryBytes) {
  if (WebAssembly.Module.imports(module).length === 0) return new WebAssembly.Instance(module);
  const pages = Math.ceil(memoryBytes / onePage);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  return new WebAssembly.Instance(module, { env: { memory } });
}

/** A text that says what is wrong, or undefined. */
export function runCase(test, bytes) {
  const module = new WebAssembly.Module(bytes);
  if (test.metadata.relocatable) return runRelocatable(test, module);
  for (const [index, entry] of test.metadata.entries.entries()) {
    const { exports } = instantiate(module, test.metadata.memoryBytes);
    prepare(exports.memory, test, entry);
    exports['threads.begin']?.(index, 1);
    exports[entry.name](alone);
    const problem = verdict(exports.memory, test, index);
    if (problem) return problem;
  }
  return undefined;
}

/** What lies anywhere in a memory that others use, too: all that is not ours is NaN. */
function runRelocatable(test, module) {
  const { metadata } = test;
  const size = metadata.memoryBytes + 4096 * (4 + metadata.states.length);
  for (const [index, entry] of metadata.entries.entries()) {
    const ports = [...metadata.states, ...entry.inputs, ...entry.outputs];
    const pages = Math.ceil((size + 4096 * ports.length) / onePage);
    const memory = new WebAssembly.Memory({ initial: pages });
    const all = new Uint8Array(memory.buffer).fill(0xff);
    // From the end down, with gaps of different widths.
    let end = all.length;
    const allocate = (bytes, gap) => (end = Math.floor((end - bytes) / 64) * 64 - 64 * gap);
    const expected = { ...test.expected[index].states, ...test.expected[index].outputs };
    const places = ports.map((port, i) => {
      const bytes = (expected[port.name] ?? test.inputs[port.name]).length / 2;
      return { ...port, offset: allocate(bytes, i % 5) };
    });
    const scratch = allocate(metadata.temporaryBytes, 3);
    const constants = allocate(metadata.constantBytes, 1);
    all.fill(0, constants, constants + metadata.constantBytes);
    for (const { offset, data } of test.segments) all.set(fromHex(data), constants + offset);
    const states = places.slice(0, metadata.states.length);
    const inputs = places.slice(states.length, states.length + entry.inputs.length);
    const outputs = places.slice(states.length + entry.inputs.length);
    for (const { name, offset } of states) all.set(fromHex(test.states[name]), offset);
    for (const { name, offset } of inputs) all.set(fromHex(test.inputs[name]), offset);
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    exports[entry.name](scratch, constants, ...places.map(({ offset }) => offset));
    const placed = { ...test, metadata: { states, entries: [] } };
    placed.metadata.entries[index] = { ...entry, outputs };
    const problem = verdict(memory, placed, index);
    if (problem) return problem;
  }
  return undefined;
}

/** Writes inputs and states. */
export function prepare({ buffer }, test, entry) {
  const memory = new Uint8Array(buffer);
  for (const input of entry.inputs) memory.set(fromHex(test.inputs[input.name]), input.offset);
  for (const state of test.metadata.states) {
    memory.set(fromHex(test.states[state.name]), state.offset);
  }
}

/** What is wrong with outputs and states after an entry, or undefined. */
export function verdict({ buffer }, test, index) {
  const entry = test.metadata.entries[index];
  const { outputs, states } = test.expected[index];
  return (
    compareAll(buffer, entry.name, entry.outputs, outputs, test.exact) ??
    compareAll(buffer, entry.name, test.metadata.states, states, test.exact)
  );
}

function compareAll(buffer, entry, places, expected, exact) {
  for (const { name, dtype, offset } of places) {
    const want = new views[dtype](fromHex(expected[name]).buffer);
    const got = new views[dtype](buffer, offset, want.length);
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
