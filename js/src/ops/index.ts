/** All operations on tensors. */
export * from './elementwise/activations.js';
export * from './elementwise/arithmetic.js';
export * from './nn/rnn_cells.js';
export * from './elementwise/compare.js';
export { complex, imag, real } from './common/complex.js';
export * from './windows/convolution.js';
export { cosineWindow, enclosingPowerOfTwo } from './signals/cosine_window.js';
export * from './reductions/bincount.js';
export * from './arrays/create.js';
export * as fused from './nn/fused.js';
export type { FusedActivation } from './nn/fused.js';
export * from './arrays/gather_scatter.js';
export * as image from './images/images.js';
export * from './arrays/concat_and_slice.js';
export * as linalg from './linalg/linalg.js';
export { losses, Reduction } from './nn/losses.js';
export * from './nn/normalization.js';
export * from './windows/padding.js';
export * from './windows/pooling.js';
export * from './linalg/products.js';
export * from './arrays/ragged.js';
export * from './random.js';
export * from './reductions/reduce.js';
export * from './arrays/search_and_sets.js';
export * from './common/shapes.js';
export * as signal from './signals/signals.js';
export { fft, ifft, irfft, rfft } from './signals/spectral.js';
export * as spectral from './signals/spectral.js';
export * as sparse from './arrays/sparse.js';
export * from './reductions/statistics.js';
export * as string from './arrays/strings.js';
export * from './elementwise/unary.js';
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
