/** Camera and microphone of a page as tensors. Their code costs nothing until it is used. */
import { castTo } from '../eager/operands.js';
import type { Read, WebcamConfig, WebcamIterator } from '../media/camera.js';
import type { MicrophoneConfig, MicrophoneIterator } from '../media/microphone.js';
import { fromPixels } from '../ops/pixels.js';
import { cropAndResize } from '../ops/resampling.js';
import { expandDims, squeeze } from '../ops/shapes.js';
import type { Tensor3D, Tensor4D } from '../tensor/ranks.js';
import { tidy } from '../tensor/scopes.js';

const read: Read = (video, frame) => {
  if (frame === undefined) return fromPixels(video);
  return tidy(() => {
    const pictures = expandDims(castTo(fromPixels(video), 'float32'), 0) as Tensor4D;
    return squeeze(cropAndResize(pictures, [frame.box], [0], frame.size), [0]) as Tensor3D;
  });
};

/**
 * Pictures of a camera: `capture` gives the one of now, [height, width, 3]. Rejects: there is no page, no camera, or the
 * person refuses it; neither a video element nor a size for a hidden one.
 *
 * @param video shows the camera; its width and height are asked of it
 */
export const webcam = async (
  video?: HTMLVideoElement | null,
  config?: WebcamConfig,
): Promise<WebcamIterator> => (await import('../media/index.js')).webcam(read, video, config);

/** Sound of a microphone: `capture` gives the next spectrogram, and the waveform. Rejects as `webcam`, and for options that are wrong. */
export const microphone = async (config?: MicrophoneConfig): Promise<MicrophoneIterator> =>
  (await import('../media/index.js')).microphone(config);
