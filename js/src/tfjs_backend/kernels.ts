/** Implementations of TensorFlow.js's kernels by name (kernel_names.ts of tfjs-core 4.22). */
import * as tf from '../ops/index.js';
import { grad } from '../eager/gradients.js';
import type { Tensor } from '../tensor/tensor.js';
import type { InputName, Inputs } from './inputs.js';

/** Attributes of a kernel, validated by TensorFlow.js. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Attributes = Record<string, any>;
export type Kernel = (inputs: Inputs, attributes: Attributes) => Tensor | Tensor[];

const list = (inputs: Inputs): Tensor[] => Object.values(inputs);
const one =
  (f: (x: Tensor) => Tensor, name: InputName = 'x'): Kernel =>
  (inputs) =>
    f(inputs[name]);
const two =
  (f: (a: Tensor, b: Tensor) => Tensor, first: InputName = 'a', second: InputName = 'b'): Kernel =>
  (inputs) =>
    f(inputs[first], inputs[second]);
const reduced =
  (f: (x: Tensor, axis?: number | number[], keepDims?: boolean) => Tensor): Kernel =>
  ({ x }, { axis, keepDims }) =>
    f(x, axis, keepDims);
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

/** Elementwise kernels, and those that pass inputs and attributes through. */
const simple: Record<string, Kernel> = {
  Abs: one(tf.abs),
  Acos: one(tf.acos),
  Acosh: one(tf.acosh),
  Add: two(tf.add),
  AddN: (inputs) => tf.addN(list(inputs)),
  All: reduced(tf.all),
  Any: reduced(tf.any),
  ArgMax: ({ x }, { axis }) => tf.argMax(x, axis),
  ArgMin: ({ x }, { axis }) => tf.argMin(x, axis),
  Asin: one(tf.asin),
  Asinh: one(tf.asinh),
  Atan: one(tf.atan),
  Atan2: two(tf.atan2),
  Atanh: one(tf.atanh),
  BatchMatMul: ({ a, b }, { transposeA, transposeB }) => tf.matMul(a, b, transposeA, transposeB),
  BitwiseAnd: two(tf.bitwiseAnd),
  BroadcastArgs: two(tf.broadcastArgs, 's0', 's1'),
  BroadcastTo: ({ x }, { shape }) => tf.broadcastTo(x, shape),
  Cast: ({ x }, { dtype }) => tf.cast(x, dtype),
  Ceil: one(tf.ceil),
  ClipByValue: ({ x }, { clipValueMin, clipValueMax }) =>
    tf.clipByValue(x, clipValueMin, clipValueMax),
  Complex: two(tf.complex, 'real', 'imag'),
  ComplexAbs: one(tf.abs),
  Cos: one(tf.cos),
  Cosh: one(tf.cosh),
  Elu: one(tf.elu),
  Equal: two(tf.equal),
  Erf: one(tf.erf),
  Exp: one(tf.exp),
  Expm1: one(tf.expm1),
  FFT: one(tf.fft, 'input'),
  Floor: one(tf.floor),
  FloorDiv: two(tf.floorDiv),
  Greater: two(tf.greater),
  GreaterEqual: two(tf.greaterEqual),
  IFFT: one(tf.ifft, 'input'),
  Imag: one(tf.imag, 'input'),
  IsFinite: one(tf.isFinite),
  IsInf: one(tf.isInf),
  IsNan: one(tf.isNaN),
  LeakyRelu: ({ x }, { alpha }) => tf.leakyRelu(x, alpha),
  Less: two(tf.less),
  LessEqual: two(tf.lessEqual),
  Log: one(tf.log),
  Log1p: one(tf.log1p),
  LogSoftmax: ({ logits }, { axis }) => tf.logSoftmax(logits, axis),
  LogicalAnd: two(tf.logicalAnd),
  LogicalNot: one(tf.logicalNot),
  LogicalOr: two(tf.logicalOr),
  LogicalXor: two(tf.logicalXor),
  Max: ({ x }, { reductionIndices, keepDims }) => tf.max(x, reductionIndices, keepDims),
  Maximum: two(tf.maximum),
  Mean: reduced(tf.mean),
  Min: reduced(tf.min),
  Minimum: two(tf.minimum),
  Mod: two(tf.mod),
  Multiply: two(tf.mul),
  Neg: one(tf.neg),
  NotEqual: two(tf.notEqual),
  OnesLike: one((x) => tf.onesLike(x)),
  Pow: two(tf.pow),
  Prelu: two(tf.prelu, 'x', 'alpha'),
  Prod: reduced(tf.prod),
  Real: one(tf.real, 'input'),
  RealDiv: two(tf.div),
  Reciprocal: one(tf.reciprocal),
  Relu: one(tf.relu),
  Relu6: one(tf.relu6),
  Round: one(tf.round),
  Rsqrt: one(tf.rsqrt),
  Select: ({ condition, t, e }) => tf.where(condition, t, e),
  Selu: one(tf.selu),
  Sigmoid: one(tf.sigmoid),
  Sign: one(tf.sign),
  Sin: one(tf.sin),
  Sinh: one(tf.sinh),
  Softmax: ({ logits }, { dim }) => tf.softmax(logits, dim),
  Softplus: one(tf.softplus),
  Sqrt: one(tf.sqrt),
  Square: one(tf.square),
  SquaredDifference: two(tf.squaredDifference),
  Step: ({ x }, { alpha }) => tf.step(x, alpha),
  Sub: two(tf.sub),
  Sum: reduced(tf.sum),
  Tan: one(tf.tan),
  Tanh: one(tf.tanh),
  ZerosLike: one((x) => tf.zerosLike(x)),
};

const moving: Record<string, Kernel> = {
  BatchToSpaceND: ({ x }, { blockShape, crops }) => tf.batchToSpaceND(x, blockShape, crops),
  Bincount: ({ x, weights }, { size }) => tf.bincount(tf.reshape(x, [-1]), weights, size),
  Concat: (inputs, { axis }) => tf.concat(list(inputs), axis),
  Cumprod: ({ x }, { axis, exclusive, reverse }) => tf.cumprod(x, axis, exclusive, reverse),
  Cumsum: ({ x }, { axis, exclusive, reverse }) => tf.cumsum(x, axis, exclusive, reverse),
  DenseBincount: ({ x, weights }, { size, binaryOutput }) =>
    tf.denseBincount(x, weights, size, binaryOutput),
  DepthToSpace: ({ x }, { blockSize, dataFormat }) => tf.depthToSpace(x, blockSize, dataFormat),
  Diag: one(tf.diag),
  Einsum: (inputs, { equation }) => tf.einsum(equation, ...list(inputs)),
  ExpandDims: ({ input }, { dim }) => tf.expandDims(input, dim),
  Fill: (_, { shape, value, dtype }) => tf.fill(shape, value, dtype),
  GatherNd: two(tf.gatherND, 'params', 'indices'),
  GatherV2: ({ x, indices }, { axis, batchDims }) => tf.gather(x, indices, axis, batchDims),
  LinSpace: (_, { start, stop, num }) => tf.linspace(start, stop, num),
  LowerBound: two(tf.lowerBound, 'sortedSequence', 'values'),
  MatrixBandPart: ({ input, numLower, numUpper }) => tf.linalg.bandPart(input, numLower, numUpper),
  MirrorPad: ({ x }, { paddings, mode }) => tf.mirrorPad(x, paddings, mode),
  Multinomial: ({ logits }, { numSamples, seed, normalized }) =>
    tf.multinomial(logits, numSamples, seed, normalized),
  OneHot: ({ indices }, { depth, onValue, offValue, dtype }) =>
    tf.oneHot(indices, depth, onValue, offValue, dtype),
  Pack: (inputs, { axis }) => tf.stack(list(inputs), axis),
  PadV2: ({ x }, { paddings, constantValue }) => tf.pad(x, paddings, constantValue),
  Range: (_, { start, stop, step, dtype }) => tf.range(start, stop, step, dtype),
  Reverse: ({ x }, { dims }) => tf.reverse(x, dims),
  ScatterNd: ({ indices, updates }, { shape }) => tf.scatterND(indices, updates, shape),
  SearchSorted: ({ sortedSequence, values }, { side }) =>
    tf.searchSorted(sortedSequence, values, side),
  Slice: ({ x }, { begin, size }) => tf.slice(x, begin, size),
  SpaceToBatchND: ({ x }, { blockShape, paddings }) => tf.spaceToBatchND(x, blockShape, paddings),
  SparseToDense: ({ sparseIndices, sparseValues, defaultValue }, { outputShape }) =>
    tf.sparseToDense(sparseIndices, sparseValues, outputShape, defaultValue),
  SplitV: ({ x }, { numOrSizeSplits, axis }) => tf.split(x, numOrSizeSplits, axis),
  StridedSlice: ({ x }, a) =>
    tf.stridedSlice(
      x,
      a.begin,
      a.end,
      a.strides,
      a.beginMask,
      a.endMask,
      a.ellipsisMask,
      a.newAxisMask,
      a.shrinkAxisMask,
    ),
  TensorScatterUpdate: ({ tensor, indices, updates }) =>
    tf.tensorScatterUpdate(tensor, indices, updates),
  Tile: ({ x }, { reps }) => tf.tile(x, reps),
  TopK: ({ x }, { k, sorted }) => {
    const { values, indices } = tf.topk(x, k, sorted);
    return [values, indices];
  },
  Transpose: ({ x }, { perm }) => tf.transpose(x, perm),
  Unique: ({ x }, { axis }) => {
    const { values, indices } = tf.unique(x, axis);
    return [values, indices];
  },
  Unpack: ({ value }, { axis }) => tf.unstack(value, axis),
  UnsortedSegmentSum: ({ x, segmentIds }, { numSegments }) =>
    tf.unsortedSegmentSum(x, segmentIds, numSegments),
  UpperBound: two(tf.upperBound, 'sortedSequence', 'values'),
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
  CropAndResize: ({ image, boxes, boxInd }, { cropSize, method, extrapolationValue }) =>
    tf.image.cropAndResize(image, boxes, boxInd, cropSize, method, extrapolationValue),
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
  FlipLeftRight: one(tf.image.flipLeftRight, 'image'),
  FusedBatchNorm: ({ x, mean, variance, offset, scale }, { varianceEpsilon }) =>
    tf.batchNorm(x, mean, variance, offset, scale, varianceEpsilon),
  FusedConv2D: (inputs, attributes) =>
    tf.fused.conv2d(fused<Parameters<typeof tf.fused.conv2d>[0]>(inputs, attributes)),
  FusedDepthwiseConv2D: (inputs, attributes) =>
    tf.fused.depthwiseConv2d(
      fused<Parameters<typeof tf.fused.depthwiseConv2d>[0]>(inputs, attributes),
    ),
  LRN: ({ x }, { depthRadius, bias, alpha, beta }) =>
    tf.localResponseNormalization(x, depthRadius, bias, alpha, beta),
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
  NonMaxSuppressionV3: ({ boxes, scores }, { maxOutputSize, iouThreshold, scoreThreshold }) =>
    tf.image.nonMaxSuppression(boxes, scores, maxOutputSize, iouThreshold, scoreThreshold),
  NonMaxSuppressionV4: ({ boxes, scores }, a) => {
    const found = tf.image.nonMaxSuppressionPadded(
      boxes,
      scores,
      a.maxOutputSize,
      a.iouThreshold,
      a.scoreThreshold,
      a.padToMaxOutputSize,
    );
    return [found.selectedIndices!, found.validOutputs!];
  },
  NonMaxSuppressionV5: ({ boxes, scores }, a) => {
    const found = tf.image.nonMaxSuppressionWithScore(
      boxes,
      scores,
      a.maxOutputSize,
      a.iouThreshold,
      a.scoreThreshold,
      a.softNmsSigma,
    );
    return [found.selectedIndices!, found.selectedScores!];
  },
  ResizeBilinear: ({ images }, { size, alignCorners, halfPixelCenters }) =>
    tf.image.resizeBilinear(images, size, alignCorners, halfPixelCenters),
  ResizeBilinearGrad: ({ images, dy }, { alignCorners }) =>
    pulled(
      (x) => tf.image.resizeBilinear(x, dy.shape.slice(1, 3) as [number, number], alignCorners),
      images,
      dy,
    ),
  ResizeNearestNeighbor: ({ images }, { size, alignCorners, halfPixelCenters }) =>
    tf.image.resizeNearestNeighbor(images, size, alignCorners, halfPixelCenters),
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
  RaggedRange: ({ starts, limits, deltas }) => {
    const found = tf.raggedRange(starts, limits, deltas);
    return [found.rtNestedSplits, found.rtDenseValues];
  },
  RaggedTensorToTensor: (inputs, { rowPartitionTypes }) => {
    const { shape, values, defaultValue, rowPartitionTensors } = inputs;
    const partitions = rowPartitionTensors as unknown as Tensor[];
    return tf.raggedTensorToTensor(shape, values, defaultValue, partitions, rowPartitionTypes);
  },
  SparseFillEmptyRows: ({ indices, values, denseShape, defaultValue }) => {
    const found = tf.sparse.sparseFillEmptyRows(indices, values, denseShape, defaultValue);
    const { outputIndices, outputValues, emptyRowIndicator, reverseIndexMap } = found;
    return [outputIndices, outputValues, emptyRowIndicator, reverseIndexMap];
  },
  SparseReshape: ({ inputIndices, inputShape, newShape }) => {
    const found = tf.sparse.sparseReshape(inputIndices, inputShape, newShape);
    return [found.outputIndices, found.outputShape];
  },
  SparseSegmentMean: ({ data, indices, segmentIds }) =>
    tf.sparse.sparseSegmentMean(data, indices, segmentIds),
  SparseSegmentSum: ({ data, indices, segmentIds }) =>
    tf.sparse.sparseSegmentSum(data, indices, segmentIds),
  StaticRegexReplace: ({ x }, { pattern, rewrite, replaceGlobal }) =>
    tf.string.staticRegexReplace(x, pattern, rewrite, replaceGlobal),
  StringNGrams: ({ data, dataSplits }, a) => {
    const found = tf.string.stringNGrams(
      data,
      dataSplits,
      a.separator,
      a.nGramWidths,
      a.leftPad,
      a.rightPad,
      a.padWidth,
      a.preserveShortSequences,
    );
    return [found.nGrams!, found.nGramsSplits!];
  },
  StringSplit: ({ input, delimiter }, { skipEmpty }) => {
    const { indices, values, shape } = tf.string.stringSplit(input, delimiter, skipEmpty);
    return [indices, values, shape!];
  },
  StringToHashBucketFast: ({ input }, { numBuckets }) =>
    tf.string.stringToHashBucketFast(input, numBuckets),
};

export const kernels: Readonly<Record<string, Kernel>> = {
  ...simple,
  ...moving,
  ...filters,
  ...rest,
};
