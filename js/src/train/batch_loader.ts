/** Puts batches of rows into the memory of an entry, which may hold several of them at once. */
import type { NumberArray } from '../tensor/convert.js';
import type { Entry } from '../runtime/entry.js';
import { checkIndices } from '../runtime/index_ranges.js';
import type { Examples, Rows } from './rows.js';

/** The rows that lie in the memory of an entry for several batches. */
interface Resident {
  data: WeakRef<Examples>;
  /** Whether they are all, in their own order. */
  whole: boolean;
  order: Uint32Array | undefined;
  from: number;
  to: number;
}

export class BatchLoader<Loaded extends Pick<Entry, 'inputs' | 'place'> = Entry> {
  #resident: Resident | undefined;

  constructor(readonly entry: Loaded) {}

  /** Rows of the first input. */
  get batch(): number {
    return this.entry.place.inputs[0]!.shape[0]!;
  }

  /** Has the entry work on rows `order[from]` …; rows `from` … when there is no order. */
  load(data: Examples, from: number, count: number, order?: Uint32Array): void {
    const rows = this.entry.inputs.get('rows');
    if (rows !== undefined) rows[0] = count;
    const picked = this.entry.inputs.get('order');
    if (picked === undefined) return this.#copy(data, from, count, order);
    if (!this.#holds(data, from, count, order)) this.#fill(data, from, order);
    const { whole, from: first } = this.#resident!;
    for (let at = 0; at < count; ++at) {
      picked[at] = whole ? (order?.[from + at] ?? from + at) : from + at - first;
    }
    repeat(picked, count);
  }

  #holds(data: Examples, from: number, count: number, order?: Uint32Array): boolean {
    const held = this.#resident;
    if (held?.data.deref() !== data) return false;
    return held.whole || (held.order === order && from >= held.from && from + count <= held.to);
  }

  /** Takes all rows in their own order if they fit, else as many as fit from `from` on. */
  #fill(data: Examples, from: number, order?: Uint32Array): void {
    const most = this.entry.place.inputs.find(({ name }) => name !== 'order')!.shape[0]!;
    const whole = data.count <= most;
    const first = whole ? 0 : from;
    const to = Math.min(first + most, data.count);
    this.#copy(data, first, to - first, whole ? undefined : order);
    this.#resident = { data: new WeakRef(data), order, whole, from: first, to };
  }

  #copy({ rows }: Examples, from: number, count: number, order?: Uint32Array): void {
    for (const [name, each] of rows) {
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
    const place = this.entry.place.inputs.find((each) => each.name === name)!;
    checkIndices(place, target.subarray(0, count * width), (at) => order?.[from + at] ?? from + at);
  }
}

/**
 * Fills the rest of a batch with its first elements. Those rows count nothing, but zeros may become NaN,
 * which no factor of 0 takes out of a sum.
 */
function repeat(values: NumberArray, count: number): void {
  for (let have = count; have < values.length; have *= 2) values.copyWithin(have, 0, have);
}
