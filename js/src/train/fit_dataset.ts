/** Trains and evaluates a model on batches of a dataset, through its methods for one batch. */
import { LatheError } from '../base/errors.js';
import {
  checkCount,
  checkInteger,
  checkOptions,
  normalizeOptions,
  type OptionNames,
} from '../base/options.js';
import { Pacer, type YieldEvery } from '../base/pause.js';
import type { Dataset } from '../data/dataset.js';
import { disposePassing, nextOf } from '../data/iterate.js';
import { tensorsIn } from '../tensor/scopes.js';
import { lastTensor } from '../tensor/tensor.js';
import { withProgress } from './verbose.js';
import { CallbackList, compiling, epochMetrics, record } from './callback_list.js';
import { History, type Logs, type TrainingCallbacks } from './history.js';
import { atStep } from './numerics.js';
import type { ModelData, Weighting } from './examples.js';
import type { ModelRunner } from './model_runner.js';
import { Recovery } from './recovery.js';
import { epochLogs, reported, type Score, type Scores, scoresOf, Tally } from './score.js';

/** One batch: features and labels. */
export interface Batch {
  xs: ModelData;
  ys: ModelData;
}

/** `FitDatasetArgs` of any kind of model. */
export interface FitDatasetOptions<Model> {
  /** Passes over the data. Default 1. */
  epochs?: number;
  /** Index of the first epoch: there are `epochs` - `initialEpoch` of them, or none. Default 0. */
  initialEpoch?: number;
  /**
   * Steps per epoch. The next epoch then continues at this position, and the training ends with
   * a warning at the end of the data. Default: an epoch is one iteration of the dataset.
   */
  batchesPerEpoch?: number;
  /** Data to evaluate after every epoch: a dataset of batches, or [x, y]. */
  validationData?: Dataset<unknown> | [ModelData, ModelData];
  /** Batches of a validation dataset. Default: all. */
  validationBatches?: number;
  /** Rows per step of [x, y]. Default 32. */
  validationBatchSize?: number;
  callbacks?: TrainingCallbacks<Model> | TrainingCallbacks<Model>[] | null;
  /** Aborting it is equivalent to `model.stopTraining = true`. */
  signal?: AbortSignal;
  /** When to yield to the page: 'auto' (every 10 ms), 'batch', 'epoch', 'never' or milliseconds. */
  yieldEvery?: YieldEvery;
  /** Loss weights by class index, default 1. */
  classWeight?: Weighting['classWeight'];
  /** 0: nothing; 1: a progress line; 2: a line an epoch. Default: 1 on a terminal, else 0. In `tensorlathe/tfjs` nothing is printed. */
  verbose?: number;
}

const names: OptionNames<FitDatasetOptions<never>> = {
  epochs: true,
  initialEpoch: true,
  batchesPerEpoch: true,
  validationData: true,
  validationBatches: true,
  validationBatchSize: true,
  callbacks: true,
  signal: true,
  yieldEvery: true,
  classWeight: true,
  verbose: true,
};

/** Options of `model.evaluateDataset`. */
export interface EvaluateDatasetArgs {
  /** Default: all. */
  batches?: number;
  /** Accepted for compatibility with TensorFlow.js; nothing is printed. */
  verbose?: number;
  /** Whether to return an object of numbers by name instead of tensors. Default: false. */
  asObject?: boolean;
}

const evaluateNames: OptionNames<EvaluateDatasetArgs> = {
  batches: true,
  verbose: true,
  asObject: true,
};

/** The interface of models for the training loop. */
export interface BatchTrainee {
  stopTraining: boolean;
  /** Epochs trained since the model was made. */
  epochsTrained: number;
  readonly metricsNames: readonly string[];
  /** Starts compilation early, so that the first `trainBatch` does not block the page. */
  prepareBatch(x: ModelData, y: ModelData, weighting: Weighting): Promise<void>;
  trainBatch(x: ModelData, y: ModelData, weighting: Weighting): Promise<Score>;
  /** The loaded module. */
  current(): ModelRunner;
  evaluateBatch(x: ModelData, y: ModelData, batchSize?: number): Promise<Score>;
}

/** Trains batch by batch, as `model.fit`; the order is that of the dataset. */
export async function fitDataset<Model extends BatchTrainee>(
  model: Model,
  dataset: Dataset<unknown>,
  options: FitDatasetOptions<Model> = {},
): Promise<History> {
  const args = normalizeOptions(options);
  checkArgs(dataset, args as FitDatasetOptions<never>);
  const { epochs = 1, initialEpoch = 0, batchesPerEpoch = Infinity, classWeight, signal } = args;
  const steps = batchesPerEpoch === Infinity ? dataset.size : batchesPerEpoch;
  const doValidation = args.validationData != null;
  const params = {
    epochs,
    initialEpoch,
    ...(Number.isFinite(steps) ? { steps } : {}),
    verbose: args.verbose ?? 1,
    doValidation,
    metrics: epochMetrics(model.metricsNames, doValidation),
  };
  const all = await withProgress(model, args.callbacks, args.verbose);
  const callbacks = new CallbackList(all, model, params);
  const pacer = callbacks.pacer(args.yieldEvery);
  const history = new History(params);
  const stopped = () => model.stopTraining || signal?.aborted === true;

  const walk = new Walk(dataset);
  const recovery = new Recovery(() => model.current().states);
  await callbacks.emit('onTrainBegin');
  try {
    for (let epoch = initialEpoch; epoch < epochs && !stopped(); ++epoch) {
      await callbacks.emit('onEpochBegin', epoch);
      if (batchesPerEpoch === Infinity) await walk.restart();
      const tally = new Tally();
      let batches = 0;
      for (; batches < batchesPerEpoch && !stopped(); ++batches) {
        const batch = await walk.next('fitDataset', batchesPerEpoch === Infinity);
        if (batch === undefined) break;
        if (epoch === initialEpoch && batches === 0)
          await compiling(callbacks, () => model.prepareBatch(batch.xs, batch.ys, { classWeight }));
        const train = () =>
          retrying(recovery, () => model.trainBatch(batch.xs, batch.ys, { classWeight }));
        const size = tensorsIn(batch.xs)[0]?.shape[0];
        const logs = await trainBatch(model, train, epoch, batches, size, tally, callbacks);
        await recovery.save();
        if (await pacer.at('batch')) await callbacks.emit('onYield', epoch, batches, logs);
      }
      const ranOut = batchesPerEpoch !== Infinity && batches < batchesPerEpoch && !stopped();
      if (ranOut) {
        console.warn(
          `tensorlathe: fitDataset ends in epoch ${epoch + 1}: the data ended after ${batches} of ` +
            `${batchesPerEpoch} batches; repeat() the dataset for more`,
        );
      }
      if (tally.rows === 0) {
        if (epoch > initialEpoch || stopped()) break;
        throw new LatheError('fitDataset: the dataset has no batches');
      }
      model.epochsTrained += 1;
      const validated =
        doValidation && !stopped() ? reported(model, await validate(model, args, pacer)) : {};
      const logs = epochLogs(model, tally, validated);
      record(history, epoch, logs);
      await callbacks.emit('onEpochEnd', epoch, logs);
      await pacer.at('epoch');
      if (ranOut) break;
    }
  } finally {
    await walk.close();
  }
  await recovery.save(true);
  await callbacks.emit('onTrainEnd');
  return history;
}

/** Mean loss and metrics over the batches of a dataset. */
export async function evaluateDataset(
  model: BatchTrainee,
  dataset: Dataset<unknown>,
  args: EvaluateDatasetArgs = {},
): Promise<Scores> {
  checkDataset('evaluateDataset', dataset);
  const { batches = Infinity } = normalizeOptions(args);
  checkOptions('evaluateDataset', args ?? {}, evaluateNames);
  if (batches !== Infinity) checkCount('evaluateDataset: batches', batches);
  return evaluateBatches(model, dataset, batches, new Pacer('auto'));
}

function checkArgs(dataset: unknown, args: FitDatasetOptions<never>): void {
  checkDataset('fitDataset', dataset);
  checkOptions('fitDataset', args, names);
  checkCount('fitDataset: epochs', args.epochs ?? 1);
  checkInteger('fitDataset: initialEpoch', args.initialEpoch ?? 0, 0);
  checkCount('fitDataset: batchesPerEpoch', args.batchesPerEpoch ?? 1);
  checkCount('fitDataset: validationBatches', args.validationBatches ?? 1);
  const endless = (dataset as Dataset<unknown>).size === Infinity;
  if (endless && args.batchesPerEpoch === undefined) {
    throw new LatheError('fitDataset: the dataset never ends, so batchesPerEpoch is needed');
  }
}

function checkDataset(where: string, dataset: unknown): void {
  if (typeof (dataset as Partial<Dataset<unknown>> | undefined)?.iterator !== 'function') {
    throw new LatheError(`${where}: a dataset is needed, as tl.data makes them`);
  }
}

/** The position of training in a dataset. */
class Walk {
  #iterator: AsyncIterator<unknown> | undefined;
  #isOver = false;
  #last: unknown;
  /** Batches own all tensors created from now on, even by an earlier step of the iterator. */
  readonly #before = lastTensor();

  /** Requires only the method `iterator`: programs pass objects without the others. */
  constructor(private readonly dataset: { iterator(): Promise<AsyncIterator<unknown>> }) {}

  async restart(): Promise<void> {
    await this.close();
    this.#iterator = await this.dataset.iterator();
    this.#isOver = false;
  }

  /**
   * The next batch; undefined at the end. `includesFinal`: whether the value returned with `done: true` is a batch,
   * too, as in TensorFlow.js. Error: an element that is no batch.
   */
  async next(where: string, includesFinal = true): Promise<Batch | undefined> {
    if (this.#iterator === undefined) await this.restart();
    this.#leave();
    if (this.#isOver) return undefined;
    const { done = false, value } = await nextOf(this.#iterator!, this.#before);
    this.#isOver = done;
    if (done && (!includesFinal || value == null)) return undefined;
    this.#last = value;
    const { xs, ys } = (value ?? {}) as Partial<Batch>;
    if (xs === undefined || ys === undefined) {
      throw new LatheError(`${where}: the elements of the dataset must be batches {xs, ys}`);
    }
    return { xs, ys };
  }

  async close(): Promise<void> {
    this.#leave();
    await this.#iterator?.return?.();
    this.#iterator = undefined;
  }

  /** Disposes of the previous batch. */
  #leave(): void {
    disposePassing(this.#last);
    this.#last = undefined;
  }
}

/** A step again after a loss of the device, with the weights that were saved last. */
async function retrying(recovery: Recovery, step: () => Promise<Score>): Promise<Score> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!recovery.continues(error)) throw error;
    }
  }
}

async function trainBatch(
  model: BatchTrainee,
  train: () => Promise<Score>,
  epoch: number,
  batch: number,
  size: number | undefined,
  tally: Tally,
  callbacks: CallbackList<unknown>,
): Promise<Logs> {
  await callbacks.emit('onBatchBegin', batch, { batch, size });
  const score = await atStep('fitDataset', epoch, batch, train());
  tally.add(score);
  const { imagesPerSecond } = tally;
  const logs: Logs = {
    batch,
    size: score.rows,
    ...reported(model, scoresOf(score)),
    imagesPerSecond,
  };
  await callbacks.emit('onBatchEnd', batch, logs);
  return logs;
}

async function validate(
  model: BatchTrainee,
  { validationData, validationBatches, validationBatchSize }: FitDatasetOptions<never>,
  pacer: Pacer,
): Promise<Scores> {
  if (Array.isArray(validationData)) {
    const [x, y] = validationData;
    return scoresOf(await model.evaluateBatch(x, y, validationBatchSize ?? 32));
  }
  checkDataset('fitDataset: validationData', validationData);
  return evaluateBatches(model, validationData!, validationBatches ?? Infinity, pacer);
}

async function evaluateBatches(
  model: BatchTrainee,
  dataset: Dataset<unknown>,
  batches: number,
  pacer: Pacer,
): Promise<Scores> {
  const walk = new Walk(dataset);
  const tally = new Tally();
  try {
    for (let count = 0; count < batches; ++count) {
      const batch = await walk.next('evaluateDataset');
      if (batch === undefined) break;
      tally.add(await model.evaluateBatch(batch.xs, batch.ys));
      await pacer.at('batch');
    }
  } finally {
    await walk.close();
  }
  if (tally.rows === 0) throw new LatheError('evaluateDataset: the dataset has no batches');
  return tally.scores;
}
