/** Measures candidate schedules of a model's contractions on this engine and caches the fastest. */
import { LatheError } from '../base/errors.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import { nextTask } from '../base/pause.js';
import type { ContractionInfo, Schedule } from '../core/abi.js';
import type { CoreExecutable } from '../core/handles.js';
import { schedules } from './schedules.js';
import { targetName } from './target.js';
import { compete } from './tournament.js';
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
/** Share of the time in which candidates are tried; the rest is for confirming the fastest. */
const trialShare = 0.9;

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

/** Measures the contractions of an executable and adds the fastest schedules that are confirmed to the cache in memory. */
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
    const share = (trialShare * work(contraction)) / left;
    left -= work(contraction);
    const deadline = now + (start + budgetMs - now) * share;
    const tuned = await tuneContraction(executable, contraction, deadline, signal);
    result.complete &&= tuned?.isComplete === true;
    if (tuned === undefined) continue;
    const { isComplete: _, ...kernel } = tuned;
    result.kernels.push(kernel);
    if (kernel.confirmed) schedules.set(target, contraction.key, kernel.schedule);
    onProgress?.({ done: at + 1, total: worth.length, kernel });
  }
  result.milliseconds = performance.now() - start;
  return result;
}

/** The tournament of the candidates of one contraction; undefined if there is no time to measure anything. */
async function tuneContraction(
  executable: CoreExecutable,
  { key, standard, candidates }: ContractionInfo,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<(TunedKernel & { isComplete: boolean }) | undefined> {
  if (performance.now() >= deadline) return undefined;
  const trial = (schedule: Schedule) => new Trial(executable, key, schedule);
  const result = await compete(
    trial(standard),
    candidates.map((each) => () => trial(each)),
    {
      isLate: () => performance.now() >= deadline,
      async pause() {
        await nextTask();
        signal?.throwIfAborted();
      },
    },
  );
  if (result === undefined) return undefined;
  const { best, tried, speedup, isConfirmed, isComplete } = result;
  const gflops = (milliseconds: number) => (2 * best.multiplyAdds) / milliseconds / 1e6;
  return {
    key,
    schedule: best.schedule,
    standard,
    speedup,
    confirmed: isConfirmed,
    gflops: gflops(best.milliseconds),
    tried: tried.map(({ candidate, milliseconds }) => ({
      schedule: candidate.schedule,
      gflops: gflops(milliseconds),
    })),
    isComplete,
  };
}
