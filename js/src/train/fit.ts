/** The training loop: epochs, batches, shuffling, validation, pauses. Knows the module by two entries only. */
import { LatheError } from '../base/errors.js';
import {
  checkCount,
  checkInteger,
  checkOptions,
  given,
  type OptionNames,
} from '../base/options.js';
import type { Pacer, YieldEvery } from '../base/pause.js';
import { permutation } from '../base/random.js';
import { tensor, type TensorLike } from '../tensor/tensor.js';
import { CallbackList, epochMetrics, record } from './callback_list.js';
import { History, type Logs, type TrainingCallbacks } from './history.js';
import type { ModelModule } from './model_module.js';
import { atStep } from './numerics.js';
import {
  type ClassWeights,
  type Examples,
  type ModelData,
  slice,
  weighted,
  type Weighting,
} from './rows.js';
import { epochLogs, reported, type Scores, scoresOf, Tally } from './score.js';

/** `FitArgs` of any kind of model. */
export interface FitOptions<Model> {
  /** Rounds over the data. Default 1. */
  epochs?: number;
  /** Number of the first epoch: there are `epochs` - `initialEpoch` of them, or none. Default 0. */
  initialEpoch?: number;
  /** Rows per step. Default 32. The last batch of an epoch may be smaller. */
  batchSize?: number;
  /**
   * Batches that lie in the memory of the module at once. Where all rows fit, they are copied there
   * once and stay for all epochs; else they pass through in parts of so many batches. Default: 1.
   */
  batchesInMemory?: number;
  /** Whether every epoch goes through the rows in another order. Default true. */
  shuffle?: boolean;
  /** Seed of that order, an integer. Default: the model's. */
  seed?: number;
  /** [x, y] to evaluate after every epoch. */
  validationData?: [ModelData, ModelData];
  /** Rows of a batch of the validation. Default: `batchSize`. */
  validationBatchSize?: number;
  /** Share of the rows, the last ones, kept for validation instead. Default 0. */
  validationSplit?: number;
  /** Weight of every row in the loss, [rows]. */
  sampleWeight?: TensorLike;
  /** Weight in the loss of the rows of each class, by its number; 1 for those left out. Of several outputs one each. */
  classWeight?: ClassWeights;
  callbacks?: TrainingCallbacks<Model> | TrainingCallbacks<Model>[] | null;
  /** Aborting it does what `model.stopTraining = true` does. */
  signal?: AbortSignal;
  /** When the page gets its turn: 'auto' (every 10 ms), 'batch', 'epoch', 'never' or milliseconds. */
  yieldEvery?: YieldEvery;
  /** Taken from programs for TensorFlow.js; training prints nothing. */
  verbose?: number;
  /** For data that come in batches: an error that tells of `fitDataset`. */
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

/** What the loop needs of the model. */
export interface Trainee {
  stopTraining: boolean;
  /** Epochs trained since the model was made; the shuffling continues from here. */
  epochsTrained: number;
  /** What the scores are called that `compile` asked for. */
  readonly metricsNames: readonly string[];
  readonly outputNames: readonly string[];
  /** Rows for x and y as the model takes them. */
  labelled(
    x: ModelData,
    y: ModelData,
    where: string,
    trains?: boolean,
    weights?: Weighting,
  ): Examples;
  /** From now on `current` gives a module that trains on these data. */
  prepare(data: Examples, args: FitOptions<never>): Promise<void>;
  /** The module to use for the next batch of these data, of which so many rows are left; without them, the one at hand. */
  current(data?: Examples, left?: { train?: number; evaluate?: number }): ModelModule;
}

/** The options as `fit` takes them. Errors: unknown names, numbers out of range. */
export function readFitArgs<Model>(args: FitOptions<Model>): FitOptions<Model> {
  const read = given(args, ['epochs', 'initialEpoch']);
  checkFitArgs(read as FitOptions<never>);
  return read;
}

function checkFitArgs(args: FitOptions<never>): void {
  for (const name of ['stepsPerEpoch', 'validationSteps']) {
    if ((args as Record<string, unknown>)[name] == null) continue;
    throw new LatheError(
      `fit: ${name} is for data that come in batches: fitDataset takes batchesPerEpoch and validationBatches`,
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
  const known = ['auto', 'batch', 'epoch', 'never'];
  if (!(typeof rule === 'number' ? rule >= 0 : known.includes(rule))) {
    throw new LatheError(
      `fit: yieldEvery must be ${known.join(', ')} or milliseconds, got ${rule}`,
    );
  }
}

/** What `fit` trains on and what it evaluates; the module for it is the one at hand then. */
export async function fitData<Model extends Trainee>(
  model: Model,
  x: ModelData,
  y: ModelData,
  args: FitOptions<Model>,
): Promise<[Examples, Examples | undefined]> {
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
    validation = ofRowsAlone(validation, args, outputs);
  }
  if (data.weighted && validation !== undefined && !validation.weighted) {
    validation = weighted(validation, { classWeight: {} }, outputs, 'fit');
  }
  await model.prepare(data, args);
  return [data, validation];
}

/** All but the last `share` of the rows, and those. Error: one of them is empty. */
function split(data: Examples, share: number): [Examples, Examples] {
  const kept = Math.floor(data.count * (1 - share));
  if (kept === 0 || kept === data.count) {
    throw new LatheError(
      `fit: validationSplit ${share} of ${data.count} rows leaves one part empty`,
    );
  }
  return [slice(data, 0, kept), slice(data, kept, data.count)];
}

/** The last rows without the weights of their classes, which are for training. */
function ofRowsAlone(
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

/** Trains until the epochs are over or the model is told to stop. */
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
  const callbacks = new CallbackList(args.callbacks, model, params);
  const pacer = callbacks.pacer(args.yieldEvery);
  const history = new History(params);
  const stopped = () => model.stopTraining || signal?.aborted === true;

  await callbacks.tell('onTrainBegin');
  for (let epoch = initialEpoch; epoch < epochs && !stopped(); ++epoch) {
    await callbacks.tell('onEpochBegin', epoch);
    const order = shuffle ? permutation(data.count, seed, model.epochsTrained) : undefined;
    let validated: Partial<Scores> = {};
    const validate = async (): Promise<void> => {
      if (validation !== undefined && !stopped())
        validated = reported(model, await evaluateLoop(model, validation, pacer));
    };
    const tally = await runEpoch(model, data, order, epoch, callbacks, pacer, stopped, validate);
    if (tally.rows === 0) break;
    model.epochsTrained += 1;
    const logs = epochLogs(model, tally, validated);
    record(history, epoch, logs);
    await callbacks.tell('onEpochEnd', epoch, logs);
    await pacer.at('epoch');
  }
  await callbacks.tell('onTrainEnd');
  return history;
}

/** `validate` runs before callbacks hear of the last batch, as in TensorFlow.js: they may change weights. */
async function runEpoch(
  model: Trainee,
  data: Examples,
  order: Uint32Array | undefined,
  epoch: number,
  callbacks: CallbackList<unknown>,
  pacer: Pacer,
  stopped: () => boolean,
  validate: () => Promise<void>,
): Promise<Tally> {
  const tally = new Tally();
  let batch = 0;
  for (let from = 0; from < data.count && !stopped(); ++batch) {
    const now = () => model.current(data, { train: data.count - from });
    const count = Math.min(now().batch('train'), data.count - from);
    await callbacks.tell('onBatchBegin', batch, { batch, size: count });
    const step = now().scoreAsync('train', data, from, count, order);
    const score = await atStep('fit', epoch, batch, step);
    tally.add(score);
    from += count;
    if (from === data.count) await validate();
    const logs = (): Logs => ({
      batch,
      size: count,
      ...reported(model, scoresOf(score)),
      imagesPerSecond: tally.imagesPerSecond,
    });
    if (callbacks.wants('onBatchEnd')) await callbacks.tell('onBatchEnd', batch, logs());
    if ((await pacer.at('batch')) && callbacks.wants('onYield'))
      await callbacks.tell('onYield', epoch, batch, logs());
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
