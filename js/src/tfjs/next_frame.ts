/** Waiting for the page. */
import { settled } from '../eager/soon.js';

/** Resolves before the next frame of a page, when what `minimize` compiles in the background is there; elsewhere after what is waiting. */
export async function nextFrame(): Promise<void> {
  await settled();
  await new Promise<void>((resolve) => {
    if (typeof requestAnimationFrame !== 'undefined') requestAnimationFrame(() => resolve());
    else if (typeof setImmediate !== 'undefined') setImmediate(resolve);
    else setTimeout(resolve);
  });
}

declare const setImmediate: ((action: () => void) => void) | undefined;
