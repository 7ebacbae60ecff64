/** Numbers of 16 bits: IEEE 754 binary16 and bfloat16. */

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** The number that the bits of a binary16 stand for. */
export function fromHalf(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The bits of the nearest binary16, ties to even. */
export function toHalf(value: number): number {
  float[0] = value;
  const sign = (bits[0]! >>> 16) & 0x8000;
  const magnitude = bits[0]! & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude < 0x38800000) return sign | roundEven(Math.abs(float[0]!) * 2 ** 24);
  return sign | roundEven((magnitude - 0x38000000) / 8192);
}

function roundEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}

/** The number that the bits of a bfloat16 stand for. */
export function fromBrain(brain: number): number {
  bits[0] = brain << 16;
  return float[0]!;
}
