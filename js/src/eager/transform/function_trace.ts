/**
 * Traces functions of tensors for `jit` and `vmap`: calls them with symbolic tensors, which have no elements, and
 * records their operations. Unlike `Trace` in trace/trace.ts, which writes a graph of the core, it records lazy nodes.
 */
import { LatheError } from '../../base/errors.js';
import { isPromise } from '../../base/kinds.js';
import { DeviceValue } from '../../runtime/device_value.js';
import { trackElements } from '../../tensor/live_tensors.js';
import { tidy } from '../../tensor/scopes.js';
import { elements, Tensor } from '../../tensor/tensor.js';
import { tensorOf } from '../apply.js';
import { engine, type Seed, valueOf } from '../engine.js';
import { lastNodeId } from '../graph/lazy_nodes.js';
import { flattenNested, isNested } from './nested.js';
import type { ValueType } from '../graph/signature.js';
import { unalias } from '../values.js';
import { type Variable, variables } from '../variable.js';

/** A symbolic argument of a traced function. */
export class SymbolicArgument extends DeviceValue {
  constructor(
    private readonly what: string,
    { dtype, shape }: ValueType,
  ) {
    super(dtype, shape, engine.device);
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
  readonly results: readonly DeviceValue[];
  readonly rebuild: (leaves: readonly unknown[]) => unknown;
  /** The id of the last node before the trace. */
  readonly lastNodeBefore: number;
  /** Variables by the values that they have during the trace. */
  readonly variables: ReadonlyMap<DeviceValue, Variable>;
  /** Seeds of random operations that were called without a seed; replaced at each call. */
  readonly seeds: readonly Seed[];
}

/**
 * Traces a call of `f`.
 *
 * @param what the name in errors
 * @param types types of the arguments
 * @param f called once, with symbolic tensors of these types
 *
 * Errors: those that `f` throws; it returns anything but tensors or arrays and objects of tensors; it reads elements of
 * symbolic tensors; it assigns variables.
 */
export function traceFunction(
  what: string,
  types: readonly ValueType[],
  f: (tensors: Tensor[]) => unknown,
): FunctionTrace {
  const symbols = types.map((type) => new SymbolicArgument(what, type));
  const variablesBefore = new Set(variables().values());
  // Values identify variables in the trace, so that no two variables may share one.
  for (const variable of variablesBefore) unalias(variable);
  const values = new Map([...variablesBefore].map((variable) => [valueOf(variable), variable]));
  for (const value of values.keys()) value.retain();
  const seeds: Seed[] = [];
  const lastNodeBefore = lastNodeId();
  const outerTrace = engine.trace;
  engine.trace = { seeds, variables: values };
  try {
    return engine.tape.record(() =>
      tidy(() => {
        const returned = f(symbols.map((symbol) => tensorOf(symbol)));
        const { leaves, rebuild } = flattenNested(returned, (value, path) =>
          checkResultLeaf(what, value, path),
        );
        followMovedWeights(values, variablesBefore);
        restoreAssigned(what, values);
        dropDerivedVariables(values, variablesBefore);
        const results = leaves.map((leaf) => valueOf(leaf as Tensor));
        for (const result of results) result.retain();
        return { arguments: symbols, results, rebuild, lastNodeBefore, variables: values, seeds };
      }),
    );
  } catch (error) {
    for (const value of [...values.keys(), ...seeds.map(({ value }) => value)]) value.release();
    throw error;
  } finally {
    engine.trace = outerTrace;
  }
}

/** Releases the values that the trace retains. */
export function releaseTrace({ results, variables, seeds }: FunctionTrace): void {
  for (const value of [...results, ...variables.keys()]) value.release();
  for (const { value } of seeds) value.release();
}

/** The leaf type of a result for `flattenNested`. Error: it is neither a tensor nor an array or object. */
function checkResultLeaf(what: string, value: unknown, path: string): string | undefined {
  if (value instanceof Tensor) return 'tensor';
  if (isNested(value)) return undefined;
  const got = isPromise(value) ? 'a promise' : String(value);
  const where = path === '' ? 'the function' : `the function at ${path}`;
  throw new LatheError(
    `${what}: ${where} must return a tensor, or arrays and objects of tensors; got ${got}`,
  );
}

/**
 * Registers variables that the function created (weights of layers) by their current values, if these replaced the
 * values that the trace knows and are materialized.
 */
function followMovedWeights(
  values: Map<DeviceValue, Variable>,
  variablesBefore: ReadonlySet<Variable>,
): void {
  for (const [value, variable] of [...values]) {
    if (variablesBefore.has(variable) || variable.isDisposed) continue;
    const current = valueOf(variable);
    if (current === value || !current.isMaterialized) continue;
    current.retain();
    values.set(current, variable);
    values.delete(value);
    value.release();
  }
}

/** Restores the values of variables that the function assigned. Error: it assigned at least one. */
function restoreAssigned(what: string, values: ReadonlyMap<DeviceValue, Variable>): void {
  let assigned: string | undefined;
  for (const [value, variable] of values) {
    if (variable.isDisposed || variable[elements] === value) continue;
    assigned ??= variable.name;
    (variable[elements] as DeviceValue).free();
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

/**
 * Removes and releases variables that the function created, unless their elements are materialized and no other tensor
 * shares them: the trace computes the others.
 */
function dropDerivedVariables(
  values: Map<DeviceValue, Variable>,
  variablesBefore: ReadonlySet<Variable>,
): void {
  for (const [value, variable] of values) {
    const isSeparate = value.isMaterialized && value.tensors === 1 && !variable.isDisposed;
    if (variablesBefore.has(variable) || isSeparate) continue;
    values.delete(value);
    value.release();
  }
}
