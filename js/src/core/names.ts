/** Names, parameters and defaults of the core. Written by js/scripts/generate.mjs; do not edit. */
/** Names of the activations. */
export type ActivationName = 'linear' | 'sigmoid' | 'hardSigmoid' | 'tanh' | 'relu' | 'relu6' | 'leakyRelu' | 'elu' | 'selu' | 'softplus' | 'softsign' | 'swish' | 'mish' | 'gelu' | 'gelu_new' | 'softmax' | 'logSoftmax';
/** Names of the losses. */
export type LossName = 'meanSquaredError' | 'mse' | 'meanAbsoluteError' | 'mae' | 'meanAbsolutePercentageError' | 'mape' | 'meanSquaredLogarithmicError' | 'msle' | 'huber' | 'logcosh' | 'hinge' | 'squaredHinge' | 'categoricalHinge' | 'poisson' | 'kullbackLeiblerDivergence' | 'kld' | 'cosineProximity' | 'cosine' | 'binaryCrossentropy' | 'categoricalCrossentropy' | 'sparseCategoricalCrossentropy' | 'sigmoidCrossEntropy' | 'softmaxCrossEntropy';
/** Names of the metrics; every loss is one, too. */
export type MetricName = LossName | 'accuracy' | 'acc' | 'binaryAccuracy' | 'categoricalAccuracy' | 'sparseCategoricalAccuracy' | 'topKCategoricalAccuracy' | 'precision' | 'recall' | 'auc' | 'r2Score' | 'confusionMatrix';
/** Names of the optimisers. */
export type OptimizerName = 'sgd' | 'momentum' | 'adagrad' | 'adadelta' | 'adam' | 'adamw' | 'adamax' | 'rmsprop';
/** Names of the initialisers. */
export type InitializerName = 'zeros' | 'ones' | 'constant' | 'identity' | 'orthogonal' | 'forgetGateOnes' | 'randomUniform' | 'randomNormal' | 'truncatedNormal' | 'varianceScaling' | 'glorotUniform' | 'glorotNormal' | 'leCunUniform' | 'leCunNormal' | 'heUniform' | 'heNormal';
/** Names of the regularisers. */
export type RegularizerName = 'l1' | 'l2' | 'l1l2';
/** Names of the constraints. */
export type ConstraintName = 'maxNorm' | 'minMaxNorm' | 'unitNorm' | 'nonNeg';

/** An activation with its parameters. */
export type ActivationConfig =
  | { name: 'linear'; slope?: number }
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
  | { name: 'forgetGateOnes' }
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
/** A regulariser with its parameters. */
export type RegularizerConfig =
  | { name: 'l1'; l1?: number }
  | { name: 'l2'; l2?: number }
  | { name: 'l1l2'; l1?: number; l2?: number };
/** A constraint with its parameters. */
export type ConstraintConfig =
  | { name: 'maxNorm'; maxValue?: number; axis?: number }
  | { name: 'minMaxNorm'; minValue?: number; maxValue?: number; rate?: number; axis?: number }
  | { name: 'unitNorm'; axis?: number }
  | { name: 'nonNeg' };

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
  /** The same as 'forgetGateOnes'. */
  forgetGateOnes(): InitializerConfig;
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
export const initializerNames = ['zeros', 'ones', 'constant', 'identity', 'orthogonal', 'forgetGateOnes', 'randomUniform', 'randomNormal', 'truncatedNormal', 'varianceScaling', 'glorotUniform', 'glorotNormal', 'leCunUniform', 'leCunNormal', 'heUniform', 'heNormal'] as const;

/** Makers of activations; parameters left out have their default. */
export interface ActivationFactory {
  /** Defaults: slope 1. */
  linear(parameters?: { slope?: number }): ActivationConfig;
  /** The same as 'sigmoid'. */
  sigmoid(): ActivationConfig;
  /** The same as 'hardSigmoid'. */
  hardSigmoid(): ActivationConfig;
  /** The same as 'tanh'. */
  tanh(): ActivationConfig;
  /** The same as 'relu'. */
  relu(): ActivationConfig;
  /** The same as 'relu6'. */
  relu6(): ActivationConfig;
  /** Defaults: alpha 0.3. */
  leakyRelu(parameters?: { alpha?: number }): ActivationConfig;
  /** Defaults: alpha 1. */
  elu(parameters?: { alpha?: number }): ActivationConfig;
  /** The same as 'selu'. */
  selu(): ActivationConfig;
  /** The same as 'softplus'. */
  softplus(): ActivationConfig;
  /** The same as 'softsign'. */
  softsign(): ActivationConfig;
  /** Defaults: alpha 1. */
  swish(parameters?: { alpha?: number }): ActivationConfig;
  /** The same as 'mish'. */
  mish(): ActivationConfig;
  /** The same as 'gelu'. */
  gelu(): ActivationConfig;
  /** The same as 'gelu_new'. */
  gelu_new(): ActivationConfig;
  /** The same as 'softmax'. */
  softmax(): ActivationConfig;
  /** The same as 'logSoftmax'. */
  logSoftmax(): ActivationConfig;
}
/** The activations by name. */
export const activationNames = ['linear', 'sigmoid', 'hardSigmoid', 'tanh', 'relu', 'relu6', 'leakyRelu', 'elu', 'selu', 'softplus', 'softsign', 'swish', 'mish', 'gelu', 'gelu_new', 'softmax', 'logSoftmax'] as const;

/** Makers of regularisers; parameters left out have their default. */
export interface RegularizerFactory {
  /** Defaults: l1 0.01. */
  l1(parameters?: { l1?: number }): RegularizerConfig;
  /** Defaults: l2 0.01. */
  l2(parameters?: { l2?: number }): RegularizerConfig;
  /** Defaults: l1 0.01, l2 0.01. */
  l1l2(parameters?: { l1?: number; l2?: number }): RegularizerConfig;
}
/** The regularisers by name. */
export const regularizerNames = ['l1', 'l2', 'l1l2'] as const;

/** Makers of constraints; parameters left out have their default. */
export interface ConstraintFactory {
  /** Defaults: maxValue 2, axis 0. */
  maxNorm(parameters?: { maxValue?: number; axis?: number }): ConstraintConfig;
  /** Defaults: minValue 0, maxValue 1, rate 1, axis 0. */
  minMaxNorm(parameters?: { minValue?: number; maxValue?: number; rate?: number; axis?: number }): ConstraintConfig;
  /** Defaults: axis 0. */
  unitNorm(parameters?: { axis?: number }): ConstraintConfig;
  /** The same as 'nonNeg'. */
  nonNeg(): ConstraintConfig;
}
/** The constraints by name. */
export const constraintNames = ['maxNorm', 'minMaxNorm', 'unitNorm', 'nonNeg'] as const;

/** Parameters of losses and of metrics. */
export interface LossParameters {
  huber: { delta?: number };
}
export interface MetricParameters extends LossParameters {
  topKCategoricalAccuracy: { k?: number };
  precision: { threshold?: number };
  recall: { threshold?: number };
  auc: { numThresholds?: number };
}

/** The losses by name, and what metrics there are beside them. */
export const lossNames = ['meanSquaredError', 'mse', 'meanAbsoluteError', 'mae', 'meanAbsolutePercentageError', 'mape', 'meanSquaredLogarithmicError', 'msle', 'huber', 'logcosh', 'hinge', 'squaredHinge', 'categoricalHinge', 'poisson', 'kullbackLeiblerDivergence', 'kld', 'cosineProximity', 'cosine', 'binaryCrossentropy', 'categoricalCrossentropy', 'sparseCategoricalCrossentropy', 'sigmoidCrossEntropy', 'softmaxCrossEntropy'] as const;
export const metricNames = ['accuracy', 'acc', 'binaryAccuracy', 'categoricalAccuracy', 'sparseCategoricalAccuracy', 'topKCategoricalAccuracy', 'precision', 'recall', 'auc', 'r2Score', 'confusionMatrix'] as const;
/** The optimisers by name, each with the names of its parameters in the order of its maker. */
export const optimizerParameters = {
  sgd: { learningRate: 0.01, weightDecay: 0, clipValue: 0, clipNorm: 0, globalClipNorm: 0 },
  momentum: { learningRate: 0.01, momentum: 0.9, useNesterov: false, weightDecay: 0, clipValue: 0, clipNorm: 0, globalClipNorm: 0 },
  adagrad: { learningRate: 0.01, initialAccumulatorValue: 0.1, epsilon: 1e-7, weightDecay: 0, clipValue: 0, clipNorm: 0, globalClipNorm: 0 },
  adadelta: { learningRate: 0.001, rho: 0.95, epsilon: 1e-7, weightDecay: 0, clipValue: 0, clipNorm: 0, globalClipNorm: 0 },
  adam: { learningRate: 0.001, beta1: 0.9, beta2: 0.999, epsilon: 1e-7, weightDecay: 0, clipValue: 0, clipNorm: 0, globalClipNorm: 0 },
  adamw: { learningRate: 0.001, beta1: 0.9, beta2: 0.999, epsilon: 1e-7, weightDecay: 0.004, clipValue: 0, clipNorm: 0, globalClipNorm: 0 },
  adamax: { learningRate: 0.002, beta1: 0.9, beta2: 0.999, epsilon: 1e-7, decay: 0, weightDecay: 0, clipValue: 0, clipNorm: 0, globalClipNorm: 0 },
  rmsprop: { learningRate: 0.001, decay: 0.9, momentum: 0, epsilon: 1e-7, centered: false, weightDecay: 0, clipValue: 0, clipNorm: 0, globalClipNorm: 0 },
} as const;
/** Optimisers whose class in TensorFlow.js is no rule. */
export const optimizerClasses: Record<string, string> = { sgd: 'SGD', rmsprop: 'RMSProp', adamw: 'AdamW' };
/** The fields of a schedule. */
export const scheduleFields = ['rows', 'columns', 'unroll', 'blockRows', 'blockColumns', 'blockDepth', 'packRows', 'packColumns', 'lanes', 'winograd'] as const;
/** The element types, in the order of their codes. */
export const dtypes = ['bool', 'i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'i64', 'u64', 'f16', 'bf16', 'f32', 'f64'] as const;
/** Bytes of an element of each type. */
export const dtypeBytes = {
  bool: 1,
  i8: 1,
  u8: 1,
  i16: 2,
  u16: 2,
  i32: 4,
  u32: 4,
  i64: 8,
  u64: 8,
  f16: 2,
  bf16: 2,
  f32: 4,
  f64: 8,
} as const;
/** How values begin that are told in words. */
export const tags = {
  absent: 0,
  null: 1,
  false: 2,
  true: 3,
  number: 4,
  text: 5,
  list: 6,
  object: 7,
} as const;
/** Of each operation its code, how many tensors it takes, which argument behind them is a dtype, and of what types an elementwise one is (scalar/ops.def). */
export const operations = {
  add: { code: 0, tensors: 2, takes: 'number' },
  sub: { code: 1, tensors: 2, takes: 'number' },
  mul: { code: 2, tensors: 2, takes: 'number' },
  div: { code: 3, tensors: 2, takes: 'number' },
  mod: { code: 4, tensors: 2, takes: 'quotient' },
  floorDiv: { code: 5, tensors: 2, takes: 'quotient' },
  maximum: { code: 6, tensors: 2, takes: 'number' },
  minimum: { code: 7, tensors: 2, takes: 'number' },
  mulAdd: { code: 8, tensors: 3, takes: 'float' },
  neg: { code: 9, tensors: 1, takes: 'number' },
  abs: { code: 10, tensors: 1, takes: 'number' },
  sign: { code: 11, tensors: 1, takes: 'number' },
  sqrt: { code: 12, tensors: 1, takes: 'float' },
  pow: { code: 13, tensors: 2, takes: 'function' },
  floor: { code: 14, tensors: 1, takes: 'float' },
  ceil: { code: 15, tensors: 1, takes: 'float' },
  trunc: { code: 16, tensors: 1, takes: 'float' },
  round: { code: 17, tensors: 1, takes: 'float' },
  exp: { code: 18, tensors: 1, takes: 'function' },
  expm1: { code: 19, tensors: 1, takes: 'function' },
  log: { code: 20, tensors: 1, takes: 'function' },
  log1p: { code: 21, tensors: 1, takes: 'function' },
  sin: { code: 22, tensors: 1, takes: 'function' },
  cos: { code: 23, tensors: 1, takes: 'function' },
  tan: { code: 24, tensors: 1, takes: 'function' },
  asin: { code: 25, tensors: 1, takes: 'function' },
  acos: { code: 26, tensors: 1, takes: 'function' },
  atan: { code: 27, tensors: 1, takes: 'function' },
  atan2: { code: 28, tensors: 2, takes: 'function' },
  sinh: { code: 29, tensors: 1, takes: 'function' },
  cosh: { code: 30, tensors: 1, takes: 'function' },
  tanh: { code: 31, tensors: 1, takes: 'function' },
  asinh: { code: 32, tensors: 1, takes: 'function' },
  acosh: { code: 33, tensors: 1, takes: 'function' },
  atanh: { code: 34, tensors: 1, takes: 'function' },
  sigmoid: { code: 35, tensors: 1, takes: 'function' },
  erf: { code: 36, tensors: 1, takes: 'function' },
  detach: { code: 37, tensors: 1, takes: 'number' },
  isNaN: { code: 38, tensors: 1, takes: 'test' },
  isFinite: { code: 39, tensors: 1, takes: 'test' },
  isInf: { code: 40, tensors: 1, takes: 'test' },
  equal: { code: 41, tensors: 2, takes: 'compare' },
  notEqual: { code: 42, tensors: 2, takes: 'compare' },
  less: { code: 43, tensors: 2, takes: 'compare' },
  lessEqual: { code: 44, tensors: 2, takes: 'compare' },
  greater: { code: 45, tensors: 2, takes: 'compare' },
  greaterEqual: { code: 46, tensors: 2, takes: 'compare' },
  logicalAnd: { code: 47, tensors: 2, takes: 'logic' },
  logicalOr: { code: 48, tensors: 2, takes: 'logic' },
  logicalNot: { code: 49, tensors: 1, takes: 'logic' },
  where: { code: 50, tensors: 3, takes: 'choose' },
  shiftLeft: { code: 51, tensors: 2, takes: 'shift' },
  shiftRight: { code: 52, tensors: 2, takes: 'shift' },
  bitAnd: { code: 53, tensors: 2, takes: 'integer' },
  bitOr: { code: 54, tensors: 2, takes: 'integer' },
  bitXor: { code: 55, tensors: 2, takes: 'integer' },
  toBits: { code: 56, tensors: 1, takes: 'toBits' },
  fromBits: { code: 57, tensors: 1, takes: 'fromBits' },
  matMul: { code: 58, tensors: 2 },
  cast: { code: 59, tensors: 1, dtypeAt: 0 },
  square: { code: 60, tensors: 1 },
  reciprocal: { code: 61, tensors: 1 },
  rsqrt: { code: 62, tensors: 1 },
  squaredDifference: { code: 63, tensors: 2 },
  clipByValue: { code: 64, tensors: 3 },
  relu: { code: 65, tensors: 1 },
  relu6: { code: 66, tensors: 1 },
  leakyRelu: { code: 67, tensors: 1 },
  elu: { code: 68, tensors: 1 },
  gelu: { code: 69, tensors: 1 },
  softplus: { code: 70, tensors: 1 },
  softmax: { code: 71, tensors: 1 },
  logSoftmax: { code: 72, tensors: 1 },
  sum: { code: 73, tensors: 1 },
  mean: { code: 74, tensors: 1 },
  prod: { code: 75, tensors: 1 },
  max: { code: 76, tensors: 1 },
  min: { code: 77, tensors: 1 },
  all: { code: 78, tensors: 1 },
  any: { code: 79, tensors: 1 },
  logSumExp: { code: 80, tensors: 1 },
  argMax: { code: 81, tensors: 1 },
  argMin: { code: 82, tensors: 1 },
  reshape: { code: 83, tensors: 1 },
  flatten: { code: 84, tensors: 1 },
  expandDims: { code: 85, tensors: 1 },
  squeeze: { code: 86, tensors: 1 },
  transpose: { code: 87, tensors: 1 },
  broadcastTo: { code: 88, tensors: 1 },
  tile: { code: 89, tensors: 1 },
  slice: { code: 90, tensors: 1 },
  reverse: { code: 91, tensors: 1 },
  pad: { code: 92, tensors: 1 },
  concat: { code: 93, tensors: 'many' },
  stack: { code: 94, tensors: 'many' },
  conv1d: { code: 95, tensors: 2 },
  conv2d: { code: 96, tensors: 2 },
  conv3d: { code: 97, tensors: 2 },
  depthwiseConv2d: { code: 98, tensors: 2 },
  conv2dTranspose: { code: 99, tensors: 2 },
  maxPool: { code: 100, tensors: 1 },
  avgPool: { code: 101, tensors: 1 },
  resizeBilinear: { code: 102, tensors: 1 },
  resizeNearestNeighbor: { code: 103, tensors: 1 },
  batchNorm: { code: 104, tensors: 5 },
  gather: { code: 105, tensors: 2 },
  takeAlongAxis: { code: 106, tensors: 2 },
  sort: { code: 107, tensors: 1 },
  argsort: { code: 108, tensors: 1 },
  nonZero: { code: 109, tensors: 1 },
  topkIndices: { code: 110, tensors: 1 },
  cumsum: { code: 111, tensors: 1 },
  cumprod: { code: 112, tensors: 1 },
  randomUniform: { code: 113, tensors: 1 },
  randomNormal: { code: 114, tensors: 1 },
  truncatedNormal: { code: 115, tensors: 1 },
  oneHot: { code: 116, tensors: 1 },
} as const;
/** Names of the operations. */
export type OperationName = keyof typeof operations;
