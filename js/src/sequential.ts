/** The model: layers in a row, as in TensorFlow.js Layers, compiled to one WebAssembly module. */
import { type BufferPlace, type Dump, elementCount } from './abi.js';
import { Compiled, type CompileStats } from './compiled.js';
import type { Dataset } from './data/dataset.js';
import type { EvaluateDatasetArgs, FitDatasetArgs } from './data/fit_dataset.js';
import { LatheError } from './errors.js';
import {
  checkCount,
  checkFitArgs,
  evaluateAll,
  type FitArgs,
  fitLoop,
  type Labelled,
  type Trainee,
} from './fit.js';
import type { LossName, OptimizerConfig } from './generated.js';
import type { History } from './history.js';
import type { Instance } from './instance.js';
import type { IOHandler, SaveResult } from './io/artifacts.js';
import type { SaveArgs } from './io/save.js';
import type { LoadWeightsArgs, WeightSource } from './io/weight_files.js';
import type { LayerConfig, OptimizerLike } from './layers.js';
import { moduleText } from './program.js';
import { randomSeed } from './random.js';
import { featureRows, type LabelKind, labelRows, slice } from './rows.js';
import { type Storable, storable, type StoredModel } from './storable.js';
import { printSummary } from './summary.js';
import { hostDTypes, Tensor, tensor, type TensorLike } from './tensor.js';
import { type Tunable, tunable } from './tune.js';

/** Arguments of `sequential`. */
export interface SequentialArgs {
  layers?: LayerConfig[];
  /** Default: sequential. */
  name?: string;
  /** Decides first weights and shuffling. Default: another one every time. */
  seed?: number;
}

/** Arguments of `model.compile`. */
export interface CompileArgs {
  loss: LossName;
  /** By name, or made by `train`. Without one the model can be evaluated but not trained. */
  optimizer?: OptimizerLike;
  /** 'accuracy' ('acc'): share of rows whose greatest output is the label's. */
  metrics?: 'accuracy' | 'acc' | ('accuracy' | 'acc')[];
}

/**
 * Layers in a row. Tensors have the batch as first axis: x is [rows, …inputShape] float32, y is
 * [rows, …outputShape] (probabilities, one-hot rows, targets) or [rows] class numbers. Every method
 * throws (or rejects with) LatheError when its arguments do not fit, and then changes nothing.
 */
export class Sequential implements Trainee, Tunable, Storable {
  /** Set to true during `fit`: it ends after the current batch, keeping everything learnt. */
  stopTraining = false;
  /** Epochs `fit` has trained since the model was made. */
  epochsTrained = 0;
  readonly name: string;
  readonly seed: number;

  #layers: LayerConfig[] = [];
  #compiled: Compiled | undefined;
  #loss: LossName | undefined;
  #optimizer: OptimizerConfig | undefined;
  #accuracy = false;
  #labels: LabelKind | undefined;
  #lastBatch = 0;
  #training = false;
  #disposed = false;

  /** As `sequential(args)`. */
  constructor({ layers = [], name = 'sequential', seed = randomSeed() }: SequentialArgs = {}) {
    if (!Number.isSafeInteger(seed) || seed < 0) {
      throw new LatheError(`sequential: seed must be an integer ≥ 0, got ${seed}`);
    }
    this.name = name;
    this.seed = seed;
    if (layers.length > 0) this.#setLayers(layers);
  }

  /** Appends a layer. Errors: it does not fit the layers before it, or one of its options is wrong. */
  add(layer: LayerConfig): void {
    this.#check('add', true);
    this.#setLayers([...this.#layers, layer]);
  }

  /** Shape of one example. */
  get inputShape(): number[] {
    return [...this.#built('inputShape').summary.inputShape];
  }

  /** Shape of one result. */
  get outputShape(): number[] {
    return [...this.#built('outputShape').summary.outputShape];
  }

  /** Number of weights, biases included. */
  countParams(): number {
    return this.#built('countParams').summary.totalParams;
  }

  /** Prints layers, shapes and numbers of weights, line by line. Default: to the console. */
  summary(print: (line: string) => void = console.log): void {
    printSummary(this.#built('summary').summary, print);
  }

  /**
   * Says how the model learns. Checked and compiled at once; weights stay, the optimiser starts
   * afresh.
   */
  compile({ loss, optimizer, metrics = [] }: CompileArgs): void {
    const compiled = this.#built('compile', true);
    if (loss === undefined) throw new LatheError('compile: a loss is needed');
    const unknown = [metrics].flat().find((name) => name !== 'accuracy' && name !== 'acc');
    if (unknown !== undefined) {
      throw new LatheError(`compile: unknown metric "${unknown}"; known: accuracy, acc`);
    }
    const named = typeof optimizer === 'string' ? { name: optimizer } : optimizer;
    compiled.setTraining(named === undefined ? { loss } : { loss, optimizer: named });
    this.#loss = loss;
    this.#optimizer = named;
    this.#accuracy = [metrics].flat().length > 0;
  }

  /** Whether `compile` asked for accuracy. */
  get wantsAccuracy(): boolean {
    return this.#accuracy;
  }

  /**
   * Trains. Resolves with the losses and accuracies of every epoch, also when it was stopped; a
   * later call goes on where it ended, optimiser states included.
   */
  async fit(x: TensorLike, y: TensorLike, args: FitArgs = {}): Promise<History> {
    this.#check('fit', true);
    checkFitArgs(args);
    let data = this.#labelled(x, y, 'fit', true);
    let validation: Labelled | undefined;
    if (args.validationData !== undefined) {
      const [validationX, validationY] = args.validationData;
      validation = this.#labelled(validationX, validationY, 'fit: validationData');
      if (validation.y.kind !== data.y.kind) {
        throw new LatheError('fit: validationData has another kind of labels than y');
      }
    } else if (args.validationSplit !== undefined && args.validationSplit > 0) {
      [data, validation] = split(data, args.validationSplit);
    }
    const batchSize = Math.min(args.batchSize ?? 32, data.x.count);
    const { kind } = data.y;
    this.#built('fit').instance({ train: batchSize, evaluate: args.batchSize ?? 32, labels: kind });
    this.#labels = kind;
    this.#training = true;
    this.stopTraining = false;
    try {
      return await fitLoop(this, data, validation, { ...args, seed: args.seed ?? this.seed });
    } finally {
      this.#training = false;
    }
  }

  /** Trains on a dataset of batches `{xs, ys}`, as `fit`. */
  async fitDataset(dataset: Dataset<unknown>, args: FitDatasetArgs = {}): Promise<History> {
    const { fitDataset } = await import('./data/fit_dataset.js');
    return fitDataset(this, dataset, args);
  }

  /** Mean loss and share of hits over a dataset of batches `{xs, ys}`. */
  async evaluateDataset(
    dataset: Dataset<unknown>,
    args: EvaluateDatasetArgs = {},
  ): Promise<{ loss: number; acc: number }> {
    const { evaluateDataset } = await import('./data/fit_dataset.js');
    return evaluateDataset(this, dataset, args);
  }

  /** The module that `fit` uses for its next batch. */
  current(): Instance {
    return this.#built('fit').instance(this.#labels === undefined ? {} : { labels: this.#labels });
  }

  /**
   * One step on all rows of x. Resolves with the loss before the step; with the metric accuracy,
   * with [loss, accuracy].
   */
  async trainOnBatch(x: TensorLike, y: TensorLike): Promise<number | [number, number]> {
    this.#check('trainOnBatch', true);
    const data = this.#labelled(x, y, 'trainOnBatch', true);
    const { count } = data.x;
    const instance = this.#trainModule(count, data.y.kind);
    const score = await instance.scoreAsync('train', data.x, data.y, 0, count);
    return this.#accuracy ? [score.loss, score.correct / count] : score.loss;
  }

  /**
   * Mean loss and share of hits over all rows; may be called while `fit` runs.
   * `batchSize` changes speed and memory only. Default: that of the module at hand.
   */
  evaluate(
    x: TensorLike,
    y: TensorLike,
    { batchSize }: { batchSize?: number } = {},
  ): { loss: number; acc: number } {
    if (batchSize !== undefined) checkCount('evaluate: batchSize', batchSize);
    const data = this.#labelled(x, y, 'evaluate');
    const instance = this.#built('evaluate').instance({ evaluate: batchSize, labels: data.y.kind });
    return evaluateAll(instance, data);
  }

  /**
   * The results for all rows, [rows, …outputShape]; may be called while `fit` runs.
   * `batchSize` changes speed and memory only. Default: that of the module at hand.
   */
  predict(x: TensorLike, { batchSize }: { batchSize?: number } = {}): Tensor {
    const compiled = this.#built('predict');
    if (batchSize !== undefined) checkCount('predict: batchSize', batchSize);
    const { inputShape, outputShape } = compiled.summary;
    const rows = featureRows(x, inputShape, 'predict');
    const data = compiled.instance({ predict: batchSize }).predict(rows);
    return new Tensor(data, [rows.count, ...outputShape], 'float32');
  }

  /** Copies of all weights, in the order of the layers: kernel, bias, kernel, … */
  getWeights(): Tensor[] {
    const instance = this.#built('getWeights').instance();
    return this.#weightPlaces(instance).map((place) => {
      const bytes = instance.state(place).slice();
      return new Tensor(new Float32Array(bytes.buffer), place.shape, 'float32');
    });
  }

  /** Replaces all weights. Errors: another number of them or another shape; then none changes. */
  setWeights(weights: TensorLike[]): void {
    const instance = this.#built('setWeights').instance();
    const places = this.#weightPlaces(instance);
    if (!Array.isArray(weights) || weights.length !== places.length) {
      const got = Array.isArray(weights) ? weights.length : typeof weights;
      throw new LatheError(`setWeights: the model has ${places.length} weights, got ${got}`);
    }
    const contents = places.map(({ name, shape }, at) => {
      const value = tensor(weights[at]!, undefined, 'float32');
      const isFlat = ArrayBuffer.isView(weights[at]) && value.size === elementCount(shape);
      if (!isFlat && value.shape.join() !== shape.join()) {
        throw new LatheError(
          `setWeights: ${name} has shape [${shape.join(',')}], got [${value.shape.join(',')}]`,
        );
      }
      return value.dataSync();
    });
    places.forEach((place, at) => {
      const { buffer, byteOffset, byteLength } = contents[at]!;
      instance.state(place).set(new Uint8Array(buffer, byteOffset, byteLength));
    });
  }

  /** Changes the learning rate of the steps to come. Error: negative, NaN, no optimiser. */
  setLearningRate(learningRate: number): void {
    const instance = this.#built('setLearningRate').instance();
    const place = instance.metadata.states.find(({ name }) => name === 'optimizer/learning_rate');
    if (place === undefined)
      throw new LatheError('setLearningRate: compile with an optimizer first');
    if (!(learningRate >= 0 && learningRate < Infinity)) {
      throw new LatheError(`setLearningRate: must be a finite number ≥ 0, got ${learningRate}`);
    }
    const { buffer, byteOffset } = instance.state(place);
    new Float32Array(buffer, byteOffset, 1)[0] = learningRate;
  }

  /**
   * A stand-alone WebAssembly module that predicts with the weights of now. It imports nothing and
   * exports `memory`, `predict`, `predict_1` and, as globals, the offsets of their buffers
   * (`predict.x`, `predict.y`, …).
   */
  toWasm(): Uint8Array<ArrayBuffer> {
    return this.#built('toWasm').standAlone();
  }

  /** The module at hand, training included, in WebAssembly text form. */
  toWat(): string {
    return moduleText(this.#built('toWat').instance().bytes);
  }

  /** What compiling the module at hand cost, its size and its memory. */
  stats(): CompileStats {
    return this.#built('stats').stats();
  }

  /** Intermediate forms of the compilation: 'before:PASS' or 'after:PASS', 'after:*' for all. */
  dumps(when: string[]): Dump[] {
    return this.#built('dumps').dumps(when);
  }

  /**
   * Saves topology and weights in the format of TensorFlow.js Layers: to file://FOLDER in Node,
   * indexeddb://NAME, localstorage://NAME or downloads://NAME in a page, an http(s) address, or a
   * handler of `tl.io`. Whenever it ends, the place holds the model of before or all of this one.
   */
  async save(target: string | URL | IOHandler, args: SaveArgs = {}): Promise<SaveResult> {
    this.#built('save');
    const { saveModel } = await import('./io/save.js');
    return saveModel(this, target, args);
  }

  /** Saves the weights as one safetensors file: file://PATH in Node, downloads://NAME in a page. */
  async saveWeights(target: string | URL): Promise<void> {
    this.#built('saveWeights');
    const { saveWeights } = await import('./io/weight_files.js');
    return saveWeights(this, target);
  }

  /**
   * Replaces the weights by those of the same name in a safetensors file, by its address or its
   * content, or in a saved model. Errors: missing, extra or mis-shaped tensors; then none changes.
   */
  async loadWeights(source: WeightSource, args: LoadWeightsArgs = {}): Promise<void> {
    this.#built('loadWeights');
    const { loadWeights } = await import('./io/weight_files.js');
    return loadWeights(this, source, args);
  }

  /** Gives all memory back; any later call is an error. Error: while `fit` runs. */
  dispose(): void {
    if (this.#disposed) return;
    this.#check('dispose', true);
    this.#compiled?.free();
    this.#compiled = undefined;
    this.#disposed = true;
  }

  /** @internal */
  get [storable](): StoredModel {
    const compiled = this.#built('save');
    const instance = compiled.instance();
    const states = instance.metadata.states.map((place) => ({
      name: place.name,
      shape: place.shape,
      dtype: hostDTypes[place.dtype],
      values: instance.elements(place),
    }));
    const metrics = this.#accuracy ? ['accuracy'] : [];
    const rate = states.find(({ name }) => name === 'optimizer/learning_rate')?.values[0];
    const optimizer = this.#optimizer && { ...this.#optimizer, learningRate: rate };
    const training = this.#loss && optimizer && { loss: this.#loss, optimizer, metrics };
    const config = { name: this.name, layers: this.#layers };
    return { config, summary: compiled.summary, training, states };
  }

  /** @internal */
  get [tunable](): Tunable[typeof tunable] {
    const { executable, reschedule } = this.#built('tune', true)[tunable];
    const isIdle = () => !this.#disposed && !this.#training;
    return { executable, reschedule: () => (isIdle() ? reschedule() : undefined) };
  }

  #setLayers(layers: LayerConfig[]): void {
    const config = { name: this.name, seed: this.seed, layers };
    if (this.#compiled === undefined) this.#compiled = new Compiled(config);
    else this.#compiled.setModel(config);
    this.#layers = layers;
  }

  #check(what: string, changes = false): void {
    if (this.#disposed) throw new LatheError(`${what}: this model has been disposed`);
    if (changes && this.#training) {
      throw new LatheError(`${what}: fit is running; await it, or set stopTraining first`);
    }
  }

  #built(what: string, changes = false): Compiled {
    this.#check(what, changes);
    if (this.#compiled === undefined) throw new LatheError(`${what}: the model has no layers`);
    return this.#compiled;
  }

  #labelled(x: TensorLike, y: TensorLike, where: string, trains = false): Labelled {
    const { inputShape, outputShape } = this.#built(where).summary;
    if (this.#loss === undefined) throw new LatheError(`${where}: call compile first`);
    if (trains && this.#optimizer === undefined)
      throw new LatheError(`${where}: compile with an optimizer first`);
    const examples = featureRows(x, inputShape, where);
    return { x: examples, y: labelRows(y, outputShape, examples.count, where) };
  }

  /** A batch smaller than the module's runs in it; the same smaller size twice gets its own module. */
  #trainModule(count: number, labels: LabelKind): Instance {
    const compiled = this.#built('trainOnBatch');
    const stays = this.#lastBatch !== 0 && count !== this.#lastBatch && count < compiled.trainBatch;
    this.#lastBatch = count;
    return compiled.instance(stays ? { labels } : { labels, train: count });
  }

  #weightPlaces(instance: Instance): BufferPlace[] {
    return this.#built('weights').summary.weights.map(({ name }) =>
      instance.metadata.states.find((place) => place.name === name)!,
    );
  }
}

function split({ x, y }: Labelled, share: number): [Labelled, Labelled] {
  const kept = Math.floor(x.count * (1 - share));
  if (kept === 0 || kept === x.count) {
    throw new LatheError(`fit: validationSplit ${share} of ${x.count} rows leaves one part empty`);
  }
  return [
    { x: slice(x, 0, kept), y: slice(y, 0, kept) },
    { x: slice(x, kept, x.count), y: slice(y, kept, y.count) },
  ];
}

/** A model of layers in a row. Errors: layers that do not fit. */
export function sequential(args: SequentialArgs = {}): Sequential {
  return new Sequential(args);
}
