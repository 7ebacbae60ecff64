/** All operations on tensors. */
export * from './activations.js';
export * from './arithmetic.js';
export * from './rnn_cells.js';
export * from './compare.js';
export { complex, imag, real } from './complex.js';
export * from './convolution.js';
export { cosineWindow, enclosingPowerOfTwo } from './cosine_window.js';
export * from './bincount.js';
export * from './create.js';
export * as fused from './fused.js';
export type { FusedActivation } from './fused.js';
export * from './gather_scatter.js';
export * as image from './images.js';
export * from './concat_and_slice.js';
export * as linalg from './linalg.js';
export { losses, Reduction } from './losses.js';
export * from './normalization.js';
export * from './padding.js';
export * from './pooling.js';
export * from './products.js';
export * from './ragged.js';
export * from './random.js';
export * from './reduce.js';
export * from './search_and_sets.js';
export * from './shapes.js';
export * as signal from './signals.js';
export { fft, ifft, irfft, rfft } from './spectral.js';
export * as spectral from './spectral.js';
export * as sparse from './sparse.js';
export * from './statistics.js';
export * as string from './strings.js';
export * from './unary.js';
export { ones, zeros } from '../eager/constants.js';
export {
  scalar,
  tensor,
  tensor1d,
  tensor2d,
  tensor3d,
  tensor4d,
  tensor5d,
  tensor6d,
} from '../tensor/create.js';
