/** Saves a model in the layers format of TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import { loadFormats } from '../core/formats.js';
import { isHostedLoss } from '../layers/custom_loss.js';
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
  /** Whether to save the optimizer state, so that training can continue. Default: false. */
  includeOptimizer?: boolean;
  /** Whether to save only trainable weights. Default: false. */
  trainableOnly?: boolean;
  /** Quantizes float weights. Default: float32. */
  quantize?: Quantization['dtype'];
  /** Passed to `fetch` for saving to a server. */
  requestInit?: RequestInit;
}

const names: OptionNames<SaveArgs> = {
  includeOptimizer: true,
  trainableOnly: true,
  quantize: true,
  requestInit: true,
};

/** The current artifacts of a model. */
export async function toArtifacts(model: Storable, args: SaveArgs = {}): Promise<ModelArtifacts> {
  checkOptions('save', args, names);
  const { includeOptimizer = false, trainableOnly = false, quantize } = args;
  const kinds = ['uint8', 'uint16', 'float16'];
  if (quantize !== undefined && !kinds.includes(quantize)) {
    throw new LatheError(`save: quantize must be ${kinds.join(', ')}, got ${String(quantize)}`);
  }
  await Promise.all([loadFormats(), model.synced()]);
  const stored = withDistinctNames(model[storable]);
  const { config, summary } = stored;
  const modelTopology = writeTopology(config, summary);
  const training = includeOptimizer ? serializable(stored.training) : undefined;
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

/** Options of `compile` with non-default values that no file format can store. */
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
  }).flatMap(([name, isSet]) => (isSet ? [name] : []));
}

/** The serializable part of a training configuration: user functions are dropped with a warning; undefined without the loss. */
function serializable(training: CompileDescription | undefined): CompileDescription | undefined {
  if (training === undefined) return undefined;
  const isFunction = (each: unknown) => typeof each === 'function' && !('config' in each);
  const lists = isList(training.metrics) ? [training.metrics] : Object.values(training.metrics);
  const functions = lists.flat().filter(isFunction) as { name: string }[];
  const losses = [training.loss].flat().filter(isHostedLoss);
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
