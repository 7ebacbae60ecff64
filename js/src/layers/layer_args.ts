/** The layers of the core: arguments, makers, classes. Written by js/scripts/generate.mjs; do not edit. */
import type {
  ActivationConfig,
  ActivationName,
  ConstraintConfig,
  ConstraintName,
  InitializerConfig,
  InitializerName,
  RegularizerConfig,
  RegularizerName,
} from '../core/names.js';
import type { Layer, LayerArgs } from './layer.js';

/** Arguments of `layers.dense`. */
export interface DenseArgs extends LayerArgs {
  units: number;
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
/** Arguments of `layers.activation`. */
export interface ActivationArgs extends LayerArgs {
  /** Default: linear. */
  activation?: ActivationName | ActivationConfig;
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
  inputLength?: number;
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
  valueDim?: number;
  outputShape?: number;
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
  sharedAxes?: number | readonly number[] | readonly (readonly number[])[];
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
  activation(args?: ActivationArgs): Layer;
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
  prelu(args?: PReLUArgs): Layer;
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
