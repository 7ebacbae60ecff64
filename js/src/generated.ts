/** Names, parameters and defaults of the core. Written by js/scripts/generate.mjs; do not edit. */
import type { DType } from './tensor.js';
import type { Operand, SymbolicTensor } from './trace.js';

/** Names of the activations. */
export type ActivationName = 'linear' | 'sigmoid' | 'hardSigmoid' | 'tanh' | 'relu' | 'relu6' | 'leakyRelu' | 'elu' | 'selu' | 'softplus' | 'softsign' | 'swish' | 'mish' | 'gelu' | 'gelu_new' | 'softmax' | 'logSoftmax';
/** Names of the losses. */
export type LossName = 'meanSquaredError' | 'mse' | 'meanAbsoluteError' | 'mae' | 'meanAbsolutePercentageError' | 'mape' | 'meanSquaredLogarithmicError' | 'msle' | 'huber' | 'logcosh' | 'hinge' | 'squaredHinge' | 'categoricalHinge' | 'poisson' | 'kullbackLeiblerDivergence' | 'kld' | 'cosineProximity' | 'cosine' | 'binaryCrossentropy' | 'categoricalCrossentropy' | 'sparseCategoricalCrossentropy' | 'sigmoidCrossEntropy' | 'softmaxCrossEntropy';
/** Names of the metrics; every loss is one, too. */
export type MetricName = LossName | 'accuracy' | 'acc' | 'binaryAccuracy' | 'categoricalAccuracy' | 'sparseCategoricalAccuracy' | 'topKCategoricalAccuracy' | 'precision' | 'recall' | 'auc' | 'r2Score' | 'confusionMatrix';
/** Names of the optimisers. */
export type OptimizerName = 'sgd' | 'momentum' | 'adagrad' | 'adadelta' | 'adam' | 'adamw' | 'adamax' | 'rmsprop';
/** Names of the initialisers. */
export type InitializerName = 'zeros' | 'ones' | 'constant' | 'identity' | 'orthogonal' | 'randomUniform' | 'randomNormal' | 'truncatedNormal' | 'varianceScaling' | 'glorotUniform' | 'glorotNormal' | 'leCunUniform' | 'leCunNormal' | 'heUniform' | 'heNormal';
/** Names of the regularisers. */
export type RegularizerName = 'l1' | 'l2' | 'l1l2';
/** Names of the constraints. */
export type ConstraintName = 'maxNorm' | 'minMaxNorm' | 'unitNorm' | 'nonNeg';

/** An activation with its parameters. */
export type ActivationConfig =
  | { name: 'linear' }
  | { name: 'sigmoid' }
  | { name: 'hardSigmoid' }
  | { name: 'tanh' }
  | { name: 'relu' }
  | { name: 'relu6' }
  | { name: 'leakyRelu'; alpha?: number }
  | { name: 'elu'; alpha?: number }
  | { name: 'selu' }
  | { name: 'softplus' }
  | { name: 'softsign' }
  | { name: 'swish'; alpha?: number }
  | { name: 'mish' }
  | { name: 'gelu' }
  | { name: 'gelu_new' }
  | { name: 'softmax' }
  | { name: 'logSoftmax' };
/** An optimiser with its parameters. */
export type OptimizerConfig =
  | { name: 'sgd'; learningRate?: number; weightDecay?: number; clipValue?: number; clipNorm?: number; globalClipNorm?: number }
  | { name: 'momentum'; learningRate?: number; momentum?: number; useNesterov?: boolean; weightDecay?: number; clipValue?: number; clipNorm?: number; globalClipNorm?: number }
  | { name: 'adagrad'; learningRate?: number; initialAccumulatorValue?: number; epsilon?: number; weightDecay?: number; clipValue?: number; clipNorm?: number; globalClipNorm?: number }
  | { name: 'adadelta'; learningRate?: number; rho?: number; epsilon?: number; weightDecay?: number; clipValue?: number; clipNorm?: number; globalClipNorm?: number }
  | { name: 'adam'; learningRate?: number; beta1?: number; beta2?: number; epsilon?: number; weightDecay?: number; clipValue?: number; clipNorm?: number; globalClipNorm?: number }
  | { name: 'adamw'; learningRate?: number; beta1?: number; beta2?: number; epsilon?: number; weightDecay?: number; clipValue?: number; clipNorm?: number; globalClipNorm?: number }
  | { name: 'adamax'; learningRate?: number; beta1?: number; beta2?: number; epsilon?: number; decay?: number; weightDecay?: number; clipValue?: number; clipNorm?: number; globalClipNorm?: number }
  | { name: 'rmsprop'; learningRate?: number; decay?: number; momentum?: number; epsilon?: number; centered?: boolean; weightDecay?: number; clipValue?: number; clipNorm?: number; globalClipNorm?: number };
/** An initialiser with its parameters. */
export type InitializerConfig =
  | { name: 'zeros' }
  | { name: 'ones' }
  | { name: 'constant'; value?: number }
  | { name: 'identity'; gain?: number }
  | { name: 'orthogonal'; gain?: number; seed?: number }
  | { name: 'randomUniform'; minval?: number; maxval?: number; seed?: number }
  | { name: 'randomNormal'; mean?: number; stddev?: number; seed?: number }
  | { name: 'truncatedNormal'; mean?: number; stddev?: number; seed?: number }
  | { name: 'varianceScaling'; scale?: number; mode?: 'fanIn' | 'fanOut' | 'fanAvg'; distribution?: 'normal' | 'uniform' | 'truncatedNormal'; seed?: number }
  | { name: 'glorotUniform'; seed?: number }
  | { name: 'glorotNormal'; seed?: number }
  | { name: 'leCunUniform'; seed?: number }
  | { name: 'leCunNormal'; seed?: number }
  | { name: 'heUniform'; seed?: number }
  | { name: 'heNormal'; seed?: number };

/** Makers of optimisers; parameters left out have their default. */
export interface TrainFactory {
  /** Defaults: learningRate 0.01, weightDecay 0, clipValue 0, clipNorm 0, globalClipNorm 0. */
  sgd(learningRate?: number, weightDecay?: number, clipValue?: number, clipNorm?: number, globalClipNorm?: number): OptimizerConfig;
  /** Defaults: learningRate 0.01, momentum 0.9, useNesterov false, weightDecay 0, clipValue 0, clipNorm 0, globalClipNorm 0. */
  momentum(learningRate?: number, momentum?: number, useNesterov?: boolean, weightDecay?: number, clipValue?: number, clipNorm?: number, globalClipNorm?: number): OptimizerConfig;
  /** Defaults: learningRate 0.01, initialAccumulatorValue 0.1, epsilon 1e-7, weightDecay 0, clipValue 0, clipNorm 0, globalClipNorm 0. */
  adagrad(learningRate?: number, initialAccumulatorValue?: number, epsilon?: number, weightDecay?: number, clipValue?: number, clipNorm?: number, globalClipNorm?: number): OptimizerConfig;
  /** Defaults: learningRate 0.001, rho 0.95, epsilon 1e-7, weightDecay 0, clipValue 0, clipNorm 0, globalClipNorm 0. */
  adadelta(learningRate?: number, rho?: number, epsilon?: number, weightDecay?: number, clipValue?: number, clipNorm?: number, globalClipNorm?: number): OptimizerConfig;
  /** Defaults: learningRate 0.001, beta1 0.9, beta2 0.999, epsilon 1e-7, weightDecay 0, clipValue 0, clipNorm 0, globalClipNorm 0. */
  adam(learningRate?: number, beta1?: number, beta2?: number, epsilon?: number, weightDecay?: number, clipValue?: number, clipNorm?: number, globalClipNorm?: number): OptimizerConfig;
  /** Defaults: learningRate 0.001, beta1 0.9, beta2 0.999, epsilon 1e-7, weightDecay 0.004, clipValue 0, clipNorm 0, globalClipNorm 0. */
  adamw(learningRate?: number, beta1?: number, beta2?: number, epsilon?: number, weightDecay?: number, clipValue?: number, clipNorm?: number, globalClipNorm?: number): OptimizerConfig;
  /** Defaults: learningRate 0.002, beta1 0.9, beta2 0.999, epsilon 1e-7, decay 0, weightDecay 0, clipValue 0, clipNorm 0, globalClipNorm 0. */
  adamax(learningRate?: number, beta1?: number, beta2?: number, epsilon?: number, decay?: number, weightDecay?: number, clipValue?: number, clipNorm?: number, globalClipNorm?: number): OptimizerConfig;
  /** Defaults: learningRate 0.001, decay 0.9, momentum 0, epsilon 1e-7, centered false, weightDecay 0, clipValue 0, clipNorm 0, globalClipNorm 0. */
  rmsprop(learningRate?: number, decay?: number, momentum?: number, epsilon?: number, centered?: boolean, weightDecay?: number, clipValue?: number, clipNorm?: number, globalClipNorm?: number): OptimizerConfig;
}
/** Makers of initialisers; parameters left out have their default. */
export interface InitializerFactory {
  /** The same as 'zeros'. */
  zeros(): InitializerConfig;
  /** The same as 'ones'. */
  ones(): InitializerConfig;
  /** Defaults: value 0. */
  constant(parameters?: { value?: number }): InitializerConfig;
  /** Defaults: gain 1. */
  identity(parameters?: { gain?: number }): InitializerConfig;
  /** Defaults: gain 1, seed null. */
  orthogonal(parameters?: { gain?: number; seed?: number }): InitializerConfig;
  /** Defaults: minval -0.05, maxval 0.05, seed null. */
  randomUniform(parameters?: { minval?: number; maxval?: number; seed?: number }): InitializerConfig;
  /** Defaults: mean 0, stddev 0.05, seed null. */
  randomNormal(parameters?: { mean?: number; stddev?: number; seed?: number }): InitializerConfig;
  /** Defaults: mean 0, stddev 0.05, seed null. */
  truncatedNormal(parameters?: { mean?: number; stddev?: number; seed?: number }): InitializerConfig;
  /** Defaults: scale 1, mode fanIn, distribution normal, seed null. */
  varianceScaling(parameters?: { scale?: number; mode?: 'fanIn' | 'fanOut' | 'fanAvg'; distribution?: 'normal' | 'uniform' | 'truncatedNormal'; seed?: number }): InitializerConfig;
  /** Defaults: seed null. */
  glorotUniform(parameters?: { seed?: number }): InitializerConfig;
  /** Defaults: seed null. */
  glorotNormal(parameters?: { seed?: number }): InitializerConfig;
  /** Defaults: seed null. */
  leCunUniform(parameters?: { seed?: number }): InitializerConfig;
  /** Defaults: seed null. */
  leCunNormal(parameters?: { seed?: number }): InitializerConfig;
  /** Defaults: seed null. */
  heUniform(parameters?: { seed?: number }): InitializerConfig;
  /** Defaults: seed null. */
  heNormal(parameters?: { seed?: number }): InitializerConfig;
}

/** The initialisers by name. */
export const initializerNames = ['zeros', 'ones', 'constant', 'identity', 'orthogonal', 'randomUniform', 'randomNormal', 'truncatedNormal', 'varianceScaling', 'glorotUniform', 'glorotNormal', 'leCunUniform', 'leCunNormal', 'heUniform', 'heNormal'] as const;
/** The optimisers by name, each with the names of its parameters in the order of its maker. */
export const optimizerParameters = {
  sgd: ['learningRate', 'weightDecay', 'clipValue', 'clipNorm', 'globalClipNorm'],
  momentum: ['learningRate', 'momentum', 'useNesterov', 'weightDecay', 'clipValue', 'clipNorm', 'globalClipNorm'],
  adagrad: ['learningRate', 'initialAccumulatorValue', 'epsilon', 'weightDecay', 'clipValue', 'clipNorm', 'globalClipNorm'],
  adadelta: ['learningRate', 'rho', 'epsilon', 'weightDecay', 'clipValue', 'clipNorm', 'globalClipNorm'],
  adam: ['learningRate', 'beta1', 'beta2', 'epsilon', 'weightDecay', 'clipValue', 'clipNorm', 'globalClipNorm'],
  adamw: ['learningRate', 'beta1', 'beta2', 'epsilon', 'weightDecay', 'clipValue', 'clipNorm', 'globalClipNorm'],
  adamax: ['learningRate', 'beta1', 'beta2', 'epsilon', 'decay', 'weightDecay', 'clipValue', 'clipNorm', 'globalClipNorm'],
  rmsprop: ['learningRate', 'decay', 'momentum', 'epsilon', 'centered', 'weightDecay', 'clipValue', 'clipNorm', 'globalClipNorm'],
} as const;
/** The fields of a schedule. */
export const scheduleFields = ['rows', 'columns', 'unroll', 'blockRows', 'blockColumns', 'blockDepth', 'packRows', 'packColumns', 'lanes'] as const;

/** Every operation as a function of its tensors; parameters left out have their default. */
export interface OperationFunctions {
  /** add(a, b) */
  add(a: Operand, b: Operand): SymbolicTensor;
  /** sub(a, b) */
  sub(a: Operand, b: Operand): SymbolicTensor;
  /** mul(a, b) */
  mul(a: Operand, b: Operand): SymbolicTensor;
  /** div(a, b) */
  div(a: Operand, b: Operand): SymbolicTensor;
  /** maximum(a, b) */
  maximum(a: Operand, b: Operand): SymbolicTensor;
  /** minimum(a, b) */
  minimum(a: Operand, b: Operand): SymbolicTensor;
  /** mulAdd(a, b, c) */
  mulAdd(a: Operand, b: Operand, c: Operand): SymbolicTensor;
  /** neg(a) */
  neg(a: Operand): SymbolicTensor;
  /** abs(a) */
  abs(a: Operand): SymbolicTensor;
  /** sqrt(a) */
  sqrt(a: Operand): SymbolicTensor;
  /** floor(a) */
  floor(a: Operand): SymbolicTensor;
  /** round(a) */
  round(a: Operand): SymbolicTensor;
  /** exp(a) */
  exp(a: Operand): SymbolicTensor;
  /** log(a) */
  log(a: Operand): SymbolicTensor;
  /** tanh(a) */
  tanh(a: Operand): SymbolicTensor;
  /** sigmoid(a) */
  sigmoid(a: Operand): SymbolicTensor;
  /** detach(a) */
  detach(a: Operand): SymbolicTensor;
  /** equal(a, b) */
  equal(a: Operand, b: Operand): SymbolicTensor;
  /** notEqual(a, b) */
  notEqual(a: Operand, b: Operand): SymbolicTensor;
  /** less(a, b) */
  less(a: Operand, b: Operand): SymbolicTensor;
  /** lessEqual(a, b) */
  lessEqual(a: Operand, b: Operand): SymbolicTensor;
  /** greater(a, b) */
  greater(a: Operand, b: Operand): SymbolicTensor;
  /** greaterEqual(a, b) */
  greaterEqual(a: Operand, b: Operand): SymbolicTensor;
  /** logicalAnd(a, b) */
  logicalAnd(a: Operand, b: Operand): SymbolicTensor;
  /** logicalOr(a, b) */
  logicalOr(a: Operand, b: Operand): SymbolicTensor;
  /** logicalNot(a) */
  logicalNot(a: Operand): SymbolicTensor;
  /** where(a, b, c) */
  where(a: Operand, b: Operand, c: Operand): SymbolicTensor;
  /** shiftLeft(a, b) */
  shiftLeft(a: Operand, b: Operand): SymbolicTensor;
  /** shiftRight(a, b) */
  shiftRight(a: Operand, b: Operand): SymbolicTensor;
  /** bitAnd(a, b) */
  bitAnd(a: Operand, b: Operand): SymbolicTensor;
  /** bitOr(a, b) */
  bitOr(a: Operand, b: Operand): SymbolicTensor;
  /** toBits(a) */
  toBits(a: Operand): SymbolicTensor;
  /** fromBits(a) */
  fromBits(a: Operand): SymbolicTensor;
  /** matMul(a, b, transposeA = false, transposeB = false) */
  matMul(a: Operand, b: Operand, transposeA?: boolean, transposeB?: boolean): SymbolicTensor;
  /** cast(x, dtype) */
  cast(x: Operand, dtype: DType): SymbolicTensor;
  /** square(x) */
  square(x: Operand): SymbolicTensor;
  /** reciprocal(x) */
  reciprocal(x: Operand): SymbolicTensor;
  /** rsqrt(x) */
  rsqrt(x: Operand): SymbolicTensor;
  /** squaredDifference(a, b) */
  squaredDifference(a: Operand, b: Operand): SymbolicTensor;
  /** clipByValue(x, clipValueMin, clipValueMax) */
  clipByValue(x: Operand, clipValueMin: number, clipValueMax: number): SymbolicTensor;
  /** relu(x) */
  relu(x: Operand): SymbolicTensor;
  /** relu6(x) */
  relu6(x: Operand): SymbolicTensor;
  /** leakyRelu(x, alpha = 0.2) */
  leakyRelu(x: Operand, alpha?: number): SymbolicTensor;
  /** elu(x, alpha = 1) */
  elu(x: Operand, alpha?: number): SymbolicTensor;
  /** erf(x) */
  erf(x: Operand): SymbolicTensor;
  /** gelu(x, approximate = false) */
  gelu(x: Operand, approximate?: boolean): SymbolicTensor;
  /** softplus(x) */
  softplus(x: Operand): SymbolicTensor;
  /** softmax(x, dim = -1) */
  softmax(x: Operand, dim?: number): SymbolicTensor;
  /** logSoftmax(x, axis = -1) */
  logSoftmax(x: Operand, axis?: number): SymbolicTensor;
  /** sum(x, axis = null, keepDims = false) */
  sum(x: Operand, axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** mean(x, axis = null, keepDims = false) */
  mean(x: Operand, axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** prod(x, axis = null, keepDims = false) */
  prod(x: Operand, axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** max(x, axis = null, keepDims = false) */
  max(x: Operand, axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** min(x, axis = null, keepDims = false) */
  min(x: Operand, axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** all(x, axis = null, keepDims = false) */
  all(x: Operand, axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** any(x, axis = null, keepDims = false) */
  any(x: Operand, axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** logSumExp(x, axis = null, keepDims = false) */
  logSumExp(x: Operand, axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** argMax(x, axis = 0) */
  argMax(x: Operand, axis?: number): SymbolicTensor;
  /** argMin(x, axis = 0) */
  argMin(x: Operand, axis?: number): SymbolicTensor;
  /** reshape(x, shape) */
  reshape(x: Operand, shape: number | readonly number[]): SymbolicTensor;
  /** flatten(x) */
  flatten(x: Operand): SymbolicTensor;
  /** expandDims(x, axis = 0) */
  expandDims(x: Operand, axis?: number): SymbolicTensor;
  /** squeeze(x, axis = null) */
  squeeze(x: Operand, axis?: number | readonly number[]): SymbolicTensor;
  /** transpose(x, perm = null) */
  transpose(x: Operand, perm?: number | readonly number[]): SymbolicTensor;
  /** broadcastTo(x, shape) */
  broadcastTo(x: Operand, shape: number | readonly number[]): SymbolicTensor;
  /** tile(x, reps) */
  tile(x: Operand, reps: number | readonly number[]): SymbolicTensor;
  /** slice(x, begin, size = null) */
  slice(x: Operand, begin: number | readonly number[], size?: number | readonly number[]): SymbolicTensor;
  /** reverse(x, axis = null) */
  reverse(x: Operand, axis?: number | readonly number[]): SymbolicTensor;
  /** pad(x, paddings, constantValue = 0) */
  pad(x: Operand, paddings: readonly (readonly [number, number])[], constantValue?: number): SymbolicTensor;
  /** concat(tensors, axis = 0) */
  concat(tensors: readonly Operand[], axis?: number): SymbolicTensor;
  /** stack(tensors, axis = 0) */
  stack(tensors: readonly Operand[], axis?: number): SymbolicTensor;
  /** conv1d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv1d(x: Operand, filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): SymbolicTensor;
  /** conv2d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv2d(x: Operand, filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): SymbolicTensor;
  /** conv3d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv3d(x: Operand, filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): SymbolicTensor;
  /** depthwiseConv2d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  depthwiseConv2d(x: Operand, filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): SymbolicTensor;
  /** conv2dTranspose(x, filter, outputShape, strides = 1, pad = "valid") */
  conv2dTranspose(x: Operand, filter: Operand, outputShape: number | readonly number[], strides?: number | readonly number[], pad?: 'valid' | 'same'): SymbolicTensor;
  /** maxPool(x, filterSize, strides, pad = "valid") */
  maxPool(x: Operand, filterSize: number | readonly number[], strides: number | readonly number[], pad?: 'valid' | 'same'): SymbolicTensor;
  /** avgPool(x, filterSize, strides, pad = "valid") */
  avgPool(x: Operand, filterSize: number | readonly number[], strides: number | readonly number[], pad?: 'valid' | 'same'): SymbolicTensor;
  /** resizeBilinear(x, size, alignCorners = false, halfPixelCenters = false) */
  resizeBilinear(x: Operand, size: number | readonly number[], alignCorners?: boolean, halfPixelCenters?: boolean): SymbolicTensor;
  /** resizeNearestNeighbor(x, size, alignCorners = false, halfPixelCenters = false) */
  resizeNearestNeighbor(x: Operand, size: number | readonly number[], alignCorners?: boolean, halfPixelCenters?: boolean): SymbolicTensor;
  /** batchNorm(x, mean, variance, offset, scale, varianceEpsilon = 0.001) */
  batchNorm(x: Operand, mean: Operand, variance: Operand, offset: Operand, scale: Operand, varianceEpsilon?: number): SymbolicTensor;
  /** gather(x, indices, axis = 0) */
  gather(x: Operand, indices: Operand, axis?: number): SymbolicTensor;
  /** takeAlongAxis(x, indices, axis = -1) */
  takeAlongAxis(x: Operand, indices: Operand, axis?: number): SymbolicTensor;
  /** sort(x, axis = -1, descending = false) */
  sort(x: Operand, axis?: number, descending?: boolean): SymbolicTensor;
  /** argsort(x, axis = -1, descending = false) */
  argsort(x: Operand, axis?: number, descending?: boolean): SymbolicTensor;
  /** topkIndices(x, k = 1) */
  topkIndices(x: Operand, k?: number): SymbolicTensor;
  /** cumsum(x, axis = 0, exclusive = false, reverse = false) */
  cumsum(x: Operand, axis?: number, exclusive?: boolean, reverse?: boolean): SymbolicTensor;
  /** cumprod(x, axis = 0, exclusive = false, reverse = false) */
  cumprod(x: Operand, axis?: number, exclusive?: boolean, reverse?: boolean): SymbolicTensor;
  /** oneHot(indices, depth) */
  oneHot(indices: Operand, depth: number): SymbolicTensor;
}
/** Every operation as a method of its first tensor. */
export interface OperationMethods {
  /** add(a, b) */
  add(b: Operand): SymbolicTensor;
  /** sub(a, b) */
  sub(b: Operand): SymbolicTensor;
  /** mul(a, b) */
  mul(b: Operand): SymbolicTensor;
  /** div(a, b) */
  div(b: Operand): SymbolicTensor;
  /** maximum(a, b) */
  maximum(b: Operand): SymbolicTensor;
  /** minimum(a, b) */
  minimum(b: Operand): SymbolicTensor;
  /** mulAdd(a, b, c) */
  mulAdd(b: Operand, c: Operand): SymbolicTensor;
  /** neg(a) */
  neg(): SymbolicTensor;
  /** abs(a) */
  abs(): SymbolicTensor;
  /** sqrt(a) */
  sqrt(): SymbolicTensor;
  /** floor(a) */
  floor(): SymbolicTensor;
  /** round(a) */
  round(): SymbolicTensor;
  /** exp(a) */
  exp(): SymbolicTensor;
  /** log(a) */
  log(): SymbolicTensor;
  /** tanh(a) */
  tanh(): SymbolicTensor;
  /** sigmoid(a) */
  sigmoid(): SymbolicTensor;
  /** detach(a) */
  detach(): SymbolicTensor;
  /** equal(a, b) */
  equal(b: Operand): SymbolicTensor;
  /** notEqual(a, b) */
  notEqual(b: Operand): SymbolicTensor;
  /** less(a, b) */
  less(b: Operand): SymbolicTensor;
  /** lessEqual(a, b) */
  lessEqual(b: Operand): SymbolicTensor;
  /** greater(a, b) */
  greater(b: Operand): SymbolicTensor;
  /** greaterEqual(a, b) */
  greaterEqual(b: Operand): SymbolicTensor;
  /** logicalAnd(a, b) */
  logicalAnd(b: Operand): SymbolicTensor;
  /** logicalOr(a, b) */
  logicalOr(b: Operand): SymbolicTensor;
  /** logicalNot(a) */
  logicalNot(): SymbolicTensor;
  /** shiftLeft(a, b) */
  shiftLeft(b: Operand): SymbolicTensor;
  /** shiftRight(a, b) */
  shiftRight(b: Operand): SymbolicTensor;
  /** bitAnd(a, b) */
  bitAnd(b: Operand): SymbolicTensor;
  /** bitOr(a, b) */
  bitOr(b: Operand): SymbolicTensor;
  /** toBits(a) */
  toBits(): SymbolicTensor;
  /** fromBits(a) */
  fromBits(): SymbolicTensor;
  /** matMul(a, b, transposeA = false, transposeB = false) */
  matMul(b: Operand, transposeA?: boolean, transposeB?: boolean): SymbolicTensor;
  /** cast(x, dtype) */
  cast(dtype: DType): SymbolicTensor;
  /** square(x) */
  square(): SymbolicTensor;
  /** reciprocal(x) */
  reciprocal(): SymbolicTensor;
  /** rsqrt(x) */
  rsqrt(): SymbolicTensor;
  /** squaredDifference(a, b) */
  squaredDifference(b: Operand): SymbolicTensor;
  /** clipByValue(x, clipValueMin, clipValueMax) */
  clipByValue(clipValueMin: number, clipValueMax: number): SymbolicTensor;
  /** relu(x) */
  relu(): SymbolicTensor;
  /** relu6(x) */
  relu6(): SymbolicTensor;
  /** leakyRelu(x, alpha = 0.2) */
  leakyRelu(alpha?: number): SymbolicTensor;
  /** elu(x, alpha = 1) */
  elu(alpha?: number): SymbolicTensor;
  /** erf(x) */
  erf(): SymbolicTensor;
  /** gelu(x, approximate = false) */
  gelu(approximate?: boolean): SymbolicTensor;
  /** softplus(x) */
  softplus(): SymbolicTensor;
  /** softmax(x, dim = -1) */
  softmax(dim?: number): SymbolicTensor;
  /** logSoftmax(x, axis = -1) */
  logSoftmax(axis?: number): SymbolicTensor;
  /** sum(x, axis = null, keepDims = false) */
  sum(axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** mean(x, axis = null, keepDims = false) */
  mean(axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** prod(x, axis = null, keepDims = false) */
  prod(axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** max(x, axis = null, keepDims = false) */
  max(axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** min(x, axis = null, keepDims = false) */
  min(axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** all(x, axis = null, keepDims = false) */
  all(axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** any(x, axis = null, keepDims = false) */
  any(axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** logSumExp(x, axis = null, keepDims = false) */
  logSumExp(axis?: number | readonly number[], keepDims?: boolean): SymbolicTensor;
  /** argMax(x, axis = 0) */
  argMax(axis?: number): SymbolicTensor;
  /** argMin(x, axis = 0) */
  argMin(axis?: number): SymbolicTensor;
  /** reshape(x, shape) */
  reshape(shape: number | readonly number[]): SymbolicTensor;
  /** flatten(x) */
  flatten(): SymbolicTensor;
  /** expandDims(x, axis = 0) */
  expandDims(axis?: number): SymbolicTensor;
  /** squeeze(x, axis = null) */
  squeeze(axis?: number | readonly number[]): SymbolicTensor;
  /** transpose(x, perm = null) */
  transpose(perm?: number | readonly number[]): SymbolicTensor;
  /** broadcastTo(x, shape) */
  broadcastTo(shape: number | readonly number[]): SymbolicTensor;
  /** tile(x, reps) */
  tile(reps: number | readonly number[]): SymbolicTensor;
  /** slice(x, begin, size = null) */
  slice(begin: number | readonly number[], size?: number | readonly number[]): SymbolicTensor;
  /** reverse(x, axis = null) */
  reverse(axis?: number | readonly number[]): SymbolicTensor;
  /** pad(x, paddings, constantValue = 0) */
  pad(paddings: readonly (readonly [number, number])[], constantValue?: number): SymbolicTensor;
  /** concat(tensors, axis = 0) */
  concat(others: Operand | readonly Operand[], axis?: number): SymbolicTensor;
  /** stack(tensors, axis = 0) */
  stack(others: Operand | readonly Operand[], axis?: number): SymbolicTensor;
  /** conv1d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv1d(filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): SymbolicTensor;
  /** conv2d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv2d(filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): SymbolicTensor;
  /** conv3d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv3d(filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): SymbolicTensor;
  /** depthwiseConv2d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  depthwiseConv2d(filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): SymbolicTensor;
  /** conv2dTranspose(x, filter, outputShape, strides = 1, pad = "valid") */
  conv2dTranspose(filter: Operand, outputShape: number | readonly number[], strides?: number | readonly number[], pad?: 'valid' | 'same'): SymbolicTensor;
  /** maxPool(x, filterSize, strides, pad = "valid") */
  maxPool(filterSize: number | readonly number[], strides: number | readonly number[], pad?: 'valid' | 'same'): SymbolicTensor;
  /** avgPool(x, filterSize, strides, pad = "valid") */
  avgPool(filterSize: number | readonly number[], strides: number | readonly number[], pad?: 'valid' | 'same'): SymbolicTensor;
  /** resizeBilinear(x, size, alignCorners = false, halfPixelCenters = false) */
  resizeBilinear(size: number | readonly number[], alignCorners?: boolean, halfPixelCenters?: boolean): SymbolicTensor;
  /** resizeNearestNeighbor(x, size, alignCorners = false, halfPixelCenters = false) */
  resizeNearestNeighbor(size: number | readonly number[], alignCorners?: boolean, halfPixelCenters?: boolean): SymbolicTensor;
  /** batchNorm(x, mean, variance, offset, scale, varianceEpsilon = 0.001) */
  batchNorm(mean: Operand, variance: Operand, offset: Operand, scale: Operand, varianceEpsilon?: number): SymbolicTensor;
  /** gather(x, indices, axis = 0) */
  gather(indices: Operand, axis?: number): SymbolicTensor;
  /** takeAlongAxis(x, indices, axis = -1) */
  takeAlongAxis(indices: Operand, axis?: number): SymbolicTensor;
  /** sort(x, axis = -1, descending = false) */
  sort(axis?: number, descending?: boolean): SymbolicTensor;
  /** argsort(x, axis = -1, descending = false) */
  argsort(axis?: number, descending?: boolean): SymbolicTensor;
  /** topkIndices(x, k = 1) */
  topkIndices(k?: number): SymbolicTensor;
  /** cumsum(x, axis = 0, exclusive = false, reverse = false) */
  cumsum(axis?: number, exclusive?: boolean, reverse?: boolean): SymbolicTensor;
  /** cumprod(x, axis = 0, exclusive = false, reverse = false) */
  cumprod(axis?: number, exclusive?: boolean, reverse?: boolean): SymbolicTensor;
  /** oneHot(indices, depth) */
  oneHot(depth: number): SymbolicTensor;
  /** where(condition, this, b): the condition comes first, as in TensorFlow.js. */
  where(condition: Operand, b: Operand): SymbolicTensor;
}
/** How many tensors each operation takes, and the names of what follows them. */
export const operations = {
  add: { tensors: 2, attributes: [] },
  sub: { tensors: 2, attributes: [] },
  mul: { tensors: 2, attributes: [] },
  div: { tensors: 2, attributes: [] },
  maximum: { tensors: 2, attributes: [] },
  minimum: { tensors: 2, attributes: [] },
  mulAdd: { tensors: 3, attributes: [] },
  neg: { tensors: 1, attributes: [] },
  abs: { tensors: 1, attributes: [] },
  sqrt: { tensors: 1, attributes: [] },
  floor: { tensors: 1, attributes: [] },
  round: { tensors: 1, attributes: [] },
  exp: { tensors: 1, attributes: [] },
  log: { tensors: 1, attributes: [] },
  tanh: { tensors: 1, attributes: [] },
  sigmoid: { tensors: 1, attributes: [] },
  detach: { tensors: 1, attributes: [] },
  equal: { tensors: 2, attributes: [] },
  notEqual: { tensors: 2, attributes: [] },
  less: { tensors: 2, attributes: [] },
  lessEqual: { tensors: 2, attributes: [] },
  greater: { tensors: 2, attributes: [] },
  greaterEqual: { tensors: 2, attributes: [] },
  logicalAnd: { tensors: 2, attributes: [] },
  logicalOr: { tensors: 2, attributes: [] },
  logicalNot: { tensors: 1, attributes: [] },
  where: { tensors: 3, attributes: [] },
  shiftLeft: { tensors: 2, attributes: [] },
  shiftRight: { tensors: 2, attributes: [] },
  bitAnd: { tensors: 2, attributes: [] },
  bitOr: { tensors: 2, attributes: [] },
  toBits: { tensors: 1, attributes: [] },
  fromBits: { tensors: 1, attributes: [] },
  matMul: { tensors: 2, attributes: ['transposeA', 'transposeB'] },
  cast: { tensors: 1, attributes: ['dtype'] },
  square: { tensors: 1, attributes: [] },
  reciprocal: { tensors: 1, attributes: [] },
  rsqrt: { tensors: 1, attributes: [] },
  squaredDifference: { tensors: 2, attributes: [] },
  clipByValue: { tensors: 1, attributes: ['clipValueMin', 'clipValueMax'] },
  relu: { tensors: 1, attributes: [] },
  relu6: { tensors: 1, attributes: [] },
  leakyRelu: { tensors: 1, attributes: ['alpha'] },
  elu: { tensors: 1, attributes: ['alpha'] },
  erf: { tensors: 1, attributes: [] },
  gelu: { tensors: 1, attributes: ['approximate'] },
  softplus: { tensors: 1, attributes: [] },
  softmax: { tensors: 1, attributes: ['dim'] },
  logSoftmax: { tensors: 1, attributes: ['axis'] },
  sum: { tensors: 1, attributes: ['axis', 'keepDims'] },
  mean: { tensors: 1, attributes: ['axis', 'keepDims'] },
  prod: { tensors: 1, attributes: ['axis', 'keepDims'] },
  max: { tensors: 1, attributes: ['axis', 'keepDims'] },
  min: { tensors: 1, attributes: ['axis', 'keepDims'] },
  all: { tensors: 1, attributes: ['axis', 'keepDims'] },
  any: { tensors: 1, attributes: ['axis', 'keepDims'] },
  logSumExp: { tensors: 1, attributes: ['axis', 'keepDims'] },
  argMax: { tensors: 1, attributes: ['axis'] },
  argMin: { tensors: 1, attributes: ['axis'] },
  reshape: { tensors: 1, attributes: ['shape'] },
  flatten: { tensors: 1, attributes: [] },
  expandDims: { tensors: 1, attributes: ['axis'] },
  squeeze: { tensors: 1, attributes: ['axis'] },
  transpose: { tensors: 1, attributes: ['perm'] },
  broadcastTo: { tensors: 1, attributes: ['shape'] },
  tile: { tensors: 1, attributes: ['reps'] },
  slice: { tensors: 1, attributes: ['begin', 'size'] },
  reverse: { tensors: 1, attributes: ['axis'] },
  pad: { tensors: 1, attributes: ['paddings', 'constantValue'] },
  concat: { tensors: 'many', attributes: ['axis'] },
  stack: { tensors: 'many', attributes: ['axis'] },
  conv1d: { tensors: 2, attributes: ['strides', 'pad', 'dilations'] },
  conv2d: { tensors: 2, attributes: ['strides', 'pad', 'dilations'] },
  conv3d: { tensors: 2, attributes: ['strides', 'pad', 'dilations'] },
  depthwiseConv2d: { tensors: 2, attributes: ['strides', 'pad', 'dilations'] },
  conv2dTranspose: { tensors: 2, attributes: ['outputShape', 'strides', 'pad'] },
  maxPool: { tensors: 1, attributes: ['filterSize', 'strides', 'pad'] },
  avgPool: { tensors: 1, attributes: ['filterSize', 'strides', 'pad'] },
  resizeBilinear: { tensors: 1, attributes: ['size', 'alignCorners', 'halfPixelCenters'] },
  resizeNearestNeighbor: { tensors: 1, attributes: ['size', 'alignCorners', 'halfPixelCenters'] },
  batchNorm: { tensors: 5, attributes: ['varianceEpsilon'] },
  gather: { tensors: 2, attributes: ['axis'] },
  takeAlongAxis: { tensors: 2, attributes: ['axis'] },
  sort: { tensors: 1, attributes: ['axis', 'descending'] },
  argsort: { tensors: 1, attributes: ['axis', 'descending'] },
  topkIndices: { tensors: 1, attributes: ['k'] },
  cumsum: { tensors: 1, attributes: ['axis', 'exclusive', 'reverse'] },
  cumprod: { tensors: 1, attributes: ['axis', 'exclusive', 'reverse'] },
  oneHot: { tensors: 1, attributes: ['depth'] },
} as const;
