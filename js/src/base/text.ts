/** What writes and reads UTF-8. Imitations of pages that tests run in may lack it; Node below them does not. */
import { nodeModule } from './node.js';

const found = /* @__PURE__ */ (() =>
  typeof globalThis.TextDecoder === 'undefined' ? nodeModule('node:util') : globalThis)();

export const TextDecoder: typeof globalThis.TextDecoder = found.TextDecoder;
export const TextEncoder: typeof globalThis.TextEncoder = found.TextEncoder;
