/** Logs, callbacks and history of training. */
import type { YieldEvery } from '../base/pause.js';
import type { MetricValue } from './metrics.js';

/** Numbers about a batch or an epoch. */
export interface Logs {
  /** Mean loss over the rows so far in the epoch, or of the batch. */
  loss: number;
  /** Accuracy, 0 … 1; only with the metric accuracy. */
  acc?: number;
  /** Loss and accuracy of the validation data; only at the end of an epoch with validation. */
  val_loss?: number;
  val_acc?: number;
  /** Rows trained per second of wall time, in the epoch so far. */
  imagesPerSecond: number;
  /** Index of the batch in its epoch and its size; also in onBatchBegin. */
  batch?: number;
  size?: number;
  /** Metrics by name; with several outputs also NAME_loss and NAME_acc. */
  [score: string]: MetricValue | undefined;
}

export type Awaitable = void | Promise<void>;

/** A no-op handler. */
export const ignore = (): void => undefined;

/** The parameters of a training; those that do not apply are omitted. */
export interface Params {
  epochs?: number;
  initialEpoch?: number;
  /** Rows in total and per batch; steps per epoch for datasets, else null. */
  samples?: number;
  batchSize?: number;
  steps?: number | null;
  verbose?: number;
  doValidation?: boolean;
  /** Names of the values in the logs of an epoch. */
  metrics?: string[];
}

/** `Callbacks` of any kind of model. */
export interface TrainingCallbacks<Model> {
  /** Called before all others. */
  setParams?(params: Params): void;
  setModel?(model: Model): void;
  /** Around the compilation for the data of `fit`, before the first batch; short where a module is cached. */
  onCompileBegin?(): Awaitable;
  onCompileEnd?(): Awaitable;
  onTrainBegin?(logs: object): Awaitable;
  onTrainEnd?(logs: object): Awaitable;
  onEpochBegin?(epoch: number, logs: object): Awaitable;
  onEpochEnd?(epoch: number, logs: Logs): Awaitable;
  onBatchBegin?(batch: number, logs: object): Awaitable;
  onBatchEnd?(batch: number, logs: Logs): Awaitable;
  /** After yielding to the page. */
  onYield?(epoch: number, batch: number, logs: Logs): Awaitable;
  /** When to yield, unless `fit` specifies it. */
  readonly yieldEvery?: YieldEvery | undefined;
}

/** Names of the values a History collects; with several outputs also NAME_loss and NAME_acc. */
export type HistoryKey = 'loss' | 'acc' | 'val_loss' | 'val_acc';

/** The values of every epoch of one fit. */
export class History {
  /** The parameters of the training. */
  readonly params: Params;
  /** Epoch indices, from 0. */
  epoch: number[] = [];
  history: Partial<Record<HistoryKey, number[]>> & { loss: number[] } & Record<
      string,
      MetricValue[]
    > = { loss: [] };

  constructor(params: Params = {}) {
    this.params = params;
  }

  /** Clears the collected values. */
  onTrainBegin(): void {
    this.epoch = [];
    this.history = {} as this['history'];
  }

  /** Appends the values of an epoch. */
  onEpochEnd(epoch: number, logs: Readonly<Record<string, MetricValue | undefined>> = {}): void {
    this.epoch.push(epoch);
    for (const [name, value] of Object.entries(logs)) {
      if (value !== undefined) (this.history[name] ??= []).push(value);
    }
  }
}
