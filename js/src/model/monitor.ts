/** Detects improvements of a monitored value of the logs, for callbacks. */
import { LatheError } from '../base/errors.js';
import type { Tensor } from '../tensor/tensor.js';
import type { Logs } from '../train/history.js';
import type { LayersModel } from './model.js';

/** The monitored value of the logs, and the direction of improvement. */
export interface MonitorArgs {
  /** Default: val_loss. */
  monitor?: string;
  /**
   * Default 'auto': 'max' for accuracies, auc, precision, recall and r2Score, else 'min'.
   */
  mode?: 'auto' | 'min' | 'max';
}

/** Arguments of `callbacks.earlyStopping`. */
export interface EarlyStoppingArgs extends MonitorArgs {
  /** Minimum change, by absolute value, that qualifies as an improvement. Default: 0. */
  minDelta?: number;
  /** Epochs without improvement after which training stops. Default: 0, the first one. */
  patience?: number;
  /** Whether to print a message when it stops. Default: 0. */
  verbose?: number | boolean;
  /** Baseline: training stops unless the value improves on it. */
  baseline?: number;
  /** Whether the weights of the best epoch are restored at the end. Default: false. */
  restoreBestWeights?: boolean;
}

/** Compares a value of the logs with the best so far. */
export class Monitor {
  readonly name: string;
  readonly isMax: boolean;
  best: number;

  constructor(
    private readonly who: string,
    { monitor = 'val_loss', mode = 'auto' }: MonitorArgs,
    private readonly minDelta = 0,
  ) {
    this.name = monitor;
    this.isMax =
      mode === 'auto' ? /acc|auc|precision|recall|r2score/i.test(monitor) : mode === 'max';
    this.best = this.isMax ? -Infinity : Infinity;
  }

  /** The error message if the logs have no number with this name. */
  problem(logs: Logs): string | undefined {
    if (typeof logs[this.name] === 'number') return undefined;
    const available = Object.keys(logs).filter((name) => typeof logs[name] === 'number');
    return (
      `${this.who}: there is no number "${this.name}" at the end of an epoch; available: ` +
      available.join(', ')
    );
  }

  /** Whether the value improved by more than minDelta; updates the best one. Error: there is no value. */
  improves(logs: Logs): boolean {
    const problem = this.problem(logs);
    if (problem !== undefined) throw new LatheError(problem);
    const value = logs[this.name] as number;
    const gain = this.isMax ? value - this.best : this.best - value;
    if (!(gain > this.minDelta)) return false;
    this.best = value;
    return true;
  }
}

/** State of `earlyStopping`: epochs without improvement, and the weights of the best epoch. */
export class Patience {
  readonly #monitor: Monitor;
  #weights: Tensor[] | undefined;
  #wait = 0;
  #warned = false;

  constructor(
    private readonly args: EarlyStoppingArgs,
    private readonly model: LayersModel,
  ) {
    this.#monitor = new Monitor('earlyStopping', args, args.minDelta);
    this.#monitor.best = args.baseline ?? this.#monitor.best;
  }

  /** Whether to continue after an epoch; it continues, with one warning, if the logs do not have the value. */
  lasts(logs: Logs): boolean {
    const problem = this.#monitor.problem(logs);
    if (problem !== undefined) {
      if (!this.#warned) console.warn(`tensorlathe: ${problem}; training continues`);
      this.#warned = true;
      return true;
    }
    const { patience = 0, restoreBestWeights = false } = this.args;
    const isBetter = this.#monitor.improves(logs);
    if (restoreBestWeights && (isBetter || this.#weights === undefined)) {
      this.#weights = this.model.getWeights();
    }
    this.#wait = isBetter ? 0 : this.#wait + 1;
    return isBetter || this.#wait < patience;
  }

  /** Restores the weights of the best epoch, if `restoreBestWeights`. */
  restore(): void {
    if (this.#weights !== undefined) this.model.setWeights(this.#weights);
  }
}
