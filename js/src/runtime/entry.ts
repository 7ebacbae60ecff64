/** An entry of a generated module: typed views of its buffers, and its runs. */
import { elementCount } from '../base/shape.js';
import { currentStop } from '../base/stop.js';
import type { BufferInfo, EntryInfo } from '../core/abi.js';
import { arrayOn, type DataArray, type NumberArray } from '../tensor/convert.js';
import { hostDTypes } from '../tensor/dtypes.js';
import { mayBlock } from './may_block.js';
import type { Job, SharedModule } from './pool.js';
import { SharedEntry } from './shared_entry.js';

/** An entry with views of its buffers in the module's memory. The buffers of models have numeric types. */
export class Entry<Elements extends DataArray = NumberArray> {
  readonly inputs: ReadonlyMap<string, Elements>;
  readonly outputs: ReadonlyMap<string, Elements>;
  readonly #call: () => void;
  readonly #shared: SharedEntry | undefined;

  constructor(
    { exports }: WebAssembly.Instance,
    readonly info: EntryInfo,
    shared: SharedModule | undefined,
    private readonly snapshot: (() => () => void) | undefined,
  ) {
    this.#call = exports[info.name] as () => void;
    this.#shared = shared && new SharedEntry(shared, info, snapshot);
    const memory = exports.memory as WebAssembly.Memory;
    const windows = (buffers: BufferInfo[]) =>
      new Map(buffers.map((each) => [each.name, windowOn(memory, each) as Elements]));
    this.inputs = windows(info.inputs);
    this.outputs = windows(info.outputs);
  }

  /** Runs to completion: multithreaded where this thread may block, otherwise on this thread only. */
  run(): void {
    const job = mayBlock ? this.begin() : undefined;
    if (job === undefined) this.runSingleThreaded();
    else job.wait();
  }

  /** Runs on the calling thread. Error: a limit of the call is reached; states are as before the run then. */
  runSingleThreaded(): void {
    const undo = currentStop() && this.snapshot?.();
    try {
      if (this.#shared === undefined) this.#call();
      else this.#shared.runSingleThreaded();
    } catch (error) {
      undo?.();
      throw error;
    }
  }

  /** Starts a multithreaded run; undefined where this thread should run it by itself. */
  begin(): Job | undefined {
    return this.#shared?.begin();
  }
}

/** A view of the elements of a buffer. */
export function windowOn(
  memory: WebAssembly.Memory,
  { dtype, shape, offset }: BufferInfo,
): DataArray {
  return arrayOn(hostDTypes[dtype], memory.buffer, offset, elementCount(shape));
}
