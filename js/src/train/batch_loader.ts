/** Copies batches of rows into the input buffers of an entry, which may fit several batches. */
import type { NumberArray } from '../tensor/convert.js';
import type { ProgramPort } from '../runtime/device.js';
import type { Entry } from '../runtime/entry.js';
import { checkIndices } from '../runtime/index_ranges.js';
import type { Examples, Rows } from './examples.js';

/** The rows that are resident in the input buffers of an entry. */
interface Resident {
  data: WeakRef<Examples>;
  /** Whether they are all rows, in dataset order. */
  isComplete: boolean;
  order: Uint32Array | undefined;
  from: number;
  to: number;
}

/** What batches are loaded into. */
export interface Loadable {
  readonly inputs: ReadonlyMap<string, NumberArray>;
  readonly info: { readonly inputs: readonly ProgramPort[] };
  /** Copies rows whose elements are not on the host. */
  copyRows?(name: string, rows: Rows, from: number, count: number): void;
}

export class BatchLoader<Loaded extends Loadable = Entry> {
  /** Inputs that were written; whoever uploads them clears it. */
  readonly changed = new Set<string>();
  #resident: Resident | undefined;

  constructor(readonly entry: Loaded) {}

  /** The batch size. */
  get batch(): number {
    return this.entry.info.inputs[0]!.shape[0]!;
  }

  /** Loads the rows `order[from]` …, or without an order the rows `from` … */
  load(data: Examples, from: number, count: number, order?: Uint32Array): void {
    const rows = this.entry.inputs.get('rows');
    if (rows !== undefined) rows[0] = count;
    if (rows !== undefined) this.changed.add('rows');
    const picked = this.entry.inputs.get('order');
    if (picked === undefined) return this.#copy(data, from, count, order);
    if (!this.#isLoaded(data, from, count, order)) this.#fill(data, from, order);
    const { isComplete, from: first } = this.#resident!;
    for (let at = 0; at < count; ++at) {
      picked[at] = isComplete ? (order?.[from + at] ?? from + at) : from + at - first;
    }
    repeat(picked, count);
    this.changed.add('order');
  }

  /** All rows have to be loaded again. */
  forget(): void {
    this.#resident = undefined;
  }

  #isLoaded(data: Examples, from: number, count: number, order?: Uint32Array): boolean {
    const loaded = this.#resident;
    if (loaded?.data.deref() !== data) return false;
    return (
      loaded.isComplete ||
      (loaded.order === order && from >= loaded.from && from + count <= loaded.to)
    );
  }

  /** Copies all rows in dataset order if they fit, else as many as fit from `from` on. */
  #fill(data: Examples, from: number, order?: Uint32Array): void {
    const capacity = this.entry.info.inputs.find(({ name }) => name !== 'order')!.shape[0]!;
    const isComplete = data.count <= capacity;
    const first = isComplete ? 0 : from;
    const to = Math.min(first + capacity, data.count);
    this.#copy(data, first, to - first, isComplete ? undefined : order);
    this.#resident = { data: new WeakRef(data), order, isComplete, from: first, to };
  }

  #copy({ rows }: Examples, from: number, count: number, order?: Uint32Array): void {
    for (const [name, each] of rows) {
      if (each.value !== undefined) {
        this.entry.copyRows!(name, each, from, count);
        continue;
      }
      this.changed.add(name);
      this.#copyRows(name, each, from, count, order);
      repeat(this.entry.inputs.get(name)!, count * each.width);
    }
  }

  #copyRows(name: string, rows: Rows, from: number, count: number, order?: Uint32Array): void {
    const target = this.entry.inputs.get(name)!;
    const { data, width } = rows;
    if (order === undefined) target.set(data.subarray(from * width, (from + count) * width));
    for (let at = 0; order !== undefined && at < count; ++at) {
      const row = order[from + at]!;
      if (width === 1) target[at] = data[row]!;
      else target.set(data.subarray(row * width, (row + 1) * width), at * width);
    }
    const info = this.entry.info.inputs.find((each) => each.name === name)!;
    checkIndices(info, target.subarray(0, count * width), (at) => order?.[from + at] ?? from + at);
  }
}

/**
 * Fills the rest of a batch with its first elements. Those rows have weight 0, but zeros may become NaN,
 * which a factor of 0 does not remove from a sum.
 */
function repeat(values: NumberArray, count: number): void {
  for (let have = count; have < values.length; have *= 2) values.copyWithin(have, 0, have);
}
