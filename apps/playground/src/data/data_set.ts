// The training data: numeric examples with classes or target values.
import * as tl from 'tensorlathe';
import type { Column } from './columns';

/** Concatenated examples. Labels are class indices, or target values. */
export interface Part {
  features: Float32Array;
  labels: Int32Array | Float32Array;
  count: number;
}

/** Standardization of target values: mean and deviation. */
export interface Scale {
  mean: number;
  deviation: number;
}

export const scaled = (value: number, { mean, deviation }: Scale) => (value - mean) / deviation;
export const unscaled = (value: number, { mean, deviation }: Scale) => value * deviation + mean;

export interface DataSet {
  /** Source, for display. */
  source: string;
  /** Shape of one example. */
  shape: number[];
  /** Names of the classes; without them the labels are values. */
  classes?: string[];
  /** Standardization of target values. */
  scale?: Scale;
  /** Target, for display. */
  target: string;
  /** The columns of a table, in the order of the features. */
  columns?: Column[];
  /** Whether the examples are points to show in the plane. */
  isPlane?: boolean;
  train: Part;
  /** Validation examples. */
  test: Part;
}

export const isImage = ({ shape }: DataSet) => shape.length === 3;
export const isDigits = ({ shape, classes }: DataSet) =>
  String(shape) === '28,28,1' && classes?.length === 10;
export const isPlane = ({ isPlane }: DataSet) => isPlane === true;
export const sizeOf = (shape: readonly number[]) => shape.reduce((total, n) => total * n, 1);

/** Width of the network's output: one number, or one per class. */
export const outputWidth = ({ classes }: DataSet) => classes?.length ?? 1;

/** Examples `from` … `to`-1 as an input tensor of a model. Error: its input has another size. */
export function featuresFor(
  model: tl.LayersModel,
  { shape }: DataSet,
  { features }: Part,
  from: number,
  to: number,
): tl.Tensor {
  const inputShape = model.inputs[0]!.shape.slice(1) as number[];
  const size = sizeOf(shape);
  if (sizeOf(inputShape) !== size) {
    throw new Error(
      `the network expects examples of shape [${inputShape}], but those of the data are [${shape}]`,
    );
  }
  return tl.tensor(features.subarray(from * size, to * size), [to - from, ...inputShape]);
}

/** Labels `from` … `to`-1 as a tensor. */
export function labelsFor({ labels }: Part, from: number, to: number): tl.Tensor {
  const part = labels.subarray(from, to);
  return tl.tensor(part, part instanceof Int32Array ? [to - from] : [to - from, 1]);
}

/** All examples of a part as tensors. */
export function examplesFor(
  model: tl.LayersModel,
  data: DataSet,
  part: Part,
): [tl.Tensor, tl.Tensor] {
  return [featuresFor(model, data, part, 0, part.count), labelsFor(part, 0, part.count)];
}
