/** One contraction with one schedule as a module of its own, and how long it takes. */
import type { CoreExecutable } from './program.js';
import type { Schedule } from './schedules.js';

/** Of a batch of calls: coarse clocks tell no shorter ones apart. */
const shortestMs = 0.2;

export class Trial {
  /** Of the fastest call so far; infinite before the first measurement. */
  milliseconds = Infinity;
  /** Of one call; large contractions are measured on some of their rows. */
  readonly multiplyAdds: number;
  readonly #run: () => void;
  #together = 1;
  readonly #result: Float32Array;

  constructor(
    executable: CoreExecutable,
    key: string,
    readonly schedule: Schedule,
  ) {
    const kernel = executable.kernel(key, schedule);
    try {
      const { entries, states } = kernel.metadata();
      this.multiplyAdds = kernel.contractions()[0]!.multiplyAdds;
      const module = new WebAssembly.Module(kernel.bytes());
      const { exports } = new WebAssembly.Instance(module);
      const { buffer } = exports.memory as WebAssembly.Memory;
      this.#run = exports.run as () => void;
      const { inputs, outputs } = entries[0]!;
      for (const { offset, shape } of inputs) fill(new Float32Array(buffer, offset, shape[0]!));
      const { offset, shape } = (outputs[0] ?? states[0])!;
      const length = shape.reduce((product, size) => product * size, 1);
      this.#result = new Float32Array(buffer, offset, length);
    } finally {
      kernel.free();
    }
  }

  /** Calls it for about so long, in batches that a coarse clock can tell apart. */
  measure(forMs: number, counts: boolean): void {
    const end = performance.now() + forMs;
    for (let now = performance.now(); now < end;) {
      const start = now;
      for (let i = 0; i < this.#together; ++i) this.#run();
      now = performance.now();
      const took = now - start;
      if (took < shortestMs) this.#together *= 2;
      else if (counts) this.milliseconds = Math.min(this.milliseconds, took / this.#together);
    }
  }

  /** Whether one call gives what it gives another trial, up to the rounding of transformed convolutions. */
  agrees(other: Trial): boolean {
    for (const each of [this, other]) {
      each.#result.fill(0);
      each.#run();
    }
    const largest = this.#result.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    return this.#result.every(
      (value, at) => Math.abs(value - other.#result[at]!) <= 1e-4 * largest,
    );
  }
}

function fill(values: Float32Array): void {
  for (let i = 0; i < values.length; ++i) values[i] = ((i * 7) % 5) - 2;
}
