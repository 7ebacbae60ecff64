/** The training loop: epochs, batches, shuffling, validation, pauses. Uses only the entries train and evaluate of the module. */
import { LatheError } from '../base/errors.js';
import {
  checkCount,
  checkInteger,
  checkOptions,
  normalizeOptions,
  type OptionNames,
} from '../base/options.js';
import type { Pacer, YieldEvery } from '../base/pause.js';
import { permutation } from '../base/random.js';
import { tensor, type TensorLike } from '../tensor/tensor.js';
import { withProgress } from './verbose.js';
import { CallbackList, compiling, epochMetrics, record } from './callback_list.js';
import { History, type Logs, type TrainingCallbacks } from './history.js';
import type { ModelRunner } from './model_runner.js';
import { atStep } from './numerics.js';
import {
  type ClassWeights,
  type Examples,
  type ModelData,
  slice,
  weighted,
  type Weighting,
} from './examples.js';
import { Recovery } from './recovery.js';
import { epochLogs, reported, type Score, type Scores, scoresOf, Tally } from './score.js';

/** `FitArgs` of any kind of model. */
export interface FitOptions<Model> {
  /** Passes over the data. Default 1. */
  epochs?: number;
  /** Index of the first epoch: there are `epochs` - `initialEpoch` of them, or none. Default 0. */
  initialEpoch?: number;
  /** Rows per step. Default 32. The last batch of an epoch may be smaller. */
  batchSize?: number;
  /**
   * Batches resident in the memory of the module at once. Where all rows fit, they are copied there
   * once and stay for all epochs; else they are copied in chunks of that many batches. Default: 1.
   */
  batchesInMemory?: number;
  /** Whether to shuffle the rows in every epoch. Default true. */
  shuffle?: boolean;
  /** Seed of that order, an integer. Default: the model's. */
  seed?: number;
  /** [x, y] to evaluate after every epoch. */
  validationData?: [ModelData, ModelData];
  /** Batch size of the validation. Default: `batchSize`. */
  validationBatchSize?: number;
  /** Share of the rows, from the end, reserved for validation. Default 0. */
  validationSplit?: number;
  /** Weight of every row in the loss, [rows]. */
  sampleWeight?: TensorLike;
  /** Loss weights by class index, default 1. For several outputs one each. */
  classWeight?: ClassWeights;
  callbacks?: TrainingCallbacks<Model> | TrainingCallbacks<Model>[] | null;
  /** Aborting it is equivalent to `model.stopTraining = true`. */
  signal?: AbortSignal;
  /** When to yield to the page: 'auto' (every 10 ms), 'batch', 'epoch', 'never' or milliseconds. */
  yieldEvery?: YieldEvery;
  /** 0: nothing; 1: a progress line; 2: a line an epoch. Default: 1 on a terminal, else 0. In `tensorlathe/tfjs` nothing is printed. */
  verbose?: number;
  /** Only for `fitDataset`; a value is an error that names it. */
  stepsPerEpoch?: null;
  validationSteps?: null;
}

const names: OptionNames<FitOptions<never>> = {
  epochs: true,
  initialEpoch: true,
  batchSize: true,
  batchesInMemory: true,
  shuffle: true,
  seed: true,
  validationData: true,
  validationBatchSize: true,
  validationSplit: true,
  sampleWeight: true,
  classWeight: true,
  callbacks: true,
  signal: true,
  yieldEvery: true,
  verbose: true,
  stepsPerEpoch: true,
  validationSteps: true,
};

/** The interface of models for the training loop. */
export interface Trainee {
  stopTraining: boolean;
  /** Epochs trained since the model was made; the shuffling continues from here. */
  epochsTrained: number;
  /** The names of the scores that `compile` requested. */
  readonly metricsNames: readonly string[];
  readonly outputNames: readonly string[];
  /** Rows for x and y in the layout of the model. */
  labelled(
    x: ModelData,
    y: ModelData,
    where: string,
    trains?: boolean,
    weights?: Weighting,
  ): Examples;
  /** Compiles for these data: `current` returns the module from now on. */
  prepare(data: Examples, args: FitOptions<never>): Promise<void>;
  /** The module for the next batch of these data, with that many rows left; without arguments, the loaded one. */
  current(data?: Examples, left?: { train?: number; evaluate?: number }): ModelRunner;
}

/** Validates the options of `fit`. Errors: unknown names, numbers out of range. */
export function readFitArgs<Model>(args: FitOptions<Model>): FitOptions<Model> {
  const read = normalizeOptions(args, ['epochs', 'initialEpoch']);
  checkFitArgs(read as FitOptions<never>);
  return read;
}

function checkFitArgs(args: FitOptions<never>): void {
  for (const name of ['stepsPerEpoch', 'validationSteps']) {
    if ((args as Record<string, unknown>)[name] == null) continue;
    throw new LatheError(
      `fit: ${name} is for data that come in batches: fitDataset accepts batchesPerEpoch and validationBatches`,
    );
  }
  checkOptions('fit', args, names);
  const { batchSize, validationSplit, yieldEvery } = args;
  checkInteger('epochs', args.epochs ?? 1, 0);
  checkInteger('fit: initialEpoch', args.initialEpoch ?? 0, 0);
  checkInteger('seed', args.seed ?? 0);
  checkCount('batchSize', batchSize ?? 32);
  checkCount('validationBatchSize', args.validationBatchSize ?? 32);
  checkCount('batchesInMemory', args.batchesInMemory ?? 1);
  const split = validationSplit ?? 0;
  if (!(split >= 0 && split < 1)) {
    throw new LatheError(`fit: validationSplit must be at least 0 and less than 1, got ${split}`);
  }
  const rule = yieldEvery ?? 'auto';
  const rules = ['auto', 'batch', 'epoch', 'never'];
  if (!(typeof rule === 'number' ? rule >= 0 : rules.includes(rule))) {
    throw new LatheError(
      `fit: yieldEvery must be ${rules.join(', ')} or milliseconds, got ${rule}`,
    );
  }
}

/** The training and validation data of `fit`. */
export function fitData<Model extends Trainee>(
  model: Model,
  x: ModelData,
  y: ModelData,
  args: FitOptions<Model>,
): [Examples, Examples | undefined] {
  const outputs = model.outputNames.map((name) => ({ name }));
  let data = model.labelled(x, y, 'fit', true, args);
  let validation: Examples | undefined;
  if (args.validationData != null) {
    const [validationX, validationY] = args.validationData;
    validation = model.labelled(validationX, validationY, 'fit: validationData');
    if (validation.kinds.join() !== data.kinds.join()) {
      throw new LatheError('fit: validationData has another kind of labels than y');
    }
  } else if ((args.validationSplit ?? 0) > 0) {
    [data, validation] = split(data, args.validationSplit!);
    validation = withoutClassWeights(validation, args, outputs);
  }
  if (data.weighted && validation !== undefined && !validation.weighted) {
    validation = weighted(validation, { classWeight: {} }, outputs, 'fit');
  }
  return [data, validation];
}

/** Splits off the last `share` of the rows. Error: an empty part. */
function split(data: Examples, share: number): [Examples, Examples] {
  const trainCount = Math.floor(data.count * (1 - share));
  if (trainCount === 0 || trainCount === data.count) {
    throw new LatheError(
      `fit: validationSplit ${share} of ${data.count} rows leaves one part empty`,
    );
  }
  return [slice(data, 0, trainCount), slice(data, trainCount, data.count)];
}

/** Validation rows without class weights, which apply only to training. */
function withoutClassWeights(
  last: Examples,
  { sampleWeight, classWeight }: Weighting,
  outputs: readonly { name: string }[],
): Examples {
  if (classWeight == null) return last;
  const weights =
    sampleWeight == null ? undefined : tensor(sampleWeight, undefined, 'float32').dataSync();
  return weighted(
    last,
    { sampleWeight: weights?.slice(-last.count) as TensorLike | undefined, classWeight: {} },
    outputs,
    'fit',
  );
}

/** Compiles, and trains until the epochs are over or `stopTraining` is set. */
export async function fitLoop<Model extends Trainee>(
  model: Model,
  data: Examples,
  validation: Examples | undefined,
  args: FitOptions<Model> & { seed: number },
): Promise<History> {
  const { epochs = 1, initialEpoch = 0, shuffle = true, seed, signal } = args;
  const batchSize = Math.min(args.batchSize ?? 32, data.count);
  const doValidation = validation !== undefined;
  const params = {
    epochs,
    initialEpoch,
    samples: data.count,
    batchSize,
    steps: null,
    verbose: args.verbose ?? 1,
    doValidation,
    metrics: epochMetrics(model.metricsNames, doValidation),
  };
  const all = await withProgress(model, args.callbacks, args.verbose);
  const callbacks = new CallbackList(all, model, params);
  const pacer = callbacks.pacer(args.yieldEvery);
  const history = new History(params);
  const stopped = () => model.stopTraining || signal?.aborted === true;

  await compiling(callbacks, () => model.prepare(data, args));
  const recovery = new Recovery(() => model.current().states);
  await callbacks.emit('onTrainBegin');
  for (let epoch = initialEpoch; epoch < epochs && !stopped(); ++epoch) {
    await callbacks.emit('onEpochBegin', epoch);
    const order = shuffle ? permutation(data.count, seed, model.epochsTrained) : undefined;
    let validated: Partial<Scores> = {};
    const validate = async (): Promise<void> => {
      if (validation !== undefined && !stopped())
        validated = reported(model, await evaluateLoop(model, validation, pacer));
    };
    const tally = await runEpoch(
      model,
      data,
      order,
      epoch,
      callbacks,
      pacer,
      recovery,
      stopped,
      validate,
    );
    if (tally.rows === 0) break;
    model.epochsTrained += 1;
    const logs = epochLogs(model, tally, validated);
    record(history, epoch, logs);
    await callbacks.emit('onEpochEnd', epoch, logs);
    await pacer.at('epoch');
  }
  await recovery.save(true);
  await callbacks.emit('onTrainEnd');
  return history;
}

/** `validate` runs before the onBatchEnd of the last batch, as in TensorFlow.js: callbacks may change weights. */
async function runEpoch(
  model: Trainee,
  data: Examples,
  order: Uint32Array | undefined,
  epoch: number,
  callbacks: CallbackList<unknown>,
  pacer: Pacer,
  recovery: Recovery,
  stopped: () => boolean,
  validate: () => Promise<void>,
): Promise<Tally> {
  let tally = new Tally();
  let batch = 0;
  let saved = { from: 0, batch, tally: tally.copy() };
  await recovery.save(true);
  for (let from = 0; from < data.count && !stopped(); ++batch) {
    const now = () => model.current(data, { train: data.count - from });
    const count = Math.min(now().batch('train'), data.count - from);
    await callbacks.emit('onBatchBegin', batch, { batch, size: count });
    const step = now().scoreAsync('train', data, from, count, order);
    let score: Score;
    try {
      score = await atStep('fit', epoch, batch, step);
    } catch (error) {
      if (!recovery.continues(error)) throw error;
      from = saved.from;
      batch = saved.batch - 1;
      tally = saved.tally.copy();
      continue;
    }
    tally.add(score);
    from += count;
    const saving = recovery.save();
    if (saving !== undefined && (await saving))
      saved = { from, batch: batch + 1, tally: tally.copy() };
    if (from === data.count) await validate();
    const logs = (): Logs => ({
      batch,
      size: count,
      ...reported(model, scoresOf(score)),
      imagesPerSecond: tally.imagesPerSecond,
    });
    if (callbacks.handles('onBatchEnd')) await callbacks.emit('onBatchEnd', batch, logs());
    if ((await pacer.at('batch')) && callbacks.handles('onYield'))
      await callbacks.emit('onYield', epoch, batch, logs());
  }
  return tally;
}

async function evaluateLoop(model: Trainee, data: Examples, pacer: Pacer): Promise<Scores> {
  const tally = new Tally();
  while (tally.rows < data.count) {
    const module = model.current(data, { evaluate: data.count - tally.rows });
    const count = Math.min(module.batch('evaluate'), data.count - tally.rows);
    tally.add(await module.scoreAsync('evaluate', data, tally.rows, count));
    await pacer.at('batch');
  }
  return tally.scores;
}
