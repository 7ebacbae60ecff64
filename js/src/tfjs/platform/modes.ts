/** Functions of TensorFlow.js that switch debug mode, production mode and deprecation warnings. */
import { env } from './environment.js';

/**
 * Each operation runs separately from now on and is logged with its time and types; one whose result contains a number that is not
 * finite throws at the call that recorded it. Slow: for locating the source of a NaN.
 */
export function enableDebugMode(): void {
  env().set('DEBUG', true);
}

/** Production mode: disables warnings and debug checks. */
export function enableProdMode(): void {
  env().set('PROD', true);
}

/** Turns off the messages of `deprecationWarn`. */
export function disableDeprecationWarnings(): void {
  env().set('DEPRECATION_WARNINGS_ENABLED', false);
  console.warn('TensorFlow.js deprecation warnings have been disabled.');
}

/** Warns of a deprecated function. */
export function deprecationWarn(message: string): void {
  if (!env().getBool('DEPRECATION_WARNINGS_ENABLED')) return;
  console.warn(
    `${message} You can disable deprecation warnings with tf.disableDeprecationWarnings().`,
  );
}
