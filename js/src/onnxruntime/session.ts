/** `InferenceSession` of onnxruntime-web 1.30: on the processor, or on the GPU by `gpu_session.ts`. */
import { reasonOf } from '../base/errors.js';
import { isArrayOf, isBuffer } from '../base/kinds.js';
import { addressOf, isSource, type FileSource } from '../base/source.js';
import {
  type Feeds,
  type Fetches,
  type NonTensorValueMetadata as MetadataOfOther,
  type OnnxValue,
  Session,
  type SessionMaker,
  type TensorValueMetadata as MetadataOfTensor,
  type ValueMetadata as MetadataOfValue,
} from './base_session.js';
import { env } from './env.js';
import { externalFiles } from './files.js';
import type { GpuFlags } from './gpu.js';
import { type ImporterOptions, importModel } from './importer.js';
import type { Provider } from './names.js';
import {
  checkSessionOptions,
  type ExecutionProviderConfig as ConfigOfProvider,
  optionsOf,
  providerOf,
  type RunOptions as OptionsOfRun,
  type SessionOptions as OptionsOfSession,
} from './options.js';

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

const flags = env.webgpu as GpuFlags;
const loadGpu = () => import('./gpu_session.js');

Object.defineProperty(flags, 'device', {
  get: () => loadGpu().then(({ gpuDevice }) => gpuDevice(flags)),
  set(value) {
    if (typeof value?.createBuffer !== 'function')
      throw new TypeError('env.webgpu.device must be a GPUDevice');
    Object.defineProperty(flags, 'device', { value });
  },
  configurable: true,
});

/** Makes a session on the processor. */
const onProcessor: SessionMaker = async (source, importer) =>
  new Session(await importModel(source, importer));

/** As `InferenceSession.create`. */
async function create(...args: unknown[]): Promise<InferenceSession> {
  const [source, options] = argumentsOf(args);
  checkSessionOptions(options);
  const onGpu = async () => (await loadGpu()).onGpu(flags);
  const make = (await providerOf(options, onGpu)) ?? onProcessor;
  try {
    if (isArrayOf(source, Uint8Array) && source.length === 0)
      throw new Error('No graph was found in the protobuf.');
    return await make(source, importerOptions(source, options), options);
  } catch (error) {
    throw new Error(`failed to load the model: ${reasonOf(error)}`, { cause: error });
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

export const InferenceSession: InferenceSessionFactory = /* @__PURE__ */ Object.assign(Session, {
  create,
});

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
  type ValueMetadata = MetadataOfValue;
  type TensorValueMetadata = MetadataOfTensor;
  type NonTensorValueMetadata = MetadataOfOther;
}
