/**
 * Traces functions of tensors: calls them with symbolic tensors, which have no elements, and records their operations.
 */
import { LatheError } from '../../base/errors.js';
import { isPromise } from '../../base/kinds.js';
import { HeapValue } from '../../runtime/heap_value.js';
import { trackElements } from '../../tensor/live_tensors.js';
import { tidy } from '../../tensor/scopes.js';
import { elements, Tensor } from '../../tensor/tensor.js';
import { tensorOf } from '../apply.js';
import { engine, type Seed } from '../engine.js';
import { lastNodeId } from '../graph/lazy_nodes.js';
import { flattenNested, isNested } from './nested.js';
import type { ValueType } from '../graph/signature.js';
import { unalias } from '../values.js';
import { type Variable, variables } from '../variable.js';

/** A symbolic argument of a traced function. */
export class SymbolicArgument extends HeapValue {
  constructor(
    private readonly what: string,
    { dtype, shape }: ValueType,
  ) {
    super(dtype, shape);
  }

  /** Error: it has no elements. */
  override materialize(): never {
    throw new LatheError(
      `${this.what}: the function reads numbers (dataSync, data, arraySync, print, or an operation that looks at them) ` +
        'of a tensor that follows from its arguments, and there are none while it is traced; ' +
        'read them outside of it, or return them as a result',
    );
  }
}

/** The trace of a function for certain argument types. */
export interface FunctionTrace {
  readonly arguments: readonly SymbolicArgument[];
  /** Results, which may be arguments or captured values. Retained until `releaseTrace`. */
  readonly results: readonly HeapValue[];
  readonly rebuild: (leaves: readonly unknown[]) => unknown;
  /** The id of the last node before the trace. */
  readonly begin: number;
  /** Variables by their values during the trace. */
  readonly variables: ReadonlyMap<HeapValue, Variable>;
  /** Automatic seeds, replaced at each call. */
  readonly seeds: readonly Seed[];
}

/**
 * @param what the name in errors
 * @param f called with tensors of the types
 *
 * Errors: those of f; it does not return tensors, reads their elements, or assigns variables.
 */
export function traceFunction(
  what: string,
  types: readonly ValueType[],
  f: (tensors: Tensor[]) => unknown,
): FunctionTrace {
  const symbols = types.map((type) => new SymbolicArgument(what, type));
  for (const each of variables().values()) unalias(each);
  const old = new Set(variables().values());
  const values = new Map([...old].map((each) => [HeapValue.of(each), each]));
  for (const each of values.keys()) each.retain();
  const seeds: Seed[] = [];
  const begin = lastNodeId();
  const around = engine.trace;
  engine.trace = { seeds, variables: values };
  try {
    return engine.tape.record(() =>
      tidy(() => {
        const found = f(symbols.map((each) => tensorOf(each)));
        const { leaves, rebuild } = flattenNested(found, (value, path) =>
          resultType(what, value, path),
        );
        followMovedWeights(values, old);
        restoreAssigned(what, values);
        dropDerivedVariables(values, old);
        const results = leaves.map((each) => HeapValue.of(each as Tensor));
        for (const each of results) each.retain();
        return { arguments: symbols, results, rebuild, begin, variables: values, seeds };
      }),
    );
  } catch (error) {
    for (const each of [...values.keys(), ...seeds.map(({ value }) => value)]) each.release();
    throw error;
  } finally {
    engine.trace = around;
  }
}

/** Releases the values that the trace retains. */
export function releaseTrace({ results, variables, seeds }: FunctionTrace): void {
  for (const each of [...results, ...variables.keys()]) each.release();
  for (const { value } of seeds) value.release();
}

function resultType(what: string, value: unknown, path: string): string | undefined {
  if (value instanceof Tensor) return 'tensor';
  if (isNested(value)) return undefined;
  const got = isPromise(value) ? 'a promise' : String(value);
  const where = path === '' ? 'the function' : `the function at ${path}`;
  throw new LatheError(
    `${what}: ${where} must return a tensor, or arrays and objects of tensors; got ${got}`,
  );
}

/** Follows weights of layers that the function created and whose newest values are elsewhere. */
function followMovedWeights(values: Map<HeapValue, Variable>, old: ReadonlySet<Variable>): void {
  for (const [value, variable] of [...values]) {
    if (old.has(variable) || variable.isDisposed) continue;
    const now = HeapValue.of(variable);
    if (now === value || !now.isMaterialized) continue;
    now.retain();
    values.set(now, variable);
    values.delete(value);
    value.release();
  }
}

/** Restores variables that the function assigned. Error: there are some. */
function restoreAssigned(what: string, values: ReadonlyMap<HeapValue, Variable>): void {
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

/** Of the variables that the function created, retains those with separate materialized elements. */
function dropDerivedVariables(values: Map<HeapValue, Variable>, old: ReadonlySet<Variable>): void {
  for (const [value, variable] of values) {
    const isSeparate = value.isMaterialized && value.tensors === 1 && !variable.isDisposed;
    if (old.has(variable) || isSeparate) continue;
    values.delete(value);
    value.release();
  }
}
