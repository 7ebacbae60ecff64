/** Sessions on the processor, on top of `importer.ts`; those on the GPU extend them. */
import { reasonOf } from '../base/errors.js';
import { entryOf } from '../base/records.js';
import type { FileSource } from '../base/source.js';
import type { Elements, ImportedModel, ImporterOptions, Port, Value } from './importer.js';
import {
  checkRunOptions,
  optionsOf,
  type RunOptions as OptionsOfRun,
  type SessionOptions,
} from './options.js';
import { arrayTypeOf, Tensor, tensorOf, untouchedElements } from './tensor.js';
import type { TensorData, TensorType } from './tensor_types.js';

/** Loads a model and makes a session of it. */
export type SessionMaker = (
  source: FileSource | Uint8Array,
  importer: ImporterOptions,
  options: SessionOptions,
) => Promise<Session>;

/** A tensor; beyond ONNX Runtime Web also an array for a sequence, a Map, and null for an empty optional. */
export type OnnxValue = Tensor;

export type Feeds = { readonly [name: string]: OnnxValue };
export type Fetches = readonly string[] | { readonly [name: string]: OnnxValue | null };

/** An input or output of a session. */
export type ValueMetadata = TensorValueMetadata | NonTensorValueMetadata;
/** An input or output that is a tensor; dynamic axes have a name, or ''. */
export interface TensorValueMetadata {
  readonly name: string;
  readonly isTensor: true;
  readonly type: TensorType;
  readonly shape: readonly (number | string)[];
}
export interface NonTensorValueMetadata {
  readonly name: string;
  readonly isTensor: false;
}

type Size = number | string | null;

/** All outputs by name. */
export type Outputs = Readonly<Record<string, Value>>;

/** The requested outputs, with tensors to write them to. */
export type Fetched = Map<string, OnnxValue | null>;

function metadata({ name, type, shape }: Port): ValueMetadata {
  if (type === undefined) return { name, isTensor: false };
  return {
    name,
    isTensor: true,
    type: type as TensorType,
    shape: (shape ?? []).map((size) => size ?? ''),
  };
}

/** `InferenceSession` on the processor. */
export class Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly inputMetadata: readonly ValueMetadata[];
  readonly outputMetadata: readonly ValueMetadata[];
  #model: ImportedModel | undefined;

  constructor(model: ImportedModel) {
    this.#model = model;
    this.inputMetadata = model.inputs.map(metadata);
    this.outputMetadata = model.outputs.map(metadata);
    this.inputNames = model.inputs.map(({ name }) => name);
    this.outputNames = model.outputs.map(({ name }) => name);
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
    return this.collect(outputs, fetched);
  }

  /** The requested ones of all outputs. */
  protected async collect(outputs: Outputs, fetched: Fetched): Promise<Feeds> {
    return Object.fromEntries(
      Array.from(fetched, ([name, target]) => [name, fetch(name, outputs[name]!, target)]),
    );
  }

  /** An input on the GPU. Error: the session does not run there. */
  protected onGpu(_tensor: Tensor): Elements {
    throw new Error(
      'Tensor location "gpu-buffer" is not supported without the execution provider webgpu.',
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
    const fed = elementsOf(name, value, (tensor) => this.onGpu(tensor));
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
function elementsOf(
  name: string,
  value: any,
  onGpu: (tensor: Tensor) => Elements,
  depth = 0,
): Value {
  if (depth > maxNesting) throw new TypeError(`'feeds': ${name} is nested too deeply`);
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((each) => elementsOf(name, each, onGpu, depth + 1));
  if (value?.location === 'gpu-buffer') return onGpu(value);
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
export function fetch(name: string, value: Value, target: OnnxValue | null): OnnxValue {
  if (value === null || value instanceof Map) return value as unknown as OnnxValue;
  if (Array.isArray(value)) return value.map((each) => fetch(name, each, null)) as never;
  const { type, dims } = value;
  if (target === null) {
    return 'lazy' in value ? tensorOf(value) : new Tensor(type as TensorType, value.data, dims);
  }
  checkTarget(name, value, target);
  copyInto(target.data, value.data, type);
  return target;
}

/** Error: the caller's tensor has another type or shape. */
export function checkTarget(name: string, { type, dims }: Elements, target: OnnxValue): void {
  if (target.type === type && String(target.dims) === String(dims)) return;
  throw new Error(
    `'fetches': ${name} is ${type} [${dims.join(', ')}], the tensor for it ${target.type} [${target.dims.join(', ')}]`,
  );
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
