// Seeded random numbers.

/** A generator of random numbers, deterministic for each seed. */
export class Draw {
  constructor(seed) {
    this.state = Math.imul(seed + 1, 0x9e3779b1);
  }
  next() {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  /** An integer from `min` to `max`. */
  size(min, max) {
    return min + Math.floor(this.next() * (Math.max(max, min) - min + 1));
  }
  pick(list) {
    return list[this.size(0, list.length - 1)];
  }
  chance(share) {
    return this.next() < share;
  }
}
