/** `tl.toOnnx`, which fetches what writes ONNX when it is first called. */
import type { OnnxSource, ToOnnxOptions } from './onnx_export/options.js';
import { ready } from './model/ready.js';

/**
 * A model of layers, or a function that `tl.compile` gave, as the bytes of an ONNX model (opset 18)
 * with the weights of now. Inputs and outputs are called as in the model or function; the number of
 * rows, axes that are null and sizes with names have names in it.
 *
 *     const bytes = await tl.toOnnx(model);
 *     const session = await ort.InferenceSession.create(bytes);
 *
 * A model predicts. What a function assigns, and what layers keep between batches, is an input `NAME`
 * and an output `NAME/next`.
 *
 * Errors: bits of numbers and quotients of 64-bit unsigned integers, which ONNX cannot say; what is
 * computed depends on a size in more than shapes; 2 GiB of weights.
 */
export async function toOnnx(
  source: OnnxSource,
  options: ToOnnxOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const [{ write }] = await Promise.all([import('./onnx_export/write.js'), ready()]);
  return write(source, options);
}
