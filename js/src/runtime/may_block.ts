/** Whether this thread may block in Atomics.wait: not on the main thread of a page. */
export const mayBlock = /* @__PURE__ */ (() => {
  if (typeof SharedArrayBuffer === 'undefined') return false;
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0);
    return true;
  } catch {
    return false;
  }
})();
