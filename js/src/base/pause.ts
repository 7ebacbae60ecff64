/** Yields to the event loop within long loops. */

/** Resolves in a later task of the event loop, without the 4 ms delay of timers. */
export function nextTask(): Promise<void> {
  const immediate = (globalThis as { setImmediate?: (done: () => void) => void }).setImmediate;
  if (immediate !== undefined) return new Promise((done) => immediate(done));
  // Emulated pages of test runners have neither.
  if (typeof MessageChannel === 'undefined') return new Promise((done) => setTimeout(done));
  return new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(null);
  });
}

/** When to pause: about every 10 ms, every so many ms, after every batch or epoch, or never. */
export type YieldEvery = 'auto' | 'batch' | 'epoch' | 'never' | number;

/** Measures the time since the last pause and decides when the next is due. */
export class Pacer {
  #last = performance.now();

  constructor(private readonly every: YieldEvery) {}

  /** Pauses if one is due; whether it did. */
  async at(point: 'batch' | 'epoch'): Promise<boolean> {
    if (!this.#due(point)) return false;
    await nextTask();
    this.#last = performance.now();
    return true;
  }

  #due(point: 'batch' | 'epoch'): boolean {
    if (this.every === 'never') return false;
    if (this.every === 'batch') return true;
    if (this.every === 'epoch') return point === 'epoch';
    const limit = this.every === 'auto' ? 10 : this.every;
    return performance.now() - this.#last >= limit;
  }
}
