/** Windows on signals. */
import { LatheError } from '../base/errors.js';
import { apply } from '../eager/apply.js';
import { toTensor } from '../eager/operands.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';
import { constant, integers } from './constants.js';
import { cosineWindow, enclosingPowerOfTwo } from './cosine_window.js';
import { rfft } from './spectral.js';

/** Hann's window. */
export const hannWindow = (windowLength: number): Tensor => cosineWindow(windowLength, 0.5, 0.5);
/** Hamming's window. */
export const hammingWindow = (windowLength: number): Tensor =>
  cosineWindow(windowLength, 0.54, 0.46);

/**
 * Frames of a signal, each `frameStep` further, [frames, frameLength]; padEnd: up to the last sample. Errors: lengths
 * and steps that are no integers; steps below 1.
 */
export function frame(
  signal: TensorLike,
  frameLength: number,
  frameStep: number,
  padEnd = false,
  padValue = 0,
): Tensor {
  return tidy(() => {
    const x = toTensor(signal, 'signal', 'frame');
    checkAtLeast(0, 'frameLength', frameLength);
    const room = padEnd ? x.size - 1 : x.size - frameLength;
    if (room < 0 || frameLength === 0) return constant(new Float32Array(0), [0, frameLength]);
    checkAtLeast(1, 'frameStep', frameStep);
    const count = Math.floor(room / frameStep) + 1;
    const places = new Int32Array(count * frameLength);
    for (let at = 0; at < places.length; at += 1) {
      places[at] = Math.floor(at / frameLength) * frameStep + (at % frameLength);
    }
    const more = Math.max(0, (count - 1) * frameStep + frameLength - x.size);
    const padded = more === 0 ? x : apply('pad', [x], [[[0, more]], padValue]);
    return apply('gather', [padded, integers(places, [count, frameLength])], [0]);
  });
}

function checkAtLeast(least: number, name: string, value: number): void {
  if (Number.isInteger(value) && value >= least) return;
  throw new LatheError(`frame: ${name} has to be an integer of at least ${least}, got ${value}`);
}

/** Transforms of the frames of a signal under a window, complex64 [frames, fftLength / 2 + 1]. */
export function stft(
  signal: TensorLike,
  frameLength: number,
  frameStep: number,
  fftLength = enclosingPowerOfTwo(frameLength),
  windowFn: (length: number) => Tensor = hannWindow,
): Tensor {
  return tidy(() => {
    const framed = frame(signal, frameLength, frameStep);
    return rfft(apply('mul', [framed, windowFn(frameLength)]), fftLength);
  });
}
