/** The operations of the core as functions and methods. Written by js/scripts/generate.mjs; do not edit. */
import type { DType } from '../tensor/dtypes.js';
import type { Operand, TracedTensor } from './trace.js';

/** Every operation as a function of its tensors; parameters left out have their default. */
export interface OperationFunctions {
  /** add(a, b) */
  add(a: Operand, b: Operand): TracedTensor;
  /** sub(a, b) */
  sub(a: Operand, b: Operand): TracedTensor;
  /** mul(a, b) */
  mul(a: Operand, b: Operand): TracedTensor;
  /** div(a, b) */
  div(a: Operand, b: Operand): TracedTensor;
  /** mod(a, b) */
  mod(a: Operand, b: Operand): TracedTensor;
  /** floorDiv(a, b) */
  floorDiv(a: Operand, b: Operand): TracedTensor;
  /** maximum(a, b) */
  maximum(a: Operand, b: Operand): TracedTensor;
  /** minimum(a, b) */
  minimum(a: Operand, b: Operand): TracedTensor;
  /** mulAdd(a, b, c) */
  mulAdd(a: Operand, b: Operand, c: Operand): TracedTensor;
  /** neg(a) */
  neg(a: Operand): TracedTensor;
  /** abs(a) */
  abs(a: Operand): TracedTensor;
  /** sign(a) */
  sign(a: Operand): TracedTensor;
  /** sqrt(a) */
  sqrt(a: Operand): TracedTensor;
  /** pow(a, b) */
  pow(a: Operand, b: Operand): TracedTensor;
  /** floor(a) */
  floor(a: Operand): TracedTensor;
  /** ceil(a) */
  ceil(a: Operand): TracedTensor;
  /** trunc(a) */
  trunc(a: Operand): TracedTensor;
  /** round(a) */
  round(a: Operand): TracedTensor;
  /** exp(a) */
  exp(a: Operand): TracedTensor;
  /** expm1(a) */
  expm1(a: Operand): TracedTensor;
  /** log(a) */
  log(a: Operand): TracedTensor;
  /** log1p(a) */
  log1p(a: Operand): TracedTensor;
  /** sin(a) */
  sin(a: Operand): TracedTensor;
  /** cos(a) */
  cos(a: Operand): TracedTensor;
  /** tan(a) */
  tan(a: Operand): TracedTensor;
  /** asin(a) */
  asin(a: Operand): TracedTensor;
  /** acos(a) */
  acos(a: Operand): TracedTensor;
  /** atan(a) */
  atan(a: Operand): TracedTensor;
  /** atan2(a, b) */
  atan2(a: Operand, b: Operand): TracedTensor;
  /** sinh(a) */
  sinh(a: Operand): TracedTensor;
  /** cosh(a) */
  cosh(a: Operand): TracedTensor;
  /** tanh(a) */
  tanh(a: Operand): TracedTensor;
  /** asinh(a) */
  asinh(a: Operand): TracedTensor;
  /** acosh(a) */
  acosh(a: Operand): TracedTensor;
  /** atanh(a) */
  atanh(a: Operand): TracedTensor;
  /** sigmoid(a) */
  sigmoid(a: Operand): TracedTensor;
  /** erf(a) */
  erf(a: Operand): TracedTensor;
  /** detach(a) */
  detach(a: Operand): TracedTensor;
  /** isNaN(a) */
  isNaN(a: Operand): TracedTensor;
  /** isFinite(a) */
  isFinite(a: Operand): TracedTensor;
  /** isInf(a) */
  isInf(a: Operand): TracedTensor;
  /** equal(a, b) */
  equal(a: Operand, b: Operand): TracedTensor;
  /** notEqual(a, b) */
  notEqual(a: Operand, b: Operand): TracedTensor;
  /** less(a, b) */
  less(a: Operand, b: Operand): TracedTensor;
  /** lessEqual(a, b) */
  lessEqual(a: Operand, b: Operand): TracedTensor;
  /** greater(a, b) */
  greater(a: Operand, b: Operand): TracedTensor;
  /** greaterEqual(a, b) */
  greaterEqual(a: Operand, b: Operand): TracedTensor;
  /** logicalAnd(a, b) */
  logicalAnd(a: Operand, b: Operand): TracedTensor;
  /** logicalOr(a, b) */
  logicalOr(a: Operand, b: Operand): TracedTensor;
  /** logicalNot(a) */
  logicalNot(a: Operand): TracedTensor;
  /** where(a, b, c) */
  where(a: Operand, b: Operand, c: Operand): TracedTensor;
  /** shiftLeft(a, b) */
  shiftLeft(a: Operand, b: Operand): TracedTensor;
  /** shiftRight(a, b) */
  shiftRight(a: Operand, b: Operand): TracedTensor;
  /** bitAnd(a, b) */
  bitAnd(a: Operand, b: Operand): TracedTensor;
  /** bitOr(a, b) */
  bitOr(a: Operand, b: Operand): TracedTensor;
  /** bitXor(a, b) */
  bitXor(a: Operand, b: Operand): TracedTensor;
  /** toBits(a) */
  toBits(a: Operand): TracedTensor;
  /** fromBits(a) */
  fromBits(a: Operand): TracedTensor;
  /** matMul(a, b, transposeA = false, transposeB = false) */
  matMul(a: Operand, b: Operand, transposeA?: boolean, transposeB?: boolean): TracedTensor;
  /** cast(x, dtype) */
  cast(x: Operand, dtype: DType): TracedTensor;
  /** square(x) */
  square(x: Operand): TracedTensor;
  /** reciprocal(x) */
  reciprocal(x: Operand): TracedTensor;
  /** rsqrt(x) */
  rsqrt(x: Operand): TracedTensor;
  /** squaredDifference(a, b) */
  squaredDifference(a: Operand, b: Operand): TracedTensor;
  /** clipByValue(x, clipValueMin, clipValueMax) */
  clipByValue(x: Operand, clipValueMin: Operand, clipValueMax: Operand): TracedTensor;
  /** relu(x) */
  relu(x: Operand): TracedTensor;
  /** relu6(x) */
  relu6(x: Operand): TracedTensor;
  /** leakyRelu(x, alpha = 0.2) */
  leakyRelu(x: Operand, alpha?: number): TracedTensor;
  /** elu(x, alpha = 1) */
  elu(x: Operand, alpha?: number): TracedTensor;
  /** gelu(x, approximate = false) */
  gelu(x: Operand, approximate?: boolean): TracedTensor;
  /** softplus(x) */
  softplus(x: Operand): TracedTensor;
  /** softmax(x, dim = -1) */
  softmax(x: Operand, dim?: number): TracedTensor;
  /** logSoftmax(x, axis = -1) */
  logSoftmax(x: Operand, axis?: number): TracedTensor;
  /** sum(x, axis = null, keepDims = false) */
  sum(x: Operand, axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** mean(x, axis = null, keepDims = false) */
  mean(x: Operand, axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** prod(x, axis = null, keepDims = false) */
  prod(x: Operand, axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** max(x, axis = null, keepDims = false) */
  max(x: Operand, axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** min(x, axis = null, keepDims = false) */
  min(x: Operand, axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** all(x, axis = null, keepDims = false) */
  all(x: Operand, axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** any(x, axis = null, keepDims = false) */
  any(x: Operand, axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** logSumExp(x, axis = null, keepDims = false) */
  logSumExp(x: Operand, axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** argMax(x, axis = 0) */
  argMax(x: Operand, axis?: number): TracedTensor;
  /** argMin(x, axis = 0) */
  argMin(x: Operand, axis?: number): TracedTensor;
  /** reshape(x, shape) */
  reshape(x: Operand, shape: number | readonly number[]): TracedTensor;
  /** flatten(x) */
  flatten(x: Operand): TracedTensor;
  /** expandDims(x, axis = 0) */
  expandDims(x: Operand, axis?: number): TracedTensor;
  /** squeeze(x, axis = null) */
  squeeze(x: Operand, axis?: number | readonly number[]): TracedTensor;
  /** transpose(x, perm = null) */
  transpose(x: Operand, perm?: number | readonly number[]): TracedTensor;
  /** broadcastTo(x, shape) */
  broadcastTo(x: Operand, shape: number | readonly number[]): TracedTensor;
  /** tile(x, reps) */
  tile(x: Operand, reps: number | readonly number[]): TracedTensor;
  /** slice(x, begin, size = null) */
  slice(x: Operand, begin: number | readonly number[], size?: number | readonly number[]): TracedTensor;
  /** reverse(x, axis = null) */
  reverse(x: Operand, axis?: number | readonly number[]): TracedTensor;
  /** pad(x, paddings, constantValue = 0) */
  pad(x: Operand, paddings: readonly (readonly [number, number])[], constantValue?: number): TracedTensor;
  /** concat(tensors, axis = 0) */
  concat(tensors: readonly Operand[], axis?: number): TracedTensor;
  /** stack(tensors, axis = 0) */
  stack(tensors: readonly Operand[], axis?: number): TracedTensor;
  /** conv1d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv1d(x: Operand, filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): TracedTensor;
  /** conv2d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv2d(x: Operand, filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): TracedTensor;
  /** conv3d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv3d(x: Operand, filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): TracedTensor;
  /** depthwiseConv2d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  depthwiseConv2d(x: Operand, filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): TracedTensor;
  /** conv2dTranspose(x, filter, outputShape, strides = 1, pad = "valid") */
  conv2dTranspose(x: Operand, filter: Operand, outputShape: number | readonly number[], strides?: number | readonly number[], pad?: 'valid' | 'same'): TracedTensor;
  /** maxPool(x, filterSize, strides, pad = "valid") */
  maxPool(x: Operand, filterSize: number | readonly number[], strides: number | readonly number[], pad?: 'valid' | 'same'): TracedTensor;
  /** avgPool(x, filterSize, strides, pad = "valid") */
  avgPool(x: Operand, filterSize: number | readonly number[], strides: number | readonly number[], pad?: 'valid' | 'same'): TracedTensor;
  /** resizeBilinear(x, size, alignCorners = false, halfPixelCenters = false) */
  resizeBilinear(x: Operand, size: number | readonly number[], alignCorners?: boolean, halfPixelCenters?: boolean): TracedTensor;
  /** resizeNearestNeighbor(x, size, alignCorners = false, halfPixelCenters = false) */
  resizeNearestNeighbor(x: Operand, size: number | readonly number[], alignCorners?: boolean, halfPixelCenters?: boolean): TracedTensor;
  /** batchNorm(x, mean, variance, offset, scale, varianceEpsilon = 0.001) */
  batchNorm(x: Operand, mean: Operand, variance: Operand, offset: Operand, scale: Operand, varianceEpsilon?: number): TracedTensor;
  /** gather(x, indices, axis = 0) */
  gather(x: Operand, indices: Operand, axis?: number): TracedTensor;
  /** takeAlongAxis(x, indices, axis = -1) */
  takeAlongAxis(x: Operand, indices: Operand, axis?: number): TracedTensor;
  /** sort(x, axis = -1, descending = false) */
  sort(x: Operand, axis?: number, descending?: boolean): TracedTensor;
  /** argsort(x, axis = -1, descending = false) */
  argsort(x: Operand, axis?: number, descending?: boolean): TracedTensor;
  /** nonZero(x, size = -1) */
  nonZero(x: Operand, size?: number): TracedTensor;
  /** topkIndices(x, k = 1) */
  topkIndices(x: Operand, k?: number): TracedTensor;
  /** cumsum(x, axis = 0, exclusive = false, reverse = false) */
  cumsum(x: Operand, axis?: number, exclusive?: boolean, reverse?: boolean): TracedTensor;
  /** cumprod(x, axis = 0, exclusive = false, reverse = false) */
  cumprod(x: Operand, axis?: number, exclusive?: boolean, reverse?: boolean): TracedTensor;
  /** randomUniform(seed, shape, minval = 0, maxval = 1) */
  randomUniform(seed: Operand, shape: number | readonly number[], minval?: number, maxval?: number): TracedTensor;
  /** randomNormal(seed, shape, mean = 0, stdDev = 1) */
  randomNormal(seed: Operand, shape: number | readonly number[], mean?: number, stdDev?: number): TracedTensor;
  /** truncatedNormal(seed, shape, mean = 0, stdDev = 1) */
  truncatedNormal(seed: Operand, shape: number | readonly number[], mean?: number, stdDev?: number): TracedTensor;
  /** oneHot(indices, depth) */
  oneHot(indices: Operand, depth: number): TracedTensor;
  /** range(start, step, size, dtype) */
  range(start: Operand, step: Operand, size: number, dtype: DType): TracedTensor;
}
/** Every operation as a method of its first tensor, a T; the others are each an O. R: the rank that a program knows. */
export interface OperationMethods<T, O> {
  /** add(a, b) */
  add<R extends T = T>(b: O): R;
  /** sub(a, b) */
  sub<R extends T = T>(b: O): R;
  /** mul(a, b) */
  mul<R extends T = T>(b: O): R;
  /** div(a, b) */
  div<R extends T = T>(b: O): R;
  /** mod(a, b) */
  mod<R extends T = T>(b: O): R;
  /** floorDiv(a, b) */
  floorDiv<R extends T = T>(b: O): R;
  /** maximum(a, b) */
  maximum<R extends T = T>(b: O): R;
  /** minimum(a, b) */
  minimum<R extends T = T>(b: O): R;
  /** mulAdd(a, b, c) */
  mulAdd<R extends T = T>(b: O, c: O): R;
  /** neg(a) */
  neg<R extends T = T>(): R;
  /** abs(a) */
  abs<R extends T = T>(): R;
  /** sign(a) */
  sign<R extends T = T>(): R;
  /** sqrt(a) */
  sqrt<R extends T = T>(): R;
  /** pow(a, b) */
  pow<R extends T = T>(b: O): R;
  /** floor(a) */
  floor<R extends T = T>(): R;
  /** ceil(a) */
  ceil<R extends T = T>(): R;
  /** trunc(a) */
  trunc<R extends T = T>(): R;
  /** round(a) */
  round<R extends T = T>(): R;
  /** exp(a) */
  exp<R extends T = T>(): R;
  /** expm1(a) */
  expm1<R extends T = T>(): R;
  /** log(a) */
  log<R extends T = T>(): R;
  /** log1p(a) */
  log1p<R extends T = T>(): R;
  /** sin(a) */
  sin<R extends T = T>(): R;
  /** cos(a) */
  cos<R extends T = T>(): R;
  /** tan(a) */
  tan<R extends T = T>(): R;
  /** asin(a) */
  asin<R extends T = T>(): R;
  /** acos(a) */
  acos<R extends T = T>(): R;
  /** atan(a) */
  atan<R extends T = T>(): R;
  /** atan2(a, b) */
  atan2<R extends T = T>(b: O): R;
  /** sinh(a) */
  sinh<R extends T = T>(): R;
  /** cosh(a) */
  cosh<R extends T = T>(): R;
  /** tanh(a) */
  tanh<R extends T = T>(): R;
  /** asinh(a) */
  asinh<R extends T = T>(): R;
  /** acosh(a) */
  acosh<R extends T = T>(): R;
  /** atanh(a) */
  atanh<R extends T = T>(): R;
  /** sigmoid(a) */
  sigmoid<R extends T = T>(): R;
  /** erf(a) */
  erf<R extends T = T>(): R;
  /** detach(a) */
  detach<R extends T = T>(): R;
  /** isNaN(a) */
  isNaN<R extends T = T>(): R;
  /** isFinite(a) */
  isFinite<R extends T = T>(): R;
  /** isInf(a) */
  isInf<R extends T = T>(): R;
  /** equal(a, b) */
  equal<R extends T = T>(b: O): R;
  /** notEqual(a, b) */
  notEqual<R extends T = T>(b: O): R;
  /** less(a, b) */
  less<R extends T = T>(b: O): R;
  /** lessEqual(a, b) */
  lessEqual<R extends T = T>(b: O): R;
  /** greater(a, b) */
  greater<R extends T = T>(b: O): R;
  /** greaterEqual(a, b) */
  greaterEqual<R extends T = T>(b: O): R;
  /** logicalAnd(a, b) */
  logicalAnd<R extends T = T>(b: O): R;
  /** logicalOr(a, b) */
  logicalOr<R extends T = T>(b: O): R;
  /** logicalNot(a) */
  logicalNot<R extends T = T>(): R;
  /** shiftLeft(a, b) */
  shiftLeft<R extends T = T>(b: O): R;
  /** shiftRight(a, b) */
  shiftRight<R extends T = T>(b: O): R;
  /** bitAnd(a, b) */
  bitAnd<R extends T = T>(b: O): R;
  /** bitOr(a, b) */
  bitOr<R extends T = T>(b: O): R;
  /** bitXor(a, b) */
  bitXor<R extends T = T>(b: O): R;
  /** toBits(a) */
  toBits<R extends T = T>(): R;
  /** fromBits(a) */
  fromBits<R extends T = T>(): R;
  /** matMul(a, b, transposeA = false, transposeB = false) */
  matMul<R extends T = T>(b: O, transposeA?: boolean, transposeB?: boolean): R;
  /** cast(x, dtype) */
  cast<R extends T = T>(dtype: DType): R;
  /** square(x) */
  square<R extends T = T>(): R;
  /** reciprocal(x) */
  reciprocal<R extends T = T>(): R;
  /** rsqrt(x) */
  rsqrt<R extends T = T>(): R;
  /** squaredDifference(a, b) */
  squaredDifference<R extends T = T>(b: O): R;
  /** clipByValue(x, clipValueMin, clipValueMax) */
  clipByValue<R extends T = T>(clipValueMin: O, clipValueMax: O): R;
  /** relu(x) */
  relu<R extends T = T>(): R;
  /** relu6(x) */
  relu6<R extends T = T>(): R;
  /** leakyRelu(x, alpha = 0.2) */
  leakyRelu<R extends T = T>(alpha?: number): R;
  /** elu(x, alpha = 1) */
  elu<R extends T = T>(alpha?: number): R;
  /** gelu(x, approximate = false) */
  gelu<R extends T = T>(approximate?: boolean): R;
  /** softplus(x) */
  softplus<R extends T = T>(): R;
  /** softmax(x, dim = -1) */
  softmax<R extends T = T>(dim?: number): R;
  /** logSoftmax(x, axis = -1) */
  logSoftmax<R extends T = T>(axis?: number): R;
  /** sum(x, axis = null, keepDims = false) */
  sum<R extends T = T>(axis?: number | readonly number[], keepDims?: boolean): R;
  /** mean(x, axis = null, keepDims = false) */
  mean<R extends T = T>(axis?: number | readonly number[], keepDims?: boolean): R;
  /** prod(x, axis = null, keepDims = false) */
  prod<R extends T = T>(axis?: number | readonly number[], keepDims?: boolean): R;
  /** max(x, axis = null, keepDims = false) */
  max<R extends T = T>(axis?: number | readonly number[], keepDims?: boolean): R;
  /** min(x, axis = null, keepDims = false) */
  min<R extends T = T>(axis?: number | readonly number[], keepDims?: boolean): R;
  /** all(x, axis = null, keepDims = false) */
  all<R extends T = T>(axis?: number | readonly number[], keepDims?: boolean): R;
  /** any(x, axis = null, keepDims = false) */
  any<R extends T = T>(axis?: number | readonly number[], keepDims?: boolean): R;
  /** logSumExp(x, axis = null, keepDims = false) */
  logSumExp<R extends T = T>(axis?: number | readonly number[], keepDims?: boolean): R;
  /** argMax(x, axis = 0) */
  argMax<R extends T = T>(axis?: number): R;
  /** argMin(x, axis = 0) */
  argMin<R extends T = T>(axis?: number): R;
  /** reshape(x, shape) */
  reshape<R extends T = T>(shape: number | readonly number[]): R;
  /** flatten(x) */
  flatten<R extends T = T>(): R;
  /** expandDims(x, axis = 0) */
  expandDims<R extends T = T>(axis?: number): R;
  /** squeeze(x, axis = null) */
  squeeze<R extends T = T>(axis?: number | readonly number[]): R;
  /** transpose(x, perm = null) */
  transpose<R extends T = T>(perm?: number | readonly number[]): R;
  /** broadcastTo(x, shape) */
  broadcastTo<R extends T = T>(shape: number | readonly number[]): R;
  /** tile(x, reps) */
  tile<R extends T = T>(reps: number | readonly number[]): R;
  /** slice(x, begin, size = null) */
  slice<R extends T = T>(begin: number | readonly number[], size?: number | readonly number[]): R;
  /** reverse(x, axis = null) */
  reverse<R extends T = T>(axis?: number | readonly number[]): R;
  /** pad(x, paddings, constantValue = 0) */
  pad<R extends T = T>(paddings: readonly (readonly [number, number])[], constantValue?: number): R;
  /** concat(tensors, axis = 0) */
  concat<R extends T = T>(others: O | readonly O[], axis?: number): R;
  /** stack(tensors, axis = 0) */
  stack<R extends T = T>(others: O | readonly O[], axis?: number): R;
  /** conv1d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv1d<R extends T = T>(filter: O, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): R;
  /** conv2d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv2d<R extends T = T>(filter: O, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): R;
  /** conv3d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv3d<R extends T = T>(filter: O, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): R;
  /** depthwiseConv2d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  depthwiseConv2d<R extends T = T>(filter: O, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): R;
  /** conv2dTranspose(x, filter, outputShape, strides = 1, pad = "valid") */
  conv2dTranspose<R extends T = T>(filter: O, outputShape: number | readonly number[], strides?: number | readonly number[], pad?: 'valid' | 'same'): R;
  /** maxPool(x, filterSize, strides, pad = "valid") */
  maxPool<R extends T = T>(filterSize: number | readonly number[], strides: number | readonly number[], pad?: 'valid' | 'same'): R;
  /** avgPool(x, filterSize, strides, pad = "valid") */
  avgPool<R extends T = T>(filterSize: number | readonly number[], strides: number | readonly number[], pad?: 'valid' | 'same'): R;
  /** resizeBilinear(x, size, alignCorners = false, halfPixelCenters = false) */
  resizeBilinear<R extends T = T>(size: number | readonly number[], alignCorners?: boolean, halfPixelCenters?: boolean): R;
  /** resizeNearestNeighbor(x, size, alignCorners = false, halfPixelCenters = false) */
  resizeNearestNeighbor<R extends T = T>(size: number | readonly number[], alignCorners?: boolean, halfPixelCenters?: boolean): R;
  /** batchNorm(x, mean, variance, offset, scale, varianceEpsilon = 0.001) */
  batchNorm<R extends T = T>(mean: O, variance: O, offset: O, scale: O, varianceEpsilon?: number): R;
  /** gather(x, indices, axis = 0) */
  gather<R extends T = T>(indices: O, axis?: number): R;
  /** takeAlongAxis(x, indices, axis = -1) */
  takeAlongAxis<R extends T = T>(indices: O, axis?: number): R;
  /** sort(x, axis = -1, descending = false) */
  sort<R extends T = T>(axis?: number, descending?: boolean): R;
  /** argsort(x, axis = -1, descending = false) */
  argsort<R extends T = T>(axis?: number, descending?: boolean): R;
  /** nonZero(x, size = -1) */
  nonZero<R extends T = T>(size?: number): R;
  /** topkIndices(x, k = 1) */
  topkIndices<R extends T = T>(k?: number): R;
  /** cumsum(x, axis = 0, exclusive = false, reverse = false) */
  cumsum<R extends T = T>(axis?: number, exclusive?: boolean, reverse?: boolean): R;
  /** cumprod(x, axis = 0, exclusive = false, reverse = false) */
  cumprod<R extends T = T>(axis?: number, exclusive?: boolean, reverse?: boolean): R;
  /** randomUniform(seed, shape, minval = 0, maxval = 1) */
  randomUniform<R extends T = T>(shape: number | readonly number[], minval?: number, maxval?: number): R;
  /** randomNormal(seed, shape, mean = 0, stdDev = 1) */
  randomNormal<R extends T = T>(shape: number | readonly number[], mean?: number, stdDev?: number): R;
  /** truncatedNormal(seed, shape, mean = 0, stdDev = 1) */
  truncatedNormal<R extends T = T>(shape: number | readonly number[], mean?: number, stdDev?: number): R;
  /** oneHot(indices, depth) */
  oneHot<R extends T = T>(depth: number): R;
  /** range(start, step, size, dtype) */
  range<R extends T = T>(step: O, size: number, dtype: DType): R;
  /** where(condition, this, b): the condition comes first, as in TensorFlow.js. */
  where<R extends T = T>(condition: O, b: O): R;
}
