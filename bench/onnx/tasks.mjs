/** Measurements of ONNX models in one process or page, ours next to ONNX Runtime Web. */
export { first, turns } from './published.mjs';
export { decoded } from './decoded.mjs';
export { decoders } from './decoders.mjs';
export { products } from './products.mjs';
export { texts } from './texts.mjs';
