/** Runs the compiled module of a model on batches of rows; returns scores and predictions. */
import { LatheError } from '../base/errors.js';
import type { Entry } from '../runtime/entry.js';
import type { Instance } from '../runtime/instance.js';
import { mayBlock } from '../runtime/may_block.js';
import { BatchLoader } from './batch_loader.js';
import { checkNumbers, watches } from './numerics.js';
import { Prediction } from './prediction.js';
import { copyExamples, type Examples } from './examples.js';
import { type Score, scoreOf } from './score.js';

export class ModelModule {
  readonly #loaders = new Map<string, BatchLoader>();

  constructor(readonly instance: Instance) {
    for (const [name, entry] of instance.entries) this.#loaders.set(name, new BatchLoader(entry));
  }

  /** The batch size an entry is compiled for. */
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
    const before = this.#statesToRestore;
    loader.entry.run();
    return this.#scoreOf(loader.entry, data, from, count, order, before);
  }

  /** As `score`, without blocking the page until its threads finish. */
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
    return this.instance.call(name, write, read);
  }

  /** A step on all rows, which the caller may modify once it has the promise. */
  step(data: Examples): Promise<Score> {
    const snapshot = mayBlock || !this.instance.isBusy ? data : copyExamples(data);
    return this.scoreAsync('train', snapshot, 0, data.count);
  }

  /** The states to restore if a step fails. */
  get #statesToRestore(): Uint8Array | undefined {
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

  /** Error: a rate that is negative or NaN; no optimizer. */
  setLearningRate(learningRate: number): void {
    const stateInfo = this.instance.metadata.states.find(
      ({ name }) => name === 'optimizer/learning_rate',
    );
    if (stateInfo === undefined)
      throw new LatheError('setLearningRate: compile with an optimizer first');
    if (!(learningRate >= 0 && learningRate < Infinity)) {
      throw new LatheError(`setLearningRate: must be a finite number ≥ 0, got ${learningRate}`);
    }
    this.instance.elements(stateInfo)[0] = learningRate;
  }

  /** Zeros the states of layers that persist between batches. */
  resetStates(): void {
    for (const stateInfo of this.instance.metadata.states) {
      if (stateInfo.name.startsWith('states/')) this.instance.state(stateInfo).fill(0);
    }
  }

  #loader(name: string): BatchLoader {
    const loader = this.#loaders.get(name);
    if (loader === undefined) throw new LatheError(`the module has no entry ${name}`);
    return loader;
  }
}
