/** All operations on tensors. */
export * from './activations.js';
export * from './arithmetic.js';
export * from './cells.js';
export * from './compare.js';
export * from './convolution.js';
export * from './counts.js';
export * from './create.js';
export * as image from './images.js';
export { losses, Reduction } from './losses.js';
export * from './normalization.js';
export * from './pooling.js';
export * from './random.js';
export * from './reduce.js';
export * from './shapes.js';
export * from './statistics.js';
export * from './unary.js';
