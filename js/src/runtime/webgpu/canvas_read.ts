/**
 * Reads a buffer at once through canvases, where the browser has no other way to wait for the GPU: as `readSync` of
 * @tensorflow/tfjs-backend-webgpu.
 */

import { bufferUsage } from './buffers.js';

/** Rows have 256 pixels, 1024 bytes: copies need multiples of 256. */
const width = 256;
const maxHeight = 256;
const pixelBytes = 4;

type Size = readonly [width: number, height: number];

/**
 * Whether a canvas returns all bits of a buffer. Where it does not belong to the same GPU it may stay empty, and browsers that
 * guard against identification change some pixels.
 */
export function canvasIsExact(device: GPUDevice): boolean {
  if (typeof OffscreenCanvas === 'undefined') return false;
  const words = Uint32Array.from({ length: 4096 }, (_, at) => Math.imul(at + 1, 0x9e3779b1));
  const { copySource, copyTarget } = bufferUsage;
  const usage = copySource | copyTarget;
  const buffer = device.createBuffer({ size: words.byteLength, usage });
  device.queue.writeBuffer(buffer, 0, words);
  const read = new Uint32Array(readThroughCanvas(device, buffer, words.byteLength));
  buffer.destroy();
  return words.every((each, at) => read[at] === each);
}

/** The first bytes, in whole words. */
export function readThroughCanvas(
  device: GPUDevice,
  buffer: GPUBuffer,
  bytes: number,
): ArrayBuffer {
  const result = new Uint8Array(bytes);
  const context = new OffscreenCanvas(width, maxHeight).getContext('2d', {
    willReadFrequently: true,
  })!;
  // Pixels are multiplied by their alpha: colors are exact where the canvas is opaque, alpha where it is not.
  for (const alphaMode of ['opaque', 'premultiplied'] as const) {
    const canvas = new OffscreenCanvas(width, maxHeight);
    const target = canvas.getContext('webgpu') as unknown as GPUCanvasContext;
    const usage = 2; // GPUTextureUsage.COPY_DST
    target.configure({ device, format: 'bgra8unorm', usage, alphaMode });
    for (let offset = 0; offset < bytes;) {
      const size = nextSize(bytes - offset);
      copyToTexture(device, buffer, offset, target.getCurrentTexture(), size);
      context.clearRect(0, 0, ...size);
      context.drawImage(canvas, 0, 0);
      const { data } = context.getImageData(0, 0, ...size);
      store(data, alphaMode === 'opaque', result.subarray(offset));
      offset += size[0] * size[1] * pixelBytes;
    }
    target.unconfigure();
  }
  return result.buffer;
}

/** The next rectangle: whole rows, or the pixels of the last. */
function nextSize(bytes: number): Size {
  const pixels = bytes / pixelBytes;
  const rows = Math.min(maxHeight, Math.floor(pixels / width));
  return rows > 0 ? [width, rows] : [pixels, 1];
}

function copyToTexture(
  device: GPUDevice,
  buffer: GPUBuffer,
  offset: number,
  texture: GPUTexture,
  size: Size,
): void {
  const encoder = device.createCommandEncoder();
  const source = { buffer, offset, bytesPerRow: width * pixelBytes };
  encoder.copyBufferToTexture(source, { texture }, size);
  device.queue.submit([encoder.finish()]);
}

/** Stores colors, whose bytes are in the order of BGRA, or alpha. */
function store(pixels: Uint8ClampedArray, areColors: boolean, to: Uint8Array): void {
  for (let at = 0; at < pixels.length; at += pixelBytes) {
    if (areColors)
      [to[at], to[at + 1], to[at + 2]] = [pixels[at + 2]!, pixels[at + 1]!, pixels[at]!];
    else to[at + 3] = pixels[at + 3]!;
  }
}
