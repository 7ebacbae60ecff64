/** Functions that dispose of tensors, or exclude them from it. */
import { LatheError } from '../base/errors.js';
import { isPromise } from '../base/kinds.js';
import { allIn, endScope, isTensor, startScope, type TensorContainer } from './live_tensors.js';
import type { Tensor } from './tensor.js';

/** The distinct tensors in a container: itself, or in arrays and objects. */
export const tensorsIn = (container: TensorContainer): Tensor[] =>
  [...allIn(container)].filter((each): each is Tensor => isTensor(each));

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
