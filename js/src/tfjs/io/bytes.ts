/** Composite buffers and helpers of `tf.io`. */
import { fromBase64, toBase64 } from '../../base/arrays.js';
import { LatheError } from '../../base/errors.js';
import { bytesOf, isArrayOf } from '../../base/kinds.js';
import { TextEncoder } from '../../base/text.js';
import { decodeFloat16 } from '../../tensor/float16.js';

type Part = ArrayBuffer | Uint8Array | Float32Array | Int32Array;

/** Several array buffers as one, without copying them. */
export class CompositeArrayBuffer {
  readonly byteLength: number;
  readonly #parts: Uint8Array[];

  /** Concatenates buffers. */
  static join(buffers?: Part | readonly Part[]): ArrayBuffer {
    return new CompositeArrayBuffer(buffers).slice();
  }

  constructor(buffers?: Part | readonly Part[]) {
    const list = (buffers == null ? [] : Array.isArray(buffers) ? buffers : [buffers]) as Part[];
    this.#parts = list.map((each) => bytesOf(each)!);
    this.byteLength = this.#parts.reduce((sum, part) => sum + part.byteLength, 0);
  }

  /** A copy of the bytes from start to end, both clamped to the buffer. */
  slice(start = 0, end: number = this.byteLength): ArrayBuffer {
    const within = (offset: number) => Math.min(Math.max(Number(offset) || 0, 0), this.byteLength);
    const [first, last] = [within(start), within(end)];
    const bytes = new Uint8Array(Math.max(0, last - first));
    let at = 0;
    for (const part of this.#parts) {
      const piece = part.subarray(Math.max(0, first - at), Math.max(0, last - at));
      if (piece.length > 0) bytes.set(piece, Math.max(0, at - first));
      at += part.byteLength;
    }
    return bytes.buffer;
  }
}

/** As `CompositeArrayBuffer.join`. */
export const concatenateArrayBuffers = (buffers: ArrayBuffer | ArrayBuffer[]): ArrayBuffer =>
  CompositeArrayBuffer.join(buffers);

/** Concatenates the bytes of arrays. Errors: not a list; an array of another type. */
export function concatenateTypedArrays(arrays: readonly ArrayBufferView[]): ArrayBuffer {
  if (arrays == null) throw new LatheError('concatenateTypedArrays: a list of arrays is needed');
  for (const each of arrays) {
    if (
      [Float32Array, Int32Array, Uint8Array].some((type) => isArrayOf<ArrayBufferView>(each, type))
    )
      continue;
    throw new LatheError(`Unsupported TypedArray subtype: ${each.constructor.name}`);
  }
  return CompositeArrayBuffer.join(arrays as Uint8Array[]);
}

/** The UTF-8 byte length of a string. */
export const stringByteLength = (text: string): number => new TextEncoder().encode(text).length;

export function arrayBufferToBase64String(buffer: ArrayBuffer): string {
  return toBase64(new Uint8Array(buffer));
}

export function base64StringToArrayBuffer(text: string): ArrayBuffer {
  return fromBase64(text).buffer;
}

/** The last component of a path, ignoring trailing slashes. */
export function basename(path: string): string {
  const parts = path.trim().replace(/\/+$/, '').split('/');
  return parts[parts.length - 1]!;
}

/** A decoder of float16 to float32. */
export const getFloat16Decoder = (): ((bits: Uint16Array) => Float32Array<ArrayBuffer>) =>
  decodeFloat16;
