/** Dispatches training events to callbacks. */
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
  onCompileBegin: true,
  onCompileEnd: true,
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
      `tensorlathe: the loss of epoch ${epoch + 1} is ${scores.loss}; compile with checkNumerics: true ` +
        'to learn where that begins, or lower the learning rate',
    );
  }
  // Without epochs so far, keys follow the order of the logs.
  if (collected.epoch.length === 0) Reflect.deleteProperty(collected.history, 'loss');
  collected.onEpochEnd(epoch, scores);
}

/** The callbacks of one training, registered ones first. Error: a handler of an unknown event. */
export class CallbackList<Model> {
  readonly #all: readonly TrainingCallbacks<Model>[];

  constructor(
    userCallbacks:
      TrainingCallbacks<Model> | readonly TrainingCallbacks<Model>[] | null | undefined,
    model: Model,
    params: Params,
  ) {
    const enabled = registered.filter(({ level }) => level <= (params.verbose ?? 1));
    this.#all = [...enabled.map(({ Made }) => new Made()), userCallbacks ?? []].flat();
    for (const each of this.#all) {
      const functions = Object.keys(each).filter((name) => /^on[A-Z]/.test(name));
      checkOptions('callbacks', Object.fromEntries(functions.map((name) => [name, true])), events);
      each.setParams?.(params);
      each.setModel?.(model);
    }
  }

  /** The pacer for the `yieldEvery` of `fit` or of a callback. Error: 'never' with an onYield callback. */
  pacer(rule = this.#all.find(({ yieldEvery }) => yieldEvery !== undefined)?.yieldEvery): Pacer {
    if (rule === 'never' && this.handles('onYield'))
      throw new LatheError(
        'callbacks: with yieldEvery never there is no onYield; drop one of them',
      );
    return new Pacer(rule ?? 'auto');
  }

  /** Whether any callback handles the event. */
  handles(event: keyof Events): boolean {
    return this.#all.some((each) => each[event] !== undefined && each[event] !== ignore);
  }

  /** Calls the handlers sequentially; events without logs pass an empty object. */
  async emit<Event extends keyof Events>(
    event: Event,
    ...args: Parameters<Events[Event]> | SkipLast<Parameters<Events[Event]>>
  ): Promise<void> {
    const eventArgs = /EpochBegin|Train/.test(event) ? [...args, {}] : args;
    for (const each of this.#all) {
      await (each as Record<Event, ((...args: unknown[]) => Awaitable) | undefined>)[event]?.(
        ...eventArgs,
      );
    }
  }
}

/** Runs a compilation between its events. */
export async function compiling(
  callbacks: CallbackList<never>,
  compile: () => Promise<void>,
): Promise<void> {
  await callbacks.emit('onCompileBegin');
  try {
    await compile();
  } finally {
    await callbacks.emit('onCompileEnd');
  }
}

/** The names of the logs at the end of an epoch. */
export function epochMetrics(metrics: readonly string[], doValidation: boolean): string[] {
  const names = numbered(metrics);
  return [...names, ...(doValidation ? names.map((name) => `val_${name}`) : [])];
}
