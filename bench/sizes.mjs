/** Sizes for comparisons with other libraries: pseudorandom from a seed, mostly at the edges of kernels' tiles. */
import { Random } from '../examples/lib/random.mjs';

const largest = 40;
const primes = [1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
/** Vectors are of 4 and 8, tiles of few rows and of such columns. */
const edges = [4, 6, 8, 12, 16, 24, 32];

/** Sizes and choices that a seed decides. */
export class Sizes {
  #random;

  constructor(seed) {
    this.#random = new Random(seed);
  }

  /** Uniform, from low to high. */
  between(low, high) {
    return low + Math.floor(this.#random.unit() * (high - low + 1));
  }

  pick(items) {
    return this.#random.pick(items);
  }

  /** From 1 to 40, or to `high`: odd, prime, at an edge or one off, or any. */
  size(high = largest) {
    const kinds = [
      () => 2 * this.between(0, largest / 2 - 1) + 1,
      () => this.pick(primes),
      () => this.pick(edges) + this.between(-1, 1),
      () => this.between(1, largest),
    ];
    for (;;) {
      const size = this.pick(kinds)();
      if (size <= high) return size;
    }
  }

  /** So many of them. */
  sizes(count, high) {
    return Array.from({ length: count }, () => this.size(high));
  }
}
