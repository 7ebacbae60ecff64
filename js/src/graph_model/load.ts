/** `loadGraphModel`: from an address, TensorFlow Hub, files, a handler. */
import { LatheError } from '../base/errors.js';
import { type FileSource } from '../base/source.js';
import { isObject } from '../io/artifacts.js';
import {
  type GraphArtifacts,
  GraphModel,
  type GraphSource,
  type HandlerFinder,
  type LoadGraphOptions,
} from './model.js';

/**
 * Loads a graph model.
 *
 *     const model = await tf.loadGraphModel('https://example.com/model.json');
 *     const scores = model.predict(tf.zeros([1, 224, 224, 3]));
 *
 * @param tfio finds the handlers of an address, as `tf.io` does; default: this package
 *
 * Errors: it cannot be read; it is a layers model.
 */
export async function loadGraphModel(
  source: FileSource | GraphSource,
  options: LoadGraphOptions | null = {},
  tfio?: HandlerFinder,
): Promise<GraphModel> {
  if (source === undefined || source === null) {
    throw new LatheError(
      'modelUrl in loadGraphModel() cannot be null. Please provide a url or an IOHandler that loads the model',
    );
  }
  const hub = options?.fromTFHub === true && typeof source === 'string';
  const target = hub ? `${source.replace(/\/?$/, '/')}model.json?tfjs-format=file` : source;
  const model = new GraphModel(target, options ?? {}, tfio);
  await model.load();
  return model;
}

/** `loadGraphModel` from memory: artifacts, or model.json and its weight bytes. Error: `tl.ready()` was not awaited. */
export function loadGraphModelSync(
  source: { load(): GraphArtifacts } | GraphArtifacts | [GraphArtifacts, ArrayBuffer],
): GraphModel {
  if (source == null) {
    throw new LatheError(
      'modelUrl in loadGraphModelSync() cannot be null. Please provide model artifacts or an IOHandler that loads the model',
    );
  }
  if (Array.isArray(source)) return loaded({ load: () => artifactsFrom(...source) });
  if (isObject(source) && 'load' in source) return loaded(source as GraphSource);
  const parts = ['modelTopology', 'weightSpecs', 'weightData'];
  if (!isObject(source) || parts.some((each) => !(each in source))) {
    throw new LatheError(
      `Unknown model format: a handler, or an object with ${parts.join(', ')} is needed`,
    );
  }
  return loaded({ load: () => source as GraphArtifacts });
}

function artifactsFrom(json?: GraphArtifacts, weightData?: ArrayBuffer): GraphArtifacts {
  if (!json) throw new LatheError('modelJSON must be the first element of the array');
  if (Object.prototype.toString.call(weightData) !== '[object ArrayBuffer]') {
    throw new LatheError('An ArrayBuffer of weights must be the second element of the array');
  }
  const missing = ['modelTopology', 'weightsManifest'].find((each) => !(each in json));
  if (missing) throw new LatheError(`Model JSON is missing '${missing}'`);
  const { weightsManifest } = json as {
    weightsManifest?: { weights: GraphArtifacts['weightSpecs'] }[];
  };
  const weightSpecs = weightsManifest!.flatMap(({ weights }) => weights ?? []);
  return { ...json, weightSpecs, weightData: weightData! };
}

function loaded(source: GraphSource): GraphModel {
  const model = new GraphModel(source);
  if (model.load() === true) return model;
  throw new LatheError(
    'loadGraphModelSync: the handler returns a promise; use loadGraphModel, which awaits it',
  );
}
