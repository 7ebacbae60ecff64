/** The callbacks of one training, told what happens. */
import { LatheError } from '../base/errors.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import { Pacer } from '../base/pause.js';
import { numbered } from './metrics.js';
import {
  type Awaitable,
  type History,
  ignore,
  type Logs,
  type Params,
  type TrainingCallbacks,
} from './history.js';
import { registered } from './registered_callbacks.js';

type Events = Omit<Required<TrainingCallbacks<unknown>>, 'yieldEvery' | 'setParams' | 'setModel'>;

type SkipLast<List extends unknown[]> = List extends [...infer Rest, unknown] ? Rest : never;

const events: OptionNames<Events> = {
  onTrainBegin: true,
  onTrainEnd: true,
  onEpochBegin: true,
  onEpochEnd: true,
  onBatchBegin: true,
  onBatchEnd: true,
  onYield: true,
};

/** Appends the values of an epoch. */
export function record(
  collected: History,
  epoch: number,
  { imagesPerSecond: _, ...scores }: Logs,
): void {
  if (!Number.isFinite(scores.loss) && collected.history.loss.every(Number.isFinite)) {
    console.warn(
      `tensorlathe: the loss of epoch ${epoch} is ${scores.loss}; compile with checkNumerics: true ` +
        'to learn where that begins, or lower the learning rate',
    );
  }
  // What is there without an epoch comes in the order of the logs then.
  if (collected.epoch.length === 0) Reflect.deleteProperty(collected.history, 'loss');
  collected.onEpochEnd(epoch, scores);
}

/** The callbacks of one training, registered ones first. Error: functions for events that there are none of. */
export class CallbackList<Model> {
  readonly #all: readonly TrainingCallbacks<Model>[];

  constructor(
    given: TrainingCallbacks<Model> | readonly TrainingCallbacks<Model>[] | null | undefined,
    model: Model,
    params: Params,
  ) {
    const wanted = registered.filter(({ level }) => level <= (params.verbose ?? 1));
    this.#all = [...wanted.map(({ Made }) => new Made()), given ?? []].flat();
    for (const each of this.#all) {
      const functions = Object.keys(each).filter((name) => /^on[A-Z]/.test(name));
      checkOptions('callbacks', Object.fromEntries(functions.map((name) => [name, true])), events);
      each.setParams?.(params);
      each.setModel?.(model);
    }
  }

  /** Pauses as `fit` or a callback says. Error: never, although one waits for pauses. */
  pacer(rule = this.#all.find(({ yieldEvery }) => yieldEvery !== undefined)?.yieldEvery): Pacer {
    if (rule === 'never' && this.wants('onYield'))
      throw new LatheError(
        'callbacks: with yieldEvery never there is no onYield; drop one of them',
      );
    return new Pacer(rule ?? 'auto');
  }

  /** Whether one of them wants to hear of it. */
  wants(event: keyof Events): boolean {
    return this.#all.some((each) => each[event] !== undefined && each[event] !== ignore);
  }

  /** Calls them one after the other; where an event has no logs they get empty ones. */
  async tell<Event extends keyof Events>(
    event: Event,
    ...args: Parameters<Events[Event]> | SkipLast<Parameters<Events[Event]>>
  ): Promise<void> {
    const given = /EpochBegin|Train/.test(event) ? [...args, {}] : args;
    for (const each of this.#all) {
      await (each as Record<Event, ((...args: unknown[]) => Awaitable) | undefined>)[event]?.(
        ...given,
      );
    }
  }
}

/** The names of the values that an epoch of a model ends with. */
export function epochMetrics(metrics: readonly string[], doValidation: boolean): string[] {
  const names = numbered(metrics);
  return [...names, ...(doValidation ? names.map((name) => `val_${name}`) : [])];
}
