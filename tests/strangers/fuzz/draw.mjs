// Draws hostile values from a seed, always the same for one seed.

/** Names that are members of objects, leave folders, command terminals or are no names at all. */
const NAMES = [
  ...['', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'length', 'then'],
  ...['../x', '/etc/passwd', '..\\x', '%2e%2e/x', '//host/x', 'file:///x', 'C:\\x', 'a/../../x'],
  ...['\x00', '\x1b[2J', 'a\nb', '\u202eb', '\ud800', '🙂', 'x'.repeat(5000), 'NaN', '-1', '0'],
];

/** Numbers at the edges of the types that files use. */
const NUMBERS = [
  ...[-1, 0, 1, 2, 3, 7, 255, 65536, 2 ** 24, 2 ** 30, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 40],
  ...[2 ** 53 - 1, 2 ** 53, -(2 ** 31), -(2 ** 53)],
];

export class Draw {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
    for (let k = 0; k < 4; k += 1) this.unit();
  }

  /** From 0 up to, not including, 1: Mulberry32 (T. Ettinger, 2017). */
  unit() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(count) {
    return Math.floor(this.unit() * count);
  }

  chance(share) {
    return this.unit() < share;
  }

  one(list) {
    return list[this.below(list.length)];
  }

  /** Log-uniform from 1 to `maximum`. */
  size(maximum) {
    return Math.floor(maximum ** this.unit());
  }

  times(count, make) {
    return Array.from({ length: count }, (_, k) => make(k));
  }

  name() {
    return this.one(NAMES);
  }

  number() {
    return this.chance(0.8) ? this.one(NUMBERS) : this.below(1000);
  }

  /** Sizes of a shape: mostly small ones. */
  shape(rank = this.below(5)) {
    return this.times(rank, () => (this.chance(0.85) ? this.below(5) : this.number()));
  }

  /** Bytes with some of them changed, as integers of some width, or with a part removed or duplicated. */
  damaged(bytes) {
    let result = Buffer.from(bytes);
    for (let left = this.size(12); left > 0 && result.length > 16; left -= 1) {
      const at = this.below(result.length - 8);
      const rest = this.size(64);
      const kind = this.below(8);
      if (kind < 3) result[at] = this.below(256);
      else if (kind === 3) result.writeInt32LE(this.number() | 0, at);
      else if (kind === 4) result.writeBigInt64LE(BigInt.asIntN(64, BigInt(this.number())), at);
      else if (kind === 5) result.fill(255, at, at + 8);
      else if (kind === 6)
        result = Buffer.concat([result.subarray(0, at), result.subarray(at + rest)]);
      else result = Buffer.concat([result.subarray(0, at + rest), result.subarray(at)]);
    }
    return Uint8Array.from(
      this.chance(0.1) ? result.subarray(0, this.below(result.length)) : result,
    );
  }

  /** An unexpected JSON value. */
  json() {
    const kind = this.below(7);
    if (kind === 0) return this.number();
    if (kind === 1) return this.name();
    if (kind === 2) return this.one([null, true, false, [], {}, [[]], -0.5, 1e300]);
    if (kind === 3) return this.shape();
    if (kind === 4) return this.nested((inner) => [inner], 0);
    if (kind === 5)
      return this.nested((inner) => ({ config: inner, class_name: 'Sequential' }), {});
    return JSON.parse(
      '{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}',
    );
  }

  nested(around, inner, maximum = 3000) {
    let value = inner;
    for (let depth = this.size(maximum); depth > 0; depth -= 1) value = around(value);
    return value;
  }

  /** A copy of a JSON value in which something is replaced, left out, doubled or renamed. */
  mutated(value, count = this.size(4)) {
    const copy = structuredClone(value);
    for (let k = 0; k < count; k += 1) this.#mutate(copy);
    return copy;
  }

  #mutate(top) {
    let at = top;
    for (;;) {
      const keys = Object.keys(at);
      if (keys.length === 0) return;
      const key = this.one(keys);
      const inner = at[key];
      if (inner !== null && typeof inner === 'object' && this.chance(0.85)) {
        at = inner;
        continue;
      }
      const kind = this.below(6);
      if (kind === 0) delete at[key];
      else if (kind === 1 && Array.isArray(at))
        at.push(...this.times(this.size(2000), () => inner));
      else if (kind === 2 && !Array.isArray(at)) at[`${this.name()} `] = inner;
      else at[key] = this.json();
      return;
    }
  }
}
