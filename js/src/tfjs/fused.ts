/** What TensorFlow.js has in `fused`. */
export { conv2d, depthwiseConv2d } from '../ops/fused.js';
