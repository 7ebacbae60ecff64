// Seeded random numbers, the same in every engine: integer arithmetic and +, -, × only.

/** A stream of numbers that the two given integers decide. */
export class Random {
  #state;

  constructor(seed, stream = 0) {
    this.#state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b)) | 0;
    this.unit();
  }

  /** Uniform in [0, 1). */
  unit() {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Uniform in [low, high). */
  between(low, high) {
    return low + (high - low) * this.unit();
  }

  /** About normal with mean 0 and deviation 1: a sum of four uniform numbers. */
  bell() {
    return (this.unit() + this.unit() + this.unit() + this.unit() - 2) * 1.7320508;
  }

  /** One of the items. */
  pick(items) {
    return items[Math.floor(this.unit() * items.length)];
  }
}
