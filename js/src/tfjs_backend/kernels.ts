/** Implementations of TensorFlow.js's kernels by name (kernel_names.ts of tfjs-core 4.22). */
import * as tf from '../ops/index.js';
import { grad } from '../eager/autodiff/gradients.js';
import type { InputName } from '../ops/kernel_inputs.js';
import { type Arguments, sharedKernels } from '../ops/kernels.js';
import type { Tensor } from '../tensor/tensor.js';
import type { Inputs } from './inputs.js';

/** Attributes of a kernel, validated by TensorFlow.js. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Attributes = Record<string, any>;
export type Kernel = (inputs: Inputs, attributes: Attributes) => Tensor | Tensor[];

const list = (inputs: Inputs): Tensor[] => Object.values(inputs);
/** The vector-Jacobian product of a function at x with dy. */
const pulled = (f: (x: Tensor) => Tensor, x: Tensor, dy: Tensor): Tensor => grad(f)(x, dy);
const sameShape = (a: Tensor, b: Tensor): boolean => a.shape.join() === b.shape.join();
const roundings = [undefined, 'ceil', 'round'] as const;
/** The same for windows. TensorFlow.js does not pass the rounding mode; it is inferred from the shape of dy. */
const pulledWindows = (
  f: (x: Tensor, attributes: Attributes) => Tensor,
  x: Tensor,
  dy: Tensor,
  attributes: Attributes,
): Tensor =>
  pulled(
    (at) => {
      for (const dimRoundingMode of roundings) {
        const found = f(at, { ...attributes, dimRoundingMode });
        if (sameShape(found, dy)) return found;
      }
      return f(at, attributes);
    },
    x,
    dy,
  );

const window = ({ filterSize, strides, pad, dimRoundingMode }: Attributes) =>
  [filterSize, strides, pad, dimRoundingMode] as const;
const convolution = ({ strides, pad, dataFormat, dilations, dimRoundingMode }: Attributes) =>
  [strides, pad, dataFormat, dilations ?? 1, dimRoundingMode] as const;
/** Merges inputs and attributes to the argument object of fused functions. */
const fused = <T>(
  { x, filter, a, b, bias, preluActivationWeights }: Inputs,
  attributes: Attributes,
): T => ({ x, filter, a, b, bias, preluActivationWeights, ...attributes }) as T;

const moving: Record<string, Kernel> = {
  BatchMatMul: ({ a, b }, { transposeA, transposeB }) => tf.matMul(a, b, transposeA, transposeB),
  Bincount: ({ x, weights }, { size }) => tf.bincount(tf.reshape(x, [-1]), weights, size),
  Concat: (inputs, { axis }) => tf.concat(list(inputs), axis),
  Diag: ({ x }) => tf.diag(x),
  Fill: (_, { shape, value, dtype }) => tf.fill(shape, value, dtype),
  GatherV2: ({ x, indices }, { axis, batchDims }) => tf.gather(x, indices, axis, batchDims),
  LogicalXor: ({ a, b }) => tf.logicalXor(a, b),
  MirrorPad: ({ x }, { paddings, mode }) => tf.mirrorPad(x, paddings, mode),
  Multinomial: ({ logits }, { numSamples, seed, normalized }) =>
    tf.multinomial(logits, numSamples, seed, normalized),
  Pack: (inputs, { axis }) => tf.stack(list(inputs), axis),
  Reverse: ({ x }, { dims }) => tf.reverse(x, dims),
  SearchSorted: ({ sortedSequence, values }, { side }) =>
    tf.searchSorted(sortedSequence, values, side),
  SparseToDense: ({ sparseIndices, sparseValues, defaultValue }, { outputShape }) =>
    tf.sparseToDense(sparseIndices, sparseValues, outputShape, defaultValue),
  Step: ({ x }, { alpha }) => tf.step(x, alpha),
  UnsortedSegmentSum: ({ x, segmentIds }, { numSegments }) =>
    tf.unsortedSegmentSum(x, segmentIds, numSegments),
};

const filters: Record<string, Kernel> = {
  AvgPool: ({ x }, a) => tf.avgPool(x, ...window(a)),
  AvgPool3D: ({ x }, a) => tf.avgPool3d(x, ...window(a), a.dataFormat),
  AvgPool3DGrad: ({ dy, input }, a) => pulled((x) => tf.avgPool3d(x, ...window(a)), input, dy),
  AvgPoolGrad: ({ dy, input }, attributes) =>
    pulledWindows((x, a) => tf.avgPool(x, ...window(a)), input, dy, attributes),
  Conv2D: ({ x, filter }, a) => tf.conv2d(x, filter, ...convolution(a)),
  Conv2DBackpropFilter: ({ x, dy }, attributes) =>
    pulledWindows(
      (filter, a) => tf.conv2d(x, filter, ...convolution(a)),
      tf.zeros(attributes.filterShape),
      dy,
      attributes,
    ),
  Conv2DBackpropInput: ({ dy, filter }, attributes) =>
    pulledWindows(
      (x, a) => tf.conv2d(x, filter, ...convolution(a)),
      tf.zeros(attributes.inputShape),
      dy,
      attributes,
    ),
  Conv3D: ({ x, filter }, { strides, pad, dataFormat, dilations }) =>
    tf.conv3d(x, filter, strides, pad, dataFormat, dilations),
  Conv3DBackpropFilterV2: ({ x, dy }, { strides, pad, filterShape }) =>
    pulled((filter) => tf.conv3d(x, filter, strides, pad), tf.zeros(filterShape), dy),
  Conv3DBackpropInputV2: ({ dy, filter }, { strides, pad, inputShape }) =>
    pulled((x) => tf.conv3d(x, filter, strides, pad), tf.zeros(inputShape), dy),
  DepthwiseConv2dNative: ({ x, filter }, a) => tf.depthwiseConv2d(x, filter, ...convolution(a)),
  DepthwiseConv2dNativeBackpropFilter: ({ x, dy }, a) =>
    pulled(
      (filter) => tf.depthwiseConv2d(x, filter, ...convolution({ ...a, dataFormat: 'NHWC' })),
      tf.zeros(a.filterShape),
      dy,
    ),
  DepthwiseConv2dNativeBackpropInput: ({ dy, filter }, a) =>
    pulled(
      (x) => tf.depthwiseConv2d(x, filter, ...convolution({ ...a, dataFormat: 'NHWC' })),
      tf.zeros(a.inputShape),
      dy,
    ),
  Dilation2D: ({ x, filter }, { strides, pad, dilations }) =>
    tf.dilation2d(x, filter, strides, pad, dilations),
  Dilation2DBackpropFilter: ({ x, filter, dy }, { strides, pad, dilations }) =>
    pulled((by) => tf.dilation2d(x, by, strides, pad, dilations), filter, dy),
  Dilation2DBackpropInput: ({ x, filter, dy }, { strides, pad, dilations }) =>
    pulled((of) => tf.dilation2d(of, filter, strides, pad, dilations), x, dy),
  EluGrad: ({ dy, y }) => tf.where(tf.greater(y, 0), dy, tf.mul(dy, tf.add(y, 1))),
  FlipLeftRight: ({ image }) => tf.image.flipLeftRight(image),
  FusedBatchNorm: ({ x, mean, variance, offset, scale }, { varianceEpsilon }) =>
    tf.batchNorm(x, mean, variance, offset, scale, varianceEpsilon),
  FusedConv2D: (inputs, attributes) =>
    tf.fused.conv2d(fused<Parameters<typeof tf.fused.conv2d>[0]>(inputs, attributes)),
  FusedDepthwiseConv2D: (inputs, attributes) =>
    tf.fused.depthwiseConv2d(
      fused<Parameters<typeof tf.fused.depthwiseConv2d>[0]>(inputs, attributes),
    ),
  LRNGrad: ({ x, dy }, { depthRadius, bias, alpha, beta }) =>
    pulled((of) => tf.localResponseNormalization(of, depthRadius, bias, alpha, beta), x, dy),
  MaxPool: ({ x }, a) => tf.maxPool(x, ...window(a)),
  MaxPool3D: ({ x }, a) => tf.maxPool3d(x, ...window(a), a.dataFormat),
  MaxPool3DGrad: ({ dy, input }, a) => pulled((x) => tf.maxPool3d(x, ...window(a)), input, dy),
  MaxPoolGrad: ({ dy, input }, attributes) =>
    pulledWindows((x, a) => tf.maxPool(x, ...window(a)), input, dy, attributes),
  MaxPoolWithArgmax: ({ x }, { filterSize, strides, pad, includeBatchInIndex }) => {
    const found = tf.maxPoolWithArgmax(x, filterSize, strides, pad, includeBatchInIndex);
    return [found.result!, found.indexes!];
  },
  ResizeBilinearGrad: ({ images, dy }, { alignCorners }) =>
    pulled(
      (x) => tf.image.resizeBilinear(x, dy.shape.slice(1, 3) as [number, number], alignCorners),
      images,
      dy,
    ),
  ResizeNearestNeighborGrad: ({ images, dy }, { alignCorners }) =>
    pulled(
      (x) =>
        tf.image.resizeNearestNeighbor(x, dy.shape.slice(1, 3) as [number, number], alignCorners),
      images,
      dy,
    ),
  RotateWithOffset: ({ image }, { radians, fillValue, center }) =>
    tf.image.rotateWithOffset(image, radians, fillValue, center),
  Transform: ({ image, transforms }, { interpolation, fillMode, fillValue, outputShape }) =>
    tf.image.transform(image, transforms, interpolation, fillMode, fillValue, outputShape),
  _FusedMatMul: (inputs, attributes) =>
    tf.fused.matMul(fused<Parameters<typeof tf.fused.matMul>[0]>(inputs, attributes)),
};

const rest: Record<string, Kernel> = {
  RaggedGather: (inputs, { outputRaggedRank }) => {
    const { paramsDenseValues, indices, paramsNestedSplits } = inputs;
    const splits = paramsNestedSplits as unknown as Tensor[];
    const found = tf.raggedGather(splits, paramsDenseValues, indices, outputRaggedRank);
    return [...found.outputNestedSplits, found.outputDenseValues];
  },
};

/** Arguments of a row of ops/kernels.ts: TensorFlow.js passes all inputs and attributes by name. */
class KernelArguments implements Arguments {
  constructor(
    readonly inputs: Inputs,
    readonly attributes: Attributes,
  ) {}
  tensor(name: InputName): Tensor {
    return this.inputs[name];
  }
  all(): Tensor[] {
    return list(this.inputs);
  }
  tensors(name: InputName): Tensor[] {
    return this.inputs[name] as unknown as Tensor[];
  }
  number(name: string): number {
    return this.attributes[name] as number;
  }
  numbers(name: string): number[] {
    return this.attributes[name] as number[];
  }
  pairs(name: string): [number, number][] {
    return this.attributes[name] as [number, number][];
  }
  attribute<T>(name: string): T {
    return this.attributes[name] as T;
  }
}

const shared = (): Record<string, Kernel> =>
  Object.fromEntries(
    Object.entries(sharedKernels()).map(([name, kernel]) => [
      name,
      (inputs: Inputs, attributes: Attributes) => kernel(new KernelArguments(inputs, attributes)),
    ]),
  );

/** Created on each call, so that programs without kernels can drop them. */
export const kernels = (): Readonly<Record<string, Kernel>> => ({
  ...shared(),
  ...moving,
  ...filters,
  ...rest,
});
