/** Live tensors, and the nested scopes of `tidy` that dispose of them. */
import { LatheError } from '../base/errors.js';
import { isPromise } from '../base/kinds.js';
import { arrayTypes } from './dtypes.js';
import type { Tensor } from './tensor.js';

/** The statistics of tensors in `memory`. */
export interface TensorCounts {
  /** Tensors that were not disposed. */
  numTensors: number;
  /** Those of them that do not share their elements with another one. */
  numDataBuffers: number;
  /** Bytes of their elements. */
  numBytes: number;
}

/** A value that `tidy` searches for tensors: itself, arrays and objects, including named properties of arrays. */
export type TensorContainer = unknown;

/** @internal */
export const tracked = /* @__PURE__ */ Symbol('tracked');

const counts: TensorCounts = { numTensors: 0, numDataBuffers: 0, numBytes: 0 };
let scopes: Tensor[][] = [];

export const tensorCounts = (): TensorCounts => ({ ...counts });

export function track(tensor: Tensor, isShared: boolean): void {
  counts.numTensors += 1;
  if (!isShared) trackElements(tensor);
  scopes.at(-1)?.push(tensor);
}

export function untrack(tensor: Tensor, isLast: boolean): void {
  counts.numTensors -= 1;
  if (isLast) untrackElements(tensor);
}

/** Accounts for elements that no other tensor references. */
export function trackElements(tensor: Tensor): void {
  counts.numDataBuffers += 1;
  counts.numBytes += bytesOf(tensor);
}

/** Accounts for elements that no tensor references any more. */
export function untrackElements(tensor: Tensor): void {
  counts.numDataBuffers -= 1;
  counts.numBytes -= bytesOf(tensor);
}

/** Complex numbers are two floats; strings count as 0 bytes. */
const bytesOf = ({ size, dtype }: Tensor) =>
  size *
  ((arrayTypes as Partial<typeof arrayTypes>)[dtype]?.BYTES_PER_ELEMENT ??
    (dtype === ('complex64' as string) ? 8 : 0));

/** Starts a scope, to which tensors created from now on belong. */
export function startScope(): void {
  scopes.push([]);
}

/**
 * Disposes of the scope's tensors except for those of `keep` and those in `result`, which move to the enclosing scope.
 */
export function endScope(result?: TensorContainer): void {
  const made = scopes.pop();
  if (made === undefined) throw new LatheError('endScope: no scope has been started');
  const retained = made.length === 0 || isTensor(result) ? undefined : allIn(result);
  const around = scopes.at(-1);
  for (const each of made) {
    if (each.kept || each.isDisposed) continue;
    if (each === result || retained?.has(each)) around?.push(each);
    else each.dispose();
  }
}

const isTensor = (value: unknown): value is Tensor =>
  (value as Tensor | null | undefined)?.[tracked] !== undefined;

/** The distinct tensors in a container: itself, or in arrays and objects. */
export const tensorsIn = (container: TensorContainer): Tensor[] =>
  [...allIn(container)].filter(isTensor);

/** Tensors, and the arrays and objects that they are in. */
function allIn(container: TensorContainer): Set<object> {
  const found = new Set<object>();
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || found.has(value)) return;
    found.add(value);
    if (!isTensor(value) && !ArrayBuffer.isView(value)) Object.values(value).forEach(look);
  };
  look(container);
  return found;
}

/**
 * Runs the function and then disposes of all tensors that it created, except for those that it returns, itself or in
 * arrays and objects, those of `keep`, and variables.
 *
 * @param name for `profile`; or the function
 * @returns what the function returns
 *
 * A promise is returned as it is, with a message on the console: tensors created after the first `await` stay, earlier
 * ones are disposed of.
 *
 * Error: no function.
 */
export function tidy<T extends TensorContainer>(name: string | (() => T), action?: () => T): T {
  const run = typeof name === 'string' ? action : name;
  if (typeof run !== 'function') {
    throw new LatheError('tidy: a function is needed, with or without a name before it');
  }
  startScope();
  let result: T | undefined;
  try {
    result = run();
    if (isPromise(result)) {
      console.error('Cannot return a Promise inside of tidy.');
    }
    return result;
  } finally {
    endScope(result);
  }
}

/** As `tidy`; but where the function returns a promise, all tensors stay. */
export function scoped<T>(action: () => T): T {
  startScope();
  let result: unknown;
  try {
    return (result = action()) as T;
  } finally {
    endScope(result instanceof Promise ? scopes.at(-1) : result);
  }
}

/** Excludes a tensor from `tidy`; it lives until `dispose`. Error: it is no tensor. */
export function keep<T extends Tensor>(tensor: T): T {
  if (!isTensor(tensor)) {
    throw new LatheError(`keep: a tensor is needed, got ${String(tensor)}`);
  }
  tensor.kept = true;
  return tensor;
}

/** Disposes of all tensors in something: one, or an array or object of them. */
export function dispose(container: TensorContainer): void {
  for (const each of tensorsIn(container)) each.dispose();
}

/** Leaves all scopes, and resets the statistics. */
export function resetScopes(): void {
  scopes = [];
  Object.assign(counts, { numTensors: 0, numDataBuffers: 0, numBytes: 0 });
}

/** Runs an action outside of all scopes, for tensors that outlive them. */
export function outsideScopes<T>(action: () => T): T {
  const retained = scopes;
  scopes = [];
  try {
    return action();
  } finally {
    scopes = retained;
  }
}
