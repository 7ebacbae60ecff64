/** Callbacks as classes: bases to extend, early stopping, saving while it trains. Knows no training loop. */
import { LatheError } from '../base/errors.js';
import type { YieldEvery } from '../base/pause.js';
import type { Tensor } from '../tensor/tensor.js';
import type { Logs, Params, TrainingCallbacks } from '../train/history.js';
import type { IOHandler } from '../io/artifacts.js';
import type { LayersModel } from './model.js';

/** Functions that training calls and awaits. An exception in one ends the training with it. */
export interface Callbacks extends TrainingCallbacks<LayersModel> {}

/** A callback that knows its model; classes extend it with any of the functions of `Callbacks`. */
export class Callback {
  model!: LayersModel;
  params: Params = {};

  setModel(model: LayersModel): void {
    this.model = model;
  }

  setParams(params: Params): void {
    this.params = params;
  }
}
export interface Callback extends Callbacks {}

/** Functions as a callback; `yieldEvery` says when the page gets its turn, where `fit` does not. */
export class CustomCallback extends Callback {
  constructor(
    functions: Callbacks,
    override readonly yieldEvery?: YieldEvery,
  ) {
    super();
    Object.assign(this, functions);
  }
}

/** Which value of the logs to watch, and which way is better. */
export interface MonitorArgs {
  /** Default: val_loss. */
  monitor?: string;
  /**
   * Default 'auto': 'max' for accuracies, auc, precision, recall and r2Score, else 'min'.
   */
  mode?: 'auto' | 'min' | 'max';
}

/** Compares a value of the logs with the best so far. */
class Monitor {
  readonly name: string;
  readonly isMax: boolean;
  best: number;

  constructor(
    private readonly who: string,
    { monitor = 'val_loss', mode = 'auto' }: MonitorArgs,
    private readonly minDelta = 0,
  ) {
    if (!['auto', 'min', 'max'].includes(mode)) {
      throw new LatheError(`${who}: mode must be auto, min or max, got ${String(mode)}`);
    }
    this.name = monitor;
    this.isMax =
      mode === 'auto' ? /acc|auc|precision|recall|r2score/i.test(monitor) : mode === 'max';
    this.best = this.isMax ? -Infinity : Infinity;
  }

  /** Whether the value is better by more than minDelta; then it is the best. */
  improves(logs: Logs): boolean {
    const value = logs[this.name];
    if (typeof value !== 'number') {
      const known = Object.keys(logs).filter((name) => typeof logs[name] === 'number');
      throw new LatheError(
        `${this.who}: there is no number "${this.name}" at the end of an epoch; known: ` +
          known.join(', '),
      );
    }
    const gain = this.isMax ? value - this.best : this.best - value;
    if (!(gain > this.minDelta)) return false;
    this.best = value;
    return true;
  }
}

/** Arguments of `callbacks.earlyStopping`. */
export interface EarlyStoppingArgs extends MonitorArgs {
  /** What is less than this does not count as better. Default: 0. */
  minDelta?: number;
  /** Epochs without a better value after which training stops. Default: 0, the first stops it. */
  patience?: number;
  /** Whether to say when it stopped. Default: 0. */
  verbose?: number | boolean;
  /** Training stops unless the value gets better than this. */
  baseline?: number;
  /** Whether training ends with the weights of the best epoch. Default: false. */
  restoreBestWeights?: boolean;
}

/** Stops `fit` when a value of the logs does not get better any more, as in Keras. */
export class EarlyStopping extends Callback {
  readonly #args: EarlyStoppingArgs;
  #monitor: Monitor;
  #weights: Tensor[] | undefined;
  #wait = 0;
  /** The epoch that it stopped after; 0 where it did not. */
  stoppedEpoch = 0;

  /** Errors: an unknown mode, a number that is none or negative. */
  constructor(args: EarlyStoppingArgs = {}) {
    super();
    for (const name of ['patience', 'minDelta'] as const) {
      const value = args[name] ?? 0;
      if (!(value >= 0)) {
        throw new LatheError(`earlyStopping: ${name} must be a number ≥ 0, got ${value}`);
      }
    }
    this.#args = args;
    this.#monitor = this.#newMonitor();
  }

  override onTrainBegin(): void {
    this.#monitor = this.#newMonitor();
    this.#wait = this.stoppedEpoch = 0;
    this.#weights = undefined;
  }

  override onEpochEnd(epoch: number, logs: Logs): void {
    const { patience = 0, restoreBestWeights = false } = this.#args;
    const isBetter = this.#monitor.improves(logs);
    if (restoreBestWeights && (isBetter || this.#weights === undefined)) {
      this.#weights = this.model.getWeights();
    }
    this.#wait = isBetter ? 0 : this.#wait + 1;
    if (isBetter || this.#wait < patience) return;
    this.stoppedEpoch = epoch;
    this.model.stopTraining = true;
  }

  override onTrainEnd(): void {
    if (this.#weights !== undefined) this.model.setWeights(this.#weights);
    if (this.stoppedEpoch > 0 && this.#args.verbose) {
      console.log(`Epoch ${this.stoppedEpoch}: early stopping.`);
    }
  }

  #newMonitor(): Monitor {
    const monitor = new Monitor('earlyStopping', this.#args, this.#args.minDelta);
    monitor.best = this.#args.baseline ?? monitor.best;
    return monitor;
  }
}

/** Arguments of `callbacks.modelCheckpoint`. */
export interface ModelCheckpointArgs extends MonitorArgs {
  /** Whether to save only after epochs with the best value so far. Default: false. */
  saveBestOnly?: boolean;
}

/** Saves the model after every epoch, to a target of `model.save`. */
export class ModelCheckpoint extends Callback {
  readonly #monitor: Monitor | undefined;

  constructor(
    private readonly target: string | URL | IOHandler,
    args: ModelCheckpointArgs = {},
  ) {
    super();
    if (args.saveBestOnly) this.#monitor = new Monitor('modelCheckpoint', args);
  }

  override async onEpochEnd(_epoch: number, logs: Logs): Promise<void> {
    if (this.#monitor?.improves(logs) ?? true) await this.model.save(this.target);
  }
}

/** Makers of callbacks. */
export const callbacks = {
  earlyStopping: (args?: EarlyStoppingArgs): EarlyStopping => new EarlyStopping(args),
  modelCheckpoint: (
    target: string | URL | IOHandler,
    args?: ModelCheckpointArgs,
  ): ModelCheckpoint => new ModelCheckpoint(target, args),
};
