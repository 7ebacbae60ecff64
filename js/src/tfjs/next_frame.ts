/** Waiting for the page. */

/** Resolves before the next frame of a page; elsewhere after what is waiting. */
export function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof requestAnimationFrame !== 'undefined') requestAnimationFrame(() => resolve());
    else if (typeof setImmediate !== 'undefined') setImmediate(resolve);
    else setTimeout(resolve);
  });
}

declare const setImmediate: ((action: () => void) => void) | undefined;
