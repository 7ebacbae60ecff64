/** The namespace `tl.image`: what it contains is loaded at the first call. */
import { withCaller } from '../base/errors.js';
import type { Tensor } from '../tensor/tensor.js';
import type { ImageOptions, ImageSource } from './image_options.js';

/**
 * An image as a float32 tensor with a batch of one: resized by a triangle filter, normalized to (value / 255 - mean) / std.
 *
 *     const x = await tl.image.toTensor('photo.jpg', {
 *       size: 224, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], layout: 'nchw',
 *     });
 *
 * Errors: the source cannot be read, or is no image; in Node JPEG and PNG files need the npm packages jpeg-js and pngjs.
 */
export function toTensor(source: ImageSource, options?: ImageOptions): Promise<Tensor> {
  return withCaller(async () => (await import('./image.js')).toTensor(source, options));
}
