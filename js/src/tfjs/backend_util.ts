/** `tf.backend_util`: utilities of backends and operations. */
import { decodeString, encodeString } from './util.js';

export * from '../shapes/axes.js';
export * from './backend/complex.js';
export * from './backend/constants.js';
export * from './backend/convolutions.js';
export * from '../shapes/einsum.js';
export * from './backend/fused.js';
export * from '../shapes/ragged.js';
export * from '../shapes/broadcast_util.js';
export * from '../shapes/gather_util.js';
export * from '../shapes/scatter_util.js';
export * as segment_util from './util/segment_util.js';
export * as slice_util from '../shapes/slice_util.js';
export { type BackendValues, type TypedArray, upcastType } from '../shapes/types.js';

/** Decodes UTF-8. Error: invalid UTF-8. */
export const fromUint8ToStringArray = (texts: readonly Uint8Array[]): string[] =>
  texts.map((each) => decodeString(each));

/** Encodes strings as UTF-8. */
export const fromStringArrayToUint8 = (texts: readonly string[]): Uint8Array[] =>
  texts.map((each) => encodeString(each));
