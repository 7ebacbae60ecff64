// Runs compiled cases on several threads and wants the bytes that one thread leaves. Runs in Node and browsers.
import { alone as byOne, instantiate, prepare, verdict } from './run_case.mjs';

/** Threads that call entries of modules. `start` makes a worker: { postMessage, receive(handler), terminate }. */
export class Team {
  #workers;

  constructor(start, threads) {
    this.threads = threads;
    this.#workers = Array.from({ length: threads }, start);
  }

  /** A text that says what is wrong with a case, or undefined. */
  runCase(test, bytes) {
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
      const alone = instantiate(module, memoryBytes).exports;
      test.prepare(alone.memory, metadata, entry);
      alone['threads.begin'](index, 1);
      alone[entry.name](byOne);
      const together = instantiate(module, memoryBytes).exports;
      const { memory } = together;
      test.prepare(memory, metadata, entry);
      together['threads.begin'](index, this.#workers.length);
      const problems = await this.#call(module, memory, entry.name);
      const problem =
        problems.find(Boolean) ??
        test.verdict(memory, metadata, index) ??
        difference(entry.name, memory, alone.memory);
      if (problem) return problem;
    }
    return undefined;
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
            worker.postMessage({ module, memory, entry, fromBack: at % 2 === 0 ? 2 : 0 });
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
