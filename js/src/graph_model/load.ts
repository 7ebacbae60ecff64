/** `loadGraphModel`: from an address, TensorFlow Hub, files, a handler. */
import { LatheError } from '../base/errors.js';
import { isObject } from '../io/artifacts.js';
import {
  type GraphArtifacts,
  GraphModel,
  type GraphSource,
  type LoadGraphOptions,
} from './model.js';

/**
 * Loads a graph model.
 *
 *     const model = await tf.loadGraphModel('https://example.com/model.json');
 *     const scores = model.predict(tf.zeros([1, 224, 224, 3]));
 *
 * Errors: it cannot be read; it is a layers model; operators that are not known, all of which are named.
 */
export async function loadGraphModel(
  source: string | URL | GraphSource,
  options: LoadGraphOptions = {},
): Promise<GraphModel> {
  if (source === undefined || source === null) {
    throw new LatheError(
      'modelUrl in loadGraphModel() cannot be null. Please provide a url or an IOHandler that loads the model',
    );
  }
  const hub = options.fromTFHub === true && typeof source === 'string';
  const place = hub ? `${source.replace(/\/?$/, '/')}model.json?tfjs-format=file` : source;
  const model = new GraphModel(place, options);
  await model.load();
  return model;
}

/** `loadGraphModel` of what is there: artifacts, or model.json and the bytes of its weights. Error: `tl.ready()` was not awaited. */
export function loadGraphModelSync(
  source: { load(): GraphArtifacts } | GraphArtifacts | [GraphArtifacts, ArrayBuffer],
): GraphModel {
  if (Array.isArray(source)) {
    const [json, weightData] = source;
    const manifest = (json as { weightsManifest?: { weights: GraphArtifacts['weightSpecs'] }[] })
      .weightsManifest;
    const weightSpecs = manifest?.flatMap(({ weights }) => weights ?? []) ?? [];
    return loaded({ load: () => ({ ...json, weightSpecs, weightData }) });
  }
  if (!isObject(source)) throw new LatheError('loadGraphModelSync: wants a handler or artifacts');
  return loaded(
    'load' in source ? (source as GraphSource) : { load: () => source as GraphArtifacts },
  );
}

function loaded(source: GraphSource): GraphModel {
  const model = new GraphModel(source);
  if (model.load() === true) return model;
  throw new LatheError(
    'loadGraphModelSync: the handler gives a promise; loadGraphModel waits for it',
  );
}
