/** An instance of lathe-core.wasm or lathe-text.wasm: texts and bytes in and out, failures as LatheError. */
import { LatheError, reasonOf } from '../base/errors.js';
import { TextDecoder, TextEncoder } from '../base/text.js';
import type { CoreExports, ModuleExports, Pointer } from './abi.js';
import { readCore } from './core_module.js';
import { wordBytes } from './words.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A running core. A trap inside it leaves its memory in an unknown state, so the instance then
 * counts as dead and `currentCore` makes a fresh one; objects of a dead core are rebuilt by their
 * owners from what they retain.
 */
export class Core<Exports extends ModuleExports = CoreExports> {
  dead = false;
  /** What made this package refuse something that the core asked it for. */
  cause: unknown;
  readonly exports: Exports;
  /** Memory of the core for words: where, and for how many. */
  #place: Pointer = 0;
  #capacity = 0;
  #words = new Float64Array();

  constructor(readonly module: WebAssembly.Module) {
    this.exports = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
    this.exports._initialize?.();
  }

  /** Runs `action` on the exports. A zero result is a failure with the core's own message. */
  call(what: string, action: (exports: Exports) => number): number {
    const result = this.run(what, action);
    if (result !== 0) return result;
    const { cause } = this;
    this.cause = undefined;
    throw new LatheError(
      this.text(this.exports.lathe_error() >>> 0),
      cause === undefined ? {} : { cause },
    );
  }

  /** Like `call` for functions whose result may be zero. */
  run(what: string, action: (exports: Exports) => number): number {
    if (this.dead) throw new LatheError(`${what}: the compiler core stopped earlier; begin anew`);
    try {
      // Addresses above 2 GiB come as negative numbers.
      return action(this.exports) >>> 0;
    } catch (error) {
      if (error instanceof LatheError) throw error;
      this.dead = true;
      throw new LatheError(`${what}: ${this.trapReason(error)}`, { cause: error });
    }
  }

  /** Passes bytes to `action` in memory that lives as long as the call. */
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

  /** A copy of bytes in the core's memory, for a function that takes it over. */
  copy(what: string, bytes: Uint8Array): Pointer {
    const at = this.call(what, (exports) => exports.lathe_alloc(bytes.length));
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
    return at;
  }

  /** Passes a text to `action` as UTF-8. */
  withText(what: string, text: string, action: (at: Pointer, length: number) => number): number {
    return this.withBytes(what, encoder.encode(text), action);
  }

  /** Passes words to `action`, in memory that the next ones overwrite. */
  withWords(
    what: string,
    words: readonly number[],
    action: (at: Pointer, count: number) => Pointer,
  ): Pointer {
    if (words.length > this.#capacity) {
      const capacity = 2 * words.length;
      const place = this.call(what, ({ lathe_alloc }) => lathe_alloc(capacity * wordBytes));
      this.exports.lathe_free(this.#place);
      [this.#place, this.#capacity] = [place, capacity];
    }
    this.words().set(words, this.#place / wordBytes);
    return this.call(what, () => action(this.#place, words.length));
  }

  /** The core's memory as words; it may move with the next call. */
  words(): Float64Array {
    const { buffer } = this.exports.memory;
    if (this.#words.buffer !== buffer) this.#words = new Float64Array(buffer);
    return this.#words;
  }

  /** The zero-terminated UTF-8 text at a pointer. */
  text(at: Pointer): string {
    const memory = new Uint8Array(this.exports.memory.buffer);
    return decoder.decode(memory.subarray(at, memory.indexOf(0, at)));
  }

  /** Bytes of the core's memory; they may move with its next call. */
  view(at: Pointer, length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.exports.memory.buffer as ArrayBuffer, at, length);
  }

  /** A copy of bytes of the core's memory. */
  bytes(at: Pointer, length: number): Uint8Array<ArrayBuffer> {
    return this.view(at, length).slice();
  }

  /** What the core says of a trap; of those it does not foresee, as of stacks that overflow, what an engine says, with the usual cause. */
  private trapReason(error: unknown): string {
    const at = this.exports.lathe_trap_text() >>> 0;
    const text = at === 0 ? '' : this.text(at);
    if (text === 'out of memory') return text;
    // The C++ library gives a format.
    const reason = /%/.test(text) ? text.split(' ', 1)[0] : text || reasonOf(error);
    return `too large or nested too deeply for the compiler (${reason})`;
  }
}

let module: WebAssembly.Module | undefined;
let core: Core | undefined;
let prepare: (core: Core) => void = () => {};

/** Whether a core is loaded. */
export const hasCore = (): boolean => module !== undefined;

/** The compiled core if it is another module as well, by what only that one exports. */
export const coreThatExports = (wanted: string): WebAssembly.Module | undefined =>
  module !== undefined && WebAssembly.Module.exports(module).some(({ name }) => name === wanted)
    ? module
    : undefined;

/** Says which compiled core all later calls use. */
export function useCoreModule(compiled: WebAssembly.Module): void {
  module = compiled;
  core = undefined;
}

/** Runs `action` on the live core, and on every core that takes its place. */
export function prepareCores(action: (core: Core) => void): void {
  prepare = action;
  if (core?.dead === false) action(core);
}

/** The live core. In Node the first call loads it. Error: it has not been loaded. */
export function currentCore(): Core {
  if (core !== undefined && !core.dead) return core;
  core = separateCore();
  prepare(core);
  return core;
}

/** Whether a core is the live one. */
export const isLiveCore = (each: Core): boolean => each === core;

/**
 * A core for one large thing: its memory goes when nothing refers to it, where that of the live one never shrinks. It knows no
 * layers of the package. Error: as `currentCore`.
 */
export function separateCore(): Core {
  module ??= readCore();
  if (module === undefined) {
    throw new LatheError(
      'the compiler is not loaded yet: `await tl.ready()` before the first call',
    );
  }
  return new Core(module);
}
