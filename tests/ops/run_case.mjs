// One compiled case: writes inputs and states, calls each entry, compares outputs and states. Runs in Node and browsers.

const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

const views = {
  bool: Uint8Array,
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  i64: BigInt64Array,
  u64: BigUint64Array,
  f16: Uint16Array,
  bf16: Uint16Array,
  f32: Float32Array,
  f64: Float64Array,
};
/** Absolute and relative tolerances of floats: a few ULP. */
const tolerances = {
  f16: [2 ** -8, 2 ** -8],
  bf16: [2 ** -5, 2 ** -5],
  f32: [1e-5, 2e-5],
  f64: [1e-12, 1e-12],
};

/** The value of the bits of an element. */
const numbers = {
  f16(bits) {
    const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
    const special = fraction === 0 ? Infinity : NaN;
    const normal = 2 ** (exponent - 25) * (1024 + fraction);
    const size = exponent === 31 ? special : exponent === 0 ? 2 ** -24 * fraction : normal;
    return bits >> 15 ? -size : size;
  },
  bf16: (bits) => new Float32Array(Uint32Array.of(bits << 16).buffer)[0],
};

const onePage = 65536;

/** Argument of entries for a single-threaded run; entries without threads have no parameter. */
export const singleThread = 4;

/** The module with a separate memory, shared if the module requires it. */
export function instantiate(module, memoryBytes) {
  if (WebAssembly.Module.imports(module).length === 0) return new WebAssembly.Instance(module);
  const pages = Math.ceil(memoryBytes / onePage);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  return new WebAssembly.Instance(module, { env: { memory } });
}

/** A description of the error, or undefined. */
export function runCase(test, bytes) {
  const module = new WebAssembly.Module(bytes);
  if (test.metadata.relocatable) return runRelocatable(test, module);
  for (const [index, entry] of test.metadata.entries.entries()) {
    const { exports } = instantiate(module, test.metadata.memoryBytes);
    prepare(exports.memory, test, entry);
    exports['threads.begin']?.(index, 1);
    exports[entry.name](singleThread);
    const problem = verdict(exports.memory, test, index);
    if (problem) return problem;
  }
  return undefined;
}

function runRelocatable(test, module) {
  for (const [index, { name }] of test.metadata.entries.entries()) {
    const { exports, bases, verdict } = relocate(test, module, index);
    if (test.metadata.threads) {
      exports['threads.begin'](index, 1);
      exports[name](singleThread);
    } else {
      exports[name](...bases);
    }
    const problem = verdict();
    if (problem) return problem;
  }
  return undefined;
}

/** The number of the first phase of every module that has one. */
export const firstPhase = 1e9;

/** The module of an entry, at arbitrary addresses of a shared memory: all other bytes are NaN. */
export function relocate(test, module, index) {
  const { metadata } = test;
  const entry = metadata.entries[index];
  const size = metadata.memoryBytes + 4096 * (4 + metadata.states.length);
  const ports = [...metadata.states, ...entry.inputs, ...entry.outputs];
  const pages = Math.ceil((size + 4096 * ports.length) / onePage);
  const isShared = test.variant === 'relocatable_threads';
  const memory = new WebAssembly.Memory({ initial: pages, maximum: onePage, shared: isShared });
  const all = new Uint8Array(memory.buffer).fill(0xff);
  // From the end down, with gaps of different widths.
  let end = all.length;
  const allocate = (bytes, gap) => (end = Math.floor((end - bytes) / 64) * 64 - 64 * gap);
  const expected = { ...test.expected[index].states, ...test.expected[index].outputs };
  const buffers = ports.map((port, i) => {
    const bytes = (expected[port.name] ?? test.inputs[port.name]).length / 2;
    return { ...port, offset: allocate(bytes, i % 5) };
  });
  const scratch = allocate(metadata.temporaryBytes, 3);
  const constants = allocate(metadata.constantBytes, 1);
  all.fill(0, constants, constants + metadata.constantBytes);
  for (const { offset, data } of test.segments) all.set(fromHex(data), constants + offset);
  const states = buffers.slice(0, metadata.states.length);
  const inputs = buffers.slice(states.length, states.length + entry.inputs.length);
  const outputs = buffers.slice(states.length + entry.inputs.length);
  for (const { name, offset } of states) all.set(fromHex(test.states[name]), offset);
  for (const { name, offset } of inputs) all.set(fromHex(test.inputs[name]), offset);
  const bases = [scratch, constants, ...buffers.map(({ offset }) => offset)];
  if (metadata.threads) new Uint32Array(memory.buffer, 192, bases.length).set(bases);
  const { exports } = new WebAssembly.Instance(module, { env: { memory, firstPhase } });
  const relocated = { ...test, metadata: { states, entries: [] } };
  relocated.metadata.entries[index] = { ...entry, outputs };
  return { exports, memory, bases, verdict: () => verdict(memory, relocated, index) };
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

function compareAll(buffer, entry, buffers, expected, exact) {
  for (const { name, dtype, offset } of buffers) {
    const expectedValues = new views[dtype](fromHex(expected[name]).buffer);
    const actual = new views[dtype](buffer, offset, expectedValues.length);
    const [absolute, relative] = (exact ? undefined : tolerances[dtype]) ?? [0, 0];
    const number = numbers[dtype] ?? ((element) => element);
    for (let i = 0; i < expectedValues.length; i++) {
      const [w, g] = [number(expectedValues[i]), number(actual[i])];
      const isNear = typeof w === 'number' && Math.abs(w - g) <= absolute + relative * Math.abs(w);
      if (!isNear && !Object.is(w, g)) return `${entry}.${name}[${i}]: expected ${w}, got ${g}`;
    }
  }
  return undefined;
}
