/** What camera and microphone share: an iterator of tensors that can be stopped. */
import { LatheError } from '../base/errors.js';

/** The stream of `getUserMedia`. Error: no permission, or no such device. */
export async function openStream(constraints: MediaStreamConstraints): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia(constraints);
  } catch (cause) {
    const { message } = cause as Error;
    throw new LatheError(`Error thrown while initializing video stream: ${message}`, { cause });
  }
}

/** Error: not in a page. */
export function checkPage(message: string): void {
  if (typeof document === 'undefined') throw new LatheError(message);
}

/** An infinite iterator. */
export abstract class LiveIterator<T> implements AsyncIterableIterator<T> {
  /** Opens the device; reopens it after `stop`. */
  abstract start(): Promise<void>;
  /** Releases the device and ends the iterator. */
  abstract stop(): void;
  /** Whether the device is released. */
  protected abstract readonly isClosed: boolean;
  protected abstract read(): Promise<T>;

  async next(): Promise<IteratorResult<T, null>> {
    return this.isClosed ? { value: null, done: true } : { value: await this.read(), done: false };
  }

  /** The current value; null when stopped. */
  async capture(): Promise<T> {
    return (await this.next()).value as T;
  }

  /** Leaving a loop over it early stops it. */
  async return(): Promise<IteratorResult<T, null>> {
    this.stop();
    return { value: null, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
