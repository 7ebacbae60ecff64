/**
 * The functions of TensorFlow.js that have a kernel and an operator of TensorFlow graphs: a row per kernel name. The backend reads
 * the arguments of a row by name, graph models by operand; what differs otherwise stays with either.
 */
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import * as arithmetic from './elementwise/arithmetic.js';
import * as tf from './index.js';
import type { InputName } from './kernel_inputs.js';
import * as unary from './elementwise/unary.js';

/**
 * The arguments of one call. Kernels find them by name alone; graph nodes have operands instead of inputs and of some attributes, in
 * the order in which a row reads them. Defaults are those of graph nodes.
 */
export interface Arguments {
  /** The input of this name; the next operand. */
  tensor(name: InputName): Tensor;
  /** The inputs of this name; the operands that remain. */
  tensors(name: InputName): Tensor[];
  /** All inputs. */
  all(): Tensor[];
  /** The attribute of this name; the first element of the next operand. */
  number(name: string, otherwise?: number): number;
  /** The attribute of this name; the elements of the next operand, undefined if there is none. */
  numbers(name: string): number[] | undefined;
  /** The same, two by two. */
  pairs(name: string): [number, number][];
  /** The attribute of this name, which is in snake case in graphs unless `nodeName` is given. */
  attribute<T>(name: string, otherwise: T, nodeName?: string): T;
}
export type KernelFunction = (call: Arguments) => Tensor | Tensor[];

const one =
  (f: (x: Tensor) => Tensor, name: InputName = 'x'): KernelFunction =>
  (call) =>
    f(call.tensor(name));
const two =
  (
    f: (a: Tensor, b: Tensor) => Tensor,
    first: InputName = 'a',
    second: InputName = 'b',
  ): KernelFunction =>
  (call) =>
    f(call.tensor(first), call.tensor(second));
const three =
  (
    f: (a: Tensor, b: Tensor, c: Tensor) => Tensor,
    ...[first, second, third]: readonly [InputName, InputName, InputName]
  ): KernelFunction =>
  (call) =>
    f(call.tensor(first), call.tensor(second), call.tensor(third));
const reduced =
  (
    f: (x: Tensor, axis?: number | number[], keepDims?: boolean) => Tensor,
    axes = 'axis',
  ): KernelFunction =>
  (call) =>
    f(call.tensor('x'), call.numbers(axes), call.attribute('keepDims', false));
const argReduction =
  (f: typeof tf.argMax): KernelFunction =>
  (call) =>
    f(call.tensor('x'), call.number('axis', 0));
const running =
  (f: typeof tf.cumsum): KernelFunction =>
  (call) =>
    f(
      call.tensor('x'),
      call.number('axis', 0),
      call.attribute('exclusive', false),
      call.attribute('reverse', false),
    );
const resized =
  (f: typeof tf.image.resizeBilinear): KernelFunction =>
  (call) =>
    f(
      call.tensor('images'),
      call.numbers('size') as [number, number],
      call.attribute('alignCorners', false),
      call.attribute('halfPixelCenters', false),
    );

/** The arguments that all versions of non-maximum suppression have. */
const suppression = (call: Arguments) =>
  [
    call.tensor('boxes'),
    call.tensor('scores'),
    call.number('maxOutputSize'),
    call.number('iouThreshold', 0.5),
    call.number('scoreThreshold', -Infinity),
  ] as const;

/** Kernels that are not called like their function. */
const renamed: Readonly<Record<string, string>> = {
  div: 'RealDiv',
  isNaN: 'IsNan',
  mul: 'Multiply',
};
type Elementwise = (...operands: TensorLike[]) => Tensor;

/** A row per function of a module: the kernel "Atan2" for `atan2`. */
const rowsOf = <F>(
  functions: Readonly<Record<string, F>>,
  row: (f: F) => KernelFunction,
): Record<string, KernelFunction> =>
  Object.fromEntries(
    Object.entries(functions).map(([name, f]) => [
      renamed[name] ?? name[0]!.toUpperCase() + name.slice(1),
      row(f),
    ]),
  );

/** Created on each call, so that programs without kernels and graph models can drop the rows. */
export const sharedKernels = (): Record<string, KernelFunction> => ({
  ...rowsOf(unary, one),
  ...rowsOf<Elementwise>(arithmetic as unknown as Record<string, Elementwise>, two),
  AddN: (call) => tf.addN(call.all()),
  All: reduced(tf.all),
  Any: reduced(tf.any),
  ArgMax: argReduction(tf.argMax),
  ArgMin: argReduction(tf.argMin),
  BatchToSpaceND: (call) =>
    tf.batchToSpaceND(call.tensor('x'), call.numbers('blockShape')!, call.pairs('crops')),
  BroadcastArgs: two(tf.broadcastArgs, 's0', 's1'),
  BroadcastTo: (call) => tf.broadcastTo(call.tensor('x'), call.numbers('shape')!),
  Cast: (call) => tf.cast(call.tensor('x'), call.attribute('dtype', 'float32', 'DstT')),
  ClipByValue: (call) =>
    tf.clipByValue(call.tensor('x'), call.number('clipValueMin'), call.number('clipValueMax')),
  Complex: two(tf.complex, 'real', 'imag'),
  ComplexAbs: one(tf.abs),
  CropAndResize: (call) =>
    tf.image.cropAndResize(
      call.tensor('image'),
      call.tensor('boxes'),
      call.tensor('boxInd'),
      call.numbers('cropSize') as [number, number],
      call.attribute<'bilinear' | 'nearest'>('method', 'bilinear'),
      call.attribute('extrapolationValue', 0),
    ),
  Cumprod: running(tf.cumprod),
  Cumsum: running(tf.cumsum),
  DenseBincount: (call) => {
    const [x, size, weights] = [call.tensor('x'), call.number('size'), call.tensor('weights')];
    return tf.denseBincount(x, weights, size, call.attribute('binaryOutput', false));
  },
  DepthToSpace: (call) =>
    tf.depthToSpace(
      call.tensor('x'),
      call.attribute('blockSize', 1),
      call.attribute<'NHWC' | 'NCHW'>('dataFormat', 'NHWC'),
    ),
  Einsum: (call) => tf.einsum(call.attribute('equation', ''), ...call.all()),
  Elu: one(tf.elu),
  Equal: two(tf.equal),
  ExpandDims: (call) => tf.expandDims(call.tensor('input'), call.number('dim')),
  FFT: one(tf.fft, 'input'),
  GatherNd: two(tf.gatherND, 'params', 'indices'),
  Greater: two(tf.greater),
  GreaterEqual: two(tf.greaterEqual),
  IFFT: one(tf.ifft, 'input'),
  Imag: one(tf.imag, 'input'),
  LRN: (call) =>
    tf.localResponseNormalization(
      call.tensor('x'),
      call.attribute('depthRadius', 5),
      call.attribute('bias', 1),
      call.attribute('alpha', 1),
      call.attribute('beta', 0.5),
    ),
  LeakyRelu: (call) => tf.leakyRelu(call.tensor('x'), call.attribute('alpha', 0.2)),
  Less: two(tf.less),
  LessEqual: two(tf.lessEqual),
  LinSpace: (call) => tf.linspace(call.number('start'), call.number('stop'), call.number('num')),
  LogSoftmax: (call) => tf.logSoftmax(call.tensor('logits'), call.attribute('axis', -1)),
  LogicalAnd: two(tf.logicalAnd),
  LogicalNot: one(tf.logicalNot),
  LogicalOr: two(tf.logicalOr),
  LowerBound: two(tf.lowerBound, 'sortedSequence', 'values'),
  MatrixBandPart: three(tf.linalg.bandPart, 'input', 'numLower', 'numUpper'),
  Max: reduced(tf.max, 'reductionIndices'),
  Mean: reduced(tf.mean),
  Min: reduced(tf.min),
  NonMaxSuppressionV3: (call) => tf.image.nonMaxSuppression(...suppression(call)),
  NonMaxSuppressionV4: (call) => {
    const found = tf.image.nonMaxSuppressionPadded(
      ...suppression(call),
      call.attribute('padToMaxOutputSize', false),
    );
    return [found.selectedIndices!, found.validOutputs!];
  },
  NonMaxSuppressionV5: (call) => {
    const found = tf.image.nonMaxSuppressionWithScore(
      ...suppression(call),
      call.number('softNmsSigma'),
    );
    return [found.selectedIndices!, found.selectedScores!];
  },
  NotEqual: two(tf.notEqual),
  OneHot: (call) =>
    tf.oneHot(
      call.tensor('indices'),
      call.number('depth'),
      call.number('onValue', 1),
      call.number('offValue', 0),
      call.attribute('dtype', 'int32', 'T'),
    ),
  OnesLike: one((x) => tf.onesLike(x)),
  PadV2: (call) =>
    tf.pad(call.tensor('x'), call.pairs('paddings'), call.number('constantValue', 0)),
  Prelu: two(tf.prelu, 'x', 'alpha'),
  Prod: reduced(tf.prod),
  RaggedRange: (call) => {
    const found = tf.raggedRange(
      call.tensor('starts'),
      call.tensor('limits'),
      call.tensor('deltas'),
    );
    return [found.rtNestedSplits, found.rtDenseValues];
  },
  RaggedTensorToTensor: (call) =>
    tf.raggedTensorToTensor(
      call.tensor('shape'),
      call.tensor('values'),
      call.tensor('defaultValue'),
      call.tensors('rowPartitionTensors'),
      call.attribute<string[]>('rowPartitionTypes', []),
    ),
  Range: (call) =>
    tf.range(
      call.number('start'),
      call.number('stop'),
      call.number('step', 1),
      call.attribute<'int32' | 'float32'>('dtype', 'float32', 'Tidx'),
    ),
  Real: one(tf.real, 'input'),
  Relu: one(tf.relu),
  Relu6: one(tf.relu6),
  ResizeBilinear: resized(tf.image.resizeBilinear),
  ResizeNearestNeighbor: resized(tf.image.resizeNearestNeighbor),
  ScatterNd: (call) =>
    tf.scatterND(call.tensor('indices'), call.tensor('updates'), call.numbers('shape')!),
  Select: three(tf.where, 'condition', 't', 'e'),
  Selu: one(tf.selu),
  Slice: (call) => tf.slice(call.tensor('x'), call.numbers('begin')!, call.numbers('size')!),
  Softmax: (call) => tf.softmax(call.tensor('logits'), call.attribute('dim', -1)),
  Softplus: one(tf.softplus),
  SpaceToBatchND: (call) =>
    tf.spaceToBatchND(call.tensor('x'), call.numbers('blockShape')!, call.pairs('paddings')),
  SparseFillEmptyRows: (call) => {
    const found = tf.sparse.sparseFillEmptyRows(
      call.tensor('indices'),
      call.tensor('values'),
      call.tensor('denseShape'),
      call.tensor('defaultValue'),
    );
    const { outputIndices, outputValues, emptyRowIndicator, reverseIndexMap } = found;
    return [outputIndices, outputValues, emptyRowIndicator, reverseIndexMap];
  },
  SparseReshape: (call) => {
    const found = tf.sparse.sparseReshape(
      call.tensor('inputIndices'),
      call.tensor('inputShape'),
      call.tensor('newShape'),
    );
    return [found.outputIndices, found.outputShape];
  },
  SparseSegmentMean: three(tf.sparse.sparseSegmentMean, 'data', 'indices', 'segmentIds'),
  SparseSegmentSum: three(tf.sparse.sparseSegmentSum, 'data', 'indices', 'segmentIds'),
  SplitV: (call) =>
    tf.split(call.tensor('x'), call.numbers('numOrSizeSplits')!, call.number('axis', 0)),
  StaticRegexReplace: (call) =>
    tf.string.staticRegexReplace(
      call.tensor('x'),
      call.attribute('pattern', ''),
      call.attribute('rewrite', ''),
      call.attribute('replaceGlobal', true),
    ),
  StridedSlice: (call) =>
    tf.stridedSlice(
      call.tensor('x'),
      call.numbers('begin')!,
      call.numbers('end')!,
      call.numbers('strides')!,
      call.attribute('beginMask', 0),
      call.attribute('endMask', 0),
      call.attribute('ellipsisMask', 0),
      call.attribute('newAxisMask', 0),
      call.attribute('shrinkAxisMask', 0),
    ),
  StringNGrams: (call) => {
    const { nGrams, nGramsSplits } = tf.string.stringNGrams(
      call.tensor('data'),
      call.tensor('dataSplits'),
      call.attribute('separator', ''),
      call.attribute<number[]>('nGramWidths', [], 'ngram_widths'),
      call.attribute('leftPad', ''),
      call.attribute('rightPad', ''),
      call.attribute('padWidth', 0),
      call.attribute('preserveShortSequences', false),
    );
    return [nGrams!, nGramsSplits!];
  },
  StringSplit: (call) => {
    const { indices, values, shape } = tf.string.stringSplit(
      call.tensor('input'),
      call.tensor('delimiter'),
      call.attribute('skipEmpty', true),
    );
    return [indices!, values!, shape!];
  },
  StringToHashBucketFast: (call) =>
    tf.string.stringToHashBucketFast(call.tensor('input'), call.attribute('numBuckets', 1)),
  Sum: reduced(tf.sum),
  TensorScatterUpdate: three(tf.tensorScatterUpdate, 'tensor', 'indices', 'updates'),
  Tile: (call) => tf.tile(call.tensor('x'), call.numbers('reps')!),
  TopK: (call) => {
    const { values, indices } = tf.topk(
      call.tensor('x'),
      call.number('k'),
      call.attribute('sorted', true),
    );
    return [values, indices];
  },
  Transpose: (call) => tf.transpose(call.tensor('x'), call.numbers('perm')),
  Unique: (call) => {
    const { values, indices } = tf.unique(call.tensor('x'), call.number('axis', 0));
    return [values, indices];
  },
  Unpack: (call) => tf.unstack(call.tensor('value'), call.attribute('axis', 0)),
  UpperBound: two(tf.upperBound, 'sortedSequence', 'values'),
  ZerosLike: one((x) => tf.zerosLike(x)),
});
