/** What can be tuned, and how one asks for it. What tunes is loaded when it is asked for. */
import type { Schedule } from '../core/abi.js';
import type { CoreExecutable } from '../core/handles.js';

/** The door through which `tune` reaches into a model. */
export const tunable = Symbol('tunable');

/** What can be tuned. */
export interface Tunable {
  readonly [tunable]: {
    /** The model compiled once more, for the caller to free; a function with these intermediate forms to keep. */
    executable(dumps?: string[]): CoreExecutable;
    /** Takes the schedules of now over; the content of the model stays. */
    reschedule(): void;
  };
}

/** Arguments of `tune`. */
export interface TuneArgs {
  /** Milliseconds it may take; more of them try more schedules. Default: 1000. */
  budgetMs?: number;
  /**
   * Schedules to try for every contraction; what they leave out is as in the standard one. Default:
   * what the compiler proposes for each.
   */
  candidates?: readonly Schedule[];
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
  /** GFLOP/s of every schedule tried; those far behind were measured only briefly. */
  tried: { schedule: Schedule; gflops: number }[];
}

export interface TuneResult {
  /** The contractions that were measured, those with the most work first. */
  kernels: TunedKernel[];
  milliseconds: number;
  /** Whether every candidate was tried within the budget. */
  complete: boolean;
}

/**
 * Finds the fastest schedules for a model on this engine, uses them in it from now on, and keeps
 * them for later models: in a file in Node, in IndexedDB in browsers. Results of the model stay the
 * same but for the rounding of sums. Rejects when the signal says so.
 */
export async function tune(model: Tunable, args: TuneArgs = {}): Promise<TuneResult> {
  const tuner = await import('./tune.js');
  return tuner.tune(model, args);
}
