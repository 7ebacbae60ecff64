/** `tl.loadModel`: ONNX models that run on tensors by name. */
import { LatheError, named } from '../base/errors.js';
import { isArrayOf } from '../base/kinds.js';
import { checkOptions } from '../base/options.js';
import { entryOf, orderInputs } from '../base/records.js';
import { Stop, type StopOptions } from '../base/stop.js';
import { checkArray, elements, Tensor, tensor, type TensorLike } from '../tensor/tensor.js';
import { convert, type DataArray, fits } from '../tensor/convert.js';
import { arrayTypes, type DType } from '../tensor/dtypes.js';
import type { OnnxSize, OnnxType } from './file.js';
import { DeviceTensor } from '../decode/device_tensor.js';
import { LazyTensorValue } from '../decode/lazy_value.js';
import { inlineModel, OnnxLayer, type OnnxLayerArgs } from './layer.js';
import type { OnnxSession } from './session.js';
import type { Placement } from './options.js';
import { Trace, type TracedTensor } from '../trace/trace.js';
import { checkElementCount, dtypeOf, type OnnxValue, remoteValue } from './values.js';

/** A tensor of strings as nested arrays. */
export type NestedStrings = string | NestedStrings[];
/** An input of `run`: a tensor of strings is nested arrays, a sequence an array, none null. */
export type ModelInput = TensorLike | NestedStrings | ModelInput[] | null;
/** An output of `run`: tensors, strings, sequences as arrays, maps, null for an empty optional. */
export type ModelOutput =
  Tensor | NestedStrings | ModelOutput[] | Map<string | number, ModelOutput> | null;

/** An input or output of a model. */
export interface ModelPort {
  name: string;
  /** Element type, as `Tensor.dtype`; 'string'; '' if the port is no tensor. */
  dtype: string;
  /** Numbers, names of dimensions, or null; undefined if the model does not specify the shape. */
  shape: readonly OnnxSize[] | undefined;
  /** The type in the file, for ports that are no tensors. */
  type: OnnxType;
}

/** An ONNX model. Created by `tl.loadModel`. */
export class OnnxModel {
  readonly inputs: readonly ModelPort[];
  readonly outputs: readonly ModelPort[];
  /** Metadata properties of the model. */
  readonly metadata: Readonly<Record<string, string>>;
  /** @internal */
  readonly session: OnnxSession;
  readonly #sizes: Readonly<Record<string, number>>;

  /** @internal */
  constructor(session: OnnxSession, sizes: Readonly<Record<string, number>> = {}) {
    const { inputs, outputs, metadata } = session.description;
    this.session = session;
    this.inputs = inputs.map(portOf);
    this.outputs = outputs.map(portOf);
    this.metadata = metadata;
    this.#sizes = sizes;
    const names = new Set(this.inputs.flatMap(({ shape }) => shape ?? []));
    for (const name of Object.keys(sizes)) {
      if (!names.has(name)) {
        const available = [...names].filter((each) => typeof each === 'string').join(', ');
        throw new LatheError(`loadModel: there is no size ${name}; known: ${available || 'none'}`);
      }
    }
  }

  /**
   * Runs the model; resolves with the outputs by name. Typed arrays are permitted for inputs with up to one dynamic size. Values
   * are converted to the type of the input. The first call with certain shapes compiles the model for them. Errors: a missing or
   * unknown input, a wrong type or shape; what an operator does not support.
   *
   * Its type is tensors by name; `run<{ scores: tl.Tensor; labels: string[] }>(…)` states others.
   *
   * @param options `signal` and `timeLimit` are checked before compilation, between the segments of a model with data-dependent
   *     sizes and between the chunks of a prompt; a module that has started runs to its end
   */
  async run<Outputs extends Record<string, ModelOutput> = Record<string, Tensor>>(
    inputs: Record<string, ModelInput>,
    options: StopOptions = {},
  ): Promise<Outputs> {
    checkOptions('run', options, { signal: true, timeLimit: true });
    const stop = new Stop('run', options);
    const given = orderInputs(
      this.inputs,
      inputs,
      {},
      (at) => this.inputs[at]!.type.kind === 'optional',
    );
    const converted = this.#convertedFromDevice(inputs);
    if (converted.length > 0) await Promise.all(converted.map((each) => each.data()));
    const sizes = new Map<string, number>(Object.entries(this.#sizes));
    const values = this.inputs.map((port, at) =>
      valueFrom(`input ${port.name}`, given[at] ?? null, port.type, sizes),
    );
    const results = await this.session.call(values, stop);
    return Object.fromEntries(
      this.outputs.map(({ name }, at) => [name, outputOf(results[at]!)]),
    ) as Outputs;
  }

  /** The inputs on another device that have another type, which are converted on the host. */
  #convertedFromDevice(inputs: Record<string, ModelInput>): Tensor[] {
    return this.inputs.flatMap(({ name, type }) => {
      const input = entryOf(inputs, name);
      const isRemote = input instanceof Tensor && remoteValue(input) !== undefined;
      return isRemote && type.type !== undefined && input.dtype !== dtypeOf(type.type) ? input : [];
    });
  }

  /** The device that runs the model, and why it is not the requested one. */
  get placement(): Placement {
    return this.session.placement;
  }

  /**
   * The model as a layer, whose inputs have the shapes of the model's inputs, batch first. Its weights, except moving averages,
   * are those of the layer and are trained with the surrounding model, unless `trainable` is false. `outputs`: names of the model's
   * values that are the outputs of the layer; default: its outputs.
   *
   *     const base = await tl.loadModel('mobilenet.onnx');
   *     const x = tl.input({ shape: [3, 224, 224] });
   *     const features = base.layer({ trainable: false, outputs: ['pool'] }).apply(x);
   */
  layer(options: OnnxLayerArgs = {}): OnnxLayer {
    return new OnnxLayer(this.session, options);
  }

  /** Inlines the model, with constant weights, into a function of `tl.compile`; returns the outputs by name. */
  apply(
    g: Trace,
    inputs: Readonly<Record<string, TracedTensor>>,
    outputs: readonly string[] = this.outputs.map(({ name }) => name),
  ): Record<string, TracedTensor> {
    if (!(g instanceof Trace)) {
      throw new LatheError(
        'apply: expects the g of a function of tl.compile and tensors by name; on tensors call run, in a model of layers layer().apply',
      );
    }
    const tensors = this.inputs.map(({ name }) => {
      const tensor = entryOf(inputs, name);
      if (tensor !== undefined) return tensor;
      throw new LatheError(`apply: input ${name} is missing`);
    });
    const results = inlineModel(this.session.file, g, tensors, { results: outputs });
    return Object.fromEntries(outputs.map((name, at) => [name, results[at]!]));
  }

  /** The string that Node prints. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    const list = (ports: readonly ModelPort[]) =>
      ports
        .map(({ name, dtype, shape }) => `${name}: ${dtype} [${shape?.join(', ') ?? '…'}]`)
        .join(', ');
    return `OnnxModel { ${list(this.inputs)} → ${list(this.outputs)} }`;
  }

  /** Frees the model; results remain valid. Using it afterwards is an error. */
  dispose(): void {
    this.session.dispose();
  }
}

function portOf(type: OnnxType & { name: string }): ModelPort {
  return { name: type.name, dtype: type.type ?? '', shape: type.shape, type };
}

/** Converts an input of `run` to a value of this type. */
function valueFrom(
  what: string,
  input: ModelInput,
  type: OnnxType,
  sizes: Map<string, number>,
): OnnxValue {
  if (type.kind === 'optional') {
    return input === null ? null : valueFrom(what, input, type.element!, sizes);
  }
  if (input === null) throw new LatheError(`${what}: is null, and not optional`);
  if (type.kind === 'sequence') {
    if (!Array.isArray(input)) throw new LatheError(`${what}: expects an array of tensors`);
    const elements = input.map((each, at) =>
      valueFrom(`${what}[${at}]`, each as ModelInput, type.element!, new Map()),
    );
    return { kind: 'sequence', type: type.element!.type ?? 'float32', elements };
  }
  if (type.kind === 'map') throw new LatheError(`${what}: maps are not supported as inputs`);
  if (type.type === 'string') {
    const strings = stringsFrom(what, input as NestedStrings);
    checkShape(what, strings.shape, type.shape, sizes);
    return strings;
  }
  const lazy = input instanceof Tensor && !input.isDisposed ? lazyTensors.get(input) : undefined;
  if (lazy !== undefined) return lazy;
  const dtype = dtypeOf(type.type!);
  if (input instanceof Tensor && input.dtype === dtype && remoteValue(input) !== undefined) {
    checkShape(what, input.shape, type.shape, sizes);
    return new DeviceTensor(type.type!, input);
  }
  const { shape, data } = elementsOf(what, input as TensorLike, dtype, type.shape, sizes);
  checkShape(what, shape, type.shape, sizes);
  checkElementCount(what, shape, data.length);
  return { kind: 'tensor', type: type.type!, shape, data };
}

function elementsOf(
  what: string,
  value: TensorLike,
  dtype: DType,
  expected: readonly OnnxSize[] | undefined,
  sizes: ReadonlyMap<string, number>,
): { shape: readonly number[]; data: DataArray } {
  if (ArrayBuffer.isView(value)) {
    checkArray(value);
    const shape = shapeFor(what, value.length, expected, sizes);
    return {
      shape,
      data: isArrayOf<DataArray>(value, arrayTypes[dtype]) ? value : convert(value, dtype),
    };
  }
  const source =
    value instanceof Tensor ? value : named(what, () => tensor(value, undefined, dtype));
  const data = source.dataSync<DType>();
  return {
    shape: source.shape,
    data: source.dtype === dtype || fits(data, dtype) ? data : convert(data, dtype),
  };
}

/** The shape of a typed array. Error: the input has more than one dynamic size. */
function shapeFor(
  what: string,
  count: number,
  expected: readonly OnnxSize[] | undefined,
  sizes: ReadonlyMap<string, number>,
): number[] {
  if (expected === undefined) return [count];
  const shape = expected.map((size) => {
    return typeof size === 'string' ? (sizes.get(size) ?? -1) : (size ?? -1);
  });
  const open = shape.filter((size) => size < 0).length;
  if (open > 1) {
    throw new LatheError(
      `${what}: an array of ${count} values leaves ${open} sizes of ${formatShape(expected)} open; pass a tensor`,
    );
  }
  const rest = shape.reduce((product, size) => (size < 0 ? product : product * size), 1);
  if (open > 0 && !Number.isInteger(count / rest)) {
    throw new LatheError(
      `${what}: ${count} values do not fill the shape ${formatShape(expected)}: no multiple of ${rest}`,
    );
  }
  return shape.map((size) => (size < 0 ? count / rest : size));
}

function checkShape(
  what: string,
  shape: readonly number[],
  expected: readonly OnnxSize[] | undefined,
  sizes: Map<string, number>,
): void {
  if (expected === undefined) return;
  const isFit =
    shape.length === expected.length &&
    expected.every((size, axis) => {
      const actual = shape[axis]!;
      if (typeof size !== 'string') return size === null || size === actual;
      const bound = sizes.get(size);
      sizes.set(size, actual);
      return bound === undefined || bound === actual;
    });
  if (isFit) return;
  const bound = expected.map((size) =>
    typeof size === 'string' ? (sizes.get(size) ?? size) : size,
  );
  const where = bound.join() === expected.join() ? '' : ` (here ${formatShape(bound)})`;
  throw new LatheError(
    `${what}: expects shape ${formatShape(expected)}${where}, got [${shape.join(',')}]`,
  );
}

const formatShape = (shape: readonly OnnxSize[]) =>
  `[${shape.map((size) => size ?? '?').join(',')}]`;

/** Maximum rank of a tensor. */
const maxAxes = 32;

function stringsFrom(what: string, input: NestedStrings): Extract<OnnxValue, { kind: 'tensor' }> {
  const shape: number[] = [];
  for (let at: NestedStrings = input; Array.isArray(at); at = at[0]!) {
    shape.push(at.length);
    if (shape.length > maxAxes) throw new LatheError(`${what}: has more than ${maxAxes} axes`);
    if (at.length === 0) break;
  }
  const data: unknown[] = Array.isArray(input) ? (input as unknown[]).flat(maxAxes) : [input];
  if (data.some((each) => typeof each !== 'string')) {
    throw new LatheError(`${what}: expects strings`);
  }
  checkElementCount(what, shape, data.length);
  return { kind: 'tensor', type: 'string', shape, data: data as string[] };
}

/** Outputs whose elements are read on demand. */
const lazyTensors = new WeakMap<Tensor, LazyTensorValue>();

function lazyOutput(value: LazyTensorValue): Tensor {
  const pending = {
    readSync: () => value.read(),
    readAsync: () => value.readAsync(),
    get awaitedFrom() {
      return value.isRead ? undefined : value.device;
    },
    onDevice: () => value.tensor?.[elements],
    free() {
      value.release();
      return true;
    },
  };
  const tensor = new Tensor(pending, value.shape, dtypeOf(value.type));
  lazyTensors.set(tensor, value);
  return tensor;
}

function outputOf(value: OnnxValue): ModelOutput {
  if (value === null) return null;
  if (value instanceof LazyTensorValue) return lazyOutput(value);
  if (value instanceof DeviceTensor) return value.tensor;
  if (value.kind !== 'tensor') {
    if (value.kind === 'sequence') return value.elements.map(outputOf);
    const [keys, values] = value.elements.map(outputOf);
    const list = (each: ModelOutput | undefined) =>
      each instanceof Tensor ? [...each.dataSync<DType>()] : (each as (string | number)[]);
    const numbers = list(values);
    return new Map(list(keys).map((key, at) => [key, numbers[at]] as [string, ModelOutput]));
  }
  const { type, shape, data } = value;
  if (type !== 'string') return new Tensor(data as DataArray, shape, dtypeOf(type));
  let next = 0;
  const build = (axis: number): NestedStrings =>
    axis === shape.length
      ? (data as readonly string[])[next++]!
      : Array.from({ length: shape[axis]! }, () => build(axis + 1));
  return build(0);
}
