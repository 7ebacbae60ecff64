/** `nextFrame` of TensorFlow.js. */
import { settled } from '../../eager/autodiff/background_compute.js';
import { engine } from '../../eager/engine.js';
import { relievePressure } from '../../runtime/pressure.js';

/**
 * Resolves before the next frame of a page, once background compilations of `minimize` are done; elsewhere in a later task. Where memory
 * is short, after unreachable tensors are freed.
 */
export async function nextFrame(): Promise<void> {
  await settled();
  await relievePressure(engine.device);
  await new Promise<void>((resolve) => {
    if (typeof requestAnimationFrame !== 'undefined') requestAnimationFrame(() => resolve());
    else if (typeof setImmediate !== 'undefined') setImmediate(resolve);
    else setTimeout(resolve);
  });
}

declare const setImmediate: ((action: () => void) => void) | undefined;
