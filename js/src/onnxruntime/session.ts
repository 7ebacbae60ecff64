/** `InferenceSession` of onnxruntime-web 1.30, on top of `importer.ts`. */
import { reasonOf } from '../base/errors.js';
import { entryOf } from '../base/records.js';
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

/** A tensor; beyond ONNX Runtime Web also an array for a sequence, a Map, and null for an empty optional. */
export type OnnxValue = Tensor;

type Feeds = { readonly [name: string]: OnnxValue };
type Fetches = readonly string[] | { readonly [name: string]: OnnxValue | null };

/** The argument as options. Error: no object. */
function optionsOf<Options extends object>(argument: unknown): Options {
  if (argument === undefined) return {} as Options;
  if (typeof argument === 'object' && argument !== null) return argument as Options;
  throw new TypeError("'options' must be an object.");
}

/** The model and options of the arguments of `create`. */
function argumentsOf(args: readonly unknown[]): [FileSource | Uint8Array, OptionsOfSession] {
  const [model, second, third, fourth] = args;
  if (isSource(model) || isArrayOf(model, Uint8Array)) return [model, optionsOf(second)];
  if (!isBuffer(model)) {
    throw new TypeError("Unexpected argument[0]: must be 'path' or 'buffer'.");
  }
  if (typeof second !== 'number') return [new Uint8Array(model), optionsOf(second)];
  const bufferSize = model.byteLength;
  if (!Number.isSafeInteger(second)) throw new RangeError("'byteOffset' must be an integer.");
  if (second < 0 || second >= bufferSize) {
    throw new RangeError(`'byteOffset' is out of range [0, ${bufferSize}).`);
  }
  if (third === undefined) return [new Uint8Array(model, second), {}];
  if (typeof third !== 'number') throw new TypeError("'byteLength' must be a number.");
  if (!Number.isSafeInteger(third)) throw new RangeError("'byteLength' must be an integer.");
  if (third <= 0 || second + third > bufferSize) {
    throw new RangeError(`'byteLength' is out of range (0, ${bufferSize - second}].`);
  }
  return [new Uint8Array(model, second, third), optionsOf(fourth)];
}

function importerOptions(source: unknown, options: OptionsOfSession): ImporterOptions {
  return {
    threads: options.intraOpNumThreads || env.wasm.numThreads || undefined,
    sizes: options.freeDimensionOverrides ?? {},
    externalData: externalFiles(options.externalData ?? [], addressOf(source) !== ''),
    onProgress: options.onProgress,
  };
}

type Size = number | string | null;

/** The requested outputs, with tensors to write them to. */
type Fetched = Map<string, OnnxValue | null>;

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

  static async create(...args: unknown[]): Promise<Session> {
    const [source, options] = argumentsOf(args);
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
    const [fetched, options] = this.#fetched(second, third);
    for (const name of this.inputNames) {
      if (entryOf(feeds, name) === undefined)
        throw new Error(`input '${name}' is missing in 'feeds'.`);
    }
    checkRunOptions(options);
    if (this.#model === undefined) throw new Error('failed to run: the session was released');
    let outputs;
    try {
      const values = Object.entries(feeds).map(([name, value]) => [name, this.#fed(name, value)]);
      outputs = await this.#model.run(Object.fromEntries(values), options);
    } catch (error) {
      options.signal?.throwIfAborted();
      const Kind = error instanceof TypeError ? TypeError : Error;
      throw new Kind(`failed to run: ${reasonOf(error)}`, { cause: error });
    }
    return Object.fromEntries(
      Array.from(fetched, ([name, target]) => [name, fetch(name, outputs[name]!, target)]),
    );
  }

  async release(): Promise<void> {
    const model = this.#model;
    this.#model = undefined;
    await model?.dispose();
  }

  startProfiling(): void {}

  endProfiling(): void {}

  /** Outputs and options of the arguments after `feeds`. An object with a tensor or null for an output name is `fetches`. */
  #fetched(second: unknown, third: unknown): [Fetched, OptionsOfRun] {
    const all: Fetched = new Map(this.outputNames.map((name) => [name, null]));
    if (second === undefined) return [all, {}];
    if (second === null) throw new TypeError('Unexpected argument[1]: cannot be null.');
    if (typeof second !== 'object') {
      throw new TypeError("Unexpected argument[1]: must be 'fetches' or 'options'.");
    }
    if (second instanceof Tensor) throw new TypeError("'fetches' cannot be a Tensor");
    if (Array.isArray(second)) return [this.#named(second), optionsOf(third)];
    const object = second as Record<string, OnnxValue | null>;
    const isFetch = (name: string) =>
      Object.hasOwn(object, name) && (object[name] === null || object[name] instanceof Tensor);
    const requested = this.outputNames.filter(isFetch);
    if (requested.length === 0) return [all, object as OptionsOfRun];
    return [new Map(requested.map((name) => [name, object[name]!])), optionsOf(third)];
  }

  #named(names: readonly unknown[]): Fetched {
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

  /** An input in the importer's format. Errors: no such input, another type or shape. */
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
        `Unexpected input data type for '${name}': it is tensor(${type}), the model expects tensor(${port.type}).`,
      );
    }
    const { shape } = port;
    // As in ONNX Runtime, shapes of scalars are not checked: programs pass arrays of one element.
    if (shape === undefined || shape.length === 0) return fed;
    const isFit = (size: Size, axis: number) => typeof size !== 'number' || size === dims[axis];
    if (shape.length === dims.length && shape.every(isFit)) return fed;
    const expected = shape.map((size) => size ?? '?').join(', ');
    throw new Error(
      `Got invalid dimensions for input: ${name}. Got: [${dims.join(', ')}] Expected: [${expected}]`,
    );
  }
}

/** Maximum nesting of sequences, far beyond ONNX types. */
const maxNesting = 32;

/** Tensors may be of another copy of onnxruntime-common. */
function elementsOf(name: string, value: any, depth = 0): Value {
  if (depth > maxNesting) throw new TypeError(`'feeds': ${name} is nested too deeply`);
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

/** An output as a new tensor, or copied into the caller's `target`. Error: the target has another type or shape. */
function fetch(name: string, value: Value, target: OnnxValue | null): OnnxValue {
  if (value === null || value instanceof Map) return value as unknown as OnnxValue;
  if (Array.isArray(value)) return value.map((each) => fetch(name, each, null)) as never;
  const { type, dims } = value;
  if (target === null) {
    return 'lazy' in value ? tensorOf(value) : new Tensor(type as TensorType, value.data, dims);
  }
  if (target.type !== type || String(target.dims) !== String(dims)) {
    throw new Error(
      `'fetches': ${name} is ${type} [${dims.join(', ')}], the tensor for it ${target.type} [${target.dims.join(', ')}]`,
    );
  }
  copyInto(target.data, value.data, type);
  return target;
}

function copyInto(to: TensorData, from: TensorData, type: string): void {
  const ArrayOf = arrayTypeOf(type);
  if (ArrayOf === undefined) {
    (from as string[]).forEach((string, at) => ((to as string[])[at] = string));
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
   * Runs the model; resolves with the outputs by name: all, those with these names, or the keys of an object with null or a
   * tensor to write to. Errors: a missing input, or one of another type or shape; an unknown output.
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

/** Static members of `InferenceSession`. */
export interface InferenceSessionFactory {
  /** Loads an ONNX model. Errors: it cannot be read, is no ONNX model, or has unsupported operators, which are named. */
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
  /** An input or output that is a tensor; dynamic axes have a name, or ''. */
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
