/** An entry that several threads may run together. */
import type { EntryInfo } from '../core/abi.js';
import { runFlag } from './control_block.js';
import type { Begin, Job, SharedModule } from './pool.js';
import { beginJob } from './threads.js';

/** Nanoseconds of work that the main thread of a page may do: half a video frame. */
const maxBriefWork = 8e6;

export class SharedEntry {
  readonly #index: number;
  readonly #call: (flags: number) => number;

  constructor(
    private readonly shared: SharedModule,
    private readonly info: EntryInfo,
    /** Copies the states, to restore them if the run fails. */
    private readonly snapshot?: () => () => void,
  ) {
    this.#index = shared.entries.indexOf(info.name);
    this.#call = shared.exports[info.name] as (flags: number) => number;
  }

  runSingleThreaded(): void {
    (this.shared.exports['threads.begin'] as Begin)(this.#index, 1);
    this.#call(runFlag.singleThread);
  }

  /** Starts a multithreaded run; undefined where this thread should run it by itself. */
  begin(): Job | undefined {
    const { threads, work } = this.info;
    if (threads < 2) return undefined;
    return beginJob(this.shared, this.#index, threads, work < maxBriefWork, this.snapshot);
  }
}
