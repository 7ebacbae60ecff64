/** Encodes and decodes weight data: little-endian, strings with length prefixes. */
import { LatheError } from '../../base/errors.js';
import { setEntry } from '../../base/records.js';
import { elementCount } from '../../base/shape.js';
import { tracked } from '../../tensor/live_tensors.js';
import { Tensor } from '../../tensor/tensor.js';
import { tensor } from '../engine/tensors.js';
import { complex } from '../../ops/common/complex.js';
import { splitRealAndImagArrays } from '../backend/complex.js';
import type { WeightData, WeightsManifestEntry } from './artifacts.js';
import { CompositeArrayBuffer, getFloat16Decoder } from './bytes.js';
import { decodeString, encodeString } from '../util.js';

export type NamedTensorMap = Record<string, Tensor>;
export interface NamedTensor {
  name: string;
  tensor: Tensor;
}

const sizes: Record<string, number> = {
  float32: 4,
  int32: 4,
  bool: 1,
  complex64: 8,
  uint8: 1,
  uint16: 2,
  float16: 2,
};

/** Encodes strings as UTF-8 with 32-bit length prefixes. */
function encodeStrings(values: readonly string[]): Uint8Array {
  const parts = values.flatMap((value) => {
    const bytes = encodeString(value);
    return [new Uint8Array(new Uint32Array([bytes.length]).buffer), bytes];
  });
  return new Uint8Array(CompositeArrayBuffer.join(parts));
}

/** Data and specifications of tensors. Error: a type that weight data cannot represent. */
export async function encodeWeights(
  tensors: NamedTensorMap | readonly NamedTensor[],
  group?: 'model' | 'optimizer',
): Promise<{ data: ArrayBuffer; specs: WeightsManifestEntry[] }> {
  const list: readonly NamedTensor[] = Array.isArray(tensors)
    ? (tensors as NamedTensor[])
    : Object.entries(tensors as NamedTensorMap).map(([name, each]) => ({ name, tensor: each }));
  const specs: WeightsManifestEntry[] = [];
  const parts = list.map(async ({ name, tensor: each }) => {
    const dtype = each.dtype as WeightsManifestEntry['dtype'];
    if (dtype !== 'string' && !['float32', 'int32', 'bool', 'complex64'].includes(dtype)) {
      throw new LatheError(`Unsupported dtype in weight '${name}': ${dtype}`);
    }
    specs.push({ name, shape: [...each.shape], dtype, ...(group == null ? {} : { group }) });
    const data: unknown = await each.data();
    return dtype === 'string' ? encodeStrings(data as string[]) : (data as Uint8Array);
  });
  return { data: CompositeArrayBuffer.join(await Promise.all(parts)), specs };
}

/** Dequantizes numbers. Errors: a type that cannot be quantized; scale or min is missing. */
function widened(
  bytes: ArrayBuffer,
  { name, dtype, quantization }: WeightsManifestEntry,
): Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer> {
  const { dtype: stored, scale, min } = quantization!;
  if (stored === 'float16') {
    if (dtype === 'float32') return getFloat16Decoder()(new Uint16Array(bytes));
    throw new LatheError(
      `Weight ${name} is quantized with ${stored} which only supports weights of type float32 not ${dtype}.`,
    );
  }
  if (scale == null || min == null) {
    throw new LatheError(
      `Weight ${name} with quantization ${stored} doesn't have corresponding metadata min and scale.`,
    );
  }
  const numbers = stored === 'uint8' ? new Uint8Array(bytes) : new Uint16Array(bytes);
  if (dtype === 'float32') {
    const floats = new Float32Array(numbers);
    for (let at = 0; at < floats.length; at += 1) floats[at] = floats[at]! * scale + min;
    return floats;
  }
  if (dtype === 'int32') {
    const integers = new Int32Array(numbers);
    for (let at = 0; at < integers.length; at += 1) {
      integers[at] = Math.round(integers[at]! * scale + min);
    }
    return integers;
  }
  throw new LatheError(`Unsupported dtype in weight '${name}': ${dtype}`);
}

function bytesOf(spec: WeightsManifestEntry): number {
  const { name, dtype, shape, quantization } = spec;
  const stored = quantization?.dtype ?? dtype;
  if (!Object.hasOwn(sizes, stored)) {
    if (!quantization) throw new LatheError(`Unsupported dtype in weight '${name}': ${dtype}`);
    throw new LatheError(
      `Weight ${name} has unknown quantization dtype ${stored}. Supported quantization dtypes are: ` +
        `'uint8', 'uint16', 'float16'.`,
    );
  }
  return sizes[stored]! * elementCount(shape);
}

/** Yields the number of bytes it needs next; returns the tensors. */
type Decoder<Result> = Generator<number, Result, ArrayBuffer>;

function* decodeStrings(count: number): Decoder<string[]> {
  const texts: string[] = [];
  while (texts.length < count) {
    const [length] = new Uint32Array(yield 4);
    texts.push(decodeString(new Uint8Array(yield length!)));
  }
  return texts;
}

function* decodeOne(spec: WeightsManifestEntry): Decoder<Tensor> {
  const { name, dtype, shape } = spec;
  const make = (values: unknown): Tensor =>
    tensor(values as Float32Array, shape, dtype as 'float32');
  if (dtype === 'string') return make(yield* decodeStrings(elementCount(shape)));
  const bytes = yield bytesOf(spec);
  /** A tensor over this array, which must not be shared: copying it would dominate the decoding time. */
  const on = (values: Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer>) =>
    new Tensor(values, [...shape], dtype as 'float32')[tracked]();
  if (spec.quantization) return on(widened(bytes, spec));
  if (dtype === 'complex64') {
    const { real, imag } = splitRealAndImagArrays(new Float32Array(bytes));
    return complex(tensor(real, shape), tensor(imag, shape));
  }
  if (dtype === 'float32') return on(new Float32Array(bytes));
  if (dtype === 'int32') return on(new Int32Array(bytes));
  if (dtype === 'bool') return make(new Uint8Array(bytes));
  throw new LatheError(`Unsupported dtype in weight '${name}': ${String(dtype)}`);
}

function* decodeAll(specs: readonly WeightsManifestEntry[]): Decoder<NamedTensorMap> {
  const tensors: NamedTensorMap = {};
  for (const spec of specs) setEntry(tensors, spec.name, yield* decodeOne(spec));
  return tensors;
}

/** The tensors in weight data by their names. Errors: an unknown type; too few bytes. */
export function decodeWeights(
  data: WeightData,
  specs: readonly WeightsManifestEntry[],
): NamedTensorMap {
  const all = new CompositeArrayBuffer(data);
  const decoder = decodeAll(specs);
  let at = 0;
  let step = decoder.next();
  while (!step.done) {
    const end = at + step.value;
    if (end > all.byteLength) throw tooShort(all.byteLength, end);
    step = decoder.next(all.slice(at, end));
    at = end;
  }
  return step.value;
}

const tooShort = (bytes: number, needed: number) =>
  new LatheError(`the weight data end after ${bytes} bytes; at least ${needed} are due`);

/** As `decodeWeights`, from a stream. */
export async function decodeWeightsStream(
  stream: ReadableStream<ArrayBuffer>,
  specs: readonly WeightsManifestEntry[],
): Promise<NamedTensorMap> {
  const reader = stream.getReader();
  const decoder = decodeAll(specs);
  let waiting: ArrayBuffer[] = [];
  let bytes = 0;
  let consumed = 0;
  let step = decoder.next();
  while (!step.done) {
    while (bytes < step.value) {
      const { done, value } = await reader.read();
      if (done) throw tooShort(consumed + bytes, consumed + step.value);
      waiting.push(value);
      bytes += value.byteLength;
    }
    const all = new CompositeArrayBuffer(waiting);
    const { value: needed } = step;
    step = decoder.next(all.slice(0, needed));
    waiting = [all.slice(needed)];
    bytes -= needed;
    consumed += needed;
  }
  return step.value;
}
