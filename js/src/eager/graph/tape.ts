/** Recordings of gradients. */
import type { DeviceValue } from '../../runtime/device_value.js';

/** Recordings in progress, which may be nested. Computed values retain their nodes until the outermost ends. */
export class Tape {
  #depth = 0;
  readonly #computed: DeviceValue[] = [];

  get isRecording(): boolean {
    return this.#depth > 0;
  }

  /** Runs an action while values retain their nodes. */
  record<T>(action: () => T): T {
    this.#depth += 1;
    try {
      return action();
    } finally {
      this.#depth -= 1;
      if (this.#depth === 0) for (const each of this.#computed.splice(0)) each.dropNode();
    }
  }

  /** Drops the node of a computed value, or retains it for the recording. */
  markComputed(value: DeviceValue): void {
    if (this.#depth > 0) this.#computed.push(value);
    else value.dropNode();
  }
}
