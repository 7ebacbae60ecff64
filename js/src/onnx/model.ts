/** `tl.loadModel`: ONNX models as objects that take and give tensors by name. */
import { LatheError } from '../base/errors.js';
import { isArrayOf } from '../base/kinds.js';
import { checkOptions } from '../base/options.js';
import { own } from '../base/own.js';
import { Stop, type StopOptions } from '../base/stop.js';
import { checkArray, Tensor, tensor, type TensorLike } from '../tensor/tensor.js';
import { convert, type DataArray, fits } from '../tensor/convert.js';
import { arrayTypes, type DType } from '../tensor/dtypes.js';
import type { OnnxSize, OnnxType } from './file.js';
import { HeldTensor } from './kept_rows.js';
import { inlined, OnnxLayer, type OnnxLayerArgs } from './layer.js';
import type { OnnxSession } from './session.js';
import { Trace, type TracedTensor } from '../trace/trace.js';
import { checkCount, dtypeOf, type OnnxValue } from './values.js';

/** Strings nested to the shape of a tensor. */
export type NestedStrings = string | NestedStrings[];
/** What `run` takes for an input: a tensor of strings is nested arrays, a sequence an array, nothing null. */
export type ModelInput = TensorLike | NestedStrings | ModelInput[] | null;
/** What `run` gives: tensors, strings, sequences as arrays, maps, null where an optional output has nothing. */
export type ModelOutput =
  Tensor | NestedStrings | ModelOutput[] | Map<string | number, ModelOutput> | null;

/** An input or output of a model. */
export interface ModelPort {
  name: string;
  /** Element type, as `Tensor.dtype`; 'string'; '' where the port is no tensor. */
  dtype: string;
  /** A number, the name of a size, or null; nothing where the model does not say. */
  shape: readonly OnnxSize[] | undefined;
  /** As the file says it, for ports that are no tensors. */
  type: OnnxType;
}

/** An ONNX model. Made by `tl.loadModel`. */
export class OnnxModel {
  readonly inputs: readonly ModelPort[];
  readonly outputs: readonly ModelPort[];
  /** What its author wrote beside it. */
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
        const known = [...names].filter((each) => typeof each === 'string').join(', ');
        throw new LatheError(`loadModel: there is no size ${name}; known: ${known || 'none'}`);
      }
    }
  }

  /**
   * The outputs by name. Tensors tell shapes; typed arrays do where one size at most is open. Values
   * are converted to the type of the input. What is called for the first time with some shapes is
   * compiled for them. Errors: an input that is missing, unknown, or of the wrong type or shape;
   * whatever an operator refuses.
   *
   * @param options `signal` and `timeLimit` are checked before the model is compiled, between the parts of a model whose sizes data
   *     decides and between the pieces of a prompt; a module that has begun runs to its end
   */
  async run(
    inputs: Record<string, ModelInput>,
    options: StopOptions = {},
  ): Promise<Record<string, ModelOutput>> {
    checkOptions('run', options, { signal: true, timeLimit: true });
    const stop = new Stop('run', options);
    for (const name of Object.keys(inputs)) {
      if (!this.inputs.some((each) => each.name === name)) {
        const known = this.inputs.map((each) => each.name).join(', ');
        throw new LatheError(`run: there is no input ${name}; known: ${known}`);
      }
    }
    const sizes = new Map<string, number>(Object.entries(this.#sizes));
    const values = this.inputs.map((port) => {
      const given = own(inputs, port.name);
      if (given === undefined && port.type.kind !== 'optional') {
        throw new LatheError(`run: input ${port.name} is missing`);
      }
      return valueFrom(`input ${port.name}`, given ?? null, port.type, sizes);
    });
    const results = await this.session.call(values, stop);
    return Object.fromEntries(this.outputs.map(({ name }, at) => [name, outputOf(results[at]!)]));
  }

  /**
   * The model as a layer, to be called on tensors of the shapes of its inputs, batch in front. Its
   * weights, but for moments, are those of the layer: they train with what is around it, unless
   * `trainable` is false. `outputs`: names of values of the model that the layer gives; default: its
   * outputs.
   *
   *     const base = await tl.loadModel('mobilenet.onnx');
   *     const x = tl.input({ shape: [3, 224, 224] });
   *     const features = base.layer({ trainable: false, outputs: ['pool'] }).apply(x);
   */
  layer(options: OnnxLayerArgs = {}): OnnxLayer {
    return new OnnxLayer(this.session, options);
  }

  /** What the model computes as part of a function, `tl.compile`'s, with weights that stay as they are; by name. */
  apply(
    g: Trace,
    inputs: Readonly<Record<string, TracedTensor>>,
    outputs: readonly string[] = this.outputs.map(({ name }) => name),
  ): Record<string, TracedTensor> {
    if (!(g instanceof Trace)) {
      throw new LatheError(
        'apply: takes the g of a function of tl.compile and tensors by name; on tensors call run, in a model of layers layer().apply',
      );
    }
    const given = this.inputs.map(({ name }) => {
      const tensor = own(inputs, name);
      if (tensor !== undefined) return tensor;
      throw new LatheError(`apply: input ${name} is missing`);
    });
    const results = inlined(this.session.file, g, given, { results: outputs });
    return Object.fromEntries(outputs.map((name, at) => [name, results[at]!]));
  }

  /** Lets the model go; results stay. Using it afterwards is an error. */
  dispose(): void {
    this.session.dispose();
  }
}

function portOf(type: OnnxType & { name: string }): ModelPort {
  return { name: type.name, dtype: type.type ?? '', shape: type.shape, type };
}

/** A given value as one of this type. */
function valueFrom(
  what: string,
  given: ModelInput,
  type: OnnxType,
  sizes: Map<string, number>,
): OnnxValue {
  if (type.kind === 'optional') {
    return given === null ? null : valueFrom(what, given, type.element!, sizes);
  }
  if (given === null) throw new LatheError(`${what}: is null, and not optional`);
  if (type.kind === 'sequence') {
    if (!Array.isArray(given)) throw new LatheError(`${what}: wants an array of tensors`);
    const elements = given.map((each, at) =>
      valueFrom(`${what}[${at}]`, each as ModelInput, type.element!, new Map()),
    );
    return { kind: 'sequence', type: type.element!.type ?? 'float32', elements };
  }
  if (type.kind === 'map') throw new LatheError(`${what}: maps cannot be given`);
  if (type.type === 'string') {
    const strings = stringsFrom(what, given as NestedStrings);
    checkShape(what, strings.shape, type.shape, sizes);
    return strings;
  }
  const held = given instanceof Tensor ? heldTensors.get(given) : undefined;
  if (held !== undefined) return held;
  const dtype = dtypeOf(type.type!);
  const { shape, data } = elementsOf(what, given as TensorLike, dtype, type.shape, sizes);
  checkShape(what, shape, type.shape, sizes);
  checkCount(what, shape, data.length);
  return { kind: 'tensor', type: type.type!, shape, data };
}

function elementsOf(
  what: string,
  given: TensorLike,
  dtype: DType,
  wanted: readonly OnnxSize[] | undefined,
  sizes: ReadonlyMap<string, number>,
): { shape: readonly number[]; data: DataArray } {
  if (ArrayBuffer.isView(given)) {
    checkArray(given);
    const shape = shapeFor(what, given.length, wanted, sizes);
    return {
      shape,
      data: isArrayOf<DataArray>(given, arrayTypes[dtype]) ? given : convert(given, dtype),
    };
  }
  const source = given instanceof Tensor ? given : tensor(given, undefined, dtype);
  const data = source.dataSync<DType>();
  return {
    shape: source.shape,
    data: source.dtype === dtype || fits(data, dtype) ? data : convert(data, dtype),
  };
}

/** The shape that a typed array fills. Error: the model leaves more than one size open. */
function shapeFor(
  what: string,
  count: number,
  wanted: readonly OnnxSize[] | undefined,
  sizes: ReadonlyMap<string, number>,
): number[] {
  if (wanted === undefined) return [count];
  const shape = wanted.map((size) => {
    return typeof size === 'string' ? (sizes.get(size) ?? -1) : (size ?? -1);
  });
  const open = shape.filter((size) => size < 0).length;
  if (open > 1) {
    throw new LatheError(
      `${what}: an array of ${count} values leaves ${open} sizes of ${spelled(wanted)} open; give a tensor`,
    );
  }
  const rest = shape.reduce((product, size) => (size < 0 ? product : product * size), 1);
  return shape.map((size) => (size < 0 ? count / rest : size));
}

function checkShape(
  what: string,
  shape: readonly number[],
  wanted: readonly OnnxSize[] | undefined,
  sizes: Map<string, number>,
): void {
  if (wanted === undefined) return;
  const isFit =
    shape.length === wanted.length &&
    wanted.every((size, axis) => {
      const given = shape[axis]!;
      if (typeof size !== 'string') return size === null || size === given;
      const known = sizes.get(size);
      sizes.set(size, given);
      return known === undefined || known === given;
    });
  if (isFit) return;
  const bound = wanted.map((size) => (typeof size === 'string' ? (sizes.get(size) ?? size) : size));
  const where = bound.join() === wanted.join() ? '' : ` (here ${spelled(bound)})`;
  throw new LatheError(`${what}: wants shape ${spelled(wanted)}${where}, got [${shape.join(',')}]`);
}

const spelled = (shape: readonly OnnxSize[]) => `[${shape.map((size) => size ?? '?').join(',')}]`;

/** Of any tensor. */
const mostAxes = 32;

function stringsFrom(what: string, given: NestedStrings): Extract<OnnxValue, { kind: 'tensor' }> {
  const shape: number[] = [];
  for (let at: NestedStrings = given; Array.isArray(at); at = at[0]!) {
    shape.push(at.length);
    if (shape.length > mostAxes) throw new LatheError(`${what}: has more than ${mostAxes} axes`);
    if (at.length === 0) break;
  }
  const data: unknown[] = Array.isArray(given) ? (given as unknown[]).flat(mostAxes) : [given];
  if (data.some((each) => typeof each !== 'string')) {
    throw new LatheError(`${what}: wants strings`);
  }
  checkCount(what, shape, data.length);
  return { kind: 'tensor', type: 'string', shape, data: data as string[] };
}

/** Outputs whose elements are read when somebody asks for them. */
const heldTensors = new WeakMap<Tensor, HeldTensor>();

function heldOutput(value: HeldTensor): Tensor {
  const pending = {
    now: () => value.read(),
    get later() {
      return Promise.resolve(value.read());
    },
  };
  const tensor = new Tensor(pending, value.shape, dtypeOf(value.type));
  heldTensors.set(tensor, value);
  return tensor;
}

function outputOf(value: OnnxValue): ModelOutput {
  if (value === null) return null;
  if (value instanceof HeldTensor) return heldOutput(value);
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
