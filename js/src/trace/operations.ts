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
}
/** Every operation as a method of its first tensor, a T; the others are each an O. */
export interface OperationMethods<T, O> {
  /** add(a, b) */
  add(b: O): T;
  /** sub(a, b) */
  sub(b: O): T;
  /** mul(a, b) */
  mul(b: O): T;
  /** div(a, b) */
  div(b: O): T;
  /** mod(a, b) */
  mod(b: O): T;
  /** floorDiv(a, b) */
  floorDiv(b: O): T;
  /** maximum(a, b) */
  maximum(b: O): T;
  /** minimum(a, b) */
  minimum(b: O): T;
  /** mulAdd(a, b, c) */
  mulAdd(b: O, c: O): T;
  /** neg(a) */
  neg(): T;
  /** abs(a) */
  abs(): T;
  /** sign(a) */
  sign(): T;
  /** sqrt(a) */
  sqrt(): T;
  /** pow(a, b) */
  pow(b: O): T;
  /** floor(a) */
  floor(): T;
  /** ceil(a) */
  ceil(): T;
  /** trunc(a) */
  trunc(): T;
  /** round(a) */
  round(): T;
  /** exp(a) */
  exp(): T;
  /** expm1(a) */
  expm1(): T;
  /** log(a) */
  log(): T;
  /** log1p(a) */
  log1p(): T;
  /** sin(a) */
  sin(): T;
  /** cos(a) */
  cos(): T;
  /** tan(a) */
  tan(): T;
  /** asin(a) */
  asin(): T;
  /** acos(a) */
  acos(): T;
  /** atan(a) */
  atan(): T;
  /** atan2(a, b) */
  atan2(b: O): T;
  /** sinh(a) */
  sinh(): T;
  /** cosh(a) */
  cosh(): T;
  /** tanh(a) */
  tanh(): T;
  /** asinh(a) */
  asinh(): T;
  /** acosh(a) */
  acosh(): T;
  /** atanh(a) */
  atanh(): T;
  /** sigmoid(a) */
  sigmoid(): T;
  /** erf(a) */
  erf(): T;
  /** detach(a) */
  detach(): T;
  /** isNaN(a) */
  isNaN(): T;
  /** isFinite(a) */
  isFinite(): T;
  /** isInf(a) */
  isInf(): T;
  /** equal(a, b) */
  equal(b: O): T;
  /** notEqual(a, b) */
  notEqual(b: O): T;
  /** less(a, b) */
  less(b: O): T;
  /** lessEqual(a, b) */
  lessEqual(b: O): T;
  /** greater(a, b) */
  greater(b: O): T;
  /** greaterEqual(a, b) */
  greaterEqual(b: O): T;
  /** logicalAnd(a, b) */
  logicalAnd(b: O): T;
  /** logicalOr(a, b) */
  logicalOr(b: O): T;
  /** logicalNot(a) */
  logicalNot(): T;
  /** shiftLeft(a, b) */
  shiftLeft(b: O): T;
  /** shiftRight(a, b) */
  shiftRight(b: O): T;
  /** bitAnd(a, b) */
  bitAnd(b: O): T;
  /** bitOr(a, b) */
  bitOr(b: O): T;
  /** bitXor(a, b) */
  bitXor(b: O): T;
  /** toBits(a) */
  toBits(): T;
  /** fromBits(a) */
  fromBits(): T;
  /** matMul(a, b, transposeA = false, transposeB = false) */
  matMul(b: O, transposeA?: boolean, transposeB?: boolean): T;
  /** cast(x, dtype) */
  cast(dtype: DType): T;
  /** square(x) */
  square(): T;
  /** reciprocal(x) */
  reciprocal(): T;
  /** rsqrt(x) */
  rsqrt(): T;
  /** squaredDifference(a, b) */
  squaredDifference(b: O): T;
  /** clipByValue(x, clipValueMin, clipValueMax) */
  clipByValue(clipValueMin: O, clipValueMax: O): T;
  /** relu(x) */
  relu(): T;
  /** relu6(x) */
  relu6(): T;
  /** leakyRelu(x, alpha = 0.2) */
  leakyRelu(alpha?: number): T;
  /** elu(x, alpha = 1) */
  elu(alpha?: number): T;
  /** gelu(x, approximate = false) */
  gelu(approximate?: boolean): T;
  /** softplus(x) */
  softplus(): T;
  /** softmax(x, dim = -1) */
  softmax(dim?: number): T;
  /** logSoftmax(x, axis = -1) */
  logSoftmax(axis?: number): T;
  /** sum(x, axis = null, keepDims = false) */
  sum(axis?: number | readonly number[], keepDims?: boolean): T;
  /** mean(x, axis = null, keepDims = false) */
  mean(axis?: number | readonly number[], keepDims?: boolean): T;
  /** prod(x, axis = null, keepDims = false) */
  prod(axis?: number | readonly number[], keepDims?: boolean): T;
  /** max(x, axis = null, keepDims = false) */
  max(axis?: number | readonly number[], keepDims?: boolean): T;
  /** min(x, axis = null, keepDims = false) */
  min(axis?: number | readonly number[], keepDims?: boolean): T;
  /** all(x, axis = null, keepDims = false) */
  all(axis?: number | readonly number[], keepDims?: boolean): T;
  /** any(x, axis = null, keepDims = false) */
  any(axis?: number | readonly number[], keepDims?: boolean): T;
  /** logSumExp(x, axis = null, keepDims = false) */
  logSumExp(axis?: number | readonly number[], keepDims?: boolean): T;
  /** argMax(x, axis = 0) */
  argMax(axis?: number): T;
  /** argMin(x, axis = 0) */
  argMin(axis?: number): T;
  /** reshape(x, shape) */
  reshape(shape: number | readonly number[]): T;
  /** flatten(x) */
  flatten(): T;
  /** expandDims(x, axis = 0) */
  expandDims(axis?: number): T;
  /** squeeze(x, axis = null) */
  squeeze(axis?: number | readonly number[]): T;
  /** transpose(x, perm = null) */
  transpose(perm?: number | readonly number[]): T;
  /** broadcastTo(x, shape) */
  broadcastTo(shape: number | readonly number[]): T;
  /** tile(x, reps) */
  tile(reps: number | readonly number[]): T;
  /** slice(x, begin, size = null) */
  slice(begin: number | readonly number[], size?: number | readonly number[]): T;
  /** reverse(x, axis = null) */
  reverse(axis?: number | readonly number[]): T;
  /** pad(x, paddings, constantValue = 0) */
  pad(paddings: readonly (readonly [number, number])[], constantValue?: number): T;
  /** concat(tensors, axis = 0) */
  concat(others: O | readonly O[], axis?: number): T;
  /** stack(tensors, axis = 0) */
  stack(others: O | readonly O[], axis?: number): T;
  /** conv1d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv1d(filter: O, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): T;
  /** conv2d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv2d(filter: O, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): T;
  /** conv3d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv3d(filter: O, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): T;
  /** depthwiseConv2d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  depthwiseConv2d(filter: O, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): T;
  /** conv2dTranspose(x, filter, outputShape, strides = 1, pad = "valid") */
  conv2dTranspose(filter: O, outputShape: number | readonly number[], strides?: number | readonly number[], pad?: 'valid' | 'same'): T;
  /** maxPool(x, filterSize, strides, pad = "valid") */
  maxPool(filterSize: number | readonly number[], strides: number | readonly number[], pad?: 'valid' | 'same'): T;
  /** avgPool(x, filterSize, strides, pad = "valid") */
  avgPool(filterSize: number | readonly number[], strides: number | readonly number[], pad?: 'valid' | 'same'): T;
  /** resizeBilinear(x, size, alignCorners = false, halfPixelCenters = false) */
  resizeBilinear(size: number | readonly number[], alignCorners?: boolean, halfPixelCenters?: boolean): T;
  /** resizeNearestNeighbor(x, size, alignCorners = false, halfPixelCenters = false) */
  resizeNearestNeighbor(size: number | readonly number[], alignCorners?: boolean, halfPixelCenters?: boolean): T;
  /** batchNorm(x, mean, variance, offset, scale, varianceEpsilon = 0.001) */
  batchNorm(mean: O, variance: O, offset: O, scale: O, varianceEpsilon?: number): T;
  /** gather(x, indices, axis = 0) */
  gather(indices: O, axis?: number): T;
  /** takeAlongAxis(x, indices, axis = -1) */
  takeAlongAxis(indices: O, axis?: number): T;
  /** sort(x, axis = -1, descending = false) */
  sort(axis?: number, descending?: boolean): T;
  /** argsort(x, axis = -1, descending = false) */
  argsort(axis?: number, descending?: boolean): T;
  /** nonZero(x, size = -1) */
  nonZero(size?: number): T;
  /** topkIndices(x, k = 1) */
  topkIndices(k?: number): T;
  /** cumsum(x, axis = 0, exclusive = false, reverse = false) */
  cumsum(axis?: number, exclusive?: boolean, reverse?: boolean): T;
  /** cumprod(x, axis = 0, exclusive = false, reverse = false) */
  cumprod(axis?: number, exclusive?: boolean, reverse?: boolean): T;
  /** randomUniform(seed, shape, minval = 0, maxval = 1) */
  randomUniform(shape: number | readonly number[], minval?: number, maxval?: number): T;
  /** randomNormal(seed, shape, mean = 0, stdDev = 1) */
  randomNormal(shape: number | readonly number[], mean?: number, stdDev?: number): T;
  /** truncatedNormal(seed, shape, mean = 0, stdDev = 1) */
  truncatedNormal(shape: number | readonly number[], mean?: number, stdDev?: number): T;
  /** oneHot(indices, depth) */
  oneHot(depth: number): T;
  /** where(condition, this, b): the condition comes first, as in TensorFlow.js. */
  where(condition: O, b: O): T;
}
