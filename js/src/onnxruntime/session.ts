/** `InferenceSession` of onnxruntime-web 1.30: a model behind names of inputs and outputs. Knows the importer by its interface. */
import { reasonOf } from '../base/errors.js';
import { own } from '../base/own.js';
import { addressOf, isSource, type FileSource } from '../base/source.js';
import { isArrayOf, isBuffer } from '../base/kinds.js';
import { env } from './env.js';
import { externalFiles } from './files.js';
import {
  type Elements,
  type ImportedModel,
  type ImporterOptions,
  importModel,
  type Port,
  type Value,
} from './importer.js';
import type { Provider } from './names.js';
import {
  checkRunOptions,
  checkSessionOptions,
  type ExecutionProviderConfig as ConfigOfProvider,
  type RunOptions as OptionsOfRun,
  type SessionOptions as OptionsOfSession,
} from './options.js';
import { arrayTypeOf, Tensor, tensorOf, untouchedElements } from './tensor.js';
import type { TensorData, TensorType } from './tensor_types.js';

/** A tensor; where ONNX Runtime Web gives nothing, also an array for a sequence, a Map, and null for a none. */
export type OnnxValue = Tensor;

type Feeds = { readonly [name: string]: OnnxValue };
type Fetches = readonly string[] | { readonly [name: string]: OnnxValue | null };

/** Refuses arguments that are no options. */
function optionsOf<Options extends object>(given: unknown): Options {
  if (given === undefined) return {} as Options;
  if (typeof given === 'object' && given !== null) return given as Options;
  throw new TypeError("'options' must be an object.");
}

/** The model that the arguments of `create` name, and the options behind it. */
function argumentsOf(given: readonly unknown[]): [FileSource | Uint8Array, OptionsOfSession] {
  const [model, second, third, fourth] = given;
  if (isSource(model) || isArrayOf(model, Uint8Array)) return [model, optionsOf(second)];
  if (!isBuffer(model)) {
    throw new TypeError("Unexpected argument[0]: must be 'path' or 'buffer'.");
  }
  if (typeof second !== 'number') return [new Uint8Array(model), optionsOf(second)];
  const whole = model.byteLength;
  if (!Number.isSafeInteger(second)) throw new RangeError("'byteOffset' must be an integer.");
  if (second < 0 || second >= whole) {
    throw new RangeError(`'byteOffset' is out of range [0, ${whole}).`);
  }
  if (third === undefined) return [new Uint8Array(model, second), {}];
  if (typeof third !== 'number') throw new TypeError("'byteLength' must be a number.");
  if (!Number.isSafeInteger(third)) throw new RangeError("'byteLength' must be an integer.");
  if (third <= 0 || second + third > whole) {
    throw new RangeError(`'byteLength' is out of range (0, ${whole - second}].`);
  }
  return [new Uint8Array(model, second, third), optionsOf(fourth)];
}

function importerOptions(source: unknown, options: OptionsOfSession): ImporterOptions {
  return {
    threads: options.intraOpNumThreads || env.wasm.numThreads || undefined,
    sizes: options.freeDimensionOverrides ?? {},
    externalData: externalFiles(options.externalData ?? [], addressOf(source) !== ''),
  };
}

type Size = number | string | null;

/** The outputs that a call asks for, and tensors to write them to. */
type Wanted = Map<string, OnnxValue | null>;

function metadata({ name, type, shape }: Port): InferenceSession.ValueMetadata {
  if (type === undefined) return { name, isTensor: false };
  return {
    name,
    isTensor: true,
    type: type as TensorType,
    shape: (shape ?? []).map((size) => size ?? ''),
  };
}

class Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly inputMetadata: readonly InferenceSession.ValueMetadata[];
  readonly outputMetadata: readonly InferenceSession.ValueMetadata[];
  #model: ImportedModel | undefined;

  constructor(model: ImportedModel) {
    this.#model = model;
    this.inputMetadata = model.inputs.map(metadata);
    this.outputMetadata = model.outputs.map(metadata);
    this.inputNames = model.inputs.map(({ name }) => name);
    this.outputNames = model.outputs.map(({ name }) => name);
  }

  static async create(...given: unknown[]): Promise<Session> {
    const [source, options] = argumentsOf(given);
    checkSessionOptions(options);
    try {
      if (isArrayOf(source, Uint8Array) && source.length === 0)
        throw new Error('No graph was found in the protobuf.');
      return new Session(await importModel(source, importerOptions(source, options)));
    } catch (error) {
      throw new Error(`failed to load the model: ${reasonOf(error)}`, { cause: error });
    }
  }

  async run(feeds: Feeds, second?: unknown, third?: unknown): Promise<Feeds> {
    const isObject = typeof feeds === 'object' && feeds !== null;
    if (!isObject || feeds instanceof Tensor || Array.isArray(feeds)) {
      throw new TypeError("'feeds' must be an object of values by the names of inputs.");
    }
    const [wanted, options] = this.#wanted(second, third);
    for (const name of this.inputNames) {
      if (own(feeds, name) === undefined) throw new Error(`input '${name}' is missing in 'feeds'.`);
    }
    checkRunOptions(options);
    if (this.#model === undefined) throw new Error('failed to run: the session was released');
    let given;
    try {
      const values = Object.entries(feeds).map(([name, value]) => [name, this.#fed(name, value)]);
      given = await this.#model.run(Object.fromEntries(values), options);
    } catch (error) {
      options.signal?.throwIfAborted();
      const Kind = error instanceof TypeError ? TypeError : Error;
      throw new Kind(`failed to run: ${reasonOf(error)}`, { cause: error });
    }
    return Object.fromEntries(
      Array.from(wanted, ([name, place]) => [name, written(name, given[name]!, place)]),
    );
  }

  async release(): Promise<void> {
    const model = this.#model;
    this.#model = undefined;
    await model?.dispose();
  }

  startProfiling(): void {}

  endProfiling(): void {}

  /** What the arguments behind `feeds` ask for. An object with the name of an output that is a tensor or null asks for outputs. */
  #wanted(second: unknown, third: unknown): [Wanted, OptionsOfRun] {
    const all: Wanted = new Map(this.outputNames.map((name) => [name, null]));
    if (second === undefined) return [all, {}];
    if (second === null) throw new TypeError('Unexpected argument[1]: cannot be null.');
    if (typeof second !== 'object') {
      throw new TypeError("Unexpected argument[1]: must be 'fetches' or 'options'.");
    }
    if (second instanceof Tensor) throw new TypeError("'fetches' cannot be a Tensor");
    if (Array.isArray(second)) return [this.#named(second), optionsOf(third)];
    const given = second as Record<string, OnnxValue | null>;
    const isAsked = (name: string) =>
      Object.hasOwn(given, name) && (given[name] === null || given[name] instanceof Tensor);
    const asked = this.outputNames.filter(isAsked);
    if (asked.length === 0) return [all, given as OptionsOfRun];
    return [new Map(asked.map((name) => [name, given[name]!])), optionsOf(third)];
  }

  #named(names: readonly unknown[]): Wanted {
    if (names.length === 0) throw new TypeError("'fetches' cannot be an empty array.");
    for (const name of names) {
      if (typeof name !== 'string') {
        throw new TypeError("'fetches' must be a string array or an object.");
      }
      if (!this.outputNames.includes(name)) {
        throw new RangeError(`'fetches' contains invalid output name: ${name}.`);
      }
    }
    return new Map(names.map((name) => [name as string, null]));
  }

  /** A value as the importer takes it. Errors: an input that the model does not have, another type. */
  #fed(name: string, value: unknown): Value {
    const port = this.#model!.inputs.find((each) => each.name === name);
    if (port === undefined) {
      const names = this.inputNames.join(', ');
      throw new Error(`'feeds' contains invalid input name: ${name}; the inputs are ${names}.`);
    }
    const fed = elementsOf(name, value);
    if (port.type === undefined || fed === null || Array.isArray(fed)) return fed;
    const { type, dims } = fed as Elements;
    if (type !== port.type) {
      throw new Error(
        `Unexpected input data type for '${name}': it is tensor(${type}), the model wants tensor(${port.type}).`,
      );
    }
    const { shape } = port;
    // As in ONNX Runtime, what the model calls a scalar is not checked: programs give arrays of one.
    if (shape === undefined || shape.length === 0) return fed;
    const isFit = (size: Size, axis: number) => typeof size !== 'number' || size === dims[axis];
    if (shape.length === dims.length && shape.every(isFit)) return fed;
    const wanted = shape.map((size) => size ?? '?').join(', ');
    throw new Error(
      `Got invalid dimensions for input: ${name}. Got: [${dims.join(', ')}] Expected: [${wanted}]`,
    );
  }
}

/** Sequences within sequences: far more than types of ONNX have. */
const mostNested = 32;

/** Tensors may be of another copy of onnxruntime-common. */
function elementsOf(name: string, value: any, depth = 0): Value {
  if (depth > mostNested) throw new TypeError(`'feeds': ${name} is nested too deeply`);
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((each) => elementsOf(name, each, depth + 1));
  const untouched = untouchedElements(value ?? {});
  if (untouched !== undefined) return untouched;
  const { type, dims, data } = value ?? {};
  if (typeof type === 'string' && Array.isArray(dims) && data?.length !== undefined) {
    const odd =
      type === 'string' ? data.findIndex((each: unknown) => typeof each !== 'string') : -1;
    if (odd >= 0) throw new TypeError(`'feeds': ${name} at index ${odd} is not a string`);
    return { type, dims, data };
  }
  throw new TypeError(`'feeds': ${name} is no tensor`);
}

/** A result as a tensor: a new one, or the one that the caller gave for it. Error: that is of another type or of other sizes. */
function written(name: string, value: Value, place: OnnxValue | null): OnnxValue {
  if (value === null || value instanceof Map) return value as unknown as OnnxValue;
  if (Array.isArray(value)) return value.map((each) => written(name, each, null)) as never;
  const { type, dims } = value;
  if (place === null) {
    return 'held' in value ? tensorOf(value) : new Tensor(type as TensorType, value.data, dims);
  }
  if (place.type !== type || String(place.dims) !== String(dims)) {
    throw new Error(
      `'fetches': ${name} is ${type} [${dims.join(', ')}], the tensor for it ${place.type} [${place.dims.join(', ')}]`,
    );
  }
  copyInto(place.data, value.data, type);
  return place;
}

function copyInto(to: TensorData, from: TensorData, type: string): void {
  const ArrayOf = arrayTypeOf(type);
  if (ArrayOf === undefined) {
    (from as string[]).forEach((text, at) => ((to as string[])[at] = text));
  } else {
    const bytes = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
      new Uint8Array(buffer, byteOffset, byteLength);
    bytes(to as Uint8Array).set(bytes(from as Uint8Array));
  }
}

/** A model that runs. */
export interface InferenceSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly inputMetadata: readonly InferenceSession.ValueMetadata[];
  readonly outputMetadata: readonly InferenceSession.ValueMetadata[];
  /**
   * The outputs by name: all, those of these names, or those of an object with null or a tensor to write to. Errors: an input
   * that is missing or of another type or shape, an output that there is not.
   */
  run(feeds: Feeds, options?: OptionsOfRun): Promise<Feeds>;
  run(feeds: Feeds, fetches: Fetches, options?: OptionsOfRun): Promise<Feeds>;
  /** Frees the model. */
  release(): Promise<void>;
  /** No effect. */
  startProfiling(): void;
  /** No effect. */
  endProfiling(): void;
}

/** What `InferenceSession` has. */
export interface InferenceSessionFactory {
  /** Loads an ONNX model. Errors: it cannot be read, it is none, it has what is not supported: all of that by name. */
  create(uri: FileSource, options?: OptionsOfSession): Promise<InferenceSession>;
  create(
    buffer: ArrayBufferLike | Uint8Array,
    options?: OptionsOfSession,
  ): Promise<InferenceSession>;
  create(
    buffer: ArrayBufferLike,
    byteOffset: number,
    byteLength?: number,
    options?: OptionsOfSession,
  ): Promise<InferenceSession>;
}

export const InferenceSession: InferenceSessionFactory = Session as InferenceSessionFactory;

export declare namespace InferenceSession {
  type OnnxValueMapType = Feeds;
  type NullableOnnxValueMapType = { readonly [name: string]: OnnxValue | null };
  type FeedsType = Feeds;
  type FetchesType = Fetches;
  type ReturnType = Feeds;
  type SessionOptions = OptionsOfSession;
  type RunOptions = OptionsOfRun;
  type ExecutionProviderConfig = ConfigOfProvider;
  type ExecutionProviderName = string;
  type ExecutionProviderOption = Provider<string>;
  type CpuExecutionProviderOption = Provider<'cpu'>;
  type WebAssemblyExecutionProviderOption = Provider<'wasm'>;
  type WebGLExecutionProviderOption = Provider<'webgl'>;
  type WebGpuExecutionProviderOption = Provider<'webgpu'>;
  type WebNNExecutionProviderOption = Provider<'webnn'>;
  type CudaExecutionProviderOption = Provider<'cuda'>;
  type TensorRtExecutionProviderOption = Provider<'tensorrt'>;
  type DmlExecutionProviderOption = Provider<'dml'>;
  type CoreMLExecutionProviderOption = Provider<'coreml'>;
  type NnapiExecutionProviderOption = Provider<'nnapi'>;
  type QnnExecutionProviderOption = Provider<'qnn'>;
  type XnnpackExecutionProviderOption = Provider<'xnnpack'>;
  /** An input or output that is a tensor; axes without a size have a name, or '' for none. */
  interface TensorValueMetadata {
    readonly name: string;
    readonly isTensor: true;
    readonly type: Tensor.Type;
    readonly shape: readonly (number | string)[];
  }
  interface NonTensorValueMetadata {
    readonly name: string;
    readonly isTensor: false;
  }
  type ValueMetadata = TensorValueMetadata | NonTensorValueMetadata;
}
