/** `tl.toOnnx`, which loads the ONNX exporter at its first call. */
import type { OnnxSource, ToOnnxOptions } from './onnx_export/options.js';
import { ready } from './model/ready.js';

/**
 * Exports a model of layers, or a function compiled by `tl.compile`, as the bytes of an ONNX model (opset 18) with the current
 * weights. Inputs and outputs have the names of the model or function; the batch, null axes and named sizes become symbolic
 * dimensions.
 *
 *     const bytes = await tl.toOnnx(model);
 *     const session = await ort.InferenceSession.create(bytes);
 *
 * A model exports its inference graph. Each assigned variable of a function, and each state of a layer, becomes an input `NAME`
 * and an output `NAME/next`.
 *
 * Errors: bit casts and division of 64-bit unsigned integers, which ONNX cannot express; a computation that depends on a size in
 * more than shapes; 2 GiB of weights.
 */
export async function toOnnx(
  source: OnnxSource,
  options: ToOnnxOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const [{ exportOnnx }] = await Promise.all([import('./onnx_export/write.js'), ready()]);
  return exportOnnx(source, options);
}
