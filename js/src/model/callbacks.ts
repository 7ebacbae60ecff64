/** Callback classes: base classes, early stopping, checkpoints. */
import { LatheError } from '../base/errors.js';
import type { YieldEvery } from '../base/pause.js';
import { loadedDeferred } from '../layers/deferred.js';
import {
  type Awaitable,
  ignore,
  type Logs,
  type Params,
  type TrainingCallbacks,
} from '../train/history.js';
import type { CsvLoggerArgs } from '../train/csv_logger.js';
import type { TensorBoardArgs } from '../train/tensor_board.js';
import { showsProgress } from '../train/verbose.js';
import type { IOHandler } from '../io/artifacts.js';
import type { LayersModel } from './model.js';
import type { EarlyStoppingArgs, Monitor, MonitorArgs, Patience } from './monitor.js';

/** Functions that training calls and awaits. An exception in one ends the training. */
export interface Callbacks extends TrainingCallbacks<LayersModel> {}

/** Calls no callback. */
function idle(): new () => object {
  const Idle = class {};
  for (const each of 'TrainBegin TrainEnd EpochBegin EpochEnd BatchBegin BatchEnd Yield'.split(
    ' ',
  )) {
    Object.assign(Idle.prototype, { [`on${each}`]: ignore });
  }
  return Idle;
}

/** A callback with access to its model; subclasses override any of the functions of `Callbacks`, which are no-ops here. */
export class Callback extends /* @__PURE__ */ idle() {
  model!: LayersModel;
  params: Params = {};

  setModel(model: LayersModel): void {
    this.model = model;
  }

  setParams(params: Params): void {
    this.params = params;
  }
}
export interface Callback {
  onTrainBegin(logs: object): Awaitable;
  onTrainEnd(logs: object): Awaitable;
  onEpochBegin(epoch: number, logs: object): Awaitable;
  onEpochEnd(epoch: number, logs: Logs): Awaitable;
  onBatchBegin(batch: number, logs: object): Awaitable;
  onBatchEnd(batch: number, logs: Logs): Awaitable;
  onYield(epoch: number, batch: number, logs: Logs): Awaitable;
  readonly yieldEvery?: YieldEvery | undefined;
}

/** A callback from functions; `yieldEvery` applies if `fit` does not set it. */
export class CustomCallback extends Callback {
  constructor(
    functions: Callbacks,
    override readonly yieldEvery?: YieldEvery,
  ) {
    super();
    Object.assign(this, functions);
  }
}

/** Error: an unknown mode. */
function checkMode(who: string, { mode = 'auto' }: MonitorArgs): void {
  if (['auto', 'min', 'max'].includes(mode)) return;
  throw new LatheError(`${who}: mode must be auto, min or max, got ${String(mode)}`);
}

/** Stops `fit` when a value of the logs stops improving, as in Keras. */
export class EarlyStopping extends Callback {
  readonly #args: EarlyStoppingArgs;
  #patience: Patience | undefined;
  /** The epoch after which it stopped; 0 if it did not. */
  stoppedEpoch = 0;

  /** Errors: an unknown mode, a negative or non-numeric option. */
  constructor(args: EarlyStoppingArgs = {}) {
    super();
    loadedDeferred()?.checkArguments('earlyStopping', args);
    const { patience = 0, minDelta = 0 } = args;
    for (const [name, value] of Object.entries({ patience, minDelta: Math.abs(minDelta) })) {
      if (value >= 0) continue;
      throw new LatheError(`earlyStopping: ${name} must be a number ≥ 0, got ${value}`);
    }
    checkMode('earlyStopping', args);
    this.#args = { ...args, minDelta: Math.abs(minDelta) };
  }

  override async onTrainBegin(): Promise<void> {
    const { Patience } = await import('./monitor.js');
    this.#patience = new Patience(this.#args, this.model);
    this.stoppedEpoch = 0;
  }

  override onEpochEnd(epoch: number, logs: Logs): void {
    if (this.#patience!.lasts(logs)) return;
    this.stoppedEpoch = epoch;
    this.model.stopTraining = true;
  }

  override onTrainEnd(): void {
    this.#patience?.restore();
    if (this.stoppedEpoch > 0 && this.#args.verbose) {
      console.log(`Epoch ${this.stoppedEpoch}: early stopping.`);
    }
  }
}

/** Arguments of `callbacks.modelCheckpoint`. */
export interface ModelCheckpointArgs extends MonitorArgs {
  /** Whether to save only after epochs with the best value so far. Default: false. */
  saveBestOnly?: boolean;
  /** Whether the state of the optimizer is saved too, with which training goes on. Default: false. */
  includeOptimizer?: boolean;
}

/** Saves the model after every epoch, to a target of `model.save`. */
export class ModelCheckpoint extends Callback {
  readonly #args: ModelCheckpointArgs;
  #monitor: Monitor | undefined;

  constructor(
    private readonly target: string | URL | IOHandler,
    args: ModelCheckpointArgs = {},
  ) {
    super();
    loadedDeferred()?.checkArguments('modelCheckpoint', args);
    checkMode('modelCheckpoint', args);
    this.#args = args;
  }

  override async onEpochEnd(_epoch: number, logs: Logs): Promise<void> {
    if (this.#args.saveBestOnly) {
      const { Monitor } = await import('./monitor.js');
      this.#monitor ??= new Monitor('modelCheckpoint', this.#args);
      if (!this.#monitor.improves(logs)) return;
    }
    const { includeOptimizer } = this.#args;
    await this.model.save(this.target, { includeOptimizer });
  }
}

/** A callback that is loaded when training begins; its functions of these names are called. */
function loadedLater(
  names: readonly string[],
  load: () => Promise<TrainingCallbacks<unknown>>,
): Callback {
  const callback = new Callback();
  let loaded: Record<string, ((...args: unknown[]) => Awaitable) | undefined> = {};
  for (const name of names) {
    Object.assign(callback, { [name]: (...args: unknown[]) => loaded[name]?.(...args) });
  }
  return Object.assign(callback, {
    async onTrainBegin(logs: object) {
      const made = await load();
      loaded = made as typeof loaded;
      made.setParams?.(callback.params);
      await made.onTrainBegin?.(logs);
    },
  });
}

/** Factories of callbacks. */
export const callbacks = {
  /** Prints the progress of training, as `verbose` of `fit`: 1 a line that is rewritten, 2 a line an epoch. Default: 1. */
  progress: (verbose = 1): Callback =>
    Object.assign(
      loadedLater(
        ['onEpochBegin', 'onEpochEnd', 'onTrainEnd', ...(verbose === 1 ? ['onBatchEnd'] : [])],
        async () => (await import('../train/progress.js')).progress(verbose),
      ),
      { [showsProgress]: true },
    ),
  /** Writes the scores of every epoch to a CSV file, in Node. */
  csvLogger: (path: string | URL, args?: CsvLoggerArgs): Callback =>
    loadedLater(['onEpochEnd'], async () =>
      (await import('../train/csv_logger.js')).csvLogger(path, args),
    ),
  /** Writes event files for TensorBoard to the folders train and validation of a folder, in Node. */
  tensorBoard: (folder: string, args?: TensorBoardArgs): Callback =>
    loadedLater(['onEpochEnd', ...(args?.updateFreq === 'batch' ? ['onBatchEnd'] : [])], async () =>
      (await import('../train/tensor_board.js')).tensorBoard(folder, args),
    ),
  earlyStopping: (args?: EarlyStoppingArgs): EarlyStopping => new EarlyStopping(args),
  modelCheckpoint: (
    target: string | URL | IOHandler,
    args?: ModelCheckpointArgs,
  ): ModelCheckpoint => new ModelCheckpoint(target, args),
};
