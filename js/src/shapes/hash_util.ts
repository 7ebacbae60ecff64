/** FarmHash's 64-bit fingerprint of any bytes (github.com/google/farmhash, farmhashna), and 64-bit integers for it. */

const mask = 0xffff_ffff_ffff_ffffn;
const k0 = 0xc3a5_c85c_97cb_3127n;
const k1 = 0xb492_b66f_be98_f273n;
const k2 = 0x9ae1_6a3b_2f90_404fn;

type Integer = Long | number | string;

/** An unsigned or signed integer of 64 bits with the members of npm `long` that programs use on hashes. */
export class Long {
  constructor(
    readonly low: number,
    readonly high: number,
    readonly unsigned = false,
  ) {}

  /** @internal */
  static of(value: bigint, unsigned: boolean): Long {
    return new Long(
      Number(BigInt.asIntN(32, value)),
      Number(BigInt.asIntN(32, value >> 32n)),
      unsigned,
    );
  }

  /** @internal */
  get big(): bigint {
    const bits = (BigInt(this.high >>> 0) << 32n) | BigInt(this.low >>> 0);
    return this.unsigned ? bits : BigInt.asIntN(64, bits);
  }

  #with(other: Integer, action: (a: bigint, b: bigint) => bigint): Long {
    const value = other instanceof Long ? other.big : BigInt(other);
    return Long.of(
      action(this.big, this.unsigned ? BigInt.asUintN(64, value) : value),
      this.unsigned,
    );
  }

  add(other: Integer): Long {
    return this.#with(other, (a, b) => a + b);
  }

  sub(other: Integer): Long {
    return this.#with(other, (a, b) => a - b);
  }

  mul(other: Integer): Long {
    return this.#with(other, (a, b) => a * b);
  }

  div(other: Integer): Long {
    return this.#with(other, (a, b) => a / b);
  }

  mod(other: Integer): Long {
    return this.#with(other, (a, b) => a % b);
  }

  and(other: Integer): Long {
    return this.#with(other, (a, b) => a & b);
  }

  or(other: Integer): Long {
    return this.#with(other, (a, b) => a | b);
  }

  xor(other: Integer): Long {
    return this.#with(other, (a, b) => a ^ b);
  }

  shl(bits: number): Long {
    return Long.of(this.big << BigInt(bits), this.unsigned);
  }

  shr(bits: number): Long {
    return Long.of(this.big >> BigInt(bits), this.unsigned);
  }

  /** Logical shift. */
  shru(bits: number): Long {
    return Long.of(BigInt.asUintN(64, this.big) >> BigInt(bits), this.unsigned);
  }

  equals(other: Integer): boolean {
    return this.big === this.#with(other, (_, b) => b).big;
  }

  getLowBits(): number {
    return this.low;
  }

  getHighBits(): number {
    return this.high;
  }

  toUnsigned(): Long {
    return new Long(this.low, this.high, true);
  }

  toSigned(): Long {
    return new Long(this.low, this.high, false);
  }

  toInt(): number {
    return this.unsigned ? this.low >>> 0 : this.low;
  }

  toNumber(): number {
    return Number(this.big);
  }

  toString(radix = 10): string {
    return this.big.toString(radix);
  }
}

/** An unsigned integer of 64 bits from hexadecimal digits. */
export const hexToLong = (hex: string): Long => Long.of(BigInt(`0x${hex}`), true);

const rotate = (value: bigint, bits: bigint): bigint =>
  ((value >> bits) | (value << (64n - bits))) & mask;
const mixed = (value: bigint): bigint => value ^ (value >> 47n);

/** Hashes two numbers into one. */
function hash16(u: bigint, v: bigint, mul: bigint): bigint {
  let a = ((u ^ v) * mul) & mask;
  a ^= a >> 47n;
  let b = ((v ^ a) * mul) & mask;
  b ^= b >> 47n;
  return (b * mul) & mask;
}

type Pair = [bigint, bigint];

/** Hashes 32 bytes with two seeds. */
function weakHash32(view: DataView, at: number, a: bigint, b: bigint): Pair {
  const [w, x, y, z] = [0, 8, 16, 24].map((offset) => view.getBigUint64(at + offset, true)) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  a = (a + w) & mask;
  b = rotate((b + a + z) & mask, 21n);
  const c = a;
  a = (a + x + y) & mask;
  b = (b + rotate(a, 44n)) & mask;
  return [(a + z) & mask, (b + c) & mask];
}

function hashTo16(view: DataView, length: number): bigint {
  const size = BigInt(length);
  const mul = k2 + size * 2n;
  if (length >= 8) {
    const a = (view.getBigUint64(0, true) + k2) & mask;
    const b = view.getBigUint64(length - 8, true);
    const c = (rotate(b, 37n) * mul + a) & mask;
    const d = ((rotate(a, 25n) + b) * mul) & mask;
    return hash16(c, d, mul & mask);
  }
  if (length >= 4) {
    const a = BigInt(view.getUint32(0, true));
    return hash16((size + (a << 3n)) & mask, BigInt(view.getUint32(length - 4, true)), mul & mask);
  }
  if (length === 0) return k2;
  const [a, b, c] = [view.getUint8(0), view.getUint8(length >> 1), view.getUint8(length - 1)];
  const y = BigInt(a + (b << 8));
  const z = BigInt(length + (c << 2));
  return (mixed(((y * k2) ^ (z * k0)) & mask) * k2) & mask;
}

function hashTo32(view: DataView, length: number): bigint {
  const mul = k2 + BigInt(length) * 2n;
  const a = (view.getBigUint64(0, true) * k1) & mask;
  const b = view.getBigUint64(8, true);
  const c = (view.getBigUint64(length - 8, true) * mul) & mask;
  const d = (view.getBigUint64(length - 16, true) * k2) & mask;
  const left = (rotate((a + b) & mask, 43n) + rotate(c, 30n) + d) & mask;
  return hash16(left, (a + rotate((b + k2) & mask, 18n) + c) & mask, mul & mask);
}

function hashTo64(view: DataView, length: number): bigint {
  const mul = (k2 + BigInt(length) * 2n) & mask;
  const a = (view.getBigUint64(0, true) * k2) & mask;
  const b = view.getBigUint64(8, true);
  const c = (view.getBigUint64(length - 8, true) * mul) & mask;
  const d = (view.getBigUint64(length - 16, true) * k2) & mask;
  const y = (rotate((a + b) & mask, 43n) + rotate(c, 30n) + d) & mask;
  const z = hash16(y, (a + rotate((b + k2) & mask, 18n) + c) & mask, mul);
  const e = (view.getBigUint64(16, true) * mul) & mask;
  const f = view.getBigUint64(24, true);
  const g = ((y + view.getBigUint64(length - 32, true)) * mul) & mask;
  const h = ((z + view.getBigUint64(length - 24, true)) * mul) & mask;
  const left = (rotate((e + f) & mask, 43n) + rotate(g, 30n) + h) & mask;
  return hash16(left, (e + rotate((f + a) & mask, 18n) + g) & mask, mul);
}

function hashLong(view: DataView, length: number): bigint {
  const seed = 81n;
  let x = seed;
  let y = (seed * k1 + 113n) & mask;
  let z = (mixed((y * k2 + 113n) & mask) * k2) & mask;
  let v: Pair = [0n, 0n];
  let w: Pair = [0n, 0n];
  x = (x * k2 + view.getBigUint64(0, true)) & mask;
  const last = ((length - 1) >> 6) * 64;
  let at = 0;
  const word = (offset: number) => view.getBigUint64(at + offset, true);
  do {
    x = (rotate((x + y + v[0] + word(8)) & mask, 37n) * k1) & mask;
    y = (rotate((y + v[1] + word(48)) & mask, 42n) * k1) & mask;
    x ^= w[1];
    y = (y + v[0] + word(40)) & mask;
    z = (rotate((z + w[0]) & mask, 33n) * k1) & mask;
    v = weakHash32(view, at, (v[1] * k1) & mask, (x + w[0]) & mask);
    w = weakHash32(view, at + 32, (z + w[1]) & mask, (y + word(16)) & mask);
    [z, x] = [x, z];
    at += 64;
  } while (at !== last);
  const mul = (k1 + ((z & 0xffn) << 1n)) & mask;
  at = length - 64;
  w = [(w[0] + BigInt((length - 1) & 63)) & mask, w[1]];
  v = [(v[0] + w[0]) & mask, v[1]];
  w = [(w[0] + v[0]) & mask, w[1]];
  x = (rotate((x + y + v[0] + word(8)) & mask, 37n) * mul) & mask;
  y = (rotate((y + v[1] + word(48)) & mask, 42n) * mul) & mask;
  x ^= (w[1] * 9n) & mask;
  y = (y + v[0] * 9n + word(40)) & mask;
  z = (rotate((z + w[0]) & mask, 33n) * mul) & mask;
  v = weakHash32(view, at, (v[1] * mul) & mask, (x + w[0]) & mask);
  w = weakHash32(view, at + 32, (z + w[1]) & mask, (y + word(16)) & mask);
  [z, x] = [x, z];
  const left = (hash16(v[0], w[0], mul) + mixed(y) * k0 + z) & mask;
  return hash16(left, (hash16(v[1], w[1], mul) + x) & mask, mul);
}

/** The fingerprint of the first `length` bytes: the same on every machine. */
export function fingerPrint64(bytes: Uint8Array, length: number = bytes.length): Long {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const hash =
    length <= 16 ? hashTo16 : length <= 32 ? hashTo32 : length <= 64 ? hashTo64 : hashLong;
  return Long.of(hash(view, length), true);
}
