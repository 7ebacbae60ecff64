/** The generated module of a model at work: batches of rows go in, scores and predictions come out. */
import { LatheError } from '../base/errors.js';
import type { Entry } from '../runtime/entry.js';
import type { Instance } from '../runtime/instance.js';
import { mayBlock } from '../runtime/may_block.js';
import { BatchLoader } from './batch_loader.js';
import { checkNumbers, watches } from './numerics.js';
import { Prediction } from './prediction.js';
import { copied, type Examples } from './rows.js';
import { type Score, scoreOf } from './score.js';

export class ModelModule {
  readonly #loaders = new Map<string, BatchLoader>();

  constructor(readonly instance: Instance) {
    for (const [name, entry] of instance.entries) this.#loaders.set(name, new BatchLoader(entry));
  }

  /** The batch size an entry is made for. */
  batch(name: 'train' | 'evaluate'): number {
    return this.#loader(name).batch;
  }

  /** Runs train or evaluate on `count` rows from `from` on. Returns their scores. */
  score(
    name: 'train' | 'evaluate',
    data: Examples,
    from: number,
    count: number,
    order?: Uint32Array,
  ): Score {
    const loader = this.#loader(name);
    this.instance.settle();
    loader.load(data, from, count, order);
    const before = this.#statesToKeep;
    loader.entry.run();
    return this.#scoreOf(loader.entry, data, from, count, order, before);
  }

  /** As `score`, without keeping a page waiting for its threads. */
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
      before = this.#statesToKeep;
    };
    const read = () => this.#scoreOf(entry, data, from, count, order, before);
    return this.instance.call(name, write, read);
  }

  /** A step on all rows, of a caller that may change them as soon as it has the promise. */
  step(data: Examples): Promise<Score> {
    const own = mayBlock || !this.instance.isBusy ? data : copied(data);
    return this.scoreAsync('train', own, 0, data.count);
  }

  /** What a step may have to give back. */
  get #statesToKeep(): Uint8Array | undefined {
    return watches(this.instance.metadata) ? this.instance.states() : undefined;
  }

  #scoreOf(
    entry: Entry,
    data: Examples,
    from: number,
    count: number,
    order: Uint32Array | undefined,
    before: Uint8Array | undefined,
  ): Score {
    const { instance } = this;
    if (before !== undefined) {
      const rows = Array.from({ length: count }, (_, at) => order?.[from + at] ?? from + at);
      try {
        checkNumbers(instance, entry, data, rows);
      } catch (error) {
        instance.setStates(before);
        throw error;
      }
    }
    return scoreOf(entry, count, instance.metadata);
  }

  /** Predicts every row of x. */
  predict(x: Examples): Prediction {
    this.instance.settle();
    const single = x.count === 1 ? this.#loaders.get('predict_1') : undefined;
    return new Prediction(single ?? this.#loader('predict'), x, this.instance);
  }

  /** Error: negative, NaN, no optimiser. */
  setLearningRate(learningRate: number): void {
    const place = this.instance.metadata.states.find(
      ({ name }) => name === 'optimizer/learning_rate',
    );
    if (place === undefined)
      throw new LatheError('setLearningRate: compile with an optimizer first');
    if (!(learningRate >= 0 && learningRate < Infinity)) {
      throw new LatheError(`setLearningRate: must be a finite number ≥ 0, got ${learningRate}`);
    }
    this.instance.elements(place)[0] = learningRate;
  }

  /** Sets to zero what layers keep between batches. */
  resetStates(): void {
    for (const place of this.instance.metadata.states) {
      if (place.name.startsWith('states/')) this.instance.state(place).fill(0);
    }
  }

  #loader(name: string): BatchLoader {
    const loader = this.#loaders.get(name);
    if (loader === undefined) throw new LatheError(`the module has no entry ${name}`);
    return loader;
  }
}
