/** Functions of tensors, called once with tensors that have no numbers: the operations that they write down. */
import { LatheError } from '../base/errors.js';
import { isPromise } from '../base/kinds.js';
import { HeapValue } from '../runtime/heap_value.js';
import { tidy, trackElements } from '../tensor/scopes.js';
import { elements, Tensor } from '../tensor/tensor.js';
import { shown } from './apply.js';
import { recorded } from './compute.js';
import { lastFormula } from './formulas.js';
import { isNested, takenApart } from './nested.js';
import { collectingSeeds, type Seed } from './seeds.js';
import type { ValueType } from './signature.js';
import { separate } from './values.js';
import { collecting, type Variable, variables } from './variable.js';

/** An argument of a function that is being written down. */
export class Argument extends HeapValue {
  constructor(
    private readonly what: string,
    { dtype, shape }: ValueType,
  ) {
    super(dtype, shape);
  }

  /** Error: it lies nowhere. */
  override get address(): never {
    throw new LatheError(
      `${this.what}: the function reads numbers (dataSync, data, arraySync, print, or an operation that looks at them) ` +
        'of a tensor that follows from its arguments, and there are none while it is written down; ' +
        'read them outside of it, or give them back as a result',
    );
  }
}

let depth = 0;

/** Whether a function is being written down. */
export const isWriting = (): boolean => depth > 0;

/** What a function wrote down for arguments of some types. */
export interface Written {
  readonly arguments: readonly Argument[];
  /** Results, those that were there before or are arguments too. Held until `release`. */
  readonly results: readonly HeapValue[];
  readonly rebuild: (leaves: readonly unknown[]) => unknown;
  /** The number of the last formula before it. */
  readonly begin: number;
  /** Variables by the values that they have in it. */
  readonly variables: ReadonlyMap<HeapValue, Variable>;
  /** Others take their place at each call. */
  readonly seeds: readonly Seed[];
}

/**
 * @param what for errors
 * @param f called with tensors for the types
 *
 * Errors: of f; it gives something else than tensors, reads their numbers, or assigns variables.
 */
export function written(
  what: string,
  types: readonly ValueType[],
  f: (tensors: Tensor[]) => unknown,
): Written {
  const given = types.map((type) => new Argument(what, type));
  for (const each of variables.values()) separate(each);
  const old = new Set(variables.values());
  const values = new Map([...old].map((each) => [HeapValue.of(each), each]));
  for (const each of values.keys()) each.hold();
  const seeds: Seed[] = [];
  const begin = lastFormula();
  depth += 1;
  try {
    return recorded(() =>
      tidy(() => {
        const found = collectingSeeds(seeds, () =>
          collecting(values, () => f(given.map((each) => shown(each)))),
        );
        const { leaves, rebuild } = takenApart(found, (value, path) => ofResult(what, value, path));
        followMade(values, old);
        checkVariables(what, values);
        forgetPart(values, old);
        const results = leaves.map((each) => HeapValue.of(each as Tensor));
        for (const each of results) each.hold();
        return { arguments: given, results, rebuild, begin, variables: values, seeds };
      }),
    );
  } catch (error) {
    for (const each of [...values.keys(), ...seeds.map(({ value }) => value)]) each.release();
    throw error;
  } finally {
    depth -= 1;
  }
}

/** Lets go what it holds. */
export function release({ results, variables, seeds }: Written): void {
  for (const each of [...results, ...variables.keys()]) each.release();
  for (const { value } of seeds) value.release();
}

function ofResult(what: string, value: unknown, path: string): string | undefined {
  if (value instanceof Tensor) return 'tensor';
  if (isNested(value)) return undefined;
  const got = isPromise(value) ? 'a promise' : String(value);
  const where = path === '' ? 'the function' : `the function at ${path}`;
  throw new LatheError(
    `${what}: ${where} must return a tensor, or arrays and objects of tensors; got ${got}`,
  );
}

/** Weights of layers that the function made have moved to where the newest are. */
function followMade(values: Map<HeapValue, Variable>, old: ReadonlySet<Variable>): void {
  for (const [value, variable] of [...values]) {
    if (old.has(variable) || variable.isDisposed) continue;
    const now = HeapValue.of(variable);
    if (now === value || !now.isThere) continue;
    now.hold();
    values.set(now, variable);
    values.delete(value);
    value.release();
  }
}

/** Gives variables that were assigned what they were. */
function checkVariables(what: string, values: ReadonlyMap<HeapValue, Variable>): void {
  let assigned: string | undefined;
  for (const [value, variable] of values) {
    if (variable.isDisposed || variable[elements] === value) continue;
    assigned ??= variable.name;
    (variable[elements] as HeapValue).free();
    if (value.tensors === 0) trackElements(variable);
    value.share();
    variable[elements] = value;
  }
  if (assigned === undefined) return;
  throw new LatheError(
    `${what}: the function assigns the variable ${assigned}, and later calls would not; ` +
      'return the value and assign it outside',
  );
}

/** Variables that the function made are read at each call too, but for those that it computes, or that show what others do. */
function forgetPart(values: Map<HeapValue, Variable>, old: ReadonlySet<Variable>): void {
  for (const [value, variable] of values) {
    const isOwn = value.isThere && value.tensors === 1 && !variable.isDisposed;
    if (old.has(variable) || isOwn) continue;
    values.delete(value);
    value.release();
  }
}
