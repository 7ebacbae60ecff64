// The wire format of protocol buffers and the numbers of onnx.proto3 (IR version 14) that the tests use.

/** Element types: their number in TensorProto, and the typed array of their elements; undefined for strings. */
export const dtypes = {
  float32: [1, Float32Array],
  uint8: [2, Uint8Array],
  int8: [3, Int8Array],
  uint16: [4, Uint16Array],
  int16: [5, Int16Array],
  int32: [6, Int32Array],
  int64: [7, BigInt64Array],
  string: [8, undefined],
  bool: [9, Uint8Array],
  float16: [10, Uint16Array],
  float64: [11, Float64Array],
  uint32: [12, Uint32Array],
  uint64: [13, BigUint64Array],
  complex64: [14, Float32Array],
  complex128: [15, Float64Array],
  bfloat16: [16, Uint16Array],
  float8e4m3fn: [17, Uint8Array],
  float8e4m3fnuz: [18, Uint8Array],
  float8e5m2: [19, Uint8Array],
  float8e5m2fnuz: [20, Uint8Array],
  uint4: [21, Uint8Array],
  int4: [22, Uint8Array],
  float4e2m1: [23, Uint8Array],
  float8e8m0: [24, Uint8Array],
  uint2: [25, Uint8Array],
  int2: [26, Uint8Array],
};

const names = Object.fromEntries(Object.entries(dtypes).map(([name, [number]]) => [number, name]));

/** The name of an element type by its number. */
export const dtypeOf = (number) => names[number] ?? `type ${number}`;

/** The number of elements of a dtype in one byte. */
export const perByte = (dtype) =>
  ({ uint4: 2, int4: 2, float4e2m1: 2, uint2: 4, int2: 4 })[dtype] ?? 1;

const utf8 = new TextEncoder();

/** One message, field by field. */
export class Message {
  #parts = [];
  size = 0;

  #add(bytes) {
    this.#parts.push(bytes);
    this.size += bytes.length;
  }

  #varint(value) {
    const bytes = [];
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
    bytes.push(Number(rest));
    this.#add(Uint8Array.from(bytes));
  }

  int(field, value) {
    this.#varint(field * 8);
    this.#varint(value);
    return this;
  }

  float(field, value) {
    this.#varint(field * 8 + 5);
    this.#add(new Uint8Array(Float32Array.of(value).buffer));
    return this;
  }

  bytes(field, bytes) {
    this.#varint(field * 8 + 2);
    this.#varint(bytes.length);
    this.#add(bytes);
    return this;
  }

  text(field, value) {
    return this.bytes(field, utf8.encode(value));
  }

  message(field, other) {
    return this.bytes(field, other.encoded());
  }

  each(field, values, kind) {
    for (const value of values) this[kind](field, value);
    return this;
  }

  encoded() {
    const bytes = new Uint8Array(this.size);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }
}

/** The fields of a message as [number, value]: bigints, bytes, and the bytes of fixed numbers. */
export function* fieldsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = view.getUint8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const [field, kind] = [key >> 3, key & 7];
    if (kind === 0) {
      yield [field, BigInt.asIntN(64, varint())];
      continue;
    }
    const length = { 1: () => 8, 2: () => Number(varint()), 5: () => 4 }[kind]();
    yield [field, bytes.subarray(at, at + length)];
    at += length;
  }
}

/** The varints of a repeated field, packed or not. */
export function varintsOf(value) {
  if (typeof value === 'bigint') return [value];
  const found = [];
  let [sum, shift] = [0n, 0n];
  for (const byte of value) {
    sum |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte >= 128) continue;
    found.push(BigInt.asIntN(64, sum));
    [sum, shift] = [0n, 0n];
  }
  return found;
}
