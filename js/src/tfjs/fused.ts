/** The namespace `fused` of TensorFlow.js. */
export { conv2d, depthwiseConv2d, matMul } from '../ops/nn/fused.js';
