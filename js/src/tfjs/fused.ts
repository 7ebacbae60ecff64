/** What TensorFlow.js has in `fused`. */
export { conv2d, depthwiseConv2d, matMul } from '../ops/fused.js';
