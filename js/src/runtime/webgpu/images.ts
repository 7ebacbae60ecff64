/** Pixels of images, canvases and videos as values, without a copy on the host. */
import { LatheError } from '../../base/errors.js';
import { bufferUsage } from './buffers.js';
import { runShader, shader } from './copy_bytes.js';
import type { Gpu } from './gpu.js';
import type { GpuStorage } from './storage.js';
import type { Task } from './work_queue.js';

/** What `fromImage` accepts of what the page may pass to it. */
export type ImageSource = GPUCopyExternalImageSource;

const texelBytes = 4;
/** Of the rows of textures in buffers. */
const rowAlignment = 256;

/** Bits of GPUTextureUsage: to be copied from and to, and drawn to, as browsers do. */
const textureUsage = 1 | 2 | 16;

/** Frames of videos are black on a GPU of the compatibility level (Chromium 156). */
export const mayCopy = ({ device }: Gpu, source: object): boolean =>
  device.features.has('core-features-and-limits') || !('requestVideoFrameCallback' in source);

/** Copies a frame to a buffer of RGBA bytes, as it is now. Error: of the browser, as for an image of another origin. */
function frameOf(gpu: Gpu, source: ImageSource, width: number, height: number) {
  const { device } = gpu;
  const bytesPerRow = Math.ceil((width * texelBytes) / rowAlignment) * rowAlignment;
  const texture = device.createTexture({
    size: [width, height],
    format: 'rgba8unorm',
    usage: textureUsage,
  });
  const { storage, copyTarget } = bufferUsage;
  const buffer = device.createBuffer({ size: bytesPerRow * height, usage: storage | copyTarget });
  const release = () => {
    texture.destroy();
    buffer.destroy();
  };
  try {
    device.queue.copyExternalImageToTexture({ source }, { texture }, [width, height]);
    const encoder = device.createCommandEncoder({ label: 'image' });
    encoder.copyTextureToBuffer({ texture }, { buffer, bytesPerRow }, [width, height]);
    device.queue.submit([encoder.finish()]);
  } catch (error) {
    release();
    throw error;
  }
  return { buffer, wordsPerRow: bytesPerRow / texelBytes, release };
}

/**
 * The task that writes a storage of int32 [height, width, channels], values from 0 to 255, with the pixels that an image has now. Error:
 * that of the browser.
 */
export function imageTask(
  gpu: Gpu,
  source: ImageSource,
  storage: GpuStorage,
  [height, width, channels]: readonly [number, number, number],
): Task {
  const count = height * width * channels;
  const explain = (message: string) => new LatheError(`WebGPU: copying an image: ${message}`);
  const frame = gpu.errors.scoped('validation', [storage], explain, () =>
    frameOf(gpu, source, width, height),
  );
  const row = width * channels;
  const pixel = `b0[i / ${row} * ${frame.wordsPerRow} + i % ${row} / ${channels}]`;
  const body = `b1[i] = extractBits(${pixel}, i % ${channels} * 8, 8);`;
  return {
    begin(current) {
      if (current !== gpu) throw explain('the GPU is lost');
      storage.reset();
      const { gpuBuffer } = gpu.bufferOf(storage);
      runShader(gpu, shader(2, `${count}u`, body), [frame.buffer, gpuBuffer], count);
      frame.release();
    },
    fail(error) {
      storage.error = error;
      frame.release();
    },
  };
}
