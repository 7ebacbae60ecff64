/** `loadGraphModel`: from an address, TensorFlow Hub, files, a handler. */
import { LatheError } from '../base/errors.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import { openFormats } from '../core/formats.js';
import { type IOHandler, isObject, type LoadOptions, weightBytes } from '../io/artifacts.js';
import { artifactsOf, nameOf } from '../io/load_artifacts.js';
import { decodeWeights } from '../io/weight_data.js';
import { Tensor } from '../tensor/tensor.js';
import { tracked } from '../tensor/scopes.js';
import { type GraphArtifacts, GraphModel } from './model.js';

/** Options of `loadGraphModel`. */
export interface LoadGraphOptions extends LoadOptions {
  /** Whether the address is one of TensorFlow Hub: "/model.json?tfjs-format=file" is appended. */
  fromTFHub?: boolean;
  /** Accepted; weights are decoded when all have arrived. */
  streamWeights?: boolean;
}

const known: OptionNames<LoadGraphOptions> = {
  strict: true,
  onProgress: true,
  weightPathPrefix: true,
  weightUrlConverter: true,
  requestInit: true,
  fetchFunc: true,
  fromTFHub: true,
  streamWeights: true,
};

/**
 * Loads a graph model.
 *
 *     const model = await tf.loadGraphModel('https://example.com/model.json');
 *     const scores = model.predict(tf.zeros([1, 224, 224, 3]));
 *
 * Errors: it cannot be read; it is a layers model; operators that are not known, all of which are named.
 */
export async function loadGraphModel(
  source: string | URL | IOHandler,
  options: LoadGraphOptions = {},
): Promise<GraphModel> {
  if (source === undefined || source === null) {
    throw new LatheError(
      'modelUrl in loadGraphModel() cannot be null. Please provide a url or an IOHandler that loads the model',
    );
  }
  checkOptions('loadGraphModel', options, known);
  const { fromTFHub, streamWeights: _, ...rest } = options;
  const hub = fromTFHub === true && typeof source === 'string';
  const place = hub ? `${source.replace(/\/?$/, '/')}model.json?tfjs-format=file` : source;
  const artifacts = (await artifactsOf(place, rest, 'loadGraphModel')) as GraphArtifacts;
  await openFormats();
  return modelOf(artifacts, nameOf(place));
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
    return modelOf({ ...json, weightSpecs, weightData }, 'the model');
  }
  if (!isObject(source)) throw new LatheError('loadGraphModelSync: wants a handler or artifacts');
  return modelOf(
    'load' in source ? (source as { load(): GraphArtifacts }).load() : source,
    'the model',
  );
}

function modelOf(artifacts: GraphArtifacts, where: string): GraphModel {
  if (artifacts.format === 'layers-model' || 'model_config' in (artifacts.modelTopology ?? {})) {
    throw new LatheError(`${where}: it is a layers model; loadLayersModel loads it`);
  }
  const arrays = decodeWeights(artifacts.weightSpecs ?? [], weightBytes(artifacts, where), where);
  const weights = new Map(
    arrays.map(({ name, data, shape, dtype }) => [name, new Tensor(data, shape, dtype)[tracked]()]),
  );
  return new GraphModel(artifacts, weights);
}
