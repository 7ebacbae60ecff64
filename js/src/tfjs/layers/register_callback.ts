/** `registerCallbackConstructor` of TensorFlow.js. */
import { LatheError } from '../../base/errors.js';
import { checkInteger } from '../../base/options.js';
import { type RegisteredCallback, registered } from '../../train/registered_callbacks.js';

/**
 * Every `fit` and `fitDataset` from now on creates an instance, called before the callbacks of its arguments, if its
 * `verbose`, by default 1, is not below the level.
 * Errors: a level that is not an integer ≥ 0; a class that is already registered.
 */
export function registerCallbackConstructor(
  verbosityLevel: number,
  callbackConstructor: RegisteredCallback['Made'],
): void {
  checkInteger('registerCallbackConstructor: verbosityLevel', verbosityLevel, 0);
  if (registered.some(({ Made }) => Made === callbackConstructor)) {
    throw new LatheError('registerCallbackConstructor: this class is registered already');
  }
  registered.push({ level: verbosityLevel, Made: callbackConstructor });
  registered.sort((a, b) => a.level - b.level);
}
