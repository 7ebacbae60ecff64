/** 16-bit floats: IEEE 754 binary16 and bfloat16. */

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);

/** Powers of two by the exponent bits of a binary16. */
const powers = /* @__PURE__ */ Float64Array.from({ length: 31 }, (_, at) => 2 ** (at - 15));

/** Decodes the bits of a binary16. */
function decodeOne(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * powers[exponent]!;
}

/** Decodes bits of binary16. */
export function decodeFloat16(bits: Uint16Array): Float32Array<ArrayBuffer> {
  const numbers = new Float32Array(bits.length);
  for (let at = 0; at < numbers.length; at += 1) numbers[at] = decodeOne(bits[at]!);
  return numbers;
}

/** The bits of the nearest binary16, ties to even. */
export function encodeFloat16(value: number): number {
  return nearestBits(value, 10, -14);
}

/** Decodes bits of bfloat16. */
export function decodeBfloat16(bits: Uint16Array): Float32Array<ArrayBuffer> {
  const words = new Uint32Array(bits.length);
  for (let at = 0; at < words.length; at += 1) words[at] = bits[at]! << 16;
  return new Float32Array(words.buffer);
}

/** The bits of the nearest bfloat16, ties to even. */
export function encodeBfloat16(value: number): number {
  return nearestBits(value, 7, -126);
}

/** Encodes a 16-bit format with `fractionBits`; its smallest normal number is 2 ** minExponent. */
function nearestBits(value: number, fractionBits: number, minExponent: number): number {
  double[0] = value;
  const sign = (words[1]! >>> 16) & 0x8000;
  const infinity = 0x8000 - 2 ** fractionBits;
  if (Number.isNaN(value)) return sign | infinity | (2 ** fractionBits / 2);
  const exponent = Math.max(((words[1]! >>> 20) & 0x7ff) - 1023, minExponent);
  if (exponent > -minExponent + 1) return sign | infinity;
  // Dividing by a power of two is exact. A mantissa overflow increments the exponent, up to infinity.
  const steps = roundEven(Math.abs(value) / 2 ** (exponent - fractionBits));
  return sign | ((exponent - minExponent) * 2 ** fractionBits + steps);
}

function roundEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}
