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

/** What every layer may be given. */
export interface LayerArgs {
  /** Shape of one example; only the first layer needs it. */
  inputShape?: number[];
  /** Default: the class in lower case, with a number. */
  name?: string;
}

/** One number for height and width, or one for each. */
export type Size2D = number | [number, number];

/** Arguments of windows that slide over height and width. */
export interface Window2DArgs extends LayerArgs {
  /** Default: 1; for pools the pool size. */
  strides?: Size2D;
  /** 'same': ceil(size / stride) windows, zeros around; 'valid': only windows inside. Default: valid. */
  padding?: 'valid' | 'same';
}

/** What both convolutions take. */
export interface ConvArgs extends Window2DArgs {
  kernelSize: Size2D;
  /** Default: 1. */
  dilationRate?: Size2D;
  /** Default: linear. */
  activation?: ActivationName | ActivationConfig;
  /** Default: true. */
  useBias?: boolean;
  /** Default: zeros. */
  biasInitializer?: InitializerName | InitializerConfig;
}

/** Arguments of `layers.conv2d`. */
export interface Conv2DArgs extends ConvArgs {
  /** Number of output channels. */
  filters: number;
  /** Default: glorotNormal. */
  kernelInitializer?: InitializerName | InitializerConfig;
}

/** Arguments of `layers.depthwiseConv2d`. */
export interface DepthwiseConv2DArgs extends ConvArgs {
  /** Outputs per channel. Default: 1. */
  depthMultiplier?: number;
  /** Default: glorotNormal. */
  depthwiseInitializer?: InitializerName | InitializerConfig;
}

/** Arguments of the pooling layers. */
export interface Pooling2DArgs extends Window2DArgs {
  /** Default: 2. */
  poolSize?: Size2D;
}

/** Arguments of `layers.batchNormalization`. */
export interface BatchNormalizationArgs extends LayerArgs {
  /** Share that the moving statistics keep at each step. Default: 0.99. */
  momentum?: number;
  /** Added to the variance. Default: 1e-3. */
  epsilon?: number;
  /** Whether beta is added. Default: true. */
  center?: boolean;
  /** Whether gamma multiplies. Default: true. */
  scale?: boolean;
  /** Default: zeros. */
  betaInitializer?: InitializerName | InitializerConfig;
  /** Default: ones. */
  gammaInitializer?: InitializerName | InitializerConfig;
  /** Default: zeros. */
  movingMeanInitializer?: InitializerName | InitializerConfig;
  /** Default: ones. */
  movingVarianceInitializer?: InitializerName | InitializerConfig;
}

/** Arguments of `layers.reshape`. */
export interface ReshapeArgs extends LayerArgs {
  /** Shape of one example; one size may be -1. */
  targetShape: number[];
}

/** Arguments of `layers.zeroPadding2d`. */
export interface ZeroPadding2DArgs extends LayerArgs {
  /** All sides, [height, width], or [[top, bottom], [left, right]]. Default: 1. */
  padding?: Size2D | [[number, number], [number, number]];
}

const maker =
  <Args extends object>(name: string) =>
  (args: Args): LayerConfig => ({ class: name, config: { ...args } });

const makerWithDefaults =
  <Args extends object>(name: string) =>
  (args?: Args): LayerConfig => ({ class: name, config: { ...args } });

/** Makers of layers. Errors come where the layer is added to a model. */
export const layers = {
  /** output = activation(x · kernel + bias), along the last axis. */
  dense: maker<DenseArgs>('Dense'),
  /** Applies a function to every element (softmax: to every row). */
  activation: maker<ActivationArgs>('Activation'),
  /** Convolution of pictures [height, width, channels]: kernel [kh, kw, channels, filters], bias. */
  conv2d: maker<Conv2DArgs>('Conv2D'),
  /** Every channel convolved alone: depthwise kernel [kh, kw, channels, depthMultiplier], bias. */
  depthwiseConv2d: maker<DepthwiseConv2DArgs>('DepthwiseConv2D'),
  /** Greatest element of every window. */
  maxPooling2d: makerWithDefaults<Pooling2DArgs>('MaxPooling2D'),
  /** Mean of every window; zeros around the picture do not count. */
  averagePooling2d: makerWithDefaults<Pooling2DArgs>('AveragePooling2D'),
  /** Greatest element of every channel. */
  globalMaxPooling2d: makerWithDefaults<LayerArgs>('GlobalMaxPooling2D'),
  /** Mean of every channel. */
  globalAveragePooling2d: makerWithDefaults<LayerArgs>('GlobalAveragePooling2D'),
  /**
   * (x - mean) / sqrt(variance + epsilon) · gamma + beta along the last axis: with the statistics of
   * the batch while it trains, with moving ones otherwise.
   */
  batchNormalization: makerWithDefaults<BatchNormalizationArgs>('BatchNormalization'),
  /** Each example as one row. */
  flatten: makerWithDefaults<LayerArgs>('Flatten'),
  /** Each example in another shape. */
  reshape: maker<ReshapeArgs>('Reshape'),
  /** Zeros around pictures [height, width, channels]. */
  zeroPadding2d: makerWithDefaults<ZeroPadding2DArgs>('ZeroPadding2D'),
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
