/** Encodes and decodes tensors, optionally quantized: the weight data of TensorFlow.js. */
import { queryFormats, queryFormatsWithBytes } from '../core/formats.js';
import { elementCount } from '../base/shape.js';
import type { NumberArray, StoredDType } from '../tensor/convert.js';
import { joinBytes, type Quantization, type WeightSpec } from './artifacts.js';

/** A tensor with its name. */
export interface NamedArray {
  name: string;
  shape: number[];
  dtype: StoredDType;
  data: NumberArray;
  group?: WeightSpec['group'];
}

/** Elements per conversion call, so that no second copy of a tensor is allocated. */
const chunkSize = 2 ** 18;
const arrayTypes = { float32: Float32Array, int32: Int32Array, bool: Uint8Array };
const storedTypes = { float16: 2, uint16: 2, uint8: 1 };

/** Specifications and bytes of tensors; float weights optionally quantized. */
export function encodeWeights(
  tensors: readonly NamedArray[],
  quantize?: Quantization['dtype'],
): { weightSpecs: WeightSpec[]; weightData: ArrayBuffer } {
  const weightSpecs: WeightSpec[] = [];
  const parts = tensors.map(({ name, shape, dtype, data, group }) => {
    const spec: WeightSpec = { name, shape: [...shape], dtype };
    if (group !== undefined) spec.group = group;
    weightSpecs.push(spec);
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    if (quantize === undefined || dtype !== 'float32' || group !== undefined) return bytes;
    const { bytes: stored, quantization } = narrowed(bytes, name, quantize);
    spec.quantization = quantization;
    return stored;
  });
  return { weightSpecs, weightData: joinBytes(parts) };
}

interface Encoded {
  quantization: Quantization;
  at: number;
  bytes: number;
}

/** Quantizes floats in two passes: the first finds their range. */
function narrowed(
  floats: Uint8Array,
  name: string,
  bits: Quantization['dtype'],
): { bytes: Uint8Array; quantization: Quantization } {
  const size = Float32Array.BYTES_PER_ELEMENT;
  const bytes = new Uint8Array((floats.length / size) * storedTypes[bits]);
  const query = <Answer>(
    at: number,
    question: object,
    read: (text: string, core: View) => Answer,
  ) =>
    queryFormatsWithBytes(
      'lathe_encode_elements',
      { name, bits, ...question },
      floats.subarray(at, at + size * chunkSize),
      'save',
      (core, address) => read(core.readString(address), core),
    );
  let range = [Infinity, -Infinity] as [number, number];
  // One pass even for an empty tensor, for its quantization parameters.
  for (let at = 0; at === 0 || at < floats.length; at += size * chunkSize) {
    const [least, largest] = query(at, {}, (text) => JSON.parse(text) as [number, number]);
    range = [Math.min(range[0], least), Math.max(range[1], largest)];
  }
  let quantization: Quantization;
  let end = 0;
  for (let at = 0; at === 0 || at < floats.length; at += size * chunkSize) {
    quantization = query(at, { range }, (text, core) => {
      const stored = JSON.parse(text) as Encoded;
      bytes.set(core.view(stored.at, stored.bytes), end);
      end += stored.bytes;
      return stored.quantization;
    });
  }
  return { bytes, quantization: quantization! };
}

/** Views of the module's memory. */
interface View {
  view(at: number, length: number): Uint8Array;
}

/**
 * The tensors in weight data; unquantized ones may be views of it, which must not be modified. Errors: invalid
 * specifications, data of another length.
 */
export function decodeWeights(specs: unknown, data: ArrayBuffer, where: string): NamedArray[] {
  let at = 0;
  return checkWeights(specs, data.byteLength, where).map(([spec, length]) => {
    const bytes = new Uint8Array(data, at, length);
    at += length;
    const { name, shape, dtype, group } = spec;
    const values = spec.quantization == null ? plain(bytes, dtype) : widened(bytes, spec, where);
    return { name, shape, dtype, data: values, ...(group === undefined ? {} : { group }) };
  });
}

/** The specifications, each with the bytes of its tensor. Errors: invalid specifications; another byte length. */
export function checkWeights(
  specs: unknown,
  bytes: number,
  where: string,
): (readonly [WeightSpec, number])[] {
  const lengths = queryFormats<number[]>('lathe_read_specs', { specs, bytes }, where);
  return lengths.map((length, at) => [(specs as WeightSpec[])[at]!, length] as const);
}

function plain(bytes: Uint8Array, dtype: WeightSpec['dtype']): NumberArray {
  const Type = arrayTypes[dtype];
  const size = Type.BYTES_PER_ELEMENT;
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % size === 0 ? bytes : bytes.slice();
  return new Type(buffer as ArrayBuffer, byteOffset, byteLength / size);
}

function widened(bytes: Uint8Array, spec: WeightSpec, where: string): NumberArray {
  const { shape, dtype, quantization } = spec;
  const Type = dtype === 'int32' ? Int32Array : Float32Array;
  const values = new Type(elementCount(shape));
  const each = storedTypes[quantization!.dtype];
  for (let at = 0; at < values.length; at += chunkSize) {
    const end = Math.min(values.length, at + chunkSize);
    const part = bytes.subarray(at * each, end * each);
    queryFormatsWithBytes('lathe_decode_elements', spec, part, where, (core, address) => {
      values.set(new Type(core.exports.memory.buffer, address, end - at), at);
    });
  }
  return values;
}
