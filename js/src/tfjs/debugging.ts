/** Debug mode: each operation runs separately and is logged; the first non-finite result throws. */
import { LatheError } from '../base/errors.js';
import { inspectValues } from '../tensor/tensor.js';
import type { Tensor } from '../tensor/tensor.js';
import { env } from './environment.js';
import { computed, kernelName, observe } from './operation_observers.js';

let stop: (() => void) | undefined;

/** Starts to observe operations, until the flag DEBUG is off. */
export function beginDebugging(): void {
  if (stop !== undefined) return;
  const end = observe((op, operands, result) => {
    if (!isOn()) return;
    const milliseconds = computed(result);
    const from = operands.map((each) => (typeof each === 'number' ? each : each.type)).join(', ');
    console.log(`${kernelName(op)} ${milliseconds.toFixed(3)} ms ${result.type} <- ${from}`);
    checkResult(kernelName(op), result, from);
  });
  inspectValues((values, dtype) => {
    if (isOn()) checkValues(values, dtype);
  });
  stop = () => {
    end();
    inspectValues(undefined);
    stop = undefined;
  };
}

/** `reset` of the environment turns the flag off without calling its hook. */
function isOn(): boolean {
  const is = env().getBool('DEBUG');
  if (!is) stop?.();
  return is;
}

function checkResult(name: string, result: Tensor, from: string): void {
  if (!/^b?float/.test(result.dtype)) return;
  const found = result.dataSync().find((each) => !Number.isFinite(each));
  if (found === undefined) return;
  throw new LatheError(`Found ${found} in the result of '${name}', ${result.type}, of ${from}`);
}

function checkValues(values: ArrayLike<unknown>, dtype: string): void {
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (typeof value !== 'number' || Number.isFinite(value)) continue;
    throw new LatheError(`A tensor of type ${dtype} being made contains ${value}.`);
  }
}

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
