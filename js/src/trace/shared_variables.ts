/**
 * Variables that several compiled functions share: each has a copy in its memory, and the newest is copied before a
 * run.
 */
import { LatheError } from '../base/errors.js';
import type { ProgramPort } from '../runtime/device.js';
import { RunQueue } from '../runtime/run_queue.js';
import { hostDTypes } from '../tensor/dtypes.js';
import type { TracedVariable } from './trace.js';

/** What has a copy of the variables: a module or a program of a device. */
export interface VariableOwner {
  readonly metadata: { readonly states: readonly ProgramPort[] };
  /** `from`: another one of the same kind. */
  copyStatesFrom(from: VariableOwner): void;
}

export class SharedVariables {
  /** The queue of runs of all functions, so that each starts with the variables of the previous one. */
  readonly runs = new RunQueue();
  #newest: VariableOwner | undefined;

  /** Error: other variables than those of the functions before. */
  check(variables: ReadonlyMap<string, TracedVariable>): void {
    const states = this.#newest?.metadata.states;
    if (states === undefined) return;
    const current = new Map(
      states.map(({ name, dtype, shape }) => [name, `${hostDTypes[dtype]} [${shape.join(',')}]`]),
    );
    for (const name of new Set([...current.keys(), ...variables.keys()])) {
      const variable = variables.get(name);
      const [was, is] = [
        current.get(name),
        variable && `${variable.dtype} [${variable.shape.join(',')}]`,
      ];
      if (was === is) continue;
      throw new LatheError(
        `variable ${name}: is ${is ?? 'not there'}, but was ${was ?? 'not there'} with the sizes before; ` +
          'all sizes must have the same variables',
      );
    }
  }

  /** Copies the newest variables to their next owner, which is the newest one from then on. */
  bringTo(owner: VariableOwner): void {
    this.runs.drain();
    if (this.#newest === owner) return;
    if (this.#newest !== undefined) owner.copyStatesFrom(this.#newest);
    this.#newest = owner;
  }
}
