// One random program in one of its modules: writes inputs and states, calls each entry, compares with the expected numbers and
// their tolerances. Runs in Node and browsers.
import { singleThread, instantiate } from '../ops/run_case.mjs';

const views = { f32: Float32Array, i32: Int32Array, bool: Uint8Array };

/** A line of the manifest with the bytes of its file. */
export class RandomCase {
  constructor(line, bytes) {
    this.line = line;
    this.buffer = bytes;
  }

  module(at) {
    const { at: begin, bytes } = this.line.modules[at];
    return this.bytes([begin, bytes]);
  }

  bytes([begin, count]) {
    return new Uint8Array(this.buffer, begin, count);
  }

  prepare({ buffer }, metadata, entry) {
    const memory = new Uint8Array(buffer);
    const inputs = this.line.inputs[metadata.entries.indexOf(entry)];
    for (const { name, offset } of entry.inputs) memory.set(this.bytes(inputs[name]), offset);
    for (const { name, offset } of metadata.states) {
      memory.set(this.bytes(this.line.states[name]), offset);
    }
  }

  /** What is wrong with outputs and states after an entry, or undefined. */
  verdict({ buffer }, metadata, index) {
    const entry = metadata.entries[index];
    const { outputs, states } = this.line.expected[index];
    return (
      this.#compare(buffer, entry.name, entry.outputs, outputs) ??
      this.#compare(buffer, entry.name, metadata.states, states)
    );
  }

  /** A description of the error of a module on one thread, or undefined. */
  run(at) {
    const { metadata } = this.line.modules[at];
    const module = new WebAssembly.Module(this.module(at));
    for (const [index, entry] of metadata.entries.entries()) {
      const { exports } = instantiate(module, metadata.memoryBytes);
      this.prepare(exports.memory, metadata, entry);
      exports['threads.begin']?.(index, 1);
      exports[entry.name](singleThread);
      const problem = this.verdict(exports.memory, metadata, index);
      if (problem) return problem;
    }
    return undefined;
  }

  /** What is wrong with results by port, `arrays`, or undefined. `scale`: a factor of all tolerances. */
  verdictOf(entry, ports, arrays, expected, scale) {
    return this.#compareArrays(entry, ports, (at) => arrays[at], expected, scale);
  }

  #compare(buffer, entry, buffers, expected) {
    const valuesAt = (at) => {
      const { dtype, shape, offset } = buffers[at];
      const count = shape.reduce((product, size) => product * size, 1);
      return new views[dtype](buffer, offset, count);
    };
    return this.#compareArrays(entry, buffers, valuesAt, expected, 1);
  }

  // The element that is furthest out of its tolerance.
  #compareArrays(entry, buffers, valuesAt, expected, scale) {
    let worst;
    let wrong = 0;
    let count = 0;
    for (const [at, { name, dtype, shape }] of buffers.entries()) {
      const [begin, bytes, tolerances] = expected[name];
      const expectedValues = new views[dtype](this.buffer.slice(begin, begin + bytes));
      const tolerance = new Float32Array(this.buffer, tolerances, expectedValues.length);
      const actual = valuesAt(at);
      count += expectedValues.length;
      for (let i = 0; i < expectedValues.length; i++) {
        if (expectedValues[i] === actual[i] || tolerance[i] === Infinity) continue;
        const off = Math.abs(expectedValues[i] - actual[i]);
        if (off <= scale * tolerance[i]) continue;
        wrong++;
        const score = Number.isNaN(off) ? Infinity : off / tolerance[i];
        if (worst && !(score > worst.score)) continue;
        const text = `expected ${expectedValues[i]} within ${tolerance[i].toPrecision(2)}, got ${actual[i]}`;
        worst = { score, text: `${entry}.${name}[${indexText(shape, i)}]: ${text}` };
      }
    }
    return worst && `${worst.text}; ${wrong} of ${count} numbers are wrong`;
  }
}

// The index of the i-th element.
function indexText(shape, i) {
  const index = [];
  for (const size of shape.toReversed()) {
    index.unshift(i % size);
    i = Math.floor(i / size);
  }
  return index.join(',');
}
