/** Finds non-finite numbers in the data, layers, loss and weights of a step, if `compile` enabled the check. */
import { LatheError } from '../base/errors.js';
import type { ModuleMetadata } from '../core/abi.js';
import type { NumberArray } from '../tensor/convert.js';
import type { States } from '../runtime/states.js';
import type { Examples } from './examples.js';

/** The error of `checkNumbers`; the training loop adds epoch and batch. */
export class NotFiniteError extends LatheError {
  constructor(
    entry: string,
    private readonly what: string,
  ) {
    super(`${entry}: ${what}`);
  }

  at(where: string): LatheError {
    return new LatheError(`${where}: ${this.what}`);
  }
}

/** Rethrows a NotFiniteError of `step` with its location, counted from 1 as progress is: `fit: epoch 1, batch 4: …`. */
export async function atStep<T>(what: string, epoch: number, batch: number, step: Promise<T>) {
  try {
    return await step;
  } catch (error) {
    if (!(error instanceof NotFiniteError)) throw error;
    throw error.at(`${what}: epoch ${epoch + 1}, batch ${batch + 1}`);
  }
}

/** Whether the module reports which layers have non-finite results. */
export const watches = ({ watched = [] }: Pick<ModuleMetadata, 'watched'>): boolean =>
  watched.length > 0;

/** Error: a value of the step is NaN or infinite. It names the first in the order data, layer, loss, weight. */
export function checkNumbers(
  states: States,
  entry: string,
  outputs: ReadonlyMap<string, NumberArray>,
  data: Examples,
  rows: readonly number[],
): void {
  const { metadata } = states;
  const fail = (what: string) => {
    throw new NotFiniteError(entry, what);
  };
  for (const [name, { data: values, width }] of data.rows) {
    for (const row of name.startsWith('x') ? rows : []) {
      const [at, value] = broken(values.subarray(row * width, (row + 1) * width));
      if (at >= 0) fail(`${name} contains ${value} in row ${row}`);
    }
  }
  const layer = metadata.watched![outputs.get('not_finite')![0]!];
  if (layer !== undefined) fail(`layer "${layer}" has a result that is NaN or infinite`);
  const loss = outputs.get('loss')![0]!;
  if (!Number.isFinite(loss)) fail(`the loss is ${loss}`);
  for (const state of entry === 'train' ? metadata.states : []) {
    const [at, value] = broken(states.elements(state));
    if (at >= 0) fail(`the step made a number of "${state.name}" ${value}`);
  }
}

/** Index and value of the first number that is not finite; -1 if there is none. */
function broken(values: NumberArray): [number, number] {
  const at = (values as Float32Array).findIndex((value) => !Number.isFinite(value));
  return [at, values[at]!];
}
