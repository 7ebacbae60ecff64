/** Constants of erf and SELU, and logging (`tf.backend_util`). */
import { env } from '../platform/environment.js';

/** Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26. */
export const ERF_P = 0.3275911;
export const ERF_A1 = 0.254829592;
export const ERF_A2 = -0.284496736;
export const ERF_A3 = 1.421413741;
export const ERF_A4 = -1.453152027;
export const ERF_A5 = 1.061405429;

/** Klambauer et al., Self-Normalizing Neural Networks (2017). */
export const SELU_SCALEALPHA = 1.7580993408473768;
export const SELU_SCALE = 1.0507009873554805;

const isSilent = () => env().getBool('IS_TEST') || env().getBool('PROD');

/** Warns on the console, unless a test runs or the flag PROD is set. */
export function warn(...message: unknown[]): void {
  if (!isSilent()) console.warn(...message);
}

/** Logs under the conditions of `warn`. */
export function log(...message: unknown[]): void {
  if (!isSilent()) console.log(...message);
}
