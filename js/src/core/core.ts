/** An instance of a module of the compiler: strings and bytes in and out, failures as LatheError. */
import { LatheError, reasonOf } from '../base/errors.js';
import { TextDecoder, TextEncoder } from '../base/text.js';
import type { CoreExports, ModuleExports, Pointer } from './abi.js';
import { readCore } from './core_module.js';
import { wordBytes } from './words.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A running core. A trap leaves its memory in an unknown state: the instance is dead then,
 * `currentCore` creates a new one, and owners of objects of the dead core rebuild them.
 */
export class Core<Exports extends ModuleExports = CoreExports> {
  dead = false;
  /** The error of this package that made a callback of the core fail. */
  cause: unknown;
  readonly exports: Exports;
  /** A buffer for words in the core's memory, and its capacity. */
  #buffer: Pointer = 0;
  #capacity = 0;
  #words = new Float64Array();

  constructor(readonly module: WebAssembly.Module) {
    this.exports = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
    this.exports._initialize?.();
  }

  /** Runs `action` on the exports. A zero result is a failure with the core's message. */
  call(what: string, action: (exports: Exports) => number): number {
    const result = this.run(what, action);
    if (result !== 0) return result;
    const { cause } = this;
    this.cause = undefined;
    throw new LatheError(
      this.readString(this.exports.lathe_error() >>> 0),
      cause === undefined ? {} : { cause },
    );
  }

  /** Like `call` for functions whose result may be zero. */
  run(what: string, action: (exports: Exports) => number): number {
    if (this.dead) throw new LatheError(`${what}: the compiler core stopped earlier; begin anew`);
    try {
      // Addresses above 2 GiB are returned as negative numbers.
      return action(this.exports) >>> 0;
    } catch (error) {
      if (error instanceof LatheError) throw error;
      this.dead = true;
      throw new LatheError(`${what}: ${this.trapReason(error)}`, { cause: error });
    }
  }

  /** Passes a temporary copy of bytes to `action`. */
  withBytes(
    what: string,
    bytes: Uint8Array,
    action: (at: Pointer, length: number) => number,
  ): number {
    const at = this.copy(what, bytes);
    try {
      return this.call(what, () => action(at, bytes.length));
    } finally {
      if (!this.dead) this.exports.lathe_free(at);
    }
  }

  /** A copy of bytes in the core's memory, for a function that becomes its owner. */
  copy(what: string, bytes: Uint8Array): Pointer {
    const at = this.call(what, (exports) => exports.lathe_alloc(bytes.length));
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
    return at;
  }

  /** Passes a string to `action` as UTF-8. */
  withString(what: string, value: string, action: (at: Pointer, length: number) => number): number {
    return this.withBytes(what, encoder.encode(value), action);
  }

  /** Passes words to `action`, in a buffer that the next call overwrites. */
  withWords(
    what: string,
    words: readonly number[],
    action: (at: Pointer, count: number) => Pointer,
  ): Pointer {
    if (words.length > this.#capacity) {
      const capacity = 2 * words.length;
      const buffer = this.call(what, ({ lathe_alloc }) => lathe_alloc(capacity * wordBytes));
      this.exports.lathe_free(this.#buffer);
      [this.#buffer, this.#capacity] = [buffer, capacity];
    }
    this.words().set(words, this.#buffer / wordBytes);
    return this.call(what, () => action(this.#buffer, words.length));
  }

  /** The core's memory as words; the next call may detach it. */
  words(): Float64Array {
    const { buffer } = this.exports.memory;
    if (this.#words.buffer !== buffer) this.#words = new Float64Array(buffer);
    return this.#words;
  }

  /** The zero-terminated UTF-8 string at a pointer. */
  readString(at: Pointer): string {
    const memory = new Uint8Array(this.exports.memory.buffer);
    return decoder.decode(memory.subarray(at, memory.indexOf(0, at)));
  }

  /** A view of the core's memory; the next call may detach it. */
  view(at: Pointer, length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.exports.memory.buffer as ArrayBuffer, at, length);
  }

  /** A copy of bytes of the core's memory. */
  bytes(at: Pointer, length: number): Uint8Array<ArrayBuffer> {
    return this.view(at, length).slice();
  }

  /** The core's message of a trap; for others, such as stack overflows, the engine's, with the usual cause. */
  private trapReason(error: unknown): string {
    const at = this.exports.lathe_trap_text() >>> 0;
    const message = at === 0 ? '' : this.readString(at);
    if (message === 'out of memory') return message;
    // The C++ library stores a format string.
    const reason = /%/.test(message) ? message.split(' ', 1)[0] : message || reasonOf(error);
    return `too large or nested too deeply for the compiler (${reason})`;
  }
}

let module: WebAssembly.Module | undefined;
let core: Core | undefined;
let prepare: (core: Core) => void = () => {};

/** Whether a core is loaded. */
export const isCoreLoaded = (): boolean => module !== undefined;

/** The compiled core if it includes another module, by an export of that module. */
export const coreExporting = (exportName: string): WebAssembly.Module | undefined =>
  module !== undefined && WebAssembly.Module.exports(module).some(({ name }) => name === exportName)
    ? module
    : undefined;

/** Sets the compiled core that all later calls use. */
export function useCoreModule(compiled: WebAssembly.Module): void {
  module = compiled;
  core = undefined;
}

/** Runs `action` on the live core, and on its successors. */
export function prepareCores(action: (core: Core) => void): void {
  prepare = action;
  if (core?.dead === false) action(core);
}

/** The live core. In Node the first call loads it. Error: it has not been loaded. */
export function currentCore(): Core {
  if (core !== undefined && !core.dead) return core;
  core = createCore();
  prepare(core);
  return core;
}

/** Whether a core is the live one. */
export const isLiveCore = (each: Core): boolean => each === core;

/**
 * A separate core for one large object: its memory is garbage-collected, while that of the live one never shrinks. It
 * has no layers in JavaScript. Error: as `currentCore`.
 */
export function createCore(): Core {
  module ??= readCore();
  if (module === undefined) {
    throw new LatheError(
      'the compiler is not loaded yet: `await tl.ready()` before the first call',
    );
  }
  return new Core(module);
}
