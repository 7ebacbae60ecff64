/** Calls of the engine that may reject a module or exhaust memory. */
import { OutOfMemoryError } from '../base/device_errors.js';
import { LatheError } from '../base/errors.js';
import { evictAll } from './evictable.js';

/**
 * The result of `work`, retried after evicting caches if memory is exhausted. Errors: the engine rejects the module;
 * out of memory, with `needed` as the purpose.
 */
export function callEngine<T>(needed: string, work: () => T): T {
  for (;;) {
    try {
      return work();
    } catch (cause) {
      if (cause instanceof WebAssembly.CompileError) {
        const why = `this engine rejects the generated module: ${cause.message}`;
        throw new LatheError(why, { cause });
      }
      if (evictAll()) continue;
      throw new OutOfMemoryError(`out of memory: ${needed} (${String(cause)})`, { cause });
    }
  }
}
