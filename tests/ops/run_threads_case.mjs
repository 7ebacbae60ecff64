// Runs compiled cases on several threads and wants the bytes that one thread leaves. Runs in Node and browsers.
import {
  alone as byOne,
  firstPhase,
  instantiate,
  prepare,
  relocate,
  verdict,
} from './run_case.mjs';

/** Threads that call entries of modules. `start` makes a worker: { postMessage, receive(handler), terminate }. */
export class Team {
  #workers;

  constructor(start, threads) {
    this.threads = threads;
    this.#workers = Array.from({ length: threads }, start);
  }

  /** A text that says what is wrong with a case, or undefined. */
  async runCase(test, bytes) {
    if (test.metadata.relocatable) return this.#runRelocatable(test, bytes);
    return this.runModule(bytes, test.metadata, {
      prepare: (memory, _, entry) => prepare(memory, test, entry),
      verdict: (memory, _, index) => verdict(memory, test, index),
    });
  }

  /** The same with what a case writes before the call of an entry, and what it says afterwards. */
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

  /** By one thread and by all, each in a memory of its own. */
  async #runEntry(module, index, name, make) {
    const [alone, together] = [make(), make()];
    alone.exports['threads.begin'](index, 1);
    alone.exports[name](byOne);
    together.exports['threads.begin'](index, this.#workers.length);
    const problems = await this.#call(module, together.memory, name);
    return (
      problems.find(Boolean) ??
      together.verdict() ??
      difference(name, together.memory, alone.memory)
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

/** Bytes in which threads tell each other what is done. */
const cellBytes = 192;

function difference(entry, several, alone) {
  const got = new Uint32Array(several.buffer, cellBytes);
  const want = new Uint32Array(alone.buffer, cellBytes);
  const at = got.findIndex((word, i) => word !== want[i]);
  return at < 0 ? undefined : `${entry}: several threads left other bytes at ${4 * at + cellBytes}`;
}
