/** Whether this thread may sleep until others wake it: everywhere but on a page's own thread. */
export const mayBlock = /* @__PURE__ */ (() => {
  if (typeof SharedArrayBuffer === 'undefined') return false;
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0);
    return true;
  } catch {
    return false;
  }
})();
