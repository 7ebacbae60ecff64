/** What Keras and TensorFlow.js call otherwise than the rule says. Written by js/scripts/generate.mjs; do not edit. */

/** Classes of models. */
export const modelClasses: readonly string[] = ['Sequential', 'Functional', 'Model'];
/** Options whose value is a row of one of the core's tables, by the end of their name. */
export const choices = [
  ['activation', 'activations'],
  ['initializer', 'initializers'],
  ['regularizer', 'regularizers'],
  ['constraint', 'constraints'],
] as const;
/** Layers that are an activation by another name, where the core has no such class. */
export const activationLayers: Record<string, string> = { ReLU: 'relu', LeakyReLU: 'leakyRelu', ELU: 'elu', Softmax: 'softmax' };
/** What TensorFlow.js calls the rows whose class is no rule. */
export const rowClasses: Record<string, string> = { l1: 'L1L2', l2: 'L1L2', l1l2: 'L1L2' };
/** Losses that Keras has under another name. */
export const kerasLosses: Record<string, string> = { softmaxCrossEntropy: 'categorical_crossentropy', sigmoidCrossEntropy: 'binary_crossentropy' };
/** Options of optimisers that Keras has had under other names. */
export const optimizerOptions: Record<string, string> = { lr: 'learningRate', nesterov: 'useNesterov' };
/** What later versions of Keras call the slots of optimisers. */
export const slotNames: Record<string, string> = { velocity: 'rms', average_gradient: 'mg', accumulated_grad: 'accum_grad', accumulated_delta_var: 'accum_var', u: 'v' };
/** Metrics that TensorFlow.js computes, too; it refuses a model with any other. */
export const sharedMetrics: readonly string[] = ['acc', 'accuracy', 'binaryAccuracy', 'categoricalAccuracy', 'precision'];
/** Options that change nothing while they have these values, for classes that do not know them. */
export const neutral: Record<string, readonly unknown[] | 'any'> = {
  trainable: [true],
  dtype: ['float32', 'int32'],
  dataFormat: ['channels_last', 'channelsLast'],
  axis: [-1],
  groups: [1],
  dilationRate: [1],
  inputLength: 'any',
  implementation: 'any',
  fused: 'any',
  unroll: 'any',
  seed: 'any',
  dropout: [0],
  recurrentDropout: [0],
};
