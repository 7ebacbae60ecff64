/** Training that survives a loss of its device: the states are copied to the host from time to time, and written again. */
import { DeviceLostError } from '../base/device_errors.js';
import type { States } from '../runtime/states.js';

/** Between copies. */
const intervalMs = 2000;
/** Losses without a completed copy after which training fails. */
const maxLosses = 3;

export class Recovery {
  #savedAt = 0;
  #losses = 0;

  constructor(private readonly states: () => States) {}

  /** Copies the states to the host if it is time, or if `isDue`. Returns whether it did; undefined where no device can be lost. */
  save(isDue = false): Promise<boolean> | undefined {
    if (!isDue && performance.now() - this.#savedAt < intervalMs) return undefined;
    const copied = this.states().synced();
    return copied?.then(() => {
      this.#savedAt = performance.now();
      this.#losses = 0;
      return true;
    });
  }

  /** Whether training goes on from the last copy, which it writes: the device was lost, not too often. */
  continues(error: unknown): boolean {
    const isLoss = error instanceof DeviceLostError;
    if (!isLoss || (this.#losses += 1) > maxLosses) return false;
    this.states().restore();
    return true;
  }
}
