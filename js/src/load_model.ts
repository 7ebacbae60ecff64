/** `tl.loadModel`, which loads the ONNX importer at its first call. */
import { LatheError, withCaller } from './base/errors.js';
import { checkOptions } from './base/options.js';
import { loadDevice } from './devices/registry.js';
import { engine } from './eager/engine.js';
import { isKeras } from './io/routers.js';
import { loadLayersModel } from './model/load_layers_model.js';
import type { LayersModel } from './model/model.js';
import type { OnnxModel } from './onnx/model.js';
import { type LoadModelOptions, loadModelOptions, type ModelSource } from './onnx/options.js';
import { ready } from './model/ready.js';

/** The URL or path of a Keras file. */
export type KerasAddress = `${string}.keras` | `${string}.h5` | `${string}.hdf5`;

/**
 * Loads an ONNX model from a URL, a path (in Node) or bytes; or a Keras model from its URL or path, once the module
 * tensorlathe/keras is imported.
 *
 *     const model = await tl.loadModel('model.onnx');
 *     const { logits } = await model.run({ image: tl.tensor(pixels, [1, 3, 224, 224]) });
 *
 * Errors: the file cannot be read, or is no ONNX model; unsupported operators, all of which are named; a missing file of
 * external data; a device that is not available.
 */
export function loadModel(
  source: KerasAddress,
  options?: Pick<LoadModelOptions, 'onProgress' | 'requestInit'>,
): Promise<LayersModel>;
export function loadModel(source: ModelSource, options?: LoadModelOptions): Promise<OnnxModel>;
export function loadModel(
  source: ModelSource,
  options: LoadModelOptions = {},
): Promise<OnnxModel | LayersModel> {
  return withCaller(async () => {
    checkOptions('loadModel', options, loadModelOptions);
    if (source === undefined || source === null) {
      throw new LatheError('loadModel: expects a URL, a path or bytes');
    }
    if (isKeras(source)) {
      const { onProgress, requestInit } = options;
      const progress = onProgress && ((part: number) => onProgress(part, String(source)));
      return loadLayersModel(source, { onProgress: progress, requestInit });
    }
    const { device: name, ...others } = options;
    const [device, { open }] = await Promise.all([
      name === undefined ? engine.device : loadDevice(name),
      import('./onnx/open_model.js'),
      ready(),
    ]);
    return await open(source, { ...others, device });
  });
}
