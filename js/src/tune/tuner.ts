/** Measures candidate schedules of a model's contractions on this engine and caches the fastest. */
import { LatheError } from '../base/errors.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import { nextTask } from '../base/pause.js';
import type { ContractionInfo, Schedule } from '../core/abi.js';
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

/** Contractions with less than this share of a model's work are not tuned. */
const leastShare = 0.01;
/** Minimum speedup of a challenger, so that repeated runs agree. */
const margin = 1.03;
const challengers = 4;

const names: OptionNames<TuneArgs> = {
  budgetMs: true,
  candidates: true,
  onProgress: true,
  signal: true,
};

/** `tune` of tune.ts. */
export async function tune(model: Tunable, args: TuneArgs = {}): Promise<TuneResult> {
  const access = (model as Partial<Tunable> | undefined)?.[tunable];
  if (access === undefined) throw new LatheError('tune: expects a model or a compiled function');
  checkOptions('tune', args, names);
  const { budgetMs = 1000 } = args;
  if (!(budgetMs > 0)) throw new LatheError(`tune: budgetMs must be above 0, got ${budgetMs}`);
  const start = performance.now();
  const executable = access.executable();
  let result: TuneResult;
  try {
    const left = budgetMs - (performance.now() - start);
    result = await tuneExecutable(executable, { ...args, budgetMs: left });
  } finally {
    executable.free();
    await schedules.save();
  }
  access.reschedule();
  result.milliseconds = performance.now() - start;
  return result;
}

const work = ({ multiplyAdds, count }: ContractionInfo) => multiplyAdds * count;

interface MeasureArgs extends TuneArgs {
  budgetMs: number;
  /** Minimum multiply-adds to measure. */
  leastWork?: number;
  /** Skips contractions that are cached already. */
  onlyNew?: boolean;
}

/** Measures the contractions of an executable and adds the fastest schedules to the cache in memory. */
export async function tuneExecutable(
  executable: CoreExecutable,
  { budgetMs, candidates, onProgress, signal, leastWork = 0, onlyNew = false }: MeasureArgs,
): Promise<TuneResult> {
  const start = performance.now();
  const result: TuneResult = { kernels: [], milliseconds: 0, complete: true };
  const all = executable.contractions().map((each) => ({
    ...each,
    candidates:
      candidates?.map((candidate) => ({ ...each.standard, ...candidate })) ?? each.candidates,
  }));
  const total = all.reduce((sum, each) => sum + work(each), 0);
  const least = Math.max(leastWork, leastShare * total);
  const target = targetName();
  const worth = all
    .filter((each) => each.candidates.length > 0 && work(each) >= least)
    .filter((each) => !onlyNew || !schedules.has(target, each.key))
    .sort((a, b) => work(b) - work(a));
  let left = worth.reduce((sum, each) => sum + work(each), 0);
  for (const [at, contraction] of worth.entries()) {
    const now = performance.now();
    const deadline = now + ((start + budgetMs - now) * work(contraction)) / left;
    left -= work(contraction);
    const tournament = new Tournament(executable, contraction, deadline, signal);
    const kernel = now < deadline ? await tournament.run() : undefined;
    result.complete &&= tournament.complete;
    if (kernel === undefined) continue;
    result.kernels.push(kernel);
    schedules.set(target, contraction.key, kernel.schedule);
    onProgress?.({ done: at + 1, total: worth.length, kernel });
  }
  result.milliseconds = performance.now() - start;
  return result;
}

type Measured = Pick<Trial, 'schedule' | 'milliseconds'>;

const fastestOf = (field: Trial[]) =>
  field.reduce((best, each) => (each.milliseconds < best.milliseconds ? each : best));

/** A tournament of the candidates of one contraction: a few at a time challenge the best so far. */
class Tournament {
  complete = false;
  #tried: Measured[] = [];

  constructor(
    private readonly executable: CoreExecutable,
    private readonly contraction: ContractionInfo,
    private readonly deadline: number,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /** The result; undefined if there was no time to measure anything. */
  async run(): Promise<TunedKernel | undefined> {
    const { key, standard } = this.contraction;
    const first = this.#trial(standard);
    let best = first;
    const queue = [...this.contraction.candidates];
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
    // The standard schedule has been re-measured since.
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

  /** Runs trials in turns, drops slow ones early, and returns the fastest. */
  async #compete(field: Trial[]): Promise<Trial> {
    let running = field;
    for (let round = 0; round < 6; ++round) {
      for (const each of running) {
        // The first rounds are for the engine's optimizing tier, which compiles in the background.
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
    return new Trial(this.executable, this.contraction.key, schedule);
  }

  #late(): boolean {
    return performance.now() >= this.deadline;
  }

  async #pause(): Promise<void> {
    await nextTask();
    this.signal?.throwIfAborted();
  }
}
