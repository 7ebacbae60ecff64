/** `registerCallbackConstructor` of TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { checkInteger } from '../base/options.js';
import { type RegisteredCallback, registered } from '../train/registered_callbacks.js';

/**
 * Every `fit` and `fitDataset` from now on makes one of the class, told before the callbacks that it is given, where its
 * `verbose`, which is 1 if it says nothing, is not below the level.
 * Errors: the level is no integer ≥ 0; the class is registered already.
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
