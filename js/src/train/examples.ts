/** Validates x and y and converts them to rows of numbers that can be copied to input buffers. */
import { LatheError, named } from '../base/errors.js';
import { isArrayOf } from '../base/kinds.js';
import type { OptionNames } from '../base/options.js';
import { entryOf } from '../base/records.js';
import { elementCount } from '../base/shape.js';
import { type PerOutput, perOutput } from './per_output.js';
import type { Device } from '../runtime/device.js';
import { DeviceValue } from '../runtime/device_value.js';
import {
  checkArray,
  elements,
  shapeOf,
  Tensor,
  tensor,
  type TensorLike,
} from '../tensor/tensor.js';

/** Examples or labels: `count` rows of `width` numbers, row-major. */
export interface Rows {
  data: Float32Array | Int32Array | Uint8Array;
  count: number;
  width: number;
  /** The elements, float32, where they are on a device only; `data` is empty then. */
  value?: DeviceValue;
}

/** The kind of labels: dense probabilities or targets, or sparse class indices. */
export type LabelKind = 'dense' | 'sparse';

/** Labels with their kind. */
export interface LabelRows extends Rows {
  kind: LabelKind;
}

/** Rows for inputs of an entry by name: examples, or examples and labels. */
export interface Examples {
  count: number;
  rows: ReadonlyMap<string, Rows>;
  /** The kinds of labels, in the order of the outputs with a loss. */
  kinds: LabelKind[];
  /** Whether the rows have weights. */
  weighted?: boolean;
  /** The sizes of the null axes of the inputs. */
  sizes?: readonly number[];
}

/** A deep copy of the examples. */
export function copyExamples(data: Examples): Examples {
  const rows = [...data.rows].map(
    ([name, each]) => [name, { ...each, data: each.data.slice() }] as const,
  );
  return { ...data, rows: new Map(rows) };
}

/** The value of a tensor whose elements are on a device that the host does not address. */
function valueElsewhere(tensor: Tensor): DeviceValue | undefined {
  const value = tensor[elements];
  if (!(value instanceof DeviceValue) || value.hostCopy !== undefined) return undefined;
  return value.device.view === undefined ? value : undefined;
}

/**
 * Copies the elements of tensors on such devices to the host, where `dataSync` finds them: in x, y and the like. Undefined: there are
 * none.
 */
export function readable(...data: readonly unknown[]): Promise<unknown> | undefined {
  const listed = (each: unknown): unknown[] => {
    if (each instanceof Tensor) return [each];
    if (Array.isArray(each)) return typeof each[0] === 'object' ? each.flatMap(tensorOf) : [];
    return isDictionary(each) ? Object.values(each).flatMap(tensorOf) : [];
  };
  const waiting = data.flatMap(listed).flatMap(tensorOf).filter(valueElsewhere);
  return waiting.length === 0 ? undefined : Promise.all(waiting.map((each) => each.data()));
}

const tensorOf = (each: unknown): Tensor[] => (each instanceof Tensor ? [each] : []);

/** Weights by class index. */
export type ClassWeight = Readonly<Record<number, number>>;

/** Class weights of one output; for several a list, or an object by name; null: all 1. */
export type ClassWeights =
  ClassWeight | readonly (ClassWeight | null)[] | Readonly<Record<string, ClassWeight | null>>;

/** Weights of rows in the loss. */
export interface Weighting {
  sampleWeight?: TensorLike | undefined;
  classWeight?: ClassWeights | undefined;
}

export const weightingNames: OptionNames<Weighting> = { sampleWeight: true, classWeight: true };

/** The class weights of each output. Errors: another number of them, an unknown output name. */
function classWeights(
  classWeight: ClassWeights,
  outputs: readonly { name: string }[],
  where: string,
): (ClassWeight | null)[] {
  const isEach =
    Array.isArray(classWeight) ||
    Object.values(classWeight).some((each) => typeof each === 'object');
  if (!isEach) return outputs.map(() => classWeight as ClassWeight);
  return perOutput(
    classWeight as PerOutput<ClassWeight | null>,
    outputs,
    null,
    `${where}: classWeight`,
  );
}

/**
 * The same examples with a weight for each row at every output, if there are weights. Errors: another number of weights,
 * a negative or NaN weight, class weights for labels that are not classes.
 */
export function weighted(
  data: Examples,
  { sampleWeight, classWeight }: Weighting,
  outputs: readonly { name: string }[],
  where: string,
): Examples {
  if (sampleWeight == null && classWeight == null) return data;
  const isList = Array.isArray(sampleWeight) && sampleWeight[0] instanceof Tensor;
  if (isList || isDictionary(sampleWeight)) {
    throw new LatheError(
      `${where}: sampleWeight is one weight for each row, the same for all outputs`,
    );
  }
  const perRow = sampleWeight == null ? undefined : tensor(sampleWeight, undefined, 'float32');
  const ofClasses = classWeights(classWeight ?? {}, outputs, where);
  if (perRow !== undefined && perRow.size !== data.count) {
    throw new LatheError(`${where}: ${data.count} rows, but sampleWeight has ${perRow.size}`);
  }
  const ofRows = perRow?.dataSync();
  const ofAny = ofClasses.flatMap((each) => Object.values(each ?? {}));
  const wrong = [...(ofRows ?? []), ...ofAny].find((w) => !(w >= 0));
  if (wrong !== undefined) throw new LatheError(`${where}: the weight ${wrong} must be at least 0`);
  const rows = new Map(data.rows);
  for (const [at, port] of outputs.entries()) {
    const weights = ofClasses[at] ?? {};
    const isPlain = Object.keys(weights).length === 0;
    const labels = data.rows.get(entryName('y', port, outputs)) as LabelRows | undefined;
    if (labels === undefined) continue;
    const values = Float32Array.from(
      { length: data.count },
      (_, row) =>
        (ofRows?.[row] ?? 1) * (isPlain ? 1 : (weights[classOf(labels, row, where)] ?? 1)),
    );
    const name = outputs.length === 1 ? 'weights' : `weights/${port.name}`;
    rows.set(name, { data: values, count: data.count, width: 1 });
  }
  return { ...data, rows, weighted: true };
}

function classOf({ data, width, kind }: LabelRows, row: number, where: string): number {
  if (kind === 'sparse' && width === 1) return data[row]!;
  const rowData = data.subarray(row * width, (row + 1) * width);
  if (kind === 'sparse') throw new LatheError(`${where}: classWeight needs one class for each row`);
  return width === 1 ? Math.round(rowData[0]!) : rowData.indexOf(Math.max(...rowData));
}

/** Values for one input or output, or for several, in order or by name. */
export type ModelData = TensorLike | readonly TensorLike[] | Readonly<Record<string, TensorLike>>;

/** An input or output of a model; its shape is that of one example. */
export interface Port {
  name: string;
  shape: readonly number[];
}

/** The buffer name of an input or output: x, or x/NAME if there are several. */
export function entryName(
  kind: 'x' | 'y',
  { name }: { name: string },
  ports: readonly { name: string }[],
): string {
  return ports.length === 1 ? kind : `${kind}/${name}`;
}

/** The values for each port. Errors: another number of them, a missing or unknown name. */
export function perPort(
  data: ModelData,
  ports: readonly { name: string }[],
  what: string,
): TensorLike[] {
  const names = ports.map(({ name }) => name);
  if (isDictionary(data)) {
    const unknown = Object.keys(data).find((name) => !names.includes(name));
    const missing = names.find((name) => entryOf(data, name) === undefined);
    if (unknown === undefined && missing === undefined) return names.map((name) => data[name]!);
    const wrong = unknown === undefined ? `needs "${missing}"` : `does not have "${unknown}"`;
    throw new LatheError(
      `${what} goes by name, and the model ${wrong}; it has ${names.join(', ')}`,
    );
  }
  if (ports.length === 1) {
    const [first, ...others] = Array.isArray(data) ? (data as unknown[]) : [];
    return [first instanceof Tensor && others.length === 0 ? first : (data as TensorLike)];
  }
  if (Array.isArray(data) && data.length === ports.length) return data as TensorLike[];
  const got = Array.isArray(data) ? `an array of ${data.length}` : 'something else';
  throw new LatheError(
    `${what} must be an array of ${ports.length} (${names.join(', ')}) or an object with these names, got ${got}`,
  );
}

function isDictionary(data: unknown): data is Readonly<Record<string, TensorLike>> {
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  return isObject && !(data instanceof Tensor) && !ArrayBuffer.isView(data);
}

/** An input whose null sizes depend on the data. */
interface OpenPort {
  name: string;
  shape: readonly (number | null)[];
}

const whatOf = (port: OpenPort, inputs: readonly OpenPort[], where: string) =>
  `${where}: ${inputs.length === 1 ? 'x' : `x of ${port.name}`}`;

/** The sizes that x has for the null axes of the inputs, in order. Errors: another shape; a typed array, which has none. */
export function openSizes(data: ModelData, inputs: readonly OpenPort[], where: string): number[] {
  if (inputs.every(({ shape }) => !shape.includes(null))) return [];
  const values = perPort(data, inputs, `${where}: x`);
  return inputs.flatMap((port, at) => {
    if (!port.shape.includes(null)) return [];
    const what = whatOf(port, inputs, where);
    const input = values[at];
    if (input === undefined || input === null) throw new LatheError(`${what} is missing`);
    if (ArrayBuffer.isView(input)) {
      throw new LatheError(
        `${what} is a typed array, which has no shape; the model expects ` +
          `${formatShape([null, ...port.shape])}: pass a tl.tensor`,
      );
    }
    const shape = input instanceof Tensor ? input.shape : shapeOf(input);
    if (!endsWith(shape, port.shape)) throw wrongShape(what, shape, port.shape);
    return shape.slice(1).filter((_, axis) => port.shape[axis] === null);
  });
}

/** The rows of x for the inputs of a model. */
export function featuresOf(
  data: ModelData,
  inputs: readonly Port[],
  where: string,
  device?: Device,
): Examples {
  const values = perPort(data, inputs, `${where}: x`);
  const rows = new Map<string, Rows>();
  inputs.forEach((port, at) => {
    const what = whatOf(port, inputs, where);
    rows.set(entryName('x', port, inputs), featureRows(values[at]!, port.shape, what, device));
  });
  const counts = [...rows.values()].map(({ count }) => count);
  if (counts.some((count) => count !== counts[0])) {
    throw new LatheError(
      `${where}: the inputs differ in their number of rows: ${counts.join(', ')}`,
    );
  }
  return { count: counts[0]!, rows, kinds: [] };
}

/** As `featuresOf`, plus the labels of `targets`, the outputs with a loss. */
export function labelledOf(
  data: { x: ModelData; y: ModelData },
  { inputs, outputs }: { inputs: readonly Port[]; outputs: readonly Port[] },
  targets: readonly Port[],
  where: string,
): Examples {
  const features = featuresOf(data.x, inputs, where);
  const values = perPort(data.y, targets, `${where}: y`);
  const rows = new Map(features.rows);
  const kinds = targets.map((port, at) => {
    const what = `${where}: ${outputs.length === 1 ? 'y' : `y of ${port.name}`}`;
    const labels = labelRows(values[at]!, port.shape, features.count, what);
    rows.set(entryName('y', port, outputs), labels);
    return labels.kind;
  });
  return { count: features.count, rows, kinds };
}

const formatShape = (shape: OpenPort['shape']) =>
  `[${shape.map((size, axis) => size ?? (axis === 0 ? 'batch' : 'null')).join(',')}]`;

/** The error of data of another shape, with what makes a batch of one example. */
function wrongShape(what: string, shape: readonly number[], row: OpenPort['shape']): LatheError {
  const isExample = String(shape) === String(row);
  const batch = what.startsWith('fitDataset') ? 'batch(32)' : 'expandDims(0)';
  const hint = isExample ? `; ${batch} makes a batch` : '';
  return new LatheError(
    `${what} has shape ${formatShape(shape)}, but the model expects ${formatShape([null, ...row])}${hint}`,
  );
}

/** A single typed array has no rows: its length must be a multiple of the row size. */
function asTensor(values: TensorLike, row: readonly number[], what: string): Tensor {
  if (values === undefined || values === null) throw new LatheError(`${what} is missing`);
  if (values instanceof Tensor) return values;
  if (!ArrayBuffer.isView(values)) return named(what, () => tensor(values));
  checkArray(values);
  const width = elementCount(row);
  if (values.length % width !== 0) {
    throw new LatheError(
      `${what} has ${values.length} values, which is no multiple of the ${width} of a row`,
    );
  }
  const shape = [values.length / width, ...row];
  return isArrayOf(values, Float32Array)
    ? new Tensor(values, shape, 'float32')
    : tensor(values, shape, isArrayOf(values, Uint32Array) ? 'float32' : undefined);
}

function endsWith(shape: readonly number[], row: OpenPort['shape']): boolean {
  const fits = (size: number | null, at: number) => size === null || shape[at + 1] === size;
  return shape.length === row.length + 1 && row.every(fits);
}

/**
 * The rows of x for a model with `inputShape` per row; int32 and bool are converted to floats. Where a
 * row is one number, x may be [rows].
 * Errors: another shape, no rows, another dtype.
 */
function featureRows(
  x: TensorLike,
  inputShape: readonly number[],
  what: string,
  device?: Device,
): Rows {
  const values = asTensor(x, inputShape, what);
  const isFlat = values.rank === 1 && inputShape.length === 1 && inputShape[0] === 1;
  if (!isFlat && !endsWith(values.shape, inputShape)) {
    throw wrongShape(what, values.shape, inputShape);
  }
  if (!['float32', 'int32', 'bool'].includes(values.dtype)) {
    throw new LatheError(`${what} has dtype ${values.dtype}, but the model expects float32`);
  }
  if (values.shape[0] === 0) throw new LatheError(`${what} has no rows`);
  const rows = { count: values.shape[0]!, width: elementCount(inputShape) };
  const value = valueElsewhere(values);
  if (value !== undefined && value.device === device && value.dtype === 'float32') {
    return { ...rows, data: new Float32Array(), value };
  }
  return { ...rows, data: values.dataSync() as Rows['data'] };
}

/**
 * The rows of y for a model with `outputShape` per row and an x of `count` rows: dense labels
 * [count, …outputShape], or class indices [count] or [count, 1].
 * Errors: another shape or row count, a dtype other than float32, int32 or bool, class indices that
 * are not integers or out of range.
 */
function labelRows(
  y: TensorLike,
  outputShape: readonly number[],
  count: number,
  what: string,
): LabelRows {
  const width = elementCount(outputShape);
  const classes = outputShape.at(-1) ?? 1;
  const labelShape = outputShape.slice(0, -1);
  const flat = (count * width) / classes;
  const isFlat = ArrayBuffer.isView(y) && y.length === flat;
  if (ArrayBuffer.isView(y) && !isFlat && (y as Int32Array).length % width !== 0) {
    throw new LatheError(
      `${what} has ${(y as Int32Array).length} values for ${count} rows; ` +
        `${flat} class numbers or ${count * width} values are needed`,
    );
  }
  const values = asTensor(y, isFlat ? labelShape : outputShape, what);
  if (!['float32', 'int32', 'bool'].includes(values.dtype)) {
    throw new LatheError(
      `${what} has dtype ${values.dtype}, but labels are float32, int32 or bool`,
    );
  }
  const single = endsWith(values.shape, labelShape) || endsWith(values.shape, [...labelShape, 1]);
  const dense = endsWith(values.shape, outputShape) || (classes === 1 && single);
  if (!dense && !single) {
    throw new LatheError(
      `${what} has shape ${formatShape(values.shape)}, but the labels are ` +
        `${formatShape([null, ...outputShape])}, or class numbers ${formatShape([null, ...labelShape])}`,
    );
  }
  if (values.shape[0] !== count) {
    throw new LatheError(
      `${what.replace(/y( of .*)?$/, 'x')} has ${count} rows, but y has ${values.shape[0]}`,
    );
  }
  const data = values.dataSync() as Rows['data'];
  if (dense) {
    const floats = isArrayOf(data, Float32Array) ? data : new Float32Array(data);
    return { data: floats, count, width, kind: 'dense' };
  }
  const each = width / classes;
  checkClasses(data, what, each, classes);
  const numbers = isArrayOf(data, Int32Array) ? data : new Int32Array(data);
  return { data: numbers, count, width: each, kind: 'sparse' };
}

function checkClasses(data: Rows['data'], what: string, width: number, classes: number): void {
  const isRight = (value: number) => Number.isInteger(value) && value >= 0 && value < classes;
  const wrong = data.findIndex((value: number) => !isRight(value));
  if (wrong < 0) return;
  const row = Math.floor(wrong / width);
  throw new LatheError(
    `${what}: the label ${data[wrong]} in row ${row} is no class number from 0 to ${classes - 1}`,
  );
}

/** The rows `from` … `to`-1, as views. */
export function slice(examples: Examples, from: number, to: number): Examples {
  const part = (rows: Rows) => ({
    ...rows,
    data: rows.data.subarray(from * rows.width, to * rows.width),
    count: to - from,
  });
  const rows = new Map([...examples.rows].map(([name, each]) => [name, part(each)]));
  return { ...examples, count: to - from, rows };
}
