/** Measures candidate schedules of a model's contractions on this engine and remembers the winners. */
import { LatheError } from '../base/errors.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import { nextTask } from '../base/pause.js';
import type { ContractionPlace, Schedule } from '../core/abi.js';
import type { CoreExecutable } from '../core/handles.js';
import { schedules } from './schedules.js';
import { targetName } from './target.js';
import { Trial } from './trial.js';
import {
  tunable,
  type Tunable,
  type TuneArgs,
  type TunedKernel,
  type TuneResult,
} from './tunable.js';

/** Contractions with less than this share of a model's work are left alone. */
const leastShare = 0.01;
/** A challenger must be this much faster, or the next run would choose otherwise. */
const margin = 1.03;
const challengers = 4;

const names: OptionNames<TuneArgs> = {
  budgetMs: true,
  candidates: true,
  onProgress: true,
  signal: true,
};

/** `tune` of tunable.ts. */
export async function tune(model: Tunable, args: TuneArgs = {}): Promise<TuneResult> {
  const door = (model as Partial<Tunable> | undefined)?.[tunable];
  if (door === undefined) throw new LatheError('tune: wants a model or a compiled function');
  checkOptions('tune', args, names);
  const { budgetMs = 1000 } = args;
  if (!(budgetMs > 0)) throw new LatheError(`tune: budgetMs must be above 0, got ${budgetMs}`);
  const start = performance.now();
  const executable = door.executable();
  let result: TuneResult;
  try {
    const left = budgetMs - (performance.now() - start);
    result = await measureInto(executable, { ...args, budgetMs: left });
  } finally {
    executable.free();
    await schedules.save();
  }
  door.reschedule();
  result.milliseconds = performance.now() - start;
  return result;
}

const work = ({ multiplyAdds, count }: ContractionPlace) => multiplyAdds * count;

interface MeasureArgs extends TuneArgs {
  budgetMs: number;
  /** Multiply-adds below which nothing is measured. */
  leastWork?: number;
  /** Leaves out what is remembered already. */
  onlyNew?: boolean;
}

/** Measures the contractions of an executable and puts the winners into the cache in memory. */
export async function measureInto(
  executable: CoreExecutable,
  { budgetMs, candidates, onProgress, signal, leastWork = 0, onlyNew = false }: MeasureArgs,
): Promise<TuneResult> {
  const start = performance.now();
  const result: TuneResult = { kernels: [], milliseconds: 0, complete: true };
  const all = executable.contractions().map((each) => ({
    ...each,
    candidates: candidates?.map((wanted) => ({ ...each.standard, ...wanted })) ?? each.candidates,
  }));
  const total = all.reduce((sum, each) => sum + work(each), 0);
  const least = Math.max(leastWork, leastShare * total);
  const target = targetName();
  const worth = all
    .filter((each) => each.candidates.length > 0 && work(each) >= least)
    .filter((each) => !onlyNew || !schedules.has(target, each.key))
    .sort((a, b) => work(b) - work(a));
  let left = worth.reduce((sum, each) => sum + work(each), 0);
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
  result.milliseconds = performance.now() - start;
  return result;
}

type Measured = Pick<Trial, 'schedule' | 'milliseconds'>;

const fastestOf = (field: Trial[]) =>
  field.reduce((best, each) => (each.milliseconds < best.milliseconds ? each : best));

/** The candidates of one contraction against each other: a few at a time challenge the best so far. */
class Contest {
  complete = false;
  #tried: Measured[] = [];

  constructor(
    private readonly executable: CoreExecutable,
    private readonly place: ContractionPlace,
    private readonly deadline: number,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /** What it found; nothing if there was no time to measure anything. */
  async run(): Promise<TunedKernel | undefined> {
    const { key, standard } = this.place;
    const first = this.#trial(standard);
    let best = first;
    const queue = [...this.place.candidates];
    while (queue.length > 0 && !this.#late()) {
      const fresh = [];
      for (const each of queue.splice(0, challengers)) {
        if (!this.#late()) fresh.push(this.#trial(each));
      }
      const winner = await this.#compete([...new Set([first, best]), ...fresh]);
      for (const { schedule, milliseconds } of fresh) {
        if (milliseconds < Infinity) this.#tried.push({ schedule, milliseconds });
      }
      const wins = winner.milliseconds * margin < best.milliseconds && winner.agrees(first);
      if (wins) best = winner;
    }
    this.complete = queue.length === 0 && !this.#late();
    if (first.milliseconds === Infinity) return undefined;
    // The standard schedule has been measured again since.
    if (best.milliseconds * margin >= first.milliseconds) best = first;
    const gflops = ({ milliseconds }: Measured) => (2 * first.multiplyAdds) / milliseconds / 1e6;
    return {
      key,
      schedule: best.schedule,
      standard,
      speedup: best === first ? 1 : first.milliseconds / best.milliseconds,
      gflops: gflops(best),
      tried: this.#tried.map((each) => ({ schedule: each.schedule, gflops: gflops(each) })),
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
      if (round < 2) continue;
      const fastest = Math.min(...running.map((each) => each.milliseconds));
      running = running.filter((each) => !(each.milliseconds > fastest * 1.2));
    }
    return fastestOf(field);
  }

  #trial(schedule: Schedule): Trial {
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
