/** The most this engine can do: 12 independent multiply-adds on four lanes, in registers, nothing else. Not a peer. */
import { Unsupported } from '../models/model.mjs';

const iterations = 20000;
const accumulators = 12;
const v128 = 0x7b;

const section = (id, bytes) => [id, ...unsigned(bytes.length), ...bytes];
const splat = (value) => [0x43, ...new Uint8Array(new Float32Array([value]).buffer), 0xfd, 0x13];

function unsigned(value) {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

/** A module that exports run(n): n rounds over all accumulators, written byte by byte so that nothing else is measured. */
function makeModule(fused) {
  const factor = accumulators + 1;
  const addend = accumulators + 2;
  const body = [
    ...[1, accumulators + 2, v128],
    ...[...splat(0.999), 0x21, factor, ...splat(0.001), 0x21, addend],
    ...[0x03, 0x40],
    ...Array.from({ length: accumulators }, (_, i) => [
      ...(fused ? [0x20, factor, 0x20, addend, 0x20, i + 1] : [0x20, i + 1, 0x20, factor]),
      ...(fused ? [0xfd, ...unsigned(0x105)] : [0xfd, ...unsigned(0xe6), 0x20, addend]),
      ...(fused ? [] : [0xfd, ...unsigned(0xe4)]),
      ...[0x21, i + 1],
    ]).flat(),
    ...[0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b],
    ...Array.from({ length: accumulators }, (_, i) => [
      0x20,
      i + 1,
      ...(i > 0 ? [0xfd, ...unsigned(0xe4)] : []),
    ]).flat(),
    ...[0xfd, 0x1f, 0, 0x0b],
  ];
  return new Uint8Array([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 1, 0x7f, 1, 0x7d]),
    ...section(3, [1, 0]),
    ...section(7, [1, 3, 0x72, 0x75, 0x6e, 0, 0]),
    ...section(10, [1, ...unsigned(body.length), ...body]),
  ]);
}

/** Steps of the loop alone; a step's work is flopsPerStep. */
export async function ceiling({ fused }) {
  const bytes = makeModule(fused);
  if (!WebAssembly.validate(bytes)) throw new Unsupported('has no relaxed SIMD');
  const { instance } = await WebAssembly.instantiate(bytes);
  return { synchronous: true, step: () => instance.exports.run(iterations), dispose() {} };
}

export const flopsPerStep = iterations * accumulators * 4 * 2;
