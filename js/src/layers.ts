/** Makers of layers, optimisers and initialisers: plain descriptions that the core gives meaning to. */
import {
  type ActivationConfig,
  type ActivationName,
  type InitializerConfig,
  type InitializerFactory,
  type InitializerName,
  initializerNames,
  type OptimizerConfig,
  optimizerParameters,
  type TrainFactory,
} from './generated.js';

/** A layer before it is part of a model. */
export interface LayerConfig {
  readonly class: string;
  readonly config: object;
}

/** Arguments of `layers.dense`. */
export interface DenseArgs {
  /** Number of outputs. */
  units: number;
  /** Default: linear. */
  activation?: ActivationName | ActivationConfig;
  /** Shape of one example; only the first layer needs it. */
  inputShape?: number[];
  /** Default: true. */
  useBias?: boolean;
  /** Default: glorotUniform. */
  kernelInitializer?: InitializerName | InitializerConfig;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
  /** Default: dense_1, dense_2, … */
  name?: string;
}

/** Arguments of `layers.activation`. */
export interface ActivationArgs {
  activation: ActivationName | ActivationConfig;
  /** Shape of one example; only the first layer needs it. */
  inputShape?: number[];
  /** Default: activation_1, … */
  name?: string;
}

/** Makers of layers. Errors come where the layer is added to a model. */
export const layers = {
  /** output = activation(x · kernel + bias), along the last axis. */
  dense: (args: DenseArgs): LayerConfig => ({ class: 'Dense', config: { ...args } }),
  /** Applies a function to every element (softmax: to every row). */
  activation: (args: ActivationArgs): LayerConfig => ({ class: 'Activation', config: { ...args } }),
};

/** Makers of optimisers: `train.adam(0.001)`. Errors come at compile. */
export const train = Object.fromEntries(
  Object.entries(optimizerParameters).map(([name, parameters]) => [
    name,
    (...values: unknown[]) => ({
      name,
      ...Object.fromEntries(parameters.map((parameter, at) => [parameter, values[at]])),
    }),
  ]),
) as unknown as TrainFactory;

/** Makers of initialisers: `initializers.randomNormal({stddev: 0.1})`. */
export const initializers = Object.fromEntries(
  initializerNames.map((name) => [name, (parameters?: object) => ({ name, ...parameters })]),
) as unknown as InitializerFactory;

/** An optimiser by name or with its parameters. */
export type OptimizerLike = OptimizerConfig['name'] | OptimizerConfig;
