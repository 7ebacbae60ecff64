/** The only module that depends on the ONNX importer: converts inputs to its values and its results to elements of tensors. */
import { type FileSource } from '../base/source.js';
import { isArrayOf } from '../base/kinds.js';
import { Stop, type StopOptions } from '../base/stop.js';
import { compileCoreWithOnnx } from '../core/core_onnx_module.js';
import type { OnnxDescription, OnnxType } from '../onnx/file.js';
import { DeviceTensor } from '../decode/device_tensor.js';
import type { LazyTensorValue } from '../decode/lazy_value.js';
import { type OpenOptions, openSession } from '../onnx/open.js';
import type { LoadModelOptions, ModelSource } from '../onnx/options.js';
import type { OnnxSession } from '../onnx/session.js';
import { readyWith } from '../model/ready.js';
import type { OnnxValue } from '../onnx/values.js';
import type { TensorData } from './tensor_types.js';

/** Options of the importer. */
export interface ImporterOptions extends Pick<OpenOptions, 'makeSession'> {
  /** Default: the maximum. */
  threads: number | undefined;
  /** Sizes of named dimensions. */
  sizes: Readonly<Record<string, number>>;
  /** External data by its path in the model; undefined: the file in the folder of the model. */
  externalData(path: string): Promise<ModelSource | undefined>;
  onProgress: LoadModelOptions['onProgress'];
}

/** An input or output tensor: its elements in row-major order. */
export interface Elements {
  type: string;
  data: TensorData;
  dims: readonly number[];
  /** The importer's lazy value, if the elements have not been read. */
  lazy?: LazyTensorValue;
  /** Called once its tensor needs it no more. */
  release?(): void;
  /** Where the elements are if that is a device: `data` has to be read there first. */
  remote?: DeviceTensor;
}

/** A sequence is an array, an empty optional null. */
export type Value = Elements | null | Value[] | Map<unknown, unknown>;

/** An input or output: `type` is undefined unless it is a tensor, `shape` if the model does not specify it. */
export interface Port {
  readonly name: string;
  readonly type: string | undefined;
  /** Numbers; names or null for dynamic axes. */
  readonly shape: readonly (number | string | null)[] | undefined;
}

/** A model that was loaded. */
export class ImportedModel {
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  readonly #session: OnnxSession;
  readonly #types: OnnxDescription['inputs'];

  constructor(session: OnnxSession, sizes: Readonly<Record<string, number>>) {
    const { inputs, outputs } = session.description;
    const port = (each: OnnxType & { name: string }): Port => ({
      name: each.name,
      type: each.kind === 'tensor' ? each.type : undefined,
      shape: each.shape?.map((size) => (typeof size === 'string' ? (sizes[size] ?? size) : size)),
    });
    this.inputs = inputs.map(port);
    this.outputs = outputs.map(port);
    this.#session = session;
    this.#types = inputs;
  }

  /** All outputs by name. */
  async run(
    feeds: Readonly<Record<string, Value>>,
    options?: StopOptions,
  ): Promise<Record<string, Value>> {
    const stop = new Stop('run', options);
    const inputs = this.#types.map((type) => valueOf(feeds[type.name]!, type));
    const results = await this.#session.call(inputs, stop);
    return Object.fromEntries(this.outputs.map(({ name }, at) => [name, elementsOf(results[at]!)]));
  }

  dispose(): void {
    this.#session.dispose();
  }
}

/** Loads a model from its bytes, a URL or, in Node, a path. */
export async function importModel(
  source: FileSource | Uint8Array,
  { sizes, ...options }: ImporterOptions,
): Promise<ImportedModel> {
  // Imported statically, as every session needs it and service workers have no import().
  await readyWith(compileCoreWithOnnx);
  return new ImportedModel(await openSession(source, options), sizes);
}

function valueOf(input: Value, type: OnnxType): OnnxValue {
  if (input === null) return null;
  if (Array.isArray(input)) {
    const inner = type.element ?? type;
    const elements = input.map((each) => valueOf(each, inner));
    return { kind: 'sequence', type: inner.type ?? 'float32', elements };
  }
  const elements = input as Elements;
  const computed = elements.lazy ?? elements.remote;
  if (computed !== undefined) return computed;
  const { type: kind, data, dims } = elements;
  return { kind: 'tensor', type: kind, shape: dims, data: unpacked(kind, data, dims) };
}

/** Converts to the importer's storage: float16 as bits, a byte per 4-bit element. */
function unpacked(type: string, data: TensorData, dims: readonly number[]): any {
  if (type === 'float16' && !isArrayOf(data, Uint16Array)) {
    const { buffer, byteOffset, length } = data as Uint8Array;
    return new Uint16Array(buffer, byteOffset, length);
  }
  if (type !== 'int4' && type !== 'uint4') return data;
  const size = dims.reduce((product, each) => product * each, 1);
  const bits = (at: number) => ((data as Uint8Array)[at >> 1]! >> (at % 2 === 0 ? 0 : 4)) & 15;
  const sign = type === 'int4' ? 8 : 0;
  const elements = Array.from({ length: size }, (_, at) => (bits(at) ^ sign) - sign);
  return type === 'int4' ? Int8Array.from(elements) : Uint8Array.from(elements);
}

function elementsOf(value: OnnxValue): Value {
  if (value === null) return null;
  if (value.kind === 'map') {
    const [keys, values] = value.elements.map((each) => (elementsOf(each) as Elements).data);
    return new Map(Array.from(keys as string[], (key, at) => [key, values![at]]));
  }
  if (value.kind !== 'tensor') return value.elements.map(elementsOf);
  const { type, shape } = value;
  const dims = [...shape];
  if (value instanceof DeviceTensor) {
    const data = () => packed(type, value.data as TensorData);
    return {
      type,
      dims,
      remote: value,
      get data() {
        return data();
      },
    };
  }
  if (!('read' in value)) return { type, dims, data: packed(type, value.data as TensorData) };
  const lazy = value as LazyTensorValue;
  return {
    type,
    dims,
    lazy,
    get data() {
      return lazy.read() as TensorData;
    },
    release: () => lazy.release(),
  };
}

/** Packs 4-bit elements; inverse of `unpacked`. */
function packed(type: string, data: TensorData): TensorData {
  if (type !== 'int4' && type !== 'uint4') return data;
  const elements = data as Uint8Array;
  const bits = (at: number) => (elements[at] ?? 0) & 15;
  const count = Math.ceil(elements.length / 2);
  return Uint8Array.from({ length: count }, (_, at) => bits(2 * at) | (bits(2 * at + 1) << 4));
}
