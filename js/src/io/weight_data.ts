/** Tensors to bytes and back, also with fewer bits: the weight data of TensorFlow.js. */
import { askFormats, askOfBytes } from '../core/formats.js';
import { elementCount } from '../base/shape.js';
import type { NumberArray, StoredDType } from '../tensor/convert.js';
import { joinBytes, type Quantization, type WeightSpec } from './artifacts.js';

/** A tensor with its name. */
export interface NamedArray {
  name: string;
  shape: number[];
  dtype: StoredDType;
  data: NumberArray;
  group?: string;
}

/** Elements that are widened at once, so that no second copy of a tensor takes memory. */
const mostAtOnce = 2 ** 18;
const arrayTypes = { float32: Float32Array, int32: Int32Array, bool: Uint8Array };
const storedTypes = { float16: 2, uint16: 2, uint8: 1 };

/** Specifications and bytes of tensors; floats of weights with fewer bits if asked for. */
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
    const asked = { name, bits: quantize };
    return askOfBytes('lathe_encode_elements', asked, bytes, 'save', (core, at) => {
      const answer = JSON.parse(core.text(at)) as Encoded;
      spec.quantization = answer.quantization;
      return core.bytes(answer.at, answer.bytes);
    });
  });
  return { weightSpecs, weightData: joinBytes(parts) };
}

interface Encoded {
  quantization: Quantization;
  at: number;
  bytes: number;
}

/**
 * The tensors in weight data; those with all bits may be parts of it, to be read and left alone. Errors: specifications that
 * are none, data of another length.
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

/** The specifications, each with the bytes of its tensor. Errors: they are none; there are more or fewer bytes. */
export function checkWeights(
  specs: unknown,
  bytes: number,
  where: string,
): (readonly [WeightSpec, number])[] {
  const lengths = askFormats<number[]>('lathe_read_specs', { specs, bytes }, where);
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
  const values = new arrayTypes[dtype](elementCount(shape));
  const each = storedTypes[quantization!.dtype];
  for (let at = 0; at < values.length; at += mostAtOnce) {
    const end = Math.min(values.length, at + mostAtOnce);
    const part = bytes.subarray(at * each, end * each);
    askOfBytes('lathe_decode_elements', spec, part, where, (core, place) => {
      values.set(new arrayTypes[dtype](core.exports.memory.buffer, place, end - at), at);
    });
  }
  return values;
}
