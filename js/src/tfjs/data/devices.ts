/** Camera and microphone of a page as tensors. Imported on first use. */
import { castTo } from '../../eager/operands.js';
import type { Read, WebcamConfig, WebcamIterator } from '../../media/camera.js';
import type { MicrophoneConfig, MicrophoneIterator } from '../../media/microphone.js';
import { fromPixels } from '../../ops/images/pixels.js';
import { cropAndResize } from '../../ops/windows/resampling.js';
import { expandDims, squeeze } from '../../ops/common/shapes.js';
import type { Tensor3D, Tensor4D } from '../../tensor/ranked_tensors.js';
import { tidy } from '../../tensor/scopes.js';

const read: Read = (video, frame) => {
  if (frame === undefined) return fromPixels(video);
  return tidy(() => {
    const images = expandDims(castTo(fromPixels(video), 'float32'), 0) as Tensor4D;
    return squeeze(cropAndResize(images, [frame.box], [0], frame.size), [0]) as Tensor3D;
  });
};

/**
 * Frames of a camera: `capture` returns the current one, [height, width, 3]. Rejects: no page, no camera, or the
 * user denies it; neither a video element nor a size for a hidden one.
 *
 * @param video shows the camera; its width and height are requested of the camera
 */
export const webcam = async (
  video?: HTMLVideoElement | null,
  config?: WebcamConfig,
): Promise<WebcamIterator> => (await import('../../media/index.js')).webcam(read, video, config);

/** Sound of a microphone: `capture` returns the next spectrogram, and the waveform. Rejects as `webcam`, and for options that are wrong. */
export const microphone = async (config?: MicrophoneConfig): Promise<MicrophoneIterator> =>
  (await import('../../media/index.js')).microphone(config);
