/** What camera and microphone share: something that gives tensors until it is stopped. */
import { LatheError } from '../base/errors.js';

/** What `getUserMedia` gives. Error: the page may not, or there is no such device. */
export async function openStream(constraints: MediaStreamConstraints): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia(constraints);
  } catch (cause) {
    const { message } = cause as Error;
    throw new LatheError(`Error thrown while initializing video stream: ${message}`, { cause });
  }
}

/** Error: there is no page. */
export function checkPage(message: string): void {
  if (typeof document === 'undefined') throw new LatheError(message);
}

/** Values without an end, one by one. */
export abstract class LiveIterator<T> implements AsyncIterableIterator<T> {
  /** Opens the device, again after `stop`. */
  abstract start(): Promise<void>;
  /** Lets the device go: there are no values then. */
  abstract stop(): void;
  /** Whether the device is let go. */
  protected abstract readonly isClosed: boolean;
  protected abstract read(): Promise<T>;

  async next(): Promise<IteratorResult<T, null>> {
    return this.isClosed ? { value: null, done: true } : { value: await this.read(), done: false };
  }

  /** The value of now; null when it is stopped. */
  async capture(): Promise<T> {
    return (await this.next()).value as T;
  }

  /** What leaves a loop over it early stops it. */
  async return(): Promise<IteratorResult<T, null>> {
    this.stop();
    return { value: null, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
