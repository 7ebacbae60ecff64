/** Engines refuse modules, and run out of memory. */
import { LatheError } from '../base/errors.js';
import { giveUpSpares } from './spares.js';

/**
 * What `work` gets from the engine; again without the spares where there is no memory. Errors: the
 * module is refused; `needed` says what there is no memory for.
 */
export function askEngine<T>(needed: string, work: () => T): T {
  for (;;) {
    try {
      return work();
    } catch (cause) {
      if (cause instanceof WebAssembly.CompileError) {
        const why = `this engine refuses the generated module: ${cause.message}`;
        throw new LatheError(why, { cause });
      }
      if (giveUpSpares()) continue;
      throw new LatheError(`out of memory: ${needed} (${String(cause)})`, { cause });
    }
  }
}
