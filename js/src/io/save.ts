/** Saves a model in the layers format of TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import { openFormats } from '../core/formats.js';
import { isOwn } from '../layers/own_formula.js';
import type { Metrics } from '../train/metrics.js';
import { type CompileDescription, type Storable, storable } from '../train/storable.js';
import type { IOHandler, ModelArtifacts, Quantization, SaveResult } from './artifacts.js';
import { withDistinctNames } from './distinct_names.js';
import { openHandler } from './handlers.js';
import { savedArrays } from './stored_tensors.js';
import { writeTopology } from './topology.js';
import { toTrainingConfig } from './training_config.js';
import { encodeWeights } from './weight_data.js';

/** Options of `model.save`. */
export interface SaveArgs {
  /** Whether what the optimiser has gathered is saved, so that training can go on. Default: false. */
  includeOptimizer?: boolean;
  /** Whether the weights that training changes are all that is saved. Default: false. */
  trainableOnly?: boolean;
  /** Stores the floats of weights with fewer bits. Default: all 32. */
  quantize?: Quantization['dtype'];
  /** Passed to `fetch` where the model goes to a server. */
  requestInit?: RequestInit;
}

const names: OptionNames<SaveArgs> = {
  includeOptimizer: true,
  trainableOnly: true,
  quantize: true,
  requestInit: true,
};

/** Everything that is saved of a model, as of now. */
export async function toArtifacts(model: Storable, args: SaveArgs = {}): Promise<ModelArtifacts> {
  checkOptions('save', args, names);
  const { includeOptimizer = false, trainableOnly = false, quantize } = args;
  const kinds = ['uint8', 'uint16', 'float16'];
  if (quantize !== undefined && !kinds.includes(quantize)) {
    throw new LatheError(`save: quantize must be ${kinds.join(', ')}, got ${String(quantize)}`);
  }
  await openFormats();
  const stored = withDistinctNames(model[storable]);
  const { config, summary } = stored;
  const modelTopology = writeTopology(config, summary);
  const training = includeOptimizer ? written(stored.training) : undefined;
  const artifacts: ModelArtifacts = {
    modelTopology,
    format: 'layers-model',
    generatedBy: 'tensorlathe',
    convertedBy: null,
    ...encodeWeights(savedArrays(stored, training !== undefined, trainableOnly), quantize),
  };
  if (stored.metadata !== undefined) artifacts.userDefinedMetadata = stored.metadata;
  if (training !== undefined) {
    artifacts.trainingConfig = toTrainingConfig(training);
  }
  return artifacts;
}

/** Options of `compile` that no file has a place for, where they are not what they are by default. */
function unwritten(others: {
  regularizer?: unknown;
  trainMetrics?: boolean;
  testMetrics?: boolean;
}): string[] {
  const { regularizer, trainMetrics, testMetrics } = others;
  return Object.entries({
    regularizer: regularizer != null,
    trainMetrics: trainMetrics === false,
    testMetrics: testMetrics === false,
  }).flatMap(([name, isGiven]) => (isGiven ? [name] : []));
}

/** What of a training can be written: functions of the program cannot, as a warning says; without its loss, nothing. */
function written(training: CompileDescription | undefined): CompileDescription | undefined {
  if (training === undefined) return undefined;
  const isFunction = (each: unknown) => typeof each === 'function' && !('config' in each);
  const lists = isList(training.metrics) ? [training.metrics] : Object.values(training.metrics);
  const functions = lists.flat().filter(isFunction) as { name: string }[];
  const losses = [training.loss].flat().filter(isOwn);
  const named = [...losses, ...functions].map(({ name }) => name || 'without name');
  if (named.length > 0) {
    console.warn(
      `tensorlathe: save: losses and metrics that are functions (${named.join(', ')}) are not saved` +
        `${losses.length > 0 ? ', nor what the optimizer has gathered' : ''}: compile the loaded model with them`,
    );
  }
  const options = unwritten(training.others ?? {});
  if (options.length > 0) {
    console.warn(
      `tensorlathe: save: ${options.join(', ')} of compile is not saved: compile the loaded model with it`,
    );
  }
  const plain = (metrics: unknown) => [metrics].flat().filter((each) => !isFunction(each));
  const metrics = isList(training.metrics)
    ? plain(training.metrics)
    : Object.fromEntries(Object.entries(training.metrics).map(([at, each]) => [at, plain(each)]));
  return losses.length > 0 ? undefined : { ...training, metrics: metrics as Metrics };
}

const isList = (metrics: unknown) =>
  typeof metrics !== 'object' || Array.isArray(metrics) || 'name' in (metrics as object);

/** As `model.save`. */
export async function saveModel(
  model: Storable,
  target: string | URL | IOHandler,
  args: SaveArgs = {},
): Promise<SaveResult> {
  const { requestInit } = args;
  const handler = await openHandler(
    target,
    requestInit === undefined ? {} : { requestInit },
    'save',
    'save',
  );
  if (typeof handler.save !== 'function') throw new LatheError('save: nothing can be saved there');
  return (await handler.save(await toArtifacts(model, args))) as SaveResult;
}
