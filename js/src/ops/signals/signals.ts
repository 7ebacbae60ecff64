/** Signal operations: window functions, framing, STFT. */
import { LatheError } from '../../base/errors.js';
import { applyOperation } from '../../eager/apply.js';
import { toTensor } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { constant, integers } from '../common/constants.js';
import { cosineWindow, enclosingPowerOfTwo } from './cosine_window.js';
import { rfft } from './spectral.js';

/** Hann's window. */
export const hannWindow = (windowLength: number): Tensor => cosineWindow(windowLength, 0.5, 0.5);
/** Hamming's window. */
export const hammingWindow = (windowLength: number): Tensor =>
  cosineWindow(windowLength, 0.54, 0.46);

/**
 * Overlapping frames of a signal, `frameStep` apart, [frames, frameLength]; padEnd: pad the last frames. Errors: lengths
 * and steps that are not integers; steps below 1.
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
    const span = padEnd ? x.size - 1 : x.size - frameLength;
    if (span < 0 || frameLength === 0) return constant(new Float32Array(0), [0, frameLength]);
    checkAtLeast(1, 'frameStep', frameStep);
    const count = Math.floor(span / frameStep) + 1;
    const indices = new Int32Array(count * frameLength);
    for (let at = 0; at < indices.length; at += 1) {
      indices[at] = Math.floor(at / frameLength) * frameStep + (at % frameLength);
    }
    const more = Math.max(0, (count - 1) * frameStep + frameLength - x.size);
    const padded = more === 0 ? x : applyOperation('pad', [x], [[[0, more]], padValue]);
    return applyOperation('gather', [padded, integers(indices, [count, frameLength])], [0]);
  });
}

function checkAtLeast(least: number, name: string, value: number): void {
  if (Number.isInteger(value) && value >= least) return;
  throw new LatheError(`frame: ${name} has to be an integer of at least ${least}, got ${value}`);
}

/** The short-time Fourier transform, complex64 [frames, fftLength / 2 + 1]. */
export function stft(
  signal: TensorLike,
  frameLength: number,
  frameStep: number,
  fftLength = enclosingPowerOfTwo(frameLength),
  windowFn: (length: number) => Tensor = hannWindow,
): Tensor {
  return tidy(() => {
    const framed = frame(signal, frameLength, frameStep);
    return rfft(applyOperation('mul', [framed, windowFn(frameLength)]), fftLength);
  });
}
