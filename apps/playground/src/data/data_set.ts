// What the page trains on: examples as numbers with classes or values to be predicted.
import * as tl from 'tensorlathe';

/** Examples one after the other. Labels are numbers of classes, or the values to predict. */
export interface Part {
  features: Float32Array;
  labels: Int32Array | Float32Array;
  count: number;
}

/** How values to predict are scaled for training: as multiples of their deviation from the mean. */
export interface Scale {
  mean: number;
  deviation: number;
}

export const scaled = (value: number, { mean, deviation }: Scale) => (value - mean) / deviation;
export const unscaled = (value: number, { mean, deviation }: Scale) => value * deviation + mean;

export interface DataSet {
  /** Where it comes from, for people. */
  source: string;
  /** Shape of one example. */
  shape: number[];
  /** Names of the classes; without them the labels are values. */
  classes?: string[];
  /** Of labels that are values. */
  scale?: Scale;
  /** What is predicted, for people. */
  target: string;
  train: Part;
  /** Kept from training, to see how well it goes on what is new. */
  test: Part;
}

export const isImage = ({ shape }: DataSet) => shape.length === 3;
export const sizeOf = (shape: readonly number[]) => shape.reduce((total, n) => total * n, 1);

/** Width of what a network has to give, for people: one number, or one for each class. */
export const wantedWidth = ({ classes }: DataSet) => classes?.length ?? 1;

/** Examples `from` … `to`-1 as the tensor that a model takes. Error: its input has another size. */
export function featuresFor(
  model: tl.LayersModel,
  { shape }: DataSet,
  { features }: Part,
  from: number,
  to: number,
): tl.Tensor {
  const wanted = model.inputs[0]!.shape.slice(1) as number[];
  const size = sizeOf(shape);
  if (sizeOf(wanted) !== size) {
    throw new Error(
      `the network takes examples of shape [${wanted}], but those of the data are [${shape}]`,
    );
  }
  return tl.tensor(features.subarray(from * size, to * size), [to - from, ...wanted]);
}

/** Labels `from` … `to`-1 as the tensor that a model takes. */
export function labelsFor({ labels }: Part, from: number, to: number): tl.Tensor {
  const part = labels.subarray(from, to);
  return tl.tensor(part, part instanceof Int32Array ? [to - from] : [to - from, 1]);
}

/** The whole part as the tensors that a model takes. */
export function examplesFor(
  model: tl.LayersModel,
  data: DataSet,
  part: Part,
): [tl.Tensor, tl.Tensor] {
  return [featuresFor(model, data, part, 0, part.count), labelsFor(part, 0, part.count)];
}
