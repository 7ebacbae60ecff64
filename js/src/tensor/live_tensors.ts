/** Live tensors: their statistics, and the nested scopes that own them. Knows no operation of tensors. */
import { LatheError } from '../base/errors.js';
import { arrayTypes } from './dtypes.js';

/** What statistics and scopes see of a tensor. */
export interface LiveTensor {
  readonly size: number;
  readonly dtype: string;
  readonly kept: boolean;
  readonly isDisposed: boolean;
  dispose(): void;
}

/** A value that `tidy` searches for tensors: itself, arrays and objects, including named properties of arrays. */
export type TensorContainer = unknown;

/** The statistics of tensors in `memory`. */
export interface TensorCounts {
  /** Tensors that were not disposed. */
  numTensors: number;
  /** Those of them that do not share their elements with another one. */
  numDataBuffers: number;
  /** Bytes of their elements. */
  numBytes: number;
}

/** @internal */
export const tracked = /* @__PURE__ */ Symbol('tracked');

const counts: TensorCounts = { numTensors: 0, numDataBuffers: 0, numBytes: 0 };
let scopes: LiveTensor[][] = [];

export const tensorCounts = (): TensorCounts => ({ ...counts });

export function track(tensor: LiveTensor, isShared: boolean): void {
  counts.numTensors += 1;
  if (!isShared) trackElements(tensor);
  scopes.at(-1)?.push(tensor);
}

export function untrack(tensor: LiveTensor, isLast: boolean): void {
  counts.numTensors -= 1;
  if (isLast) untrackElements(tensor);
}

/** Accounts for elements that no other tensor references. */
export function trackElements(tensor: LiveTensor): void {
  counts.numDataBuffers += 1;
  counts.numBytes += bytesOf(tensor);
}

/** Accounts for elements that no tensor references any more. */
export function untrackElements(tensor: LiveTensor): void {
  counts.numDataBuffers -= 1;
  counts.numBytes -= bytesOf(tensor);
}

/** Complex numbers are two floats; strings count as 0 bytes. */
const bytesOf = ({ size, dtype }: LiveTensor) =>
  size *
  ((arrayTypes as Partial<Record<string, { BYTES_PER_ELEMENT: number }>>)[dtype]
    ?.BYTES_PER_ELEMENT ?? (dtype === 'complex64' ? 8 : 0));

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

/** Whether a value is a tensor. */
export const isTensor = (value: unknown): boolean =>
  (value as { [tracked]?: unknown } | null | undefined)?.[tracked] !== undefined;

/** Tensors, and the arrays and objects that they are in. */
export function allIn(container: TensorContainer): Set<object> {
  const found = new Set<object>();
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || found.has(value)) return;
    found.add(value);
    if (!isTensor(value) && !ArrayBuffer.isView(value)) Object.values(value).forEach(look);
  };
  look(container);
  return found;
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

/** Runs an action in other scopes, which may outlive it. */
export function inScopes<T>(others: LiveTensor[][], action: () => T): T {
  const retained = scopes;
  scopes = others;
  try {
    return action();
  } finally {
    scopes = retained;
  }
}

/** Leaves all scopes, and resets the statistics. */
export function resetScopes(): void {
  scopes = [];
  Object.assign(counts, { numTensors: 0, numDataBuffers: 0, numBytes: 0 });
}

/** Runs an action outside of all scopes, for tensors that outlive them. */
export const outsideScopes = <T>(action: () => T): T => inScopes([], action);
