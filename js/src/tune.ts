/** Measures candidate schedules of a model's contractions on this engine and remembers the winners. */
import type { ContractionPlace } from './abi.js';
import { LatheError } from './errors.js';
import { nextTask } from './pause.js';
import type { CoreExecutable } from './program.js';
import { schedules, type Schedule } from './schedules.js';
import { targetName } from './target.js';
import { Trial } from './trial.js';

/** The door through which `tune` reaches into a model. */
export const tunable = Symbol('tunable');

/** What can be tuned. */
export interface Tunable {
  readonly [tunable]: {
    /** The model compiled once more, for the caller to free. */
    executable(): CoreExecutable;
    /** Takes the schedules of now over; the content of the model stays. */
    reschedule(): void;
  };
}

/** Arguments of `tune`. */
export interface TuneArgs {
  /** Milliseconds it may take; more of them try more schedules. Default: 1000. */
  budgetMs?: number;
  /** Called after every contraction. */
  onProgress?: (progress: TuneProgress) => void;
  /** Stops it; what is finished by then stays remembered. */
  signal?: AbortSignal;
}

export interface TuneProgress {
  /** Contractions done, and how many are worth it. */
  done: number;
  total: number;
  kernel: TunedKernel;
}

/** What was found for one contraction. */
export interface TunedKernel {
  key: string;
  /** The fastest, and what the compiler chooses by itself. */
  schedule: Schedule;
  standard: Schedule;
  /** How many times as fast as `standard` it was. */
  speedup: number;
  /** GFLOP/s of the fastest. */
  gflops: number;
  /** Schedules measured. */
  tried: number;
}

export interface TuneResult {
  /** The contractions that were measured, those with the most work first. */
  kernels: TunedKernel[];
  milliseconds: number;
  /** Whether every candidate was tried within the budget. */
  complete: boolean;
}

/** Contractions with less than this share of a model's work are left alone. */
const leastShare = 0.01;
/** A challenger must be this much faster, or the next run would choose otherwise. */
const margin = 1.03;
const challengers = 4;

/**
 * Finds the fastest schedules for a model on this engine, uses them in it from now on, and keeps
 * them for later models: in a file in Node, in IndexedDB in browsers. Results of the model stay the
 * same but for the rounding of sums. Rejects when the signal says so.
 */
export async function tune(model: Tunable, args: TuneArgs = {}): Promise<TuneResult> {
  const door = (model as Partial<Tunable> | undefined)?.[tunable];
  if (door === undefined) throw new LatheError('tune: wants a model or a compiled function');
  const { budgetMs = 1000 } = args;
  if (!(budgetMs > 0)) throw new LatheError(`tune: budgetMs must be above 0, got ${budgetMs}`);
  const start = performance.now();
  const executable = door.executable();
  const result: TuneResult = { kernels: [], milliseconds: 0, complete: true };
  try {
    await tuneAll(executable, start, { ...args, budgetMs }, result);
  } finally {
    executable.free();
    await schedules.save();
  }
  door.reschedule();
  result.milliseconds = performance.now() - start;
  return result;
}

const work = ({ multiplyAdds, count }: ContractionPlace) => multiplyAdds * count;

async function tuneAll(
  executable: CoreExecutable,
  start: number,
  { budgetMs, onProgress, signal }: TuneArgs & { budgetMs: number },
  result: TuneResult,
): Promise<void> {
  const all = executable.contractions();
  const total = all.reduce((sum, each) => sum + work(each), 0);
  const worth = all
    .filter((each) => each.candidates.length > 0 && work(each) >= leastShare * total)
    .sort((a, b) => work(b) - work(a));
  let left = worth.reduce((sum, each) => sum + work(each), 0);
  const target = targetName();
  for (const [at, place] of worth.entries()) {
    const now = performance.now();
    const deadline = now + ((start + budgetMs - now) * work(place)) / left;
    left -= work(place);
    const contest = new Contest(executable, place, deadline, signal);
    const kernel = now < deadline ? await contest.run() : undefined;
    result.complete &&= contest.complete;
    if (kernel === undefined) continue;
    result.kernels.push(kernel);
    schedules.set(target, place.key, kernel.schedule);
    onProgress?.({ done: at + 1, total: worth.length, kernel });
  }
}

const fastestOf = (field: Trial[]) =>
  field.reduce((best, each) => (each.milliseconds < best.milliseconds ? each : best));

/** The candidates of one contraction against each other: a few at a time challenge the best so far. */
class Contest {
  complete = false;
  #tried = 0;

  constructor(
    private readonly executable: CoreExecutable,
    private readonly place: ContractionPlace,
    private readonly deadline: number,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /** What it found; nothing if there was no time to measure anything. */
  async run(): Promise<TunedKernel | undefined> {
    const { key, standard, multiplyAdds } = this.place;
    const first = this.#trial(standard);
    let best = first;
    const queue = [...this.place.candidates];
    while (queue.length > 0 && !this.#late()) {
      const field = [best];
      for (const each of queue.splice(0, challengers)) {
        if (this.#late()) break;
        field.push(this.#trial(each));
      }
      if (best !== first) field.push(first);
      const winner = await this.#compete(field);
      const wins = winner.milliseconds * margin < best.milliseconds && winner.agrees(first);
      if (wins) best = winner;
    }
    this.complete = queue.length === 0 && !this.#late();
    if (first.milliseconds === Infinity) return undefined;
    return {
      key,
      schedule: best.schedule,
      standard,
      speedup: best === first ? 1 : first.milliseconds / best.milliseconds,
      gflops: (2 * multiplyAdds) / best.milliseconds / 1e6,
      tried: this.#tried,
    };
  }

  /** Runs all of them in turns, drops the slow ones early, and returns the fastest. */
  async #compete(field: Trial[]): Promise<Trial> {
    let running = field;
    for (let round = 0; round < 6; ++round) {
      for (const each of running) {
        // The first rounds are for the engine's optimising tier, which works meanwhile.
        each.measure(round < 2 ? 2 : 1, round >= 2);
        if (this.#late()) return fastestOf(field);
      }
      await this.#pause();
      const fastest = Math.min(...running.map((each) => each.milliseconds));
      running = running.filter((each) => !(each.milliseconds > fastest * 1.2));
    }
    return fastestOf(field);
  }

  #trial(schedule: Schedule): Trial {
    ++this.#tried;
    return new Trial(this.executable, this.place.key, schedule);
  }

  #late(): boolean {
    return performance.now() >= this.deadline;
  }

  async #pause(): Promise<void> {
    await nextTask();
    this.signal?.throwIfAborted();
  }
}
