/** `op` of TensorFlow.js: a user function as an operation. */
import { LatheError } from '../../base/errors.js';
import { OP_SCOPE_SUFFIX } from '../../shapes/types.js';
import { tidy } from '../../tensor/scopes.js';

/**
 * Wraps the function in `{name_: function}` as an operation: intermediate tensors are disposed of, and its name is
 * the key without the trailing `_`, plus `OP_SCOPE_SUFFIX`.
 * Error: not exactly one key.
 */
export function op<F extends (...args: any[]) => unknown>(named: Record<string, F>): F {
  const [key, ...others] = Object.keys(named);
  if (key === undefined || others.length > 0) {
    throw new LatheError(
      `op: an object with a single key, the name of the operation, is needed, got ${Object.keys(named).length} keys`,
    );
  }
  const run = named[key]!;
  const name = key.replace(/_$/, '') + OP_SCOPE_SUFFIX;
  const scoped = (...args: unknown[]): unknown => tidy(name, () => run(...args));
  return Object.defineProperty(scoped, 'name', { value: name }) as F;
}
