/** TextEncoder and TextDecoder; those of Node where an emulated page of a test runner has none. */
import { nodeModule } from './node.js';

const found = /* @__PURE__ */ (() =>
  typeof globalThis.TextDecoder === 'undefined' ? nodeModule('node:util') : globalThis)();

export const TextDecoder: typeof globalThis.TextDecoder = found.TextDecoder;
export const TextEncoder: typeof globalThis.TextEncoder = found.TextEncoder;
