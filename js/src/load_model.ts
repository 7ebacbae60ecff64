/** `tl.loadModel`, which fetches what reads ONNX when it is first called. */
import { LatheError } from './base/errors.js';
import { checkOptions } from './base/options.js';
import type { OnnxModel } from './onnx/model.js';
import { type LoadModelOptions, loadModelOptions, type ModelSource } from './onnx/options.js';
import { ready } from './model/ready.js';

/**
 * Loads an ONNX model from an address, a path (in Node) or bytes.
 *
 *     const model = await tl.loadModel('model.onnx');
 *     const { logits } = await model.run({ image: tl.tensor(pixels, [1, 3, 224, 224]) });
 *
 * Errors: the file cannot be read, or is no ONNX model; it needs operators that are not there, all
 * of which are named; a file beside it is missing.
 */
export async function loadModel(
  source: ModelSource,
  options: LoadModelOptions = {},
): Promise<OnnxModel> {
  checkOptions('loadModel', options, loadModelOptions);
  if (source === undefined || source === null) {
    throw new LatheError('loadModel: wants an address, a path or bytes');
  }
  const [{ open }] = await Promise.all([import('./onnx/open.js'), ready()]);
  return open(source, options);
}
