/** An instance of a module of the compiler that is fetched on first use. */
import type { ModuleExports } from './abi.js';
import { Core, coreExporting } from './core.js';
import { compileModuleAt, type ModuleLocation } from './core_module.js';

export class FetchedCore<Exports extends ModuleExports> {
  #compiling: Promise<WebAssembly.Module> | undefined;
  #running: Core<Exports> | undefined;
  readonly #location: ModuleLocation;
  readonly #exportName: (keyof Exports & string) | undefined;

  /** @param exportName an export of cores that include this module */
  constructor(location: ModuleLocation, exportName?: keyof Exports & string) {
    this.#location = location;
    this.#exportName = exportName;
  }

  /** The live instance. */
  get running(): Core<Exports> | undefined {
    return this.#running?.dead === false ? this.#running : undefined;
  }

  /** The live instance, or a new one. Rejects as `compiled`. */
  async current(): Promise<Core<Exports>> {
    return this.running ?? this.of(await this.compiled());
  }

  /** The module. Rejects with LatheError; later calls retry. */
  compiled(): Promise<WebAssembly.Module> {
    const core = this.#exportName && coreExporting(this.#exportName);
    if (core !== undefined) return Promise.resolve(core);
    this.#compiling ??= compileModuleAt(this.#location).catch((error: unknown) => {
      this.#compiling = undefined;
      throw error;
    });
    return this.#compiling;
  }

  /** The live instance, or a new one of this module. */
  of(module: WebAssembly.Module): Core<Exports> {
    return this.running ?? (this.#running = new Core<Exports>(module));
  }
}
