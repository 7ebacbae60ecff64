/** Variables that several compiled functions share: each has them in its own memory, and whoever runs gets the newest. */
import { LatheError } from '../base/errors.js';
import type { Instance } from '../runtime/instance.js';
import { Runs } from '../runtime/runs.js';
import { hostDTypes } from '../tensor/dtypes.js';
import type { TracedVariable } from './trace.js';

export class SharedVariables {
  /** The runs of all functions, so that each begins with what the one before it left. */
  readonly runs = new Runs();
  #newest: Instance | undefined;

  /** Error: these are other variables than those of the functions before. */
  check(variables: ReadonlyMap<string, TracedVariable>): void {
    const states = this.#newest?.metadata.states;
    if (states === undefined) return;
    const known = new Map(
      states.map(({ name, dtype, shape }) => [name, `${hostDTypes[dtype]} [${shape.join(',')}]`]),
    );
    for (const name of new Set([...known.keys(), ...variables.keys()])) {
      const own = variables.get(name);
      const [was, is] = [known.get(name), own && `${own.dtype} [${own.shape.join(',')}]`];
      if (was === is) continue;
      throw new LatheError(
        `variable ${name}: is ${is ?? 'not there'}, but was ${was ?? 'not there'} with the sizes before; ` +
          'all sizes must give the same variables',
      );
    }
  }

  /** Gives the instance the newest content; from now on it is the one that has it. */
  bringTo(instance: Instance): void {
    this.runs.now();
    if (this.#newest === instance) return;
    if (this.#newest !== undefined) instance.carryStates(this.#newest);
    this.#newest = instance;
  }
}
