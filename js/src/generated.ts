/** Names, parameters and defaults of the core. Written by js/scripts/generate.mjs; do not edit. */

/** Names of the activations. */
export type ActivationName = 'linear' | 'sigmoid' | 'tanh' | 'relu' | 'leakyRelu' | 'elu' | 'softmax';
/** Names of the losses. */
export type LossName = 'meanSquaredError' | 'sigmoidCrossEntropy' | 'softmaxCrossEntropy';
/** Names of the optimisers. */
export type OptimizerName = 'sgd' | 'momentum' | 'adam';
/** Names of the initialisers. */
export type InitializerName = 'zeros' | 'ones' | 'constant' | 'randomUniform' | 'randomNormal' | 'truncatedNormal' | 'glorotUniform' | 'glorotNormal' | 'leCunUniform' | 'leCunNormal' | 'heUniform' | 'heNormal';

/** An activation with its parameters. */
export type ActivationConfig =
  | { name: 'linear' }
  | { name: 'sigmoid' }
  | { name: 'tanh' }
  | { name: 'relu' }
  | { name: 'leakyRelu'; alpha?: number }
  | { name: 'elu'; alpha?: number }
  | { name: 'softmax' };
/** An optimiser with its parameters. */
export type OptimizerConfig =
  | { name: 'sgd'; learningRate?: number }
  | { name: 'momentum'; learningRate?: number; momentum?: number; useNesterov?: boolean }
  | { name: 'adam'; learningRate?: number; beta1?: number; beta2?: number; epsilon?: number };
/** An initialiser with its parameters. */
export type InitializerConfig =
  | { name: 'zeros' }
  | { name: 'ones' }
  | { name: 'constant'; value?: number }
  | { name: 'randomUniform'; minval?: number; maxval?: number }
  | { name: 'randomNormal'; mean?: number; stddev?: number }
  | { name: 'truncatedNormal'; mean?: number; stddev?: number }
  | { name: 'glorotUniform' }
  | { name: 'glorotNormal' }
  | { name: 'leCunUniform' }
  | { name: 'leCunNormal' }
  | { name: 'heUniform' }
  | { name: 'heNormal' };

/** Makers of optimisers; parameters left out have their default. */
export interface TrainFactory {
  /** Defaults: learningRate 0.01. */
  sgd(learningRate?: number): OptimizerConfig;
  /** Defaults: learningRate 0.01, momentum 0.9, useNesterov false. */
  momentum(learningRate?: number, momentum?: number, useNesterov?: boolean): OptimizerConfig;
  /** Defaults: learningRate 0.001, beta1 0.9, beta2 0.999, epsilon 1e-7. */
  adam(learningRate?: number, beta1?: number, beta2?: number, epsilon?: number): OptimizerConfig;
}
/** Makers of initialisers; parameters left out have their default. */
export interface InitializerFactory {
  /** The same as 'zeros'. */
  zeros(): InitializerConfig;
  /** The same as 'ones'. */
  ones(): InitializerConfig;
  /** Defaults: value 0. */
  constant(parameters?: { value?: number }): InitializerConfig;
  /** Defaults: minval -0.05, maxval 0.05. */
  randomUniform(parameters?: { minval?: number; maxval?: number }): InitializerConfig;
  /** Defaults: mean 0, stddev 0.05. */
  randomNormal(parameters?: { mean?: number; stddev?: number }): InitializerConfig;
  /** Defaults: mean 0, stddev 0.05. */
  truncatedNormal(parameters?: { mean?: number; stddev?: number }): InitializerConfig;
  /** The same as 'glorotUniform'. */
  glorotUniform(): InitializerConfig;
  /** The same as 'glorotNormal'. */
  glorotNormal(): InitializerConfig;
  /** The same as 'leCunUniform'. */
  leCunUniform(): InitializerConfig;
  /** The same as 'leCunNormal'. */
  leCunNormal(): InitializerConfig;
  /** The same as 'heUniform'. */
  heUniform(): InitializerConfig;
  /** The same as 'heNormal'. */
  heNormal(): InitializerConfig;
}

/** The initialisers by name. */
export const initializerNames = ['zeros', 'ones', 'constant', 'randomUniform', 'randomNormal', 'truncatedNormal', 'glorotUniform', 'glorotNormal', 'leCunUniform', 'leCunNormal', 'heUniform', 'heNormal'] as const;
/** The optimisers by name, each with the names of its parameters in the order of its maker. */
export const optimizerParameters = {
  sgd: ['learningRate'],
  momentum: ['learningRate', 'momentum', 'useNesterov'],
  adam: ['learningRate', 'beta1', 'beta2', 'epsilon'],
} as const;
