/** The safetensors format: a JSON header, then the bytes of named tensors. */
import { LatheError } from '../base/errors.js';
import { setEntry } from '../base/records.js';
import { elementCount } from '../base/shape.js';
import { TextDecoder, TextEncoder } from '../base/text.js';
import { checkStored, type NumberArray } from '../tensor/convert.js';
import { isObject, joinBytes } from './artifacts.js';
import { decodeBfloat16, decodeFloat16 } from '../tensor/float16.js';
import type { NamedArray } from './weight_data.js';

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

/** Header entries that are not tensors. */
const metadata = '__metadata__';
const safetensorsDTypes = { float32: 'F32', int32: 'I32', bool: 'BOOL' };

/** Decoders of the types of the format; 64-bit values must fit 32 bits. */
const readers: Record<string, { bytes: number; read: (buffer: ArrayBuffer) => NumberArray }> = {
  F32: { bytes: 4, read: (buffer) => new Float32Array(buffer) },
  I32: { bytes: 4, read: (buffer) => new Int32Array(buffer) },
  BOOL: { bytes: 1, read: (buffer) => new Uint8Array(buffer) },
  F64: { bytes: 8, read: (buffer) => new Float32Array(new Float64Array(buffer)) },
  F16: { bytes: 2, read: (buffer) => decodeFloat16(new Uint16Array(buffer)) },
  BF16: { bytes: 2, read: (buffer) => decodeBfloat16(new Uint16Array(buffer)) },
  I64: { bytes: 8, read: (buffer) => narrowed(new BigInt64Array(buffer)) },
  U64: { bytes: 8, read: (buffer) => narrowed(new BigUint64Array(buffer)) },
  U32: { bytes: 4, read: (buffer) => narrowed(Array.from(new Uint32Array(buffer), BigInt)) },
  F8_E4M3: { bytes: 1, read: (buffer) => fromFloat8(new Uint8Array(buffer), 3) },
  F8_E5M2: { bytes: 1, read: (buffer) => fromFloat8(new Uint8Array(buffer), 2) },
  U8: { bytes: 1, read: (buffer) => new Int32Array(new Uint8Array(buffer)) },
  I8: { bytes: 1, read: (buffer) => new Int32Array(new Int8Array(buffer)) },
  I16: { bytes: 2, read: (buffer) => new Int32Array(new Int16Array(buffer)) },
  U16: { bytes: 2, read: (buffer) => new Int32Array(new Uint16Array(buffer)) },
};

/** E5M2 is the upper half of a float16. E4M3 has no infinity, and NaN only as all ones. */
function fromFloat8(bytes: Uint8Array, fractionBits: 2 | 3): Float32Array<ArrayBuffer> {
  if (fractionBits === 2) return decodeFloat16(Uint16Array.from(bytes, (byte) => byte << 8));
  return Float32Array.from(bytes, (byte) => {
    const exponent = (byte >> 3) & 15;
    const fraction = (byte & 7) / 8;
    if ((byte & 127) === 127) return NaN;
    const value = exponent === 0 ? fraction * 2 ** -6 : (1 + fraction) * 2 ** (exponent - 7);
    return byte & 128 ? -value : value;
  });
}

function narrowed(longs: ArrayLike<bigint>): Int32Array<ArrayBuffer> {
  const numbers = new Int32Array(longs.length);
  for (let at = 0; at < numbers.length; at += 1) numbers[at] = toInt32(longs[at]!);
  return numbers;
}

function toInt32(value: bigint): number {
  if (BigInt.asIntN(32, value) !== value) throw new RangeError(`${value} does not fit 32 bits`);
  return Number(value);
}

/** Encodes tensors as a safetensors file. */
export function encodeSafetensors(tensors: readonly NamedArray[]): Uint8Array<ArrayBuffer> {
  const header: Record<string, Entry | Record<string, string>> = {
    [metadata]: { format: 'tensorlathe' },
  };
  let end = 0;
  for (const { name, shape, dtype, data } of tensors) {
    const data_offsets: [number, number] = [end, (end += data.byteLength)];
    if (Object.hasOwn(header, name)) {
      throw new LatheError(`encodeSafetensors: the name ${name} is already used`);
    }
    checkStored(`encodeSafetensors: ${name}`, dtype);
    setEntry(header, name, { dtype: safetensorsDTypes[dtype], shape: [...shape], data_offsets });
  }
  const text = JSON.stringify(header);
  const plain = new TextEncoder().encode(text);
  const padded = new Uint8Array(Math.ceil(plain.length / 8) * 8).fill(0x20);
  padded.set(plain);
  const length = new DataView(new ArrayBuffer(8));
  length.setBigUint64(0, BigInt(padded.length), true);
  const parts = tensors.map(
    ({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
  );
  return new Uint8Array(joinBytes([new Uint8Array(length.buffer), padded, ...parts]));
}

/**
 * Decodes a file. Errors: a damaged header, tensors beyond the end, gaps; on reading the data, a tensor of
 * an unsupported type, or integers beyond 32 bits.
 */
export function decodeSafetensors(file: Uint8Array, where: string): NamedArray[] {
  const fail = (what: string): never => {
    throw new LatheError(`${where}: ${what}`);
  };
  if (file.length < 8) fail(`no safetensors file: it has ${file.length} bytes`);
  const length = new DataView(file.buffer, file.byteOffset).getBigUint64(0, true);
  if (length > BigInt(file.length - 8)) {
    fail(`no safetensors file: its header of ${length} bytes is longer than the file`);
  }
  const start = 8 + Number(length);
  let header: unknown;
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    header = JSON.parse(decoder.decode(file.subarray(8, start)));
  } catch (error) {
    fail(`its header is no JSON: ${(error as Error).message}`);
  }
  if (!isObject(header)) return fail('its header must be an object');

  const entries = Object.entries(header).filter(([name]) => name !== metadata);
  const checked = entries.map(([name, entry]) => ({
    name,
    ...checkedEntry(entry, (what) => fail(`the tensor ${name} ${what}`)),
  }));
  let end = 0;
  for (const { name, from, to } of [...checked].sort((a, b) => a.from - b.from || a.to - b.to)) {
    if (from !== end) fail(`the tensor ${name} begins at byte ${from} of the data, not ${end}`);
    if (to > file.length - start) {
      fail(`the tensor ${name} ends at byte ${to}, the data end at ${file.length - start}`);
    }
    end = to;
  }
  if (end !== file.length - start) fail(`${file.length - start - end} bytes belong to no tensor`);
  return checked.map(({ name, dtype, shape, from, to }) => {
    let reason = ` has the type ${JSON.stringify(dtype)}; known: ${Object.keys(readers).join(', ')}`;
    try {
      const bytes = Uint8Array.from(file.subarray(start + from, start + to)).buffer;
      const data = Object.hasOwn(readers, dtype) ? readers[dtype]!.read(bytes) : undefined;
      const kind = dtype === 'BOOL' ? 'bool' : data instanceof Float32Array ? 'float32' : 'int32';
      if (data !== undefined) return { name, shape, dtype: kind, data };
    } catch (error) {
      reason = `: ${(error as Error).message}`;
    }
    return {
      name,
      shape,
      dtype: 'float32',
      // Reported on access only: it may never be read.
      get data() {
        return fail(`the tensor ${name}${reason}`);
      },
    };
  });
}

function checkedEntry(
  entry: unknown,
  fail: (what: string) => never,
): { dtype: string; shape: number[]; from: number; to: number } {
  const { dtype, shape, data_offsets: offsets } = isObject(entry) ? (entry as Partial<Entry>) : {};
  if (typeof dtype !== 'string') {
    const supported = Object.keys(readers).join(', ');
    return fail(`has the type ${JSON.stringify(dtype)}; known: ${supported}`);
  }
  const areSizes = (values: unknown): values is number[] =>
    Array.isArray(values) && values.every((size) => Number.isSafeInteger(size) && size >= 0);
  if (!areSizes(shape)) return fail(`has no shape, but ${JSON.stringify(shape)}`);
  if (!areSizes(offsets) || offsets.length !== 2) {
    return fail(`has no data_offsets, but ${JSON.stringify(offsets)}`);
  }
  const [from, to] = offsets as [number, number];
  const reader = Object.hasOwn(readers, dtype) ? readers[dtype] : undefined;
  const bytes = reader === undefined ? to - from : elementCount(shape) * reader.bytes;
  if (to - from !== bytes || bytes < 0) {
    return fail(`of shape [${shape.join(',')}] requires ${bytes} bytes, but has ${to - from}`);
  }
  return { dtype, shape, from, to };
}
