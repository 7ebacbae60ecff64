/** `CallbackList` of TensorFlow.js: several callbacks as one. */
import type { LayersModel } from '../../model/model.js';
import type { Callbacks } from '../../model/callbacks.js';
import type { Logs, Params } from '../../train/history.js';

type Event = Exclude<keyof Callbacks, 'yieldEvery'>;

export class CallbackList {
  constructor(
    readonly callbacks: Callbacks[] = [],
    readonly queueLength = 10,
  ) {
    this.callbacks = callbacks ?? [];
  }

  append(callback: Callbacks): void {
    this.callbacks.push(callback);
  }

  setParams(params: Params): void {
    for (const each of this.callbacks) each.setParams?.(params);
  }

  setModel(model: LayersModel): void {
    for (const each of this.callbacks) each.setModel?.(model);
  }

  onTrainBegin(logs?: object): Promise<void> {
    return this.#emit('onTrainBegin', logs);
  }

  onTrainEnd(logs?: object): Promise<void> {
    return this.#emit('onTrainEnd', logs);
  }

  onEpochBegin(epoch: number, logs?: object): Promise<void> {
    return this.#emit('onEpochBegin', logs, epoch);
  }

  onEpochEnd(epoch: number, logs?: Logs): Promise<void> {
    return this.#emit('onEpochEnd', logs, epoch);
  }

  onBatchBegin(batch: number, logs?: object): Promise<void> {
    return this.#emit('onBatchBegin', logs, batch);
  }

  onBatchEnd(batch: number, logs?: Logs): Promise<void> {
    return this.#emit('onBatchEnd', logs, batch);
  }

  /** Calls them sequentially; missing logs default to an empty object. */
  async #emit(event: Event, logs: object = {}, ...before: number[]): Promise<void> {
    for (const each of this.callbacks) {
      await (each[event] as ((...args: unknown[]) => unknown) | undefined)?.call(
        each,
        ...before,
        logs,
      );
    }
  }
}
