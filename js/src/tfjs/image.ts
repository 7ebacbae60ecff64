/** The namespace `image` of TensorFlow.js, and `toTensor`. */
export * from '../ops/images/images.js';
export { toTensor } from '../media/to_tensor.js';
