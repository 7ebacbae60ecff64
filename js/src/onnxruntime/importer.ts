/** The one place that knows the importer: what is fed becomes values of it, what it gives becomes what tensors are made of. */
import { type FileSource } from '../base/source.js';
import { isArrayOf } from '../base/kinds.js';
import { Stop, type StopOptions } from '../base/stop.js';
import { compileCoreWithOnnx } from '../core/core_onnx_module.js';
import type { OnnxDescription, OnnxType } from '../onnx/file.js';
import type { HeldTensor } from '../onnx/kept_rows.js';
import { openSession } from '../onnx/open.js';
import type { ModelSource } from '../onnx/options.js';
import type { OnnxSession } from '../onnx/session.js';
import type { OnnxValue } from '../onnx/values.js';
import { readyWith } from '../model/ready.js';
import type { TensorData } from './tensor_types.js';

/** What the importer is told. */
export interface ImporterOptions {
  /** Default: as many as there are. */
  threads: number | undefined;
  /** Sizes of axes by name. */
  sizes: Readonly<Record<string, number>>;
  /** A file of weights by the path that the model has for it; undefined: the one in the folder of the model. */
  externalData(path: string): Promise<ModelSource | undefined>;
}

/** A tensor that models take and give: the elements in rows. */
export interface Elements {
  type: string;
  data: TensorData;
  dims: readonly number[];
  /** The importer's own, where it holds the elements until somebody reads them. */
  held?: HeldTensor;
}

/** A sequence is an array, a none null. */
export type Value = Elements | null | Value[] | Map<unknown, unknown>;

/** An input or output: no type where it is no tensor, no shape where none is known. */
export interface Port {
  readonly name: string;
  readonly type: string | undefined;
  /** Numbers, and names or null for axes of any size. */
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
    const given = this.#types.map((type) => valueOf(feeds[type.name]!, type));
    const results = await this.#session.call(given, stop);
    return Object.fromEntries(this.outputs.map(({ name }, at) => [name, elementsOf(results[at]!)]));
  }

  dispose(): void {
    this.#session.dispose();
  }
}

/** Loads a model from its bytes, an address or, in Node, a path. */
export async function importModel(
  source: FileSource | Uint8Array,
  { threads, sizes, externalData }: ImporterOptions,
): Promise<ImportedModel> {
  // Imported at once, as every session needs them and service workers have no import().
  await readyWith(compileCoreWithOnnx);
  return new ImportedModel(await openSession(source, { externalData, threads }), sizes);
}

function valueOf(given: Value, type: OnnxType): OnnxValue {
  if (given === null) return null;
  if (Array.isArray(given)) {
    const inner = type.element ?? type;
    const elements = given.map((each) => valueOf(each, inner));
    return { kind: 'sequence', type: inner.type ?? 'float32', elements };
  }
  const elements = given as Elements;
  if (elements.held !== undefined) return elements.held;
  const { type: kind, data, dims } = elements;
  return { kind: 'tensor', type: kind, shape: dims, data: held(kind, data, dims) };
}

/** The importer has the bits of halves, and a byte for each element of four bits. */
function held(type: string, data: TensorData, dims: readonly number[]): any {
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
  if (!('read' in value)) return { type, dims, data: packed(type, value.data as TensorData) };
  const own = value as HeldTensor;
  return {
    type,
    dims,
    held: own,
    get data() {
      return own.read() as TensorData;
    },
  };
}

/** The reverse of `held` for elements of four bits. */
function packed(type: string, data: TensorData): TensorData {
  if (type !== 'int4' && type !== 'uint4') return data;
  const elements = data as Uint8Array;
  const bits = (at: number) => (elements[at] ?? 0) & 15;
  const count = Math.ceil(elements.length / 2);
  return Uint8Array.from({ length: count }, (_, at) => bits(2 * at) | (bits(2 * at + 1) << 4));
}
