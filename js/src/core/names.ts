/** Names, parameters and defaults of the core. Written by js/scripts/generate.mjs; do not edit. */
import { operationRows } from './operation_rows.js';

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
  binaryCrossentropy: { epsilon?: number };
  categoricalCrossentropy: { epsilon?: number };
  sparseCategoricalCrossentropy: { epsilon?: number };
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
/** Names of the operations. */
export type OperationName = 'add' | 'sub' | 'mul' | 'div' | 'mod' | 'floorDiv' | 'maximum' | 'minimum' | 'mulAdd' | 'neg' | 'abs' | 'sign' | 'sqrt' | 'pow' | 'floor' | 'ceil' | 'trunc' | 'round' | 'exp' | 'expm1' | 'log' | 'log1p' | 'sin' | 'cos' | 'tan' | 'asin' | 'acos' | 'atan' | 'atan2' | 'sinh' | 'cosh' | 'tanh' | 'asinh' | 'acosh' | 'atanh' | 'sigmoid' | 'erf' | 'detach' | 'isNaN' | 'isFinite' | 'isInf' | 'equal' | 'notEqual' | 'less' | 'lessEqual' | 'greater' | 'greaterEqual' | 'logicalAnd' | 'logicalOr' | 'logicalNot' | 'where' | 'shiftLeft' | 'shiftRight' | 'bitAnd' | 'bitOr' | 'bitXor' | 'toBits' | 'fromBits' | 'matMul' | 'cast' | 'square' | 'reciprocal' | 'rsqrt' | 'squaredDifference' | 'clipByValue' | 'relu' | 'relu6' | 'leakyRelu' | 'elu' | 'gelu' | 'softplus' | 'softmax' | 'logSoftmax' | 'sum' | 'mean' | 'prod' | 'max' | 'min' | 'all' | 'any' | 'logSumExp' | 'argMax' | 'argMin' | 'reshape' | 'flatten' | 'expandDims' | 'squeeze' | 'transpose' | 'broadcastTo' | 'tile' | 'slice' | 'reverse' | 'pad' | 'concat' | 'stack' | 'conv1d' | 'conv2d' | 'conv3d' | 'depthwiseConv2d' | 'conv2dTranspose' | 'maxPool' | 'avgPool' | 'resizeBilinear' | 'resizeNearestNeighbor' | 'batchNorm' | 'gather' | 'takeAlongAxis' | 'sort' | 'argsort' | 'nonZero' | 'topkIndices' | 'cumsum' | 'cumprod' | 'randomUniform' | 'randomNormal' | 'truncatedNormal' | 'oneHot' | 'range';
/** The operations. */
export const operations = /* @__PURE__ */ operationRows<OperationName>(
  'add/2:number sub/2:number mul/2:number div/2:number mod/2:quotient floorDiv/2:quotient maximum/2:number minimum/2:number mulAdd/3:float neg:number abs:number sign:number sqrt:float pow/2:function floor:float ceil:float trunc:float round:float exp:function expm1:function log:function log1p:function sin:function cos:function tan:function asin:function acos:function atan:function atan2/2:function sinh:function cosh:function tanh:function asinh:function acosh:function atanh:function sigmoid:function erf:function detach:number isNaN:test isFinite:test isInf:test equal/2:compare notEqual/2:compare less/2:compare lessEqual/2:compare greater/2:compare greaterEqual/2:compare logicalAnd/2:logic logicalOr/2:logic logicalNot:logic where/3:choose shiftLeft/2:shift shiftRight/2:shift bitAnd/2:integer bitOr/2:integer bitXor/2:integer toBits:toBits fromBits:fromBits matMul/2 cast@0 square reciprocal rsqrt squaredDifference/2 clipByValue/3 relu relu6 leakyRelu elu gelu softplus softmax logSoftmax sum mean prod max min all any logSumExp argMax argMin reshape flatten expandDims squeeze transpose broadcastTo tile slice reverse pad concat/* stack/* conv1d/2 conv2d/2 conv3d/2 depthwiseConv2d/2 conv2dTranspose/2 maxPool avgPool resizeBilinear resizeNearestNeighbor batchNorm/5 gather/2 takeAlongAxis/2 sort argsort nonZero topkIndices cumsum cumprod randomUniform randomNormal truncatedNormal oneHot range/2@1',
);
