/** Tunable models and functions, and the arguments and results of tuning. */
import type { Schedule } from '../core/abi.js';
import type { CoreExecutable } from '../core/handles.js';

/** The key of the interface of `tune` to a model. */
export const tunable = Symbol('tunable');

/** What can be tuned. */
export interface Tunable {
  readonly [tunable]: {
    /** The model compiled once more, for the caller to free; functions include these intermediate forms. */
    executable(dumps?: string[]): CoreExecutable;
    /** Recompiles with the current schedules, and preserves the states of the model. */
    reschedule(): void;
  };
}

/** Arguments of `tune`. */
export interface TuneArgs {
  /** Time limit in milliseconds; longer tuning tries more schedules. Default: 1000. */
  budgetMs?: number;
  /**
   * Schedules to try for every contraction; what they leave out is as in the standard one. Default:
   * what the compiler proposes for each.
   */
  candidates?: readonly Schedule[];
  /** Called after every contraction. */
  onProgress?: (progress: TuneProgress) => void;
  /** Aborts it; finished measurements stay cached. */
  signal?: AbortSignal;
}

export interface TuneProgress {
  /** Contractions measured so far, and to measure in total. */
  done: number;
  total: number;
  kernel: TunedKernel;
}

/** The result for one contraction. */
export interface TunedKernel {
  key: string;
  /** The fastest schedule, if it was confirmed, else the compiler's default; and that default. */
  schedule: Schedule;
  standard: Schedule;
  /** Speedup over `standard`. */
  speedup: number;
  /**
   * Whether repeated measurements confirmed the schedule. Others are not cached: another program kept the machine busy, so that a
   * later `tune` may find a faster schedule.
   */
  confirmed: boolean;
  /** GFLOP/s of the fastest schedule. */
  gflops: number;
  /** GFLOP/s of every schedule tried; much slower ones were measured only briefly. */
  tried: { schedule: Schedule; gflops: number }[];
}

export interface TuneResult {
  /** The contractions that were measured, by decreasing work. */
  kernels: TunedKernel[];
  milliseconds: number;
  /** Whether every candidate was tried within the budget. */
  complete: boolean;
}
