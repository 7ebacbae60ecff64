/** One contraction with one schedule as a module of its own, and how long it takes. */
import type { Schedule } from '../core/abi.js';
import type { CoreExecutable } from '../core/handles.js';
import { windowOn } from '../runtime/entry.js';

/** Of what is timed, at least. */
const shortestMs = 0.2;
/** Of calls between two looks at the clock, which take time as well. */
const batchMs = 0.02;
/**
 * Pages that are not isolated have clocks of 0.1 to 1 ms. What begins when one ticks is off by a batch or a tick at its
 * end, whichever is less.
 */
const leastOverError = 20;

/** The time when the clock ticks next. */
function nextTick(): number {
  const before = performance.now();
  let now = before;
  while (now === before) now = performance.now();
  return now;
}

let tick: number | undefined;

/** Milliseconds between two ticks. */
function clockTick(): number {
  if (tick !== undefined) return tick;
  const ticks = Array.from({ length: 5 }, nextTick);
  tick = Math.min(...ticks.slice(1).map((now, at) => now - ticks[at]!));
  return tick;
}

export class Trial {
  /** Of the fastest call so far; infinite before the first measurement. */
  milliseconds = Infinity;
  /** Of one call; large contractions are measured on some of their rows. */
  readonly multiplyAdds: number;
  readonly #run: () => void;
  #together = 1;
  readonly #result: Elements;

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
      const memory = exports.memory as WebAssembly.Memory;
      this.#run = exports.run as () => void;
      const { inputs, outputs } = entries[0]!;
      for (const place of inputs) fill(windowOn(memory, place));
      this.#result = windowOn(memory, (outputs[0] ?? states[0])!);
    } finally {
      kernel.free();
    }
  }

  /** Calls it for about so long, longer where the clock is coarse. */
  measure(forMs: number, counts: boolean): void {
    const tick = clockTick();
    let start = nextTick();
    for (const end = start + forMs; start < end;) {
      const { took, calls } = this.#callFrom(start, tick);
      if (counts) this.milliseconds = Math.min(this.milliseconds, took / calls);
      this.#together = Math.max(1, Math.floor((batchMs * calls) / took));
      start += took;
    }
  }

  /** Calls it until what it takes is known well enough. */
  #callFrom(start: number, tick: number): { took: number; calls: number } {
    for (let calls = 0, took = 0; ;) {
      for (let i = 0; i < this.#together; ++i) this.#run();
      calls += this.#together;
      took = performance.now() - start;
      const error = Math.min(tick, (took / calls) * this.#together);
      if (took >= Math.max(shortestMs, leastOverError * error)) return { took, calls };
    }
  }

  /** Whether one call gives what it gives another trial, up to the rounding of transformed convolutions. */
  agrees(other: Trial): boolean {
    const [mine, theirs] = [this.#numbers(), other.#numbers()];
    const largest = mine.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    return mine.every((value, at) => Math.abs(value - theirs[at]!) <= 1e-4 * largest);
  }

  /** What one call gives. */
  #numbers(): Float64Array {
    setAll(this.#result, () => 0);
    this.#run();
    return Float64Array.from<number | bigint>(this.#result, Number);
  }
}

type Elements = ReturnType<typeof windowOn>;

const fill = (values: Elements) => setAll(values, (i) => ((i * 7) % 5) - 2);

function setAll(values: Elements, numberAt: (index: number) => number): void {
  const isBigint = typeof values[0] === 'bigint';
  for (let i = 0; i < values.length; ++i) {
    values[i] = isBigint ? BigInt(numberAt(i)) : numberAt(i);
  }
}
