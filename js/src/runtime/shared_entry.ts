/** An entry that several threads may call together, and how a run of it begins. */
import type { EntryPlace } from '../core/abi.js';
import type { Begin, Job, SharedModule } from './pool.js';
import { how } from './protocol.js';
import { beginJob } from './threads.js';

/** Nanoseconds of work that a page may do itself: half a frame of the screen. */
const mostBriefWork = 8e6;

export class SharedEntry {
  readonly #index: number;
  readonly #call: (how: number) => number;

  constructor(
    private readonly shared: SharedModule,
    private readonly place: EntryPlace,
    /** Notes what a run changes, to give it back where the run fails. */
    private readonly keep?: () => () => void,
  ) {
    this.#index = shared.entries.indexOf(place.name);
    this.#call = shared.exports[place.name] as (how: number) => number;
  }

  runAlone(): void {
    (this.shared.exports['threads.begin'] as Begin)(this.#index, 1);
    this.#call(how.alone);
  }

  /** Starts a run on threads; nothing where this thread should do it alone. */
  begin(): Job | undefined {
    const { threads, work } = this.place;
    if (threads < 2) return undefined;
    return beginJob(this.shared, this.#index, threads, work < mostBriefWork, this.keep);
  }
}
