/**
 * Type checks across realms: `instanceof` compares with the classes of one realm only, while values of Jest, iframes
 * and vm come from others.
 */

/** "Uint8Array", "Blob", "Promise"…, also of subclasses. */
export const kindOf = (value: unknown): string =>
  Object.prototype.toString.call(value).slice(8, -1);

/** What a value is, for errors: "undefined", "a number", "an array", "Uint8Array", "a tensor". */
export function describeKind(value: unknown): string {
  if (value == null) return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (typeof (value as { dataSync?: unknown }).dataSync === 'function') return 'a tensor';
  const kind = kindOf(value);
  return kind === 'Object' ? 'an object' : kind === 'Array' ? 'an array' : kind;
}

/** Whether a value is a typed array of this class, or of its namesake in another realm. */
export const isArrayOf = <A>(
  value: unknown,
  type: (abstract new (...args: never[]) => A) & { name?: string },
): value is A =>
  value instanceof type ||
  (ArrayBuffer.isView(value) && (value as Uint8Array)[Symbol.toStringTag] === type.name);

/** Whether a value is an instance of the global class of this name, or of a polyfill. */
export function isInstanceOf(value: unknown, name: string): boolean {
  const type = (globalThis as Record<string, unknown>)[name];
  return kindOf(value) === name || (typeof type === 'function' && value instanceof type);
}

/** Whether a value is a promise. */
export const isPromise = <T>(value: T | Promise<T>): value is Promise<T> =>
  kindOf(value) === 'Promise';

/** Whether a value is an ArrayBuffer or a SharedArrayBuffer. */
export const isBuffer = (value: unknown): value is ArrayBufferLike =>
  /^(Shared)?ArrayBuffer$/.test(kindOf(value));

/** Whether a value is a Blob or a File. */
export const isBlob = (value: unknown): value is Blob => /^(Blob|File)$/.test(kindOf(value));

/** Whether a value is a string or a URL. */
export const isAddress = (value: unknown): value is string | URL =>
  typeof value === 'string' || kindOf(value) === 'URL';

/** The bytes of a buffer or view; undefined for other values. */
export function bytesOf(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (isBuffer(value)) return new Uint8Array(value as ArrayBuffer);
  if (!ArrayBuffer.isView(value)) return undefined;
  return new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength);
}
