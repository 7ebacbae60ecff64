/** The namespace `browser` of TensorFlow.js. */
export { draw, fromPixels, fromPixelsAsync, toPixels } from '../ops/images/pixels.js';
