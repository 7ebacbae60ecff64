/** Runs the compiled module of a model on batches of rows; returns scores and predictions. */
import { LatheError } from '../base/errors.js';
import type { Entry } from '../runtime/entry.js';
import type { Instance } from '../runtime/instance.js';
import { mayBlock } from '../runtime/may_block.js';
import { BatchLoader } from './batch_loader.js';
import type { ModelRunner } from './model_runner.js';
import { checkNumbers, watches } from './numerics.js';
import { Prediction } from './prediction.js';
import { copyExamples, type Examples } from './examples.js';
import { type Score, scoreOf } from './score.js';

export class ModelModule implements ModelRunner {
  readonly #loaders = new Map<string, BatchLoader>();

  constructor(readonly states: Instance) {
    for (const [name, entry] of states.entries) this.#loaders.set(name, new BatchLoader(entry));
  }

  batch(name: 'train' | 'evaluate'): number {
    return this.#loader(name).batch;
  }

  score(
    name: 'train' | 'evaluate',
    data: Examples,
    from: number,
    count: number,
    order?: Uint32Array,
  ): Score {
    const loader = this.#loader(name);
    this.states.settle();
    loader.load(data, from, count, order);
    const before = this.#statesToRestore;
    loader.entry.run();
    return this.#scoreOf(loader.entry, data, from, count, order, before);
  }

  async scoreAsync(
    name: 'train' | 'evaluate',
    data: Examples,
    from: number,
    count: number,
    order?: Uint32Array,
  ): Promise<Score> {
    if (mayBlock) return this.score(name, data, from, count, order);
    const loader = this.#loader(name);
    const { entry } = loader;
    let before: Uint8Array | undefined;
    const write = () => {
      loader.load(data, from, count, order);
      before = this.#statesToRestore;
    };
    const read = () => this.#scoreOf(entry, data, from, count, order, before);
    return this.states.call(name, write, read);
  }

  step(data: Examples): Promise<Score> {
    const snapshot = mayBlock || !this.states.isBusy ? data : copyExamples(data);
    return this.scoreAsync('train', snapshot, 0, data.count);
  }

  /** The states to restore if a step fails. */
  get #statesToRestore(): Uint8Array | undefined {
    return watches(this.states.metadata) ? this.states.states() : undefined;
  }

  #scoreOf(
    entry: Entry,
    data: Examples,
    from: number,
    count: number,
    order: Uint32Array | undefined,
    before: Uint8Array | undefined,
  ): Score {
    const { states } = this;
    if (before !== undefined) {
      const rows = Array.from({ length: count }, (_, at) => order?.[from + at] ?? from + at);
      try {
        checkNumbers(states, entry.info.name, entry.outputs, data, rows);
      } catch (error) {
        states.setStates(before);
        throw error;
      }
    }
    return scoreOf(entry, count, states.metadata);
  }

  predict(x: Examples): Prediction {
    this.states.settle();
    const single = x.count === 1 ? this.#loaders.get('predict_1') : undefined;
    return new Prediction(single ?? this.#loader('predict'), x, this.states);
  }

  #loader(name: string): BatchLoader {
    const loader = this.#loaders.get(name);
    if (loader === undefined) throw new LatheError(`the module has no entry ${name}`);
    return loader;
  }
}
