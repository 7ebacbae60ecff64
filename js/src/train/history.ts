/** What training reports while it runs and when it ends. */
import type { YieldEvery } from '../base/pause.js';
import type { MetricValue } from './metrics.js';

/** Numbers about a batch or an epoch. */
export interface Logs {
  /** Mean loss over the rows so far in the epoch, or of the batch. */
  loss: number;
  /** Share of the rows predicted rightly, 0 … 1; only with the metric accuracy. */
  acc?: number;
  /** Loss and share over the validation data; only at the end of an epoch that has some. */
  val_loss?: number;
  val_acc?: number;
  /** Rows trained per second of wall time, in the epoch so far. */
  imagesPerSecond: number;
  /** Number of the batch in its epoch and its rows; in onBatchBegin, too. */
  batch?: number;
  size?: number;
  /** Of a model with several outputs NAME_loss and NAME_acc; the metrics by name. */
  [score: string]: MetricValue | undefined;
}

export type Awaitable = void | Promise<void>;

/** What a callback does that does nothing. */
export const ignore = (): void => undefined;

/** What a training was asked for; what does not apply is left out. */
export interface Params {
  epochs?: number;
  initialEpoch?: number;
  /** Rows and rows of a step; steps of an epoch, where data come in batches, else null. */
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
  onTrainBegin?(logs: object): Awaitable;
  onTrainEnd?(logs: object): Awaitable;
  onEpochBegin?(epoch: number, logs: object): Awaitable;
  onEpochEnd?(epoch: number, logs: Logs): Awaitable;
  onBatchBegin?(batch: number, logs: object): Awaitable;
  onBatchEnd?(batch: number, logs: Logs): Awaitable;
  /** After the page had its turn. */
  onYield?(epoch: number, batch: number, logs: Logs): Awaitable;
  /** When that is, where `fit` does not say. */
  readonly yieldEvery?: YieldEvery | undefined;
}

/** Names of the values a History collects; with several outputs also NAME_loss and NAME_acc. */
export type HistoryKey = 'loss' | 'acc' | 'val_loss' | 'val_acc';

/** The values of every epoch of one fit. */
export class History {
  /** What the training was asked for. */
  readonly params: Params;
  /** Numbers of the epochs, from 0. */
  epoch: number[] = [];
  history: Partial<Record<HistoryKey, number[]>> & { loss: number[] } & Record<
      string,
      MetricValue[]
    > = { loss: [] };

  constructor(params: Params = {}) {
    this.params = params;
  }

  /** Forgets what it has collected. */
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
