/** Names, parameters and defaults of the core. Written by js/scripts/generate.mjs; do not edit. */
import type { Layer, LayerArgs } from '../layers/layer.js';
import type { DType } from '../tensor/tensor.js';
import type { Operand, TracedTensor } from '../trace/trace.js';

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
  /** The same as 'linear'. */
  linear(): ActivationConfig;
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
export const scheduleFields = ['rows', 'columns', 'unroll', 'blockRows', 'blockColumns', 'blockDepth', 'packRows', 'packColumns', 'lanes', 'winograd'] as const;

/** Arguments of `layers.dense`. */
export interface DenseArgs extends LayerArgs {
  units: number;
  /** Default: linear. */
  activation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotUniform. */
  kernelInitializer?: InitializerName | InitializerConfig;
  kernelRegularizer?: RegularizerName | RegularizerConfig;
  kernelConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
}
/** Arguments of `layers.activation`. */
export interface ActivationArgs extends LayerArgs {
  activation: ActivationName | ActivationConfig;
}
/** Arguments of `layers.conv1d`. */
export interface Conv1DArgs extends LayerArgs {
  filters: number;
  kernelSize: number | readonly number[] | readonly (readonly number[])[];
  /** Default: 1. */
  strides?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: valid. */
  padding?: 'valid' | 'same';
  /** Default: channelsLast. */
  dataFormat?: string;
  /** Default: 1. */
  dilationRate?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: linear. */
  activation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotNormal. */
  kernelInitializer?: InitializerName | InitializerConfig;
  kernelRegularizer?: RegularizerName | RegularizerConfig;
  kernelConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
}
/** Arguments of `layers.conv2d`. */
export interface Conv2DArgs extends LayerArgs {
  filters: number;
  kernelSize: number | readonly number[] | readonly (readonly number[])[];
  /** Default: 1. */
  strides?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: valid. */
  padding?: 'valid' | 'same';
  /** Default: channelsLast. */
  dataFormat?: string;
  /** Default: 1. */
  dilationRate?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: linear. */
  activation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotNormal. */
  kernelInitializer?: InitializerName | InitializerConfig;
  kernelRegularizer?: RegularizerName | RegularizerConfig;
  kernelConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
}
/** Arguments of `layers.conv3d`. */
export interface Conv3DArgs extends LayerArgs {
  filters: number;
  kernelSize: number | readonly number[] | readonly (readonly number[])[];
  /** Default: 1. */
  strides?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: valid. */
  padding?: 'valid' | 'same';
  /** Default: channelsLast. */
  dataFormat?: string;
  /** Default: 1. */
  dilationRate?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: linear. */
  activation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotNormal. */
  kernelInitializer?: InitializerName | InitializerConfig;
  kernelRegularizer?: RegularizerName | RegularizerConfig;
  kernelConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
}
/** Arguments of `layers.conv2dTranspose`. */
export interface Conv2DTransposeArgs extends LayerArgs {
  filters: number;
  kernelSize: number | readonly number[] | readonly (readonly number[])[];
  /** Default: 1. */
  strides?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: valid. */
  padding?: 'valid' | 'same';
  /** Default: channelsLast. */
  dataFormat?: string;
  /** Default: 1. */
  dilationRate?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: linear. */
  activation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotNormal. */
  kernelInitializer?: InitializerName | InitializerConfig;
  kernelRegularizer?: RegularizerName | RegularizerConfig;
  kernelConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
}
/** Arguments of `layers.conv3dTranspose`. */
export interface Conv3DTransposeArgs extends LayerArgs {
  filters: number;
  kernelSize: number | readonly number[] | readonly (readonly number[])[];
  /** Default: 1. */
  strides?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: valid. */
  padding?: 'valid' | 'same';
  /** Default: channelsLast. */
  dataFormat?: string;
  /** Default: 1. */
  dilationRate?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: linear. */
  activation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotNormal. */
  kernelInitializer?: InitializerName | InitializerConfig;
  kernelRegularizer?: RegularizerName | RegularizerConfig;
  kernelConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
}
/** Arguments of `layers.depthwiseConv2d`. */
export interface DepthwiseConv2DArgs extends LayerArgs {
  kernelSize: number | readonly number[] | readonly (readonly number[])[];
  /** Default: 1. */
  depthMultiplier?: number;
  /** Default: 1. */
  strides?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: valid. */
  padding?: 'valid' | 'same';
  /** Default: channelsLast. */
  dataFormat?: string;
  /** Default: 1. */
  dilationRate?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: linear. */
  activation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotNormal. */
  depthwiseInitializer?: InitializerName | InitializerConfig;
  depthwiseRegularizer?: RegularizerName | RegularizerConfig;
  depthwiseConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
}
/** Arguments of `layers.separableConv2d`. */
export interface SeparableConv2DArgs extends LayerArgs {
  filters: number;
  kernelSize: number | readonly number[] | readonly (readonly number[])[];
  /** Default: 1. */
  depthMultiplier?: number;
  /** Default: 1. */
  strides?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: valid. */
  padding?: 'valid' | 'same';
  /** Default: channelsLast. */
  dataFormat?: string;
  /** Default: 1. */
  dilationRate?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: linear. */
  activation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotUniform. */
  depthwiseInitializer?: InitializerName | InitializerConfig;
  depthwiseRegularizer?: RegularizerName | RegularizerConfig;
  depthwiseConstraint?: ConstraintName | ConstraintConfig;
  /** Default: glorotUniform. */
  pointwiseInitializer?: InitializerName | InitializerConfig;
  pointwiseRegularizer?: RegularizerName | RegularizerConfig;
  pointwiseConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
}
/** Arguments of `layers.maxPooling1d`. */
export interface MaxPooling1DArgs extends LayerArgs {
  /** Default: 2. */
  poolSize?: number | readonly number[] | readonly (readonly number[])[];
  strides?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: valid. */
  padding?: 'valid' | 'same';
  /** Default: channelsLast. */
  dataFormat?: string;
}
/** Arguments of `layers.maxPooling2d`. */
export interface MaxPooling2DArgs extends LayerArgs {
  /** Default: 2. */
  poolSize?: number | readonly number[] | readonly (readonly number[])[];
  strides?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: valid. */
  padding?: 'valid' | 'same';
  /** Default: channelsLast. */
  dataFormat?: string;
}
/** Arguments of `layers.maxPooling3d`. */
export interface MaxPooling3DArgs extends LayerArgs {
  /** Default: 2. */
  poolSize?: number | readonly number[] | readonly (readonly number[])[];
  strides?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: valid. */
  padding?: 'valid' | 'same';
  /** Default: channelsLast. */
  dataFormat?: string;
}
/** Arguments of `layers.averagePooling1d`. */
export interface AveragePooling1DArgs extends LayerArgs {
  /** Default: 2. */
  poolSize?: number | readonly number[] | readonly (readonly number[])[];
  strides?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: valid. */
  padding?: 'valid' | 'same';
  /** Default: channelsLast. */
  dataFormat?: string;
}
/** Arguments of `layers.averagePooling2d`. */
export interface AveragePooling2DArgs extends LayerArgs {
  /** Default: 2. */
  poolSize?: number | readonly number[] | readonly (readonly number[])[];
  strides?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: valid. */
  padding?: 'valid' | 'same';
  /** Default: channelsLast. */
  dataFormat?: string;
}
/** Arguments of `layers.averagePooling3d`. */
export interface AveragePooling3DArgs extends LayerArgs {
  /** Default: 2. */
  poolSize?: number | readonly number[] | readonly (readonly number[])[];
  strides?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: valid. */
  padding?: 'valid' | 'same';
  /** Default: channelsLast. */
  dataFormat?: string;
}
/** Arguments of `layers.globalMaxPooling1d`. */
export interface GlobalMaxPooling1DArgs extends LayerArgs {
  /** Default: channelsLast. */
  dataFormat?: string;
}
/** Arguments of `layers.globalMaxPooling2d`. */
export interface GlobalMaxPooling2DArgs extends LayerArgs {
  /** Default: channelsLast. */
  dataFormat?: string;
}
/** Arguments of `layers.globalAveragePooling1d`. */
export interface GlobalAveragePooling1DArgs extends LayerArgs {
  /** Default: channelsLast. */
  dataFormat?: string;
}
/** Arguments of `layers.globalAveragePooling2d`. */
export interface GlobalAveragePooling2DArgs extends LayerArgs {
  /** Default: channelsLast. */
  dataFormat?: string;
}
/** Arguments of `layers.batchNormalization`. */
export interface BatchNormalizationArgs extends LayerArgs {
  /** Default: -1. */
  axis?: number;
  /** Default: 0.99. */
  momentum?: number;
  /** Default: 0.001. */
  epsilon?: number;
  /** Default: true. */
  center?: boolean;
  /** Default: true. */
  scale?: boolean;
  /** Default: zeros. */
  betaInitializer?: InitializerName | InitializerConfig;
  betaRegularizer?: RegularizerName | RegularizerConfig;
  betaConstraint?: ConstraintName | ConstraintConfig;
  /** Default: ones. */
  gammaInitializer?: InitializerName | InitializerConfig;
  gammaRegularizer?: RegularizerName | RegularizerConfig;
  gammaConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  movingMeanInitializer?: InitializerName | InitializerConfig;
  /** Default: ones. */
  movingVarianceInitializer?: InitializerName | InitializerConfig;
}
/** Arguments of `layers.layerNormalization`. */
export interface LayerNormalizationArgs extends LayerArgs {
  /** Default: -1. */
  axis?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: 0.001. */
  epsilon?: number;
  /** Default: true. */
  center?: boolean;
  /** Default: true. */
  scale?: boolean;
  /** Default: zeros. */
  betaInitializer?: InitializerName | InitializerConfig;
  betaRegularizer?: RegularizerName | RegularizerConfig;
  betaConstraint?: ConstraintName | ConstraintConfig;
  /** Default: ones. */
  gammaInitializer?: InitializerName | InitializerConfig;
  gammaRegularizer?: RegularizerName | RegularizerConfig;
  gammaConstraint?: ConstraintName | ConstraintConfig;
}
/** Arguments of `layers.flatten`. */
export interface FlattenArgs extends LayerArgs {
  /** Default: channelsLast. */
  dataFormat?: string;
}
/** Arguments of `layers.reshape`. */
export interface ReshapeArgs extends LayerArgs {
  targetShape: number | readonly number[] | readonly (readonly number[])[];
}
/** Arguments of `layers.permute`. */
export interface PermuteArgs extends LayerArgs {
  dims: number | readonly number[] | readonly (readonly number[])[];
}
/** Arguments of `layers.repeatVector`. */
export interface RepeatVectorArgs extends LayerArgs {
  n: number;
}
/** Arguments of `layers.zeroPadding2d`. */
export interface ZeroPadding2DArgs extends LayerArgs {
  /** Default: 1. */
  padding?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: channelsLast. */
  dataFormat?: string;
}
/** Arguments of `layers.cropping2D`. */
export interface Cropping2DArgs extends LayerArgs {
  /** Default: 0. */
  cropping?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: channelsLast. */
  dataFormat?: string;
}
/** Arguments of `layers.upSampling2d`. */
export interface UpSampling2DArgs extends LayerArgs {
  /** Default: 2. */
  size?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: nearest. */
  interpolation?: string;
  /** Default: channelsLast. */
  dataFormat?: string;
}
/** Arguments of `layers.embedding`. */
export interface EmbeddingArgs extends LayerArgs {
  inputDim: number;
  outputDim: number;
  /** Default: randomUniform. */
  embeddingsInitializer?: InitializerName | InitializerConfig;
  embeddingsRegularizer?: RegularizerName | RegularizerConfig;
  embeddingsConstraint?: ConstraintName | ConstraintConfig;
  /** Default: false. */
  maskZero?: boolean;
  inputLength: number;
}
/** Arguments of `layers.masking`. */
export interface MaskingArgs extends LayerArgs {
  /** Default: 0. */
  maskValue?: number;
}
/** Arguments of `layers.add`. */
export interface AddArgs extends LayerArgs {
}
/** Arguments of `layers.subtract`. */
export interface SubtractArgs extends LayerArgs {
}
/** Arguments of `layers.multiply`. */
export interface MultiplyArgs extends LayerArgs {
}
/** Arguments of `layers.average`. */
export interface AverageArgs extends LayerArgs {
}
/** Arguments of `layers.maximum`. */
export interface MaximumArgs extends LayerArgs {
}
/** Arguments of `layers.minimum`. */
export interface MinimumArgs extends LayerArgs {
}
/** Arguments of `layers.concatenate`. */
export interface ConcatenateArgs extends LayerArgs {
  /** Default: -1. */
  axis?: number;
}
/** Arguments of `layers.simpleRNN`. */
export interface SimpleRNNArgs extends LayerArgs {
  units: number;
  /** Default: tanh. */
  activation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotNormal. */
  kernelInitializer?: InitializerName | InitializerConfig;
  kernelRegularizer?: RegularizerName | RegularizerConfig;
  kernelConstraint?: ConstraintName | ConstraintConfig;
  /** Default: orthogonal. */
  recurrentInitializer?: InitializerName | InitializerConfig;
  recurrentRegularizer?: RegularizerName | RegularizerConfig;
  recurrentConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
  /** Default: 0. */
  dropout?: number;
  /** Default: 0. */
  recurrentDropout?: number;
  /** Default: false. */
  returnSequences?: boolean;
  /** Default: false. */
  returnState?: boolean;
  /** Default: false. */
  goBackwards?: boolean;
  /** Default: false. */
  stateful?: boolean;
  /** Default: false. */
  unroll?: boolean;
}
/** Arguments of `layers.lstm`. */
export interface LSTMArgs extends LayerArgs {
  units: number;
  /** Default: tanh. */
  activation?: ActivationName | ActivationConfig;
  /** Default: hardSigmoid. */
  recurrentActivation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotNormal. */
  kernelInitializer?: InitializerName | InitializerConfig;
  kernelRegularizer?: RegularizerName | RegularizerConfig;
  kernelConstraint?: ConstraintName | ConstraintConfig;
  /** Default: orthogonal. */
  recurrentInitializer?: InitializerName | InitializerConfig;
  recurrentRegularizer?: RegularizerName | RegularizerConfig;
  recurrentConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
  /** Default: 0. */
  dropout?: number;
  /** Default: 0. */
  recurrentDropout?: number;
  /** Default: false. */
  unitForgetBias?: boolean;
  /** Default: false. */
  returnSequences?: boolean;
  /** Default: false. */
  returnState?: boolean;
  /** Default: false. */
  goBackwards?: boolean;
  /** Default: false. */
  stateful?: boolean;
  /** Default: false. */
  unroll?: boolean;
}
/** Arguments of `layers.gru`. */
export interface GRUArgs extends LayerArgs {
  units: number;
  /** Default: tanh. */
  activation?: ActivationName | ActivationConfig;
  /** Default: hardSigmoid. */
  recurrentActivation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotNormal. */
  kernelInitializer?: InitializerName | InitializerConfig;
  kernelRegularizer?: RegularizerName | RegularizerConfig;
  kernelConstraint?: ConstraintName | ConstraintConfig;
  /** Default: orthogonal. */
  recurrentInitializer?: InitializerName | InitializerConfig;
  recurrentRegularizer?: RegularizerName | RegularizerConfig;
  recurrentConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
  /** Default: 0. */
  dropout?: number;
  /** Default: 0. */
  recurrentDropout?: number;
  /** Default: false. */
  resetAfter?: boolean;
  /** Default: false. */
  returnSequences?: boolean;
  /** Default: false. */
  returnState?: boolean;
  /** Default: false. */
  goBackwards?: boolean;
  /** Default: false. */
  stateful?: boolean;
  /** Default: false. */
  unroll?: boolean;
}
/** Arguments of `layers.convLstm2d`. */
export interface ConvLSTM2DArgs extends LayerArgs {
  filters: number;
  kernelSize: number | readonly number[] | readonly (readonly number[])[];
  /** Default: 1. */
  strides?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: valid. */
  padding?: 'valid' | 'same';
  /** Default: channelsLast. */
  dataFormat?: string;
  /** Default: 1. */
  dilationRate?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: tanh. */
  activation?: ActivationName | ActivationConfig;
  /** Default: hardSigmoid. */
  recurrentActivation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotNormal. */
  kernelInitializer?: InitializerName | InitializerConfig;
  kernelRegularizer?: RegularizerName | RegularizerConfig;
  kernelConstraint?: ConstraintName | ConstraintConfig;
  /** Default: orthogonal. */
  recurrentInitializer?: InitializerName | InitializerConfig;
  recurrentRegularizer?: RegularizerName | RegularizerConfig;
  recurrentConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
  /** Default: 0. */
  dropout?: number;
  /** Default: 0. */
  recurrentDropout?: number;
  /** Default: false. */
  unitForgetBias?: boolean;
  /** Default: false. */
  returnSequences?: boolean;
  /** Default: false. */
  returnState?: boolean;
  /** Default: false. */
  goBackwards?: boolean;
  /** Default: false. */
  stateful?: boolean;
  /** Default: false. */
  unroll?: boolean;
}
/** Arguments of `layers.rnn`. */
export interface RNNArgs extends LayerArgs {
  cell: Layer;
  /** Default: false. */
  returnSequences?: boolean;
  /** Default: false. */
  returnState?: boolean;
  /** Default: false. */
  goBackwards?: boolean;
  /** Default: false. */
  stateful?: boolean;
  /** Default: false. */
  unroll?: boolean;
}
/** Arguments of `layers.simpleRNNCell`. */
export interface SimpleRNNCellArgs extends LayerArgs {
  units: number;
  /** Default: tanh. */
  activation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotNormal. */
  kernelInitializer?: InitializerName | InitializerConfig;
  kernelRegularizer?: RegularizerName | RegularizerConfig;
  kernelConstraint?: ConstraintName | ConstraintConfig;
  /** Default: orthogonal. */
  recurrentInitializer?: InitializerName | InitializerConfig;
  recurrentRegularizer?: RegularizerName | RegularizerConfig;
  recurrentConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
  /** Default: 0. */
  dropout?: number;
  /** Default: 0. */
  recurrentDropout?: number;
}
/** Arguments of `layers.lstmCell`. */
export interface LSTMCellArgs extends LayerArgs {
  units: number;
  /** Default: tanh. */
  activation?: ActivationName | ActivationConfig;
  /** Default: hardSigmoid. */
  recurrentActivation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotNormal. */
  kernelInitializer?: InitializerName | InitializerConfig;
  kernelRegularizer?: RegularizerName | RegularizerConfig;
  kernelConstraint?: ConstraintName | ConstraintConfig;
  /** Default: orthogonal. */
  recurrentInitializer?: InitializerName | InitializerConfig;
  recurrentRegularizer?: RegularizerName | RegularizerConfig;
  recurrentConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
  /** Default: 0. */
  dropout?: number;
  /** Default: 0. */
  recurrentDropout?: number;
  /** Default: false. */
  unitForgetBias?: boolean;
}
/** Arguments of `layers.gruCell`. */
export interface GRUCellArgs extends LayerArgs {
  units: number;
  /** Default: tanh. */
  activation?: ActivationName | ActivationConfig;
  /** Default: hardSigmoid. */
  recurrentActivation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotNormal. */
  kernelInitializer?: InitializerName | InitializerConfig;
  kernelRegularizer?: RegularizerName | RegularizerConfig;
  kernelConstraint?: ConstraintName | ConstraintConfig;
  /** Default: orthogonal. */
  recurrentInitializer?: InitializerName | InitializerConfig;
  recurrentRegularizer?: RegularizerName | RegularizerConfig;
  recurrentConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
  /** Default: 0. */
  dropout?: number;
  /** Default: 0. */
  recurrentDropout?: number;
  /** Default: false. */
  resetAfter?: boolean;
}
/** Arguments of `layers.convLstm2dCell`. */
export interface ConvLSTM2DCellArgs extends LayerArgs {
  filters: number;
  kernelSize: number | readonly number[] | readonly (readonly number[])[];
  /** Default: 1. */
  strides?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: valid. */
  padding?: 'valid' | 'same';
  /** Default: channelsLast. */
  dataFormat?: string;
  /** Default: 1. */
  dilationRate?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: tanh. */
  activation?: ActivationName | ActivationConfig;
  /** Default: hardSigmoid. */
  recurrentActivation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotNormal. */
  kernelInitializer?: InitializerName | InitializerConfig;
  kernelRegularizer?: RegularizerName | RegularizerConfig;
  kernelConstraint?: ConstraintName | ConstraintConfig;
  /** Default: orthogonal. */
  recurrentInitializer?: InitializerName | InitializerConfig;
  recurrentRegularizer?: RegularizerName | RegularizerConfig;
  recurrentConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
  /** Default: 0. */
  dropout?: number;
  /** Default: 0. */
  recurrentDropout?: number;
  /** Default: false. */
  unitForgetBias?: boolean;
}
/** Arguments of `layers.stackedRNNCells`. */
export interface StackedRNNCellsArgs extends LayerArgs {
  cells: readonly Layer[];
}
/** Arguments of `layers.bidirectional`. */
export interface BidirectionalArgs extends LayerArgs {
  layer: Layer;
  /** Default: concat. */
  mergeMode?: 'concat' | 'sum' | 'mul' | 'ave' | 'none';
}
/** Arguments of `layers.timeDistributed`. */
export interface TimeDistributedArgs extends LayerArgs {
  layer: Layer;
}
/** Arguments of `layers.dot`. */
export interface DotArgs extends LayerArgs {
  /** Default: -1. */
  axes?: number | readonly number[] | readonly (readonly number[])[];
  /** Default: false. */
  normalize?: boolean;
}
/** Arguments of `layers.multiHeadAttention`. */
export interface MultiHeadAttentionArgs extends LayerArgs {
  numHeads: number;
  keyDim: number;
  valueDim: number;
  outputShape: number;
  /** Default: true. */
  useBias?: boolean;
  /** Default: false. */
  useCausalMask?: boolean;
  /** Default: glorotUniform. */
  kernelInitializer?: InitializerName | InitializerConfig;
  kernelRegularizer?: RegularizerName | RegularizerConfig;
  kernelConstraint?: ConstraintName | ConstraintConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  biasRegularizer?: RegularizerName | RegularizerConfig;
  biasConstraint?: ConstraintName | ConstraintConfig;
}
/** Arguments of `layers.reLU`. */
export interface ReLUArgs extends LayerArgs {
  /** Default: 0. */
  maxValue?: number;
  /** Default: 0. */
  negativeSlope?: number;
  /** Default: 0. */
  threshold?: number;
}
/** Arguments of `layers.leakyReLU`. */
export interface LeakyReLUArgs extends LayerArgs {
  /** Default: 0.3. */
  alpha?: number;
}
/** Arguments of `layers.prelu`. */
export interface PReLUArgs extends LayerArgs {
  /** Default: zeros. */
  alphaInitializer?: InitializerName | InitializerConfig;
  alphaRegularizer?: RegularizerName | RegularizerConfig;
  alphaConstraint?: ConstraintName | ConstraintConfig;
  sharedAxes: number | readonly number[] | readonly (readonly number[])[];
}
/** Arguments of `layers.elu`. */
export interface ELUArgs extends LayerArgs {
  /** Default: 1. */
  alpha?: number;
}
/** Arguments of `layers.thresholdedReLU`. */
export interface ThresholdedReLUArgs extends LayerArgs {
  /** Default: 1. */
  theta?: number;
}
/** Arguments of `layers.softmax`. */
export interface SoftmaxArgs extends LayerArgs {
  /** Default: -1. */
  axis?: number;
}
/** Arguments of `layers.rescaling`. */
export interface RescalingArgs extends LayerArgs {
  /** Default: 1. */
  scale?: number;
  /** Default: 0. */
  offset?: number;
}
/** Arguments of `layers.resizing`. */
export interface ResizingArgs extends LayerArgs {
  height: number;
  width: number;
  /** Default: bilinear. */
  interpolation?: string;
  /** Default: false. */
  cropToAspectRatio?: boolean;
}
/** Arguments of `layers.centerCrop`. */
export interface CenterCropArgs extends LayerArgs {
  height: number;
  width: number;
}
/** Arguments of `layers.categoryEncoding`. */
export interface CategoryEncodingArgs extends LayerArgs {
  numTokens: number;
  /** Default: multiHot. */
  outputMode?: string;
}
/** Arguments of `layers.dropout`. */
export interface DropoutArgs extends LayerArgs {
  /** Default: 0. */
  rate?: number;
  noiseShape?: number | readonly number[] | readonly (readonly number[])[];
  seed?: number;
}
/** Arguments of `layers.spatialDropout1d`. */
export interface SpatialDropout1DArgs extends LayerArgs {
  /** Default: 0. */
  rate?: number;
  seed?: number;
}
/** Arguments of `layers.gaussianNoise`. */
export interface GaussianNoiseArgs extends LayerArgs {
  /** Default: 0. */
  stddev?: number;
  seed?: number;
}
/** Arguments of `layers.gaussianDropout`. */
export interface GaussianDropoutArgs extends LayerArgs {
  /** Default: 0. */
  rate?: number;
  seed?: number;
}
/** Arguments of `layers.alphaDropout`. */
export interface AlphaDropoutArgs extends LayerArgs {
  /** Default: 0. */
  rate?: number;
  noiseShape?: number | readonly number[] | readonly (readonly number[])[];
  seed?: number;
}
/** Makers of layers. Errors come where the layer is called or added to a model. */
export interface LayerFactory {
  /** activation(x · kernel + bias) along the last axis. */
  dense(args: DenseArgs): Layer;
  /** A function on every element (softmax: on every row). */
  activation(args: ActivationArgs): Layer;
  /** Convolution of sequences [steps, channels]: kernel [k, channels, filters], bias. */
  conv1d(args: Conv1DArgs): Layer;
  /** Convolution of pictures [height, width, channels]: kernel [kh, kw, channels, filters], bias. */
  conv2d(args: Conv2DArgs): Layer;
  /** Convolution of volumes [depth, height, width, channels]: kernel [kd, kh, kw, channels, filters], bias. */
  conv3d(args: Conv3DArgs): Layer;
  /** Gradient of a convolution by its input, which enlarges pictures by the strides: kernel [kh, kw, filters, channels], bias. */
  conv2dTranspose(args: Conv2DTransposeArgs): Layer;
  /** The same for volumes: kernel [kd, kh, kw, filters, channels], bias. */
  conv3dTranspose(args: Conv3DTransposeArgs): Layer;
  /** Every channel convolved alone: depthwise kernel [kh, kw, channels, depthMultiplier], bias. */
  depthwiseConv2d(args: DepthwiseConv2DArgs): Layer;
  /** Every channel convolved alone, then mixed: depthwise kernel, pointwise kernel [1, 1, channels · depthMultiplier, filters], bias. */
  separableConv2d(args: SeparableConv2DArgs): Layer;
  /** Greatest element of every window over steps. */
  maxPooling1d(args?: MaxPooling1DArgs): Layer;
  /** Greatest element of every window. */
  maxPooling2d(args?: MaxPooling2DArgs): Layer;
  /** Greatest element of every window of a volume. */
  maxPooling3d(args?: MaxPooling3DArgs): Layer;
  /** Mean of every window over steps; zeros around do not count. */
  averagePooling1d(args?: AveragePooling1DArgs): Layer;
  /** Mean of every window; zeros around the picture do not count. */
  averagePooling2d(args?: AveragePooling2DArgs): Layer;
  /** Mean of every window of a volume; zeros around do not count. */
  averagePooling3d(args?: AveragePooling3DArgs): Layer;
  /** Greatest element of every channel over all steps. */
  globalMaxPooling1d(args?: GlobalMaxPooling1DArgs): Layer;
  /** Greatest element of every channel. */
  globalMaxPooling2d(args?: GlobalMaxPooling2DArgs): Layer;
  /** Mean of every channel over all steps. */
  globalAveragePooling1d(args?: GlobalAveragePooling1DArgs): Layer;
  /** Mean of every channel. */
  globalAveragePooling2d(args?: GlobalAveragePooling2DArgs): Layer;
  /** (x - mean) / sqrt(variance + epsilon) · gamma + beta along the last axis: with the statistics of the batch while it trains, with moving ones otherwise. */
  batchNormalization(args?: BatchNormalizationArgs): Layer;
  /** (x - mean) / sqrt(variance + epsilon) · gamma + beta, with the statistics of each example along the axes. */
  layerNormalization(args?: LayerNormalizationArgs): Layer;
  /** Each example as one row. */
  flatten(args?: FlattenArgs): Layer;
  /** Each example in the shape targetShape, one size of which may be -1. */
  reshape(args: ReshapeArgs): Layer;
  /** The axes of each example in the order dims, counted from 1. */
  permute(args: PermuteArgs): Layer;
  /** Each example [channels] as [n, channels]. */
  repeatVector(args: RepeatVectorArgs): Layer;
  /** Zeros around pictures [height, width, channels]: for all sides, [height, width], or [[top, bottom], [left, right]]. */
  zeroPadding2d(args?: ZeroPadding2DArgs): Layer;
  /** Pictures without these rows and columns: for all sides, [height, width], or [[top, bottom], [left, right]]. */
  cropping2D(args?: Cropping2DArgs): Layer;
  /** Pictures enlarged by whole numbers, "nearest" or "bilinear". */
  upSampling2d(args?: UpSampling2DArgs): Layer;
  /** A row of embeddings [inputDim, outputDim] for every index; an index outside takes the nearest. */
  embedding(args: EmbeddingArgs): Layer;
  /** Leaves out the steps whose elements all equal maskValue. */
  masking(args?: MaskingArgs): Layer;
  /** Sum of its inputs, which broadcast after the batch. */
  add(args?: AddArgs): Layer;
  /** First input minus second. */
  subtract(args?: SubtractArgs): Layer;
  /** Product of its inputs. */
  multiply(args?: MultiplyArgs): Layer;
  /** Mean of its inputs. */
  average(args?: AverageArgs): Layer;
  /** Greatest of its inputs at every place. */
  maximum(args?: MaximumArgs): Layer;
  /** Least of its inputs at every place. */
  minimum(args?: MinimumArgs): Layer;
  /** Its inputs one after the other along an axis; 0 is the batch. */
  concatenate(args?: ConcatenateArgs): Layer;
  /** activation(x · kernel + h · recurrent kernel + bias), step by step: [time, features] -> [units], or [time, units] with returnSequences. */
  simpleRNN(args: SimpleRNNArgs): Layer;
  /** Long short-term memory over [time, features]; gates i, f, c, o side by side in kernel, recurrent kernel and bias. */
  lstm(args: LSTMArgs): Layer;
  /** Gated recurrent unit over [time, features]; gates z, r, h side by side in kernel, recurrent kernel and bias. */
  gru(args: GRUArgs): Layer;
  /** An LSTM over [time, height, width, channels] whose products are convolutions. */
  convLstm2d(args: ConvLSTM2DArgs): Layer;
  /** A cell over the steps of [time, …]. */
  rnn(args: RNNArgs): Layer;
  /** One step of a SimpleRNN, for rnn. */
  simpleRNNCell(args: SimpleRNNCellArgs): Layer;
  /** One step of an LSTM, for rnn. */
  lstmCell(args: LSTMCellArgs): Layer;
  /** One step of a GRU, for rnn. */
  gruCell(args: GRUCellArgs): Layer;
  /** One step of a ConvLSTM2D, for rnn. */
  convLstm2dCell(args: ConvLSTM2DCellArgs): Layer;
  /** Cells as one, each reading the output of the one before. */
  stackedRNNCells(args: StackedRNNCellsArgs): Layer;
  /** A recurrent layer in both directions, with weights for each: concat, sum, mul, ave, or none for two outputs. */
  bidirectional(args: BidirectionalArgs): Layer;
  /** A layer on every step of [time, …]. */
  timeDistributed(args: TimeDistributedArgs): Layer;
  /** Sums of products of two inputs along an axis of each; normalize gives cosines. */
  dot(args?: DotArgs): Layer;
  /** Every step of the query mixes the steps of the value by softmax(query · key / √keyDim): inputs [query, value], or with key third. */
  multiHeadAttention(args: MultiHeadAttentionArgs): Layer;
  /** max(0, x), at most maxValue if it is above 0; negativeSlope · (x - threshold) below the threshold. */
  reLU(args?: ReLUArgs): Layer;
  /** x where x > 0, else alpha · x. */
  leakyReLU(args?: LeakyReLUArgs): Layer;
  /** The same with a learnt alpha for every element, equal along sharedAxes (counted from 1). */
  prelu(args: PReLUArgs): Layer;
  /** x where x > 0, else alpha · (e^x - 1). */
  elu(args?: ELUArgs): Layer;
  /** x where x > theta, else 0. */
  thresholdedReLU(args?: ThresholdedReLUArgs): Layer;
  /** e^x / sum of e^x along the axis. */
  softmax(args?: SoftmaxArgs): Layer;
  /** x · scale + offset. */
  rescaling(args?: RescalingArgs): Layer;
  /** Pictures of another size, "bilinear" or "nearest". */
  resizing(args: ResizingArgs): Layer;
  /** The middle of pictures; those that are too small are enlarged. */
  centerCrop(args: CenterCropArgs): Layer;
  /** Categories as a row: "multiHot", "oneHot" or "count". */
  categoryEncoding(args: CategoryEncodingArgs): Layer;
  /** Zeros with probability `rate`, else x / (1 - rate), while the model trains. noiseShape, with the batch: 1 is one decision for the axis, -1 one for each place. */
  dropout(args?: DropoutArgs): Layer;
  /** Dropout of whole channels of [steps, channels]. */
  spatialDropout1d(args?: SpatialDropout1DArgs): Layer;
  /** x plus normal numbers of deviation `stddev` while the model trains. */
  gaussianNoise(args?: GaussianNoiseArgs): Layer;
  /** x times normal numbers of mean 1 and deviation sqrt(rate / (1 - rate)) while the model trains. */
  gaussianDropout(args?: GaussianDropoutArgs): Layer;
  /** Dropout to the limit of selu that keeps mean 0 and variance 1. */
  alphaDropout(args?: AlphaDropoutArgs): Layer;
}
/** The classes of the layers by the names of their makers. */
export const layerClasses = {
  dense: 'Dense',
  activation: 'Activation',
  conv1d: 'Conv1D',
  conv2d: 'Conv2D',
  conv3d: 'Conv3D',
  conv2dTranspose: 'Conv2DTranspose',
  conv3dTranspose: 'Conv3DTranspose',
  depthwiseConv2d: 'DepthwiseConv2D',
  separableConv2d: 'SeparableConv2D',
  maxPooling1d: 'MaxPooling1D',
  maxPooling2d: 'MaxPooling2D',
  maxPooling3d: 'MaxPooling3D',
  averagePooling1d: 'AveragePooling1D',
  averagePooling2d: 'AveragePooling2D',
  averagePooling3d: 'AveragePooling3D',
  globalMaxPooling1d: 'GlobalMaxPooling1D',
  globalMaxPooling2d: 'GlobalMaxPooling2D',
  globalAveragePooling1d: 'GlobalAveragePooling1D',
  globalAveragePooling2d: 'GlobalAveragePooling2D',
  batchNormalization: 'BatchNormalization',
  layerNormalization: 'LayerNormalization',
  flatten: 'Flatten',
  reshape: 'Reshape',
  permute: 'Permute',
  repeatVector: 'RepeatVector',
  zeroPadding2d: 'ZeroPadding2D',
  cropping2D: 'Cropping2D',
  upSampling2d: 'UpSampling2D',
  embedding: 'Embedding',
  masking: 'Masking',
  add: 'Add',
  subtract: 'Subtract',
  multiply: 'Multiply',
  average: 'Average',
  maximum: 'Maximum',
  minimum: 'Minimum',
  concatenate: 'Concatenate',
  simpleRNN: 'SimpleRNN',
  lstm: 'LSTM',
  gru: 'GRU',
  convLstm2d: 'ConvLSTM2D',
  rnn: 'RNN',
  simpleRNNCell: 'SimpleRNNCell',
  lstmCell: 'LSTMCell',
  gruCell: 'GRUCell',
  convLstm2dCell: 'ConvLSTM2DCell',
  stackedRNNCells: 'StackedRNNCells',
  bidirectional: 'Bidirectional',
  timeDistributed: 'TimeDistributed',
  dot: 'Dot',
  multiHeadAttention: 'MultiHeadAttention',
  reLU: 'ReLU',
  leakyReLU: 'LeakyReLU',
  prelu: 'PReLU',
  elu: 'ELU',
  thresholdedReLU: 'ThresholdedReLU',
  softmax: 'Softmax',
  rescaling: 'Rescaling',
  resizing: 'Resizing',
  centerCrop: 'CenterCrop',
  categoryEncoding: 'CategoryEncoding',
  dropout: 'Dropout',
  spatialDropout1d: 'SpatialDropout1D',
  gaussianNoise: 'GaussianNoise',
  gaussianDropout: 'GaussianDropout',
  alphaDropout: 'AlphaDropout',
} as const;

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
  clipByValue(x: Operand, clipValueMin: number, clipValueMax: number): TracedTensor;
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
/** Every operation as a method of its first tensor. */
export interface OperationMethods {
  /** add(a, b) */
  add(b: Operand): TracedTensor;
  /** sub(a, b) */
  sub(b: Operand): TracedTensor;
  /** mul(a, b) */
  mul(b: Operand): TracedTensor;
  /** div(a, b) */
  div(b: Operand): TracedTensor;
  /** mod(a, b) */
  mod(b: Operand): TracedTensor;
  /** floorDiv(a, b) */
  floorDiv(b: Operand): TracedTensor;
  /** maximum(a, b) */
  maximum(b: Operand): TracedTensor;
  /** minimum(a, b) */
  minimum(b: Operand): TracedTensor;
  /** mulAdd(a, b, c) */
  mulAdd(b: Operand, c: Operand): TracedTensor;
  /** neg(a) */
  neg(): TracedTensor;
  /** abs(a) */
  abs(): TracedTensor;
  /** sign(a) */
  sign(): TracedTensor;
  /** sqrt(a) */
  sqrt(): TracedTensor;
  /** pow(a, b) */
  pow(b: Operand): TracedTensor;
  /** floor(a) */
  floor(): TracedTensor;
  /** ceil(a) */
  ceil(): TracedTensor;
  /** trunc(a) */
  trunc(): TracedTensor;
  /** round(a) */
  round(): TracedTensor;
  /** exp(a) */
  exp(): TracedTensor;
  /** expm1(a) */
  expm1(): TracedTensor;
  /** log(a) */
  log(): TracedTensor;
  /** log1p(a) */
  log1p(): TracedTensor;
  /** sin(a) */
  sin(): TracedTensor;
  /** cos(a) */
  cos(): TracedTensor;
  /** tan(a) */
  tan(): TracedTensor;
  /** asin(a) */
  asin(): TracedTensor;
  /** acos(a) */
  acos(): TracedTensor;
  /** atan(a) */
  atan(): TracedTensor;
  /** atan2(a, b) */
  atan2(b: Operand): TracedTensor;
  /** sinh(a) */
  sinh(): TracedTensor;
  /** cosh(a) */
  cosh(): TracedTensor;
  /** tanh(a) */
  tanh(): TracedTensor;
  /** asinh(a) */
  asinh(): TracedTensor;
  /** acosh(a) */
  acosh(): TracedTensor;
  /** atanh(a) */
  atanh(): TracedTensor;
  /** sigmoid(a) */
  sigmoid(): TracedTensor;
  /** erf(a) */
  erf(): TracedTensor;
  /** detach(a) */
  detach(): TracedTensor;
  /** isNaN(a) */
  isNaN(): TracedTensor;
  /** isFinite(a) */
  isFinite(): TracedTensor;
  /** isInf(a) */
  isInf(): TracedTensor;
  /** equal(a, b) */
  equal(b: Operand): TracedTensor;
  /** notEqual(a, b) */
  notEqual(b: Operand): TracedTensor;
  /** less(a, b) */
  less(b: Operand): TracedTensor;
  /** lessEqual(a, b) */
  lessEqual(b: Operand): TracedTensor;
  /** greater(a, b) */
  greater(b: Operand): TracedTensor;
  /** greaterEqual(a, b) */
  greaterEqual(b: Operand): TracedTensor;
  /** logicalAnd(a, b) */
  logicalAnd(b: Operand): TracedTensor;
  /** logicalOr(a, b) */
  logicalOr(b: Operand): TracedTensor;
  /** logicalNot(a) */
  logicalNot(): TracedTensor;
  /** shiftLeft(a, b) */
  shiftLeft(b: Operand): TracedTensor;
  /** shiftRight(a, b) */
  shiftRight(b: Operand): TracedTensor;
  /** bitAnd(a, b) */
  bitAnd(b: Operand): TracedTensor;
  /** bitOr(a, b) */
  bitOr(b: Operand): TracedTensor;
  /** bitXor(a, b) */
  bitXor(b: Operand): TracedTensor;
  /** toBits(a) */
  toBits(): TracedTensor;
  /** fromBits(a) */
  fromBits(): TracedTensor;
  /** matMul(a, b, transposeA = false, transposeB = false) */
  matMul(b: Operand, transposeA?: boolean, transposeB?: boolean): TracedTensor;
  /** cast(x, dtype) */
  cast(dtype: DType): TracedTensor;
  /** square(x) */
  square(): TracedTensor;
  /** reciprocal(x) */
  reciprocal(): TracedTensor;
  /** rsqrt(x) */
  rsqrt(): TracedTensor;
  /** squaredDifference(a, b) */
  squaredDifference(b: Operand): TracedTensor;
  /** clipByValue(x, clipValueMin, clipValueMax) */
  clipByValue(clipValueMin: number, clipValueMax: number): TracedTensor;
  /** relu(x) */
  relu(): TracedTensor;
  /** relu6(x) */
  relu6(): TracedTensor;
  /** leakyRelu(x, alpha = 0.2) */
  leakyRelu(alpha?: number): TracedTensor;
  /** elu(x, alpha = 1) */
  elu(alpha?: number): TracedTensor;
  /** gelu(x, approximate = false) */
  gelu(approximate?: boolean): TracedTensor;
  /** softplus(x) */
  softplus(): TracedTensor;
  /** softmax(x, dim = -1) */
  softmax(dim?: number): TracedTensor;
  /** logSoftmax(x, axis = -1) */
  logSoftmax(axis?: number): TracedTensor;
  /** sum(x, axis = null, keepDims = false) */
  sum(axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** mean(x, axis = null, keepDims = false) */
  mean(axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** prod(x, axis = null, keepDims = false) */
  prod(axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** max(x, axis = null, keepDims = false) */
  max(axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** min(x, axis = null, keepDims = false) */
  min(axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** all(x, axis = null, keepDims = false) */
  all(axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** any(x, axis = null, keepDims = false) */
  any(axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** logSumExp(x, axis = null, keepDims = false) */
  logSumExp(axis?: number | readonly number[], keepDims?: boolean): TracedTensor;
  /** argMax(x, axis = 0) */
  argMax(axis?: number): TracedTensor;
  /** argMin(x, axis = 0) */
  argMin(axis?: number): TracedTensor;
  /** reshape(x, shape) */
  reshape(shape: number | readonly number[]): TracedTensor;
  /** flatten(x) */
  flatten(): TracedTensor;
  /** expandDims(x, axis = 0) */
  expandDims(axis?: number): TracedTensor;
  /** squeeze(x, axis = null) */
  squeeze(axis?: number | readonly number[]): TracedTensor;
  /** transpose(x, perm = null) */
  transpose(perm?: number | readonly number[]): TracedTensor;
  /** broadcastTo(x, shape) */
  broadcastTo(shape: number | readonly number[]): TracedTensor;
  /** tile(x, reps) */
  tile(reps: number | readonly number[]): TracedTensor;
  /** slice(x, begin, size = null) */
  slice(begin: number | readonly number[], size?: number | readonly number[]): TracedTensor;
  /** reverse(x, axis = null) */
  reverse(axis?: number | readonly number[]): TracedTensor;
  /** pad(x, paddings, constantValue = 0) */
  pad(paddings: readonly (readonly [number, number])[], constantValue?: number): TracedTensor;
  /** concat(tensors, axis = 0) */
  concat(others: Operand | readonly Operand[], axis?: number): TracedTensor;
  /** stack(tensors, axis = 0) */
  stack(others: Operand | readonly Operand[], axis?: number): TracedTensor;
  /** conv1d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv1d(filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): TracedTensor;
  /** conv2d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv2d(filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): TracedTensor;
  /** conv3d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  conv3d(filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): TracedTensor;
  /** depthwiseConv2d(x, filter, strides = 1, pad = "valid", dilations = 1) */
  depthwiseConv2d(filter: Operand, strides?: number | readonly number[], pad?: 'valid' | 'same', dilations?: number | readonly number[]): TracedTensor;
  /** conv2dTranspose(x, filter, outputShape, strides = 1, pad = "valid") */
  conv2dTranspose(filter: Operand, outputShape: number | readonly number[], strides?: number | readonly number[], pad?: 'valid' | 'same'): TracedTensor;
  /** maxPool(x, filterSize, strides, pad = "valid") */
  maxPool(filterSize: number | readonly number[], strides: number | readonly number[], pad?: 'valid' | 'same'): TracedTensor;
  /** avgPool(x, filterSize, strides, pad = "valid") */
  avgPool(filterSize: number | readonly number[], strides: number | readonly number[], pad?: 'valid' | 'same'): TracedTensor;
  /** resizeBilinear(x, size, alignCorners = false, halfPixelCenters = false) */
  resizeBilinear(size: number | readonly number[], alignCorners?: boolean, halfPixelCenters?: boolean): TracedTensor;
  /** resizeNearestNeighbor(x, size, alignCorners = false, halfPixelCenters = false) */
  resizeNearestNeighbor(size: number | readonly number[], alignCorners?: boolean, halfPixelCenters?: boolean): TracedTensor;
  /** batchNorm(x, mean, variance, offset, scale, varianceEpsilon = 0.001) */
  batchNorm(mean: Operand, variance: Operand, offset: Operand, scale: Operand, varianceEpsilon?: number): TracedTensor;
  /** gather(x, indices, axis = 0) */
  gather(indices: Operand, axis?: number): TracedTensor;
  /** takeAlongAxis(x, indices, axis = -1) */
  takeAlongAxis(indices: Operand, axis?: number): TracedTensor;
  /** sort(x, axis = -1, descending = false) */
  sort(axis?: number, descending?: boolean): TracedTensor;
  /** argsort(x, axis = -1, descending = false) */
  argsort(axis?: number, descending?: boolean): TracedTensor;
  /** topkIndices(x, k = 1) */
  topkIndices(k?: number): TracedTensor;
  /** cumsum(x, axis = 0, exclusive = false, reverse = false) */
  cumsum(axis?: number, exclusive?: boolean, reverse?: boolean): TracedTensor;
  /** cumprod(x, axis = 0, exclusive = false, reverse = false) */
  cumprod(axis?: number, exclusive?: boolean, reverse?: boolean): TracedTensor;
  /** randomUniform(seed, shape, minval = 0, maxval = 1) */
  randomUniform(shape: number | readonly number[], minval?: number, maxval?: number): TracedTensor;
  /** randomNormal(seed, shape, mean = 0, stdDev = 1) */
  randomNormal(shape: number | readonly number[], mean?: number, stdDev?: number): TracedTensor;
  /** truncatedNormal(seed, shape, mean = 0, stdDev = 1) */
  truncatedNormal(shape: number | readonly number[], mean?: number, stdDev?: number): TracedTensor;
  /** oneHot(indices, depth) */
  oneHot(depth: number): TracedTensor;
  /** where(condition, this, b): the condition comes first, as in TensorFlow.js. */
  where(condition: Operand, b: Operand): TracedTensor;
}
/** How many tensors each operation takes, and the names of what follows them. */
export const operations = {
  add: { tensors: 2, attributes: [] },
  sub: { tensors: 2, attributes: [] },
  mul: { tensors: 2, attributes: [] },
  div: { tensors: 2, attributes: [] },
  mod: { tensors: 2, attributes: [] },
  floorDiv: { tensors: 2, attributes: [] },
  maximum: { tensors: 2, attributes: [] },
  minimum: { tensors: 2, attributes: [] },
  mulAdd: { tensors: 3, attributes: [] },
  neg: { tensors: 1, attributes: [] },
  abs: { tensors: 1, attributes: [] },
  sign: { tensors: 1, attributes: [] },
  sqrt: { tensors: 1, attributes: [] },
  pow: { tensors: 2, attributes: [] },
  floor: { tensors: 1, attributes: [] },
  ceil: { tensors: 1, attributes: [] },
  trunc: { tensors: 1, attributes: [] },
  round: { tensors: 1, attributes: [] },
  exp: { tensors: 1, attributes: [] },
  expm1: { tensors: 1, attributes: [] },
  log: { tensors: 1, attributes: [] },
  log1p: { tensors: 1, attributes: [] },
  sin: { tensors: 1, attributes: [] },
  cos: { tensors: 1, attributes: [] },
  tan: { tensors: 1, attributes: [] },
  asin: { tensors: 1, attributes: [] },
  acos: { tensors: 1, attributes: [] },
  atan: { tensors: 1, attributes: [] },
  atan2: { tensors: 2, attributes: [] },
  sinh: { tensors: 1, attributes: [] },
  cosh: { tensors: 1, attributes: [] },
  tanh: { tensors: 1, attributes: [] },
  asinh: { tensors: 1, attributes: [] },
  acosh: { tensors: 1, attributes: [] },
  atanh: { tensors: 1, attributes: [] },
  sigmoid: { tensors: 1, attributes: [] },
  erf: { tensors: 1, attributes: [] },
  detach: { tensors: 1, attributes: [] },
  isNaN: { tensors: 1, attributes: [] },
  isFinite: { tensors: 1, attributes: [] },
  isInf: { tensors: 1, attributes: [] },
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
  bitXor: { tensors: 2, attributes: [] },
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
  randomUniform: { tensors: 1, attributes: ['shape', 'minval', 'maxval'] },
  randomNormal: { tensors: 1, attributes: ['shape', 'mean', 'stdDev'] },
  truncatedNormal: { tensors: 1, attributes: ['shape', 'mean', 'stdDev'] },
  oneHot: { tensors: 1, attributes: ['depth'] },
} as const;
