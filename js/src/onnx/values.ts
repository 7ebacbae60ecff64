/** Inputs and outputs of ONNX models: tensors of any type, sequences, maps, none. */
import { LatheError } from '../base/errors.js';
import { entryOf } from '../base/records.js';
import { elementCount } from '../base/shape.js';
import { DeviceValue } from '../runtime/device_value.js';
import type { DataArray } from '../tensor/convert.js';
import { arrayTypes, type DType } from '../tensor/dtypes.js';
import { cropOrPad } from '../tensor/parts.js';
import { DeviceTensor, shareOf } from '../decode/device_tensor.js';
import { elements, Tensor } from '../tensor/tensor.js';
import type { Port } from './file.js';

export interface TensorValue {
  readonly kind: 'tensor';
  readonly type: string;
  readonly shape: readonly number[];
  readonly data: DataArray | readonly string[];
  /** The elements, if they are on a device whose memory the host does not address: `DeviceTensor`, `LazyTensorValue`. */
  readonly tensor?: Tensor | undefined;
}

/** An ONNX value: a tensor of numbers (as bits if JavaScript has no such array) or strings, a sequence or map, or none. */
export type OnnxValue =
  TensorValue | { kind: 'sequence' | 'map'; type: string; elements: OnnxValue[] } | null;

/** The value of a tensor on a device whose memory the host does not address. */
export function remoteValue(tensor: Tensor): DeviceValue | undefined {
  const data = tensor[elements];
  return data instanceof DeviceValue && data.device.view === undefined ? data : undefined;
}

/** Replaces elements on the host by a copy, as the caller may change its arrays. */
export function copyElements(tensor: Tensor): void {
  const data = tensor[elements];
  if (ArrayBuffer.isView(data)) tensor[elements] = data.slice();
}

/** Types that are stored as another: one element per byte. */
const storageTypes: Record<string, DType> = {
  float8e4m3fn: 'uint8',
  float8e4m3fnuz: 'uint8',
  float8e5m2: 'uint8',
  float8e5m2fnuz: 'uint8',
  float8e8m0: 'uint8',
  float4e2m1: 'uint8',
  uint4: 'uint8',
  int4: 'int8',
  uint2: 'uint8',
  int2: 'int8',
};

/** The dtype of tensors that store an ONNX element type. */
export function dtypeOf(type: string): DType {
  const dtype = entryOf(storageTypes, type) ?? type;
  if (Object.hasOwn(arrayTypes, dtype)) return dtype as DType;
  throw new LatheError(`there is no element type '${type}'`);
}

/** The type of a value for tracing; with the content of strings only. */
export function portOf(value: OnnxValue): Port {
  if (value === null) return null;
  if (value.kind !== 'tensor') {
    return { kind: value.kind, type: value.type, elements: value.elements.map(portOf) };
  }
  const { type, shape } = value;
  const port = { kind: value.kind, type, shape: [...shape] };
  return type === 'string' ? { ...port, strings: value.data as readonly string[] } : port;
}

/** The numeric tensors in a value, in order. */
export function* tensorsOf(value: OnnxValue): Generator<Tensor> {
  if (value === null) return;
  if (value.kind !== 'tensor') {
    for (const each of value.elements) yield* tensorsOf(each);
  } else if (value.type !== 'string') {
    const { tensor } = value;
    yield tensor === undefined
      ? new Tensor(value.data as DataArray, value.shape, dtypeOf(value.type))
      : shareOf(tensor);
  }
}

/** The value of a result port from the graph's outputs; `count`: valid length of padded axes. */
export function valueOf(
  port: Port,
  outputs: Readonly<Record<string, Tensor>>,
  count?: number,
): OnnxValue {
  if (port === null) return null;
  if (port.kind !== 'tensor') {
    const { kind, type, elements } = port;
    return { kind, type, elements: elements.map((each) => valueOf(each, outputs, count)) };
  }
  const { type, paddedAxes } = port;
  if (port.strings !== undefined)
    return { kind: 'tensor', type, shape: port.shape, data: port.strings };
  const shape = port.shape.map((size, axis) => (paddedAxes?.includes(axis) ? count! : size));
  const output = outputs[port.name!]!;
  if (paddedAxes === undefined && remoteValue(output) !== undefined)
    return new DeviceTensor(type, shareOf(output));
  const data = cropOrPad(output.dataSync<DType>(), port.shape, shape);
  return { kind: 'tensor', type, shape, data };
}

/** The results of a run, which own the outputs that they have. Those that the host makes of elements wait for these. */
export async function valuesOf(
  results: readonly Port[],
  outputs: Readonly<Record<string, Tensor>>,
  count?: number,
): Promise<OnnxValue[]> {
  try {
    const read = results.flatMap((each) => namesRead(each)).map((name) => outputs[name]!.data());
    await Promise.all(read);
    return results.map((each) => valueOf(each, outputs, count));
  } finally {
    for (const each of Object.values(outputs)) each.dispose();
  }
}

/** The outputs whose elements the host needs: padded ones, which it crops, and keys and values of maps. */
function namesRead(port: Port, isInMap = false): string[] {
  if (port === null) return [];
  if (port.kind !== 'tensor') {
    return port.elements.flatMap((each) => namesRead(each, port.kind === 'map'));
  }
  return port.name !== undefined && (isInMap || port.paddedAxes !== undefined) ? [port.name] : [];
}

/** Error: the number of elements does not match the shape. */
export function checkElementCount(what: string, shape: readonly number[], count: number): void {
  if (elementCount(shape) === count) return;
  throw new LatheError(`${what}: ${count} values do not fill the shape [${shape.join(',')}]`);
}
