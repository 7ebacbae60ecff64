/** A module of the compiler that is fetched when it is first needed, at work. */
import type { ModuleExports } from './abi.js';
import { Core, coreThatExports } from './core.js';
import { compileAt, type Place } from './core_module.js';

export class FetchedCore<Exports extends ModuleExports> {
  #compiling: Promise<WebAssembly.Module> | undefined;
  #running: Core<Exports> | undefined;
  readonly #place: Place;
  readonly #own: (keyof Exports & string) | undefined;

  /** `own`: what a core exports that is this module as well. */
  constructor(place: Place, own?: keyof Exports & string) {
    this.#place = place;
    this.#own = own;
  }

  /** The instance that lives. */
  get running(): Core<Exports> | undefined {
    return this.#running?.dead === false ? this.#running : undefined;
  }

  /** That one, or a fresh one. Rejects as `compiled`. */
  async current(): Promise<Core<Exports>> {
    return this.running ?? this.of(await this.compiled());
  }

  /** The module. Rejects with LatheError, and tries again when it is called again. */
  compiled(): Promise<WebAssembly.Module> {
    const core = this.#own && coreThatExports(this.#own);
    if (core !== undefined) return Promise.resolve(core);
    this.#compiling ??= compileAt(this.#place).catch((error: unknown) => {
      this.#compiling = undefined;
      throw error;
    });
    return this.#compiling;
  }

  /** As `current`, of the module once it is compiled. */
  of(module: WebAssembly.Module): Core<Exports> {
    return this.running ?? (this.#running = new Core<Exports>(module));
  }
}
