/** Binary search. */

type Compare<T> = (a: T, b: T) => number;

const ascending = <T>(a: T, b: T): number => (a > b ? 1 : a < b ? -1 : 0);

/** The first index of the value, or -1 - its insertion index. */
export function binarySearch<T>(
  list: readonly T[],
  value: T,
  compare: Compare<T> = ascending,
): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(value, list[middle]!) > 0) low = middle + 1;
    else high = middle;
  }
  return low < list.length && compare(value, list[low]!) === 0 ? low : -1 - low;
}

/** Inserts the value in sorted order, before equal ones. */
export function binaryInsert<T>(list: T[], value: T, compare?: Compare<T>): void {
  const found = binarySearch(list, value, compare);
  list.splice(found < 0 ? -1 - found : found, 0, value);
}
