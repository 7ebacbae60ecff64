/** A contraction with one schedule as a separate module, and its run time. */
import type { Schedule } from '../core/abi.js';
import type { CoreExecutable } from '../core/handles.js';
import { windowOn } from '../runtime/entry.js';
import type { Contestant } from './tournament.js';

/** Minimum duration of a measurement. */
const shortestMs = 0.2;
/** Duration of calls between two reads of the clock, which have a cost. */
const batchMs = 0.02;
/**
 * Pages that are not isolated have clocks of 0.1 to 1 ms. A measurement that starts at a tick has an error of a batch
 * or a tick at its end, whichever is less.
 */
const leastOverError = 20;

/** Waits for the next tick of the clock; its time. */
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

export class Trial implements Contestant {
  milliseconds = Infinity;
  /** Multiply-adds of one call; large contractions are measured on a part of their rows. */
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
      for (const input of inputs) fill(windowOn(memory, input));
      this.#result = windowOn(memory, (outputs[0] ?? states[0])!);
    } finally {
      kernel.free();
    }
  }

  restart(): void {
    this.milliseconds = Infinity;
  }

  /** Calls it for about `forMs`, longer with a coarse clock. */
  measure(forMs: number, counts: boolean): void {
    const tick = clockTick();
    let start = nextTick();
    for (const end = start + forMs; start < end;) {
      const { elapsed, calls } = this.#callFrom(start, tick);
      if (counts) this.milliseconds = Math.min(this.milliseconds, elapsed / calls);
      this.#together = Math.max(1, Math.floor((batchMs * calls) / elapsed));
      start += elapsed;
    }
  }

  /** Calls it until its duration is accurate enough. */
  #callFrom(start: number, tick: number): { elapsed: number; calls: number } {
    for (let calls = 0, elapsed = 0; ;) {
      for (let i = 0; i < this.#together; ++i) this.#run();
      calls += this.#together;
      elapsed = performance.now() - start;
      const error = Math.min(tick, (elapsed / calls) * this.#together);
      if (elapsed >= Math.max(shortestMs, leastOverError * error)) return { elapsed, calls };
    }
  }

  /** Whether the results of both trials are equal, up to the rounding of transformed convolutions. */
  agrees(other: Trial): boolean {
    const [mine, theirs] = [this.#numbers(), other.#numbers()];
    const largest = mine.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
    return mine.every((value, at) => Math.abs(value - theirs[at]!) <= 1e-4 * largest);
  }

  /** The result of one call. */
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
