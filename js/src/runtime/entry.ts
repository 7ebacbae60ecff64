/** One entry of a generated module: its buffers in the module's memory, and how a run of it begins. */
import { elementCount } from '../base/shape.js';
import type { BufferPlace, EntryPlace } from '../core/abi.js';
import { arrayOn, type DataArray, type NumberArray } from '../tensor/convert.js';
import { hostDTypes } from '../tensor/dtypes.js';
import { type Begin, type Job, mayBlock, type SharedModule } from './pool.js';
import { how } from './protocol.js';
import { beginJob } from './threads.js';

/** Nanoseconds of work that a page may do itself: half a frame of the screen. */
const mostBriefWork = 8e6;

/** One entry point with typed windows on its buffers. Those of models hold numbers. */
export class Entry<Elements extends DataArray = NumberArray> {
  readonly inputs: ReadonlyMap<string, Elements>;
  readonly outputs: ReadonlyMap<string, Elements>;
  readonly #call: (how: number) => void;
  readonly #shared: SharedModule | undefined;

  constructor(
    { exports }: WebAssembly.Instance,
    readonly place: EntryPlace,
    shared: SharedModule | undefined,
    /** Notes what a run changes, to give it back where the run fails. */
    private readonly keep: (() => () => void) | undefined,
  ) {
    this.#call = exports[place.name] as (how: number) => void;
    this.#shared = shared;
    const memory = exports.memory as WebAssembly.Memory;
    const windows = (places: BufferPlace[]) =>
      new Map(places.map((each) => [each.name, windowOn(memory, each) as Elements]));
    this.inputs = windows(place.inputs);
    this.outputs = windows(place.outputs);
  }

  /** Runs to its end: with other threads where this one may sleep for them, else alone. */
  run(): void {
    const job = mayBlock ? this.begin() : undefined;
    if (job === undefined) this.runAlone();
    else job.wait();
  }

  runAlone(): void {
    if (this.#shared !== undefined) {
      (this.#shared.exports['threads.begin'] as Begin)(this.#index, 1);
    }
    this.#call(how.alone);
  }

  /** Starts a run on threads; nothing where this thread should do it alone. */
  begin(): Job | undefined {
    const { threads, work } = this.place;
    if (this.#shared === undefined || threads < 2) return undefined;
    return beginJob(this.#shared, this.#index, threads, work < mostBriefWork, this.keep);
  }

  get #index(): number {
    return this.#shared!.entries.indexOf(this.place.name);
  }
}

/** The elements of a buffer, not a copy. */
export function windowOn(
  memory: WebAssembly.Memory,
  { dtype, shape, offset }: BufferPlace,
): DataArray {
  return arrayOn(hostDTypes[dtype], memory.buffer, offset, elementCount(shape));
}
