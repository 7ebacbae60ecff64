/** `tl.loadModel`, which fetches what reads ONNX when it is first called. */
import { LatheError } from './base/errors.js';
import { checkOptions } from './base/options.js';
import { isKeras } from './io/routers.js';
import { loadLayersModel } from './model/load_layers_model.js';
import type { LayersModel } from './model/model.js';
import type { OnnxModel } from './onnx/model.js';
import { type LoadModelOptions, loadModelOptions, type ModelSource } from './onnx/options.js';
import { ready } from './model/ready.js';

/** The address of a file of Keras. */
export type KerasAddress = `${string}.keras` | `${string}.h5` | `${string}.hdf5`;

/**
 * Loads an ONNX model from an address, a path (in Node) or bytes; or a model of Keras from its address or path, once the
 * module tensorlathe/keras is imported.
 *
 *     const model = await tl.loadModel('model.onnx');
 *     const { logits } = await model.run({ image: tl.tensor(pixels, [1, 3, 224, 224]) });
 *
 * Errors: the file cannot be read, or is no ONNX model; it needs operators that are not there, all
 * of which are named; a file beside it is missing.
 */
export function loadModel(source: KerasAddress): Promise<LayersModel>;
export function loadModel(source: ModelSource, options?: LoadModelOptions): Promise<OnnxModel>;
export async function loadModel(
  source: ModelSource,
  options: LoadModelOptions = {},
): Promise<OnnxModel | LayersModel> {
  checkOptions('loadModel', options, loadModelOptions);
  if (source === undefined || source === null) {
    throw new LatheError('loadModel: wants an address, a path or bytes');
  }
  if (isKeras(source)) {
    return loadLayersModel(source);
  }
  const [{ open }] = await Promise.all([import('./onnx/open.js'), ready()]);
  return open(source, options);
}
