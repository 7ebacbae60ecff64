/** What TensorFlow.js has in `browser`. */
export { draw, fromPixels, fromPixelsAsync, toPixels } from '../ops/pixels.js';
