/** One entry of a generated module: its buffers in the module's memory, and how a run of it begins. */
import { elementCount } from '../base/shape.js';
import type { BufferPlace, EntryPlace } from '../core/abi.js';
import { arrayOn, type DataArray, type NumberArray } from '../tensor/convert.js';
import { hostDTypes } from '../tensor/dtypes.js';
import { mayBlock } from './may_block.js';
import type { Job, SharedModule } from './pool.js';
import { SharedEntry } from './shared_entry.js';

/** One entry point with typed windows on its buffers. Those of models hold numbers. */
export class Entry<Elements extends DataArray = NumberArray> {
  readonly inputs: ReadonlyMap<string, Elements>;
  readonly outputs: ReadonlyMap<string, Elements>;
  readonly #call: () => void;
  readonly #shared: SharedEntry | undefined;

  constructor(
    { exports }: WebAssembly.Instance,
    readonly place: EntryPlace,
    shared: SharedModule | undefined,
    keep: (() => () => void) | undefined,
  ) {
    this.#call = exports[place.name] as () => void;
    this.#shared = shared && new SharedEntry(shared, place, keep);
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
    if (this.#shared === undefined) this.#call();
    else this.#shared.runAlone();
  }

  /** Starts a run on threads; nothing where this thread should do it alone. */
  begin(): Job | undefined {
    return this.#shared?.begin();
  }
}

/** The elements of a buffer, not a copy. */
export function windowOn(
  memory: WebAssembly.Memory,
  { dtype, shape, offset }: BufferPlace,
): DataArray {
  return arrayOn(hostDTypes[dtype], memory.buffer, offset, elementCount(shape));
}
