// Runs compiled cases on several threads and expects the bytes of a single-threaded run. Runs in Node and browsers.
import { singleThread, firstPhase, instantiate, prepare, relocate, verdict } from './run_case.mjs';

/** Threads that call entries of modules. `start` makes a worker: { postMessage, receive(handler), terminate }. */
export class Team {
  #workers;

  constructor(start, threads) {
    this.threads = threads;
    this.#workers = Array.from({ length: threads }, start);
  }

  /** A description of the error of a case, or undefined. */
  async runCase(test, bytes) {
    if (test.metadata.relocatable) return this.#runRelocatable(test, bytes);
    return this.runModule(bytes, test.metadata, {
      prepare: (memory, _, entry) => prepare(memory, test, entry),
      verdict: (memory, _, index) => verdict(memory, test, index),
    });
  }

  /** The same with callbacks that initialize memory before the call of an entry and check it afterwards. */
  async runModule(bytes, metadata, test) {
    const module = new WebAssembly.Module(bytes);
    const { memoryBytes, entries } = metadata;
    for (const [index, entry] of entries.entries()) {
      const make = () => {
        const { exports } = instantiate(module, memoryBytes);
        const { memory } = exports;
        test.prepare(memory, metadata, entry);
        return { exports, memory, verdict: () => test.verdict(memory, metadata, index) };
      };
      const problem = await this.#runEntry(module, index, entry.name, make);
      if (problem) return problem;
    }
    return undefined;
  }

  async #runRelocatable(test, bytes) {
    const module = new WebAssembly.Module(bytes);
    for (const [index, { name }] of test.metadata.entries.entries()) {
      const make = () => relocate(test, module, index);
      const problem = await this.#runEntry(module, index, name, make);
      if (problem) return problem;
    }
    return undefined;
  }

  /** On one thread and on all, each in a separate memory. */
  async #runEntry(module, index, name, make) {
    const [single, together] = [make(), make()];
    single.exports['threads.begin'](index, 1);
    single.exports[name](singleThread);
    together.exports['threads.begin'](index, this.#workers.length);
    const problems = await this.#call(module, together.memory, name);
    return (
      problems.find(Boolean) ??
      together.verdict() ??
      difference(name, together.memory, single.memory)
    );
  }

  stop() {
    for (const worker of this.#workers) worker.terminate();
  }

  #call(module, memory, entry) {
    return Promise.all(
      this.#workers.map(
        (worker, at) =>
          new Promise((done) => {
            worker.receive(({ problem }) => done(problem));
            const fromBack = at % 2 === 0 ? 2 : 0;
            worker.postMessage({ module, memory, firstPhase, entry, fromBack });
          }),
      ),
    );
  }
}

/** Bytes through which threads synchronize. */
const cellBytes = 192;

function difference(entry, several, single) {
  const actual = new Uint32Array(several.buffer, cellBytes);
  const expected = new Uint32Array(single.buffer, cellBytes);
  const at = actual.findIndex((word, i) => word !== expected[i]);
  return at < 0 ? undefined : `${entry}: several threads left other bytes at ${4 * at + cellBytes}`;
}
