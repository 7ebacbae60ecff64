/** Numbers of 16 bits: IEEE 754 binary16 and bfloat16. */

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);

/** What the exponents of a binary16 stand for. */
const powers = /* @__PURE__ */ Float64Array.from({ length: 31 }, (_, at) => 2 ** (at - 15));

/** The number that the bits of a binary16 stand for. */
function fromHalf(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * powers[exponent]!;
}

/** The numbers that bits of binary16 stand for. */
export function fromHalves(halves: Uint16Array): Float32Array<ArrayBuffer> {
  const numbers = new Float32Array(halves.length);
  for (let at = 0; at < numbers.length; at += 1) numbers[at] = fromHalf(halves[at]!);
  return numbers;
}

/** The bits of the nearest binary16, ties to even. */
export function toHalf(value: number): number {
  return nearestBits(value, 10, -14);
}

/** The numbers that bits of bfloat16 stand for. */
export function fromBrains(brains: Uint16Array): Float32Array<ArrayBuffer> {
  const words = new Uint32Array(brains.length);
  for (let at = 0; at < words.length; at += 1) words[at] = brains[at]! << 16;
  return new Float32Array(words.buffer);
}

/** The bits of the nearest bfloat16, ties to even. */
export function toBrain(value: number): number {
  return nearestBits(value, 7, -126);
}

/** Of a format of 16 bits with so many of them for the fraction; its smallest normal number is 2 ** least. */
function nearestBits(value: number, fractionBits: number, least: number): number {
  double[0] = value;
  const sign = (words[1]! >>> 16) & 0x8000;
  const infinity = 0x8000 - 2 ** fractionBits;
  if (Number.isNaN(value)) return sign | infinity | (2 ** fractionBits / 2);
  const exponent = Math.max(((words[1]! >>> 20) & 0x7ff) - 1023, least);
  if (exponent > -least + 1) return sign | infinity;
  // Dividing by a power of two is exact. A sum that carries goes on in the exponent, at last to infinity.
  const steps = roundEven(Math.abs(value) / 2 ** (exponent - fractionBits));
  return sign | ((exponent - least) * 2 ** fractionBits + steps);
}

function roundEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}
