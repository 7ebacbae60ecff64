/** The platform of TensorFlow.js: `env().platform`. Programs may replace it by `setPlatform`. */
import { nodeProcess } from '../../base/node.js';
import { TextDecoder, TextEncoder } from '../../base/text.js';
import { LatheError } from '../../base/errors.js';
import { isArrayOf } from '../../base/kinds.js';

/** The platform interface of TensorFlow.js. */
export interface Platform {
  fetch(path: string, init?: RequestInit, options?: unknown): Promise<Response>;
  /** A monotonic clock in milliseconds. */
  now(): number;
  encode(text: string, encoding: string): Uint8Array;
  decode(bytes: Uint8Array, encoding: string): string;
  setTimeoutCustom?(action: Function, delay: number): void;
  isTypedArray(value: unknown): boolean;
}

const arrayClasses = [Float32Array, Int32Array, Uint8Array, Uint8ClampedArray];

/** Whether this is one of the typed arrays that TensorFlow.js accepts. */
export const isTfjsTypedArray = (value: unknown): boolean =>
  arrayClasses.some((each) => isArrayOf<Uint8Array>(value, each as typeof Uint8Array));

class EnginePlatform implements Platform {
  async fetch(path: string, init?: RequestInit): Promise<Response> {
    return globalThis.fetch(path, init);
  }

  now(): number {
    return performance.now();
  }

  /** Error: another encoding than UTF-8. */
  encode(text: string, encoding: string): Uint8Array {
    if (!/^utf-?8$/.test(encoding)) {
      throw new LatheError(`strings are encoded as utf-8 only, got the encoding ${encoding}`);
    }
    return new TextEncoder().encode(text);
  }

  decode(bytes: Uint8Array, encoding: string): string {
    return bytes.length === 0 ? '' : new TextDecoder(encoding).decode(bytes);
  }

  setTimeoutCustom(action: Function, delay: number): void {
    setTimeout(() => action() as unknown, delay);
  }

  isTypedArray(value: unknown): boolean {
    return isTfjsTypedArray(value);
  }
}

/** The browser platform in pages and workers, else that of Node. */
export const isPage = (): boolean =>
  (typeof window !== 'undefined' && window.document !== undefined) ||
  typeof (globalThis as { WorkerGlobalScope?: unknown }).WorkerGlobalScope !== 'undefined';

/** The platform of this engine and its name. */
export const enginePlatform = (): [string, Platform] => [
  nodeProcess && !isPage() ? 'node' : 'browser',
  new EnginePlatform(),
];
