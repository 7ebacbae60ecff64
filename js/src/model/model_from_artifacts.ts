/** Loads models in the layers format of TensorFlow.js. */
import { LatheError, reasonOf } from '../base/errors.js';
import { type FileSource, nameOf } from '../base/source.js';
import { loadFormats } from '../core/formats.js';
import { storable } from '../train/storable.js';
import {
  checkLoadOptions,
  type IOHandler,
  type LoadOptions,
  type ModelArtifacts,
  type ModelJson,
  weightBytes,
} from '../io/artifacts.js';
import { artifactsOf } from '../io/load_artifacts.js';
import { assignOptimizer, assignWeights } from '../io/stored_tensors.js';
import { readTopology } from '../io/topology.js';
import { fromTrainingConfig } from '../io/training_config.js';
import { decodeWeights } from '../io/weight_data.js';
import type { LayersModel } from './model.js';
import { modelFromConfig } from './model_from_config.js';

/** As `tl.loadLayersModel`. */
export async function loadLayersModel(
  source: FileSource | IOHandler,
  options: LoadOptions = {},
): Promise<LayersModel> {
  checkLoadOptions('loadLayersModel', options);
  const where = nameOf(source, 'the model');
  const artifacts = await artifactsOf(source, options, 'loadLayersModel').catch(
    async (error: unknown) => {
      const { readerOf } = await import('../base/file_formats.js');
      const reader = readerOf(where);
      if (error instanceof LatheError && !error.message.includes(';') && reader !== '')
        error.message += `; ${reader}`;
      throw error;
    },
  );
  await loadFormats();
  const { modelTopology, trainingConfig } = artifacts;
  if (artifacts.format === 'graph-model') {
    throw new LatheError(`${where}: it is a graph model; loadGraphModel loads it`);
  }
  if (modelTopology === undefined) {
    throw new LatheError(`${where}: it contains weights only; model.loadWeights reads them`);
  }
  const { network, leftOut } = readTopology(modelTopology, where);
  // A topology without weights is a model with initial weights.
  const isBare = artifacts.weightSpecs === undefined && artifacts.weightData === undefined;
  const arrays = isBare
    ? []
    : decodeWeights(artifacts.weightSpecs, weightBytes(artifacts, where), where);
  const gathered = arrays.filter(({ group }) => group === 'optimizer');
  let model: LayersModel | undefined;
  try {
    model = modelFromConfig(network);
    if (leftOut.length > 0) {
      const names = leftOut.slice(0, 3).join(', ');
      const rest = leftOut.length > 3 ? ` and ${leftOut.length - 3} more` : '';
      console.warn(`tensorlathe: ${where}: training will go without ${names}${rest}`);
    }
    if (trainingConfig !== undefined && trainingConfig !== null) {
      compileAs(model, trainingConfig, where);
    }
    model.metadata = artifacts.userDefinedMetadata;
    const stored = model[storable];
    const weights = arrays.filter((each) => !gathered.includes(each));
    if (!isBare) assignWeights(stored, weights, options.strict ?? true, where);
    if (gathered.length > 0 && stored.training !== undefined) {
      assignOptimizer(stored, gathered, where);
    }
    return model;
  } catch (error) {
    model?.dispose();
    if (!(error instanceof LatheError) || error.message.startsWith(where)) throw error;
    throw new LatheError(`${where}: ${error.message}`, { cause: error });
  }
}

/** A model whose training is not understood predicts all the same. */
function compileAs(
  model: LayersModel,
  config: ModelArtifacts['trainingConfig'],
  where: string,
): void {
  try {
    const training = fromTrainingConfig(config!, where);
    model.compile(training as unknown as Parameters<LayersModel['compile']>[0]);
  } catch (error) {
    const reason = reasonOf(error);
    console.warn(`tensorlathe: the model is loaded without its training: ${reason}`);
  }
}

/** As `tl.models.modelFromJSON`. */
export async function modelFromJSON(topology: object): Promise<LayersModel> {
  const all = (topology ?? {}) as ModelJson & { pathPrefix?: string };
  const { modelTopology = topology, weightsManifest, pathPrefix = '' } = all;
  if (weightsManifest != null) {
    const { http } = await import('../io/http.js');
    const json = new Response(JSON.stringify({ modelTopology, weightsManifest }));
    return loadLayersModel(http(json, { weightPathPrefix: pathPrefix.replace(/[^/]$/, '$&/') }));
  }
  await loadFormats();
  return modelFromConfig(readTopology(modelTopology, 'modelFromJSON').network);
}
