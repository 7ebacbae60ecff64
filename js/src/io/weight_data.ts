/** Tensors to bytes and back, also with fewer bits: the weight data of TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import type { NumberArray, StoredDType } from '../tensor/convert.js';
import { fromHalf, toHalf } from '../tensor/half.js';
import {
  checkLength,
  checkSpecs,
  joinBytes,
  type Quantization,
  storedBytes,
  type WeightSpec,
} from './artifacts.js';

/** A tensor with its name. */
export interface NamedArray {
  name: string;
  shape: number[];
  dtype: StoredDType;
  data: NumberArray;
  group?: string;
}

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
    const isPlain = quantize === undefined || dtype !== 'float32' || group !== undefined;
    if (isPlain) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const { quantization, bytes } = quantized(data as Float32Array, quantize, name);
    spec.quantization = quantization;
    return bytes;
  });
  return { weightSpecs, weightData: joinBytes(parts) };
}

function quantized(
  data: Float32Array,
  dtype: Quantization['dtype'],
  name: string,
): { quantization: Quantization; bytes: Uint8Array } {
  if (!data.every(Number.isFinite)) {
    throw new LatheError(`save: ${name} holds NaN or infinities, which ${dtype} cannot`);
  }
  if (dtype === 'float16') {
    const halves = Uint16Array.from(data, toHalf);
    const large = data.find((value) => Math.abs(value) >= 65520);
    if (large !== undefined) throw new LatheError(`save: ${name} holds ${large}: no float16 does`);
    const bytes = new Uint8Array(halves.buffer);
    return { quantization: { dtype, original_dtype: 'float32' }, bytes };
  }
  const [Type, most] = { uint8: [Uint8Array, 255], uint16: [Uint16Array, 65535] }[dtype] as [
    typeof Uint8Array | typeof Uint16Array,
    number,
  ];
  const least = data.reduce((a, b) => Math.min(a, b), data[0] ?? 0);
  const range = data.reduce((a, b) => Math.max(a, b), least) - least;
  const scale = range > 0 ? range / most : 1;
  // Zero stays zero where it lies within the range.
  const min = least <= 0 && range + least >= 0 ? -Math.round(-least / scale) * scale : least;
  const steps = new Type(data.length);
  data.forEach((value, at) => {
    steps[at] = Math.min(most, Math.max(0, Math.round((value - min) / scale)));
  });
  const bytes = new Uint8Array(steps.buffer);
  return { quantization: { dtype, scale, min, original_dtype: 'float32' }, bytes };
}

/** The tensors in weight data. Errors: specifications that are none, data of another length. */
export function decodeWeights(specs: unknown, data: ArrayBuffer, where: string): NamedArray[] {
  checkSpecs(specs, where);
  checkLength(specs, data.byteLength, where);
  let at = 0;
  return specs.map((spec) => {
    const bytes = data.slice(at, at + storedBytes(spec));
    at += bytes.byteLength;
    const { name, shape, dtype, group } = spec;
    const values = decoded(bytes, spec);
    return { name, shape, dtype, data: values, ...(group === undefined ? {} : { group }) };
  });
}

function decoded(bytes: ArrayBuffer, { shape, dtype, quantization }: WeightSpec): NumberArray {
  if (quantization === undefined) {
    return new { float32: Float32Array, int32: Int32Array, bool: Uint8Array }[dtype](bytes);
  }
  const { scale = 1, min = 0 } = quantization;
  const steps = quantization.dtype === 'uint8' ? new Uint8Array(bytes) : new Uint16Array(bytes);
  const valueOf =
    quantization.dtype === 'float16' ? fromHalf : (step: number) => step * scale + min;
  const result = dtype === 'int32' ? Int32Array : Float32Array;
  const values = new result(elementCount(shape));
  const round = dtype === 'int32' ? Math.round : (value: number) => value;
  for (let i = 0; i < values.length; ++i) values[i] = round(valueOf(steps[i]!));
  return values;
}
