/** The model: a graph of layers, as in TensorFlow.js Layers, compiled to one WebAssembly module. */
import { LatheError } from '../base/errors.js';
import { checkCount, checkInteger, checkOptions } from '../base/options.js';
import { nextTask } from '../base/pause.js';
import { randomSeed } from '../base/random.js';
import type { BufferPlace, Dump, LayerConfig, ModelConfig, ModelSummary } from '../core/abi.js';
import { moduleText } from '../core/module_text.js';
import { isRecording } from '../eager/compute.js';
import { tracked } from '../tensor/scopes.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import type { CompileStats } from '../runtime/build.js';
import { type Tunable, tunable } from '../tune/tunable.js';
import { addMembers, extrasAtHand, extrasFor, fetchExtras } from '../layers/extras.js';
import type { DisposeResult, Layer } from '../layers/layer.js';
import { Optimizer, type OptimizerLike } from '../layers/optimizer.js';
import type { ModelWeight, WeightCopy } from '../layers/shared_weights.js';
import { trained, variableOf } from '../layers/shared_weights.js';
import type { Dataset } from '../data/dataset.js';
import { evaluateAll } from '../train/evaluate.js';
import type { Trainee } from '../train/fit.js';
import type { EvaluateDatasetArgs } from '../train/fit_dataset.js';
import type { History } from '../train/history.js';
import type { ModelModule } from '../train/model_module.js';
import {
  entryName,
  type Examples,
  featuresOf,
  labelledOf,
  type ModelData,
  slice,
  weighted,
  type Weighting,
  weightingNames,
} from '../train/rows.js';
import { asTensors, reported, type Score, type Scores, scoresOf, Tally } from '../train/score.js';
import { type Storable, storable, type StoredModel, trainingOf } from '../train/storable.js';
import type { IOHandler, SaveResult } from '../io/artifacts.js';
import type { SaveArgs } from '../io/save.js';
import type { LoadWeightsArgs, WeightSource } from '../io/weight_files.js';
import { CompiledModel, type ToWasmArgs, type Wanted } from './compiled_model.js';
import { Container } from './container.js';
import { labelKinds, type ModelGoal, readGoal } from './goal.js';
import { frozenPaths, LayerGraph, leaves } from './layer_graph.js';
import {
  checkEvaluateArgs,
  checkPredictArgs,
  wantedBatches,
  type CompileArgs,
  type EvaluateArgs,
  type FitArgs,
  type FitDatasetArgs,
  type ModelArgs,
  type PredictArgs,
  type Structure,
  tensorsOf,
} from './model_args.js';
import { type ModelMembers, modelMembers } from './model_members.js';
import { loadWeights } from './load_weights.js';
import {
  copiesOf,
  keptStates,
  listWeights,
  placesOf,
  readWeights,
  storedStates,
  writeWeights,
} from './module_weights.js';

/**
 * A model: a graph of layers, or as `Sequential` a row of them; itself a layer that may be part of
 * other models. Tensors have the batch as first axis: x is [rows, …inputShape] float32, y is
 * [rows, …outputShape] (probabilities, one-hot rows, targets), or class numbers without the last
 * axis. For several inputs or outputs they come as arrays, or as objects by name. Every method
 * throws (or rejects with) LatheError when its arguments do not fit, and then changes nothing.
 */
export class LayersModel extends Container implements Trainee, Tunable, Storable {
  static className = 'Model';
  protected static override readonly added = /* @__PURE__ */ addMembers(LayersModel, modelMembers);
  /** False once `fit` has begun. Set to true during `fit`: it ends after the current batch, keeping everything learnt. */
  stopTraining!: boolean;
  /** What `compile` was given. */
  loss: CompileArgs['loss'] | undefined;
  metrics: CompileArgs['metrics'];
  /** Epochs `fit` has trained since the model was made. */
  epochsTrained = 0;
  readonly seed: number;
  /** Of the last `fit` that ended. */
  history: History | undefined;
  /** @internal What the program said of it. */
  metadata: object | undefined;

  #compiled: CompiledModel | undefined;
  readonly #copies = new Map<Layer, WeightCopy>();
  #frozen: readonly string[] = [];
  #goal: ModelGoal | undefined;
  #optimizer: Optimizer | undefined;
  #learningRate: number | undefined;
  /** What `fit` needs of the module. */
  #fitting: Wanted = {};
  #training = false;
  #disposed = false;

  /** As `model(args)`. */
  constructor({ name, seed = randomSeed(), ...graph }: Partial<ModelArgs>, className = 'Model') {
    super(className, name === undefined ? {} : { name });
    checkInteger(`${className.toLowerCase()}: seed`, seed, 0);
    this.seed = seed;
    const { inputs, outputs } = graph;
    if (inputs !== undefined && outputs !== undefined) {
      this.setStructure(new LayerGraph(tensorsOf(inputs, 'inputs'), tensorsOf(outputs, 'outputs')));
    }
  }

  /** Its layers and how they are connected, in the words of TensorFlow.js. */
  override getConfig(): Record<string, unknown> {
    return extrasFor('getConfig').members.modelConfig!(this as never) as Record<string, unknown>;
  }

  /** The configuration of the whole model in the core's words. */
  get coreConfig(): ModelConfig {
    this.told('coreConfig');
    return this.#describe();
  }

  /** @internal As an argument of a layer around it; without a key, as TensorFlow.js has it. */
  override toJSON(key?: unknown, asText = true): unknown {
    if (typeof key === 'string' && key !== '') return super.toJSON();
    return extrasFor('toJSON').members.toJSON!(this as never, key as never, asText as never);
  }

  /** @internal */
  override describe(name: string, frozen: boolean): LayerConfig {
    this.told('apply');
    const freeze = frozen || !this.trainable ? { trainable: false } : {};
    const config = { ...this.structure!.describe(false), ...freeze, name };
    return { class: this.getClassName(), config };
  }

  /** Says how the model learns. Checked at once, compiled when it is needed; weights stay, the optimiser starts afresh. */
  compile(args: CompileArgs): void {
    const compiled = this.told('compile', true);
    const goal = readGoal(args, compiled.summary.outputs);
    this.#takeConfig();
    compiled.setTraining(goal.training);
    this.#goal = goal;
    [this.loss, this.metrics] = [args.loss, args.metrics];
    this.#learningRate = goal.optimizer?.learningRate;
  }

  /** What `evaluate` gives, in its order: loss, with several outputs the loss of each, the metrics. */
  get metricsNames(): readonly string[] {
    return [...(this.#goal?.metricsNames ?? [])];
  }

  get isTraining(): boolean {
    return this.#training;
  }

  /** What `compile` was given, or what it has been set to. */
  get optimizer(): Optimizer | undefined {
    return this.#goal?.optimizer ?? this.#optimizer;
  }

  /** As `compile` with the same arguments but for this one; before, the program alone uses it. */
  set optimizer(optimizer: OptimizerLike) {
    if (this.#goal === undefined) this.#optimizer = Optimizer.of(optimizer);
    else LayersModel.prototype.compile.call(this, { ...this.#goal.args, optimizer });
  }

  /** Trains. Resolves with what every epoch gave, also when it was stopped; a later call goes on, optimiser states included. */
  async fit(x: ModelData, y: ModelData, args: FitArgs = {}): Promise<History> {
    return this.#train('fit', async () => {
      const [{ fitData, fitLoop, readFitArgs }] = await Promise.all([
        import('../train/fit.js'),
        fetchExtras(), // whoever has trained a model may ask for all that it has
      ]);
      const read = readFitArgs(args);
      const [data, validation] = await fitData(this, x, y, read);
      return fitLoop(this, data, validation, { ...read, seed: read.seed ?? this.seed });
    });
  }

  /** @internal From now on `current` gives a module that trains on these data. */
  async prepare(data: Examples, args: FitArgs): Promise<void> {
    const { batchSize = 32, batchesInMemory: count = 1 } = args;
    const { validationBatchSize: evaluate = batchSize } = args;
    const wanted = this.#wishFor('fit', data);
    this.#compiled!.checkRows('fit: validationSplit', data.count);
    this.#fitting = { ...wanted, train: Math.min(batchSize, data.count), evaluate };
    const batchesInMemory = { train: count, evaluate: count };
    await this.#ahead('fit', { ...this.#fitting, batchesInMemory });
  }

  /** Trains on a dataset of batches `{xs, ys}`, as `fit`. */
  async fitDataset(dataset: Dataset<unknown>, args: FitDatasetArgs = {}): Promise<History> {
    return this.#train('fitDataset', async () => {
      const { fitDataset } = await import('../train/fit_dataset.js');
      return fitDataset(this, dataset, args);
    });
  }

  /** Nothing else changes the model meanwhile. */
  async #train(what: string, training: () => Promise<History>): Promise<History> {
    this.#check(what, true);
    [this.#training, this.stopTraining] = [true, false];
    try {
      return (this.history = await training());
    } finally {
      this.#training = false;
    }
  }

  /** As `evaluate`, over a dataset of batches `{xs, ys}`. */
  evaluateDataset(
    dataset: Dataset<unknown>,
    args: EvaluateDatasetArgs & { asObject: true },
  ): Promise<Scores>;
  evaluateDataset(
    dataset: Dataset<unknown>,
    args?: EvaluateDatasetArgs,
  ): Promise<Tensor | Tensor[]>;
  async evaluateDataset(
    dataset: Dataset<unknown>,
    args: EvaluateDatasetArgs = {},
  ): Promise<Scores | Tensor | Tensor[]> {
    const { evaluateDataset } = await import('../train/fit_dataset.js');
    const scores = await evaluateDataset(this, dataset, args);
    return args?.asObject ? scores : asTensors(this, scores);
  }

  /** The module that `fit` uses for its next batch of the data; without them, the one at hand. */
  current(data?: Examples, rows: Partial<Record<'train' | 'evaluate', number>> = {}): ModelModule {
    if (rows.train !== undefined) this.#freeze('fit');
    const { train = 32, evaluate = 32, ...fitting } = this.#fitting;
    const wanted = { ...fitting, sizes: data?.sizes };
    if (!this.#goal?.isOwn) return this.#changing('fit', wanted);
    // What functions of the program see are the rows of the batch alone.
    const least = (size: number, left = size) => Math.min(size, left);
    const sizes = { train: least(train, rows.train), evaluate: least(evaluate, rows.evaluate) };
    return this.#changing('fit', { ...wanted, ...sizes });
  }

  /**
   * One step on all rows of x. Resolves with the loss before the step; with the metric accuracy,
   * with [loss, accuracy]; with several outputs, with the sum, the loss of each, the accuracy of each.
   */
  async trainOnBatch(
    x: ModelData,
    y: ModelData,
    weighting: Weighting = {},
  ): Promise<number | number[]> {
    this.#check('trainOnBatch', true);
    checkOptions('trainOnBatch', weighting, weightingNames);
    const found = reported(this, scoresOf(await this.trainBatch(x, y, weighting)));
    const values = Object.values(found).filter((value) => typeof value === 'number');
    return values.length === 1 ? values[0]! : values;
  }

  /** @internal Before the first step of `fitDataset`. */
  async prepareBatch(x: ModelData, y: ModelData, weighting: Weighting): Promise<void> {
    const data = this.labelled(x, y, 'fitDataset', true, weighting);
    await this.#ahead('fitDataset', this.#wishFor('fitDataset', data));
  }

  /** As `#module`, without keeping a page waiting where that is possible. */
  async #ahead(what: string, wanted: Wanted): Promise<void> {
    const isLong = await this.#compiled!.ahead(wanted);
    this.#module(what, wanted);
    if (isLong) await nextTask();
  }

  /** @internal One step, also of `fitDataset`; gives the scores by name and the rows they are of. */
  async trainBatch(x: ModelData, y: ModelData, weighting: Weighting = {}): Promise<Score> {
    const data = this.labelled(x, y, 'trainOnBatch', true, weighting);
    this.#compiled!.checkRows('trainOnBatch', data.count, true);
    const whole = this.#wishFor('trainOnBatch', data);
    const wanted = this.#compiled!.forStep(whole, this.#goal!.isOwn);
    return this.#changing('trainOnBatch', wanted).step(data);
  }

  /**
   * The scores that `compile` asked for, over all rows, as `metricsNames` calls them: a scalar, or with
   * metrics or several outputs an array of them. With `asObject` numbers by name, the share of hits
   * (acc) always among them. May be called while `fit` runs.
   */
  evaluate(x: ModelData, y: ModelData, args: EvaluateArgs & { asObject: true }): Scores;
  evaluate(x: ModelData, y: ModelData, args?: EvaluateArgs): Tensor | Tensor[];
  evaluate(x: ModelData, y: ModelData, args: EvaluateArgs = {}): Scores | Tensor | Tensor[] {
    checkEvaluateArgs(args);
    const { scores } = this.#evaluated(x, y, args);
    return args.asObject ? scores : asTensors(this, scores);
  }

  /** @internal As `evaluate`, before the sums of its metrics become numbers. */
  evaluateBatch(x: ModelData, y: ModelData, batchSize?: number): Score {
    return this.#evaluated(x, y, { batchSize }).score;
  }

  /**
   * The results for all rows, [rows, …outputShape], an array of them for several outputs; may be
   * called while `fit` runs. `batchSize` changes speed and memory only. Default: that of the module
   * at hand.
   */
  predict<T extends Tensor | Tensor[] = Tensor>(x: ModelData, args: PredictArgs = {}): T {
    checkPredictArgs(args);
    if (isRecording()) return this.applyRows(x) as T;
    const wanted = wantedBatches('predict', args);
    const { sizes, inputs, outputs } = this.told('predict').ports(x, 'predict');
    const data = featuresOf(x, inputs, 'predict');
    this.#compiled!.checkRows('predict', data.count);
    const prediction = this.#module('predict', { ...wanted, sizes }).predict(data);
    const results = outputs.map((port) => {
      const values = prediction.output(entryName('y', port, outputs));
      return new Tensor(values, [data.count, ...port.shape], 'float32')[tracked]();
    });
    return (results.length === 1 ? results[0] : results) as T;
  }

  /** As `predict`, all rows at once. */
  predictOnBatch<T extends Tensor | Tensor[] = Tensor>(x: ModelData): T {
    return this.predict<T>(x);
  }

  /** Copies of all weights in the order of the layers, those that are trained first, or alone. */
  override getWeights(trainableOnly = false): Tensor[] {
    return trained(this.#readWeights(), this, trainableOnly);
  }

  /** Replaces all weights. Errors: another number of them or another shape; then none changes. */
  override setWeights(weights: readonly TensorLike[]): void {
    this.#writeWeights(weights);
  }

  /** All weights one by one, in the order of `getWeights`. */
  override get weights(): ModelWeight[] {
    return this.#listWeights();
  }

  #listWeights(layer?: Layer): ModelWeight[] {
    const now = (what: string) => ({
      instance: this.#module(what).instance,
      places: this.#weightPlaces(what),
      changed: () => void this.#changing(what),
    });
    const places = this.#weightPlaces('weights', layer);
    return listWeights(places, frozenPaths(this), now, (name) => this.variable(name));
  }

  /** Layers that have been frozen since `compile` learn no more from now on; the model as a whole does, as in Keras. Error: nothing learns. */
  #freeze(what: string): void {
    const known = (path: string) => this.#frozen.some((each) => path.startsWith(each));
    if (!frozenPaths(this, true).every(known)) this.#takeConfig(this.structure!, true);
    if (this.#compiled!.summary.trainableParams === 0)
      throw new LatheError(`${what}: no weight is trainable; set trainable = true, then compile`);
  }

  /** The core gets the layers as they are now. */
  #takeConfig(structure = this.structure!, trainable = this.trainable): void {
    const config = this.#describe(structure, trainable);
    if (this.#compiled === undefined) this.#compiled = new CompiledModel(config);
    else this.#compiled.setModel(config);
    this.structure = structure;
    this.#frozen = frozenPaths(this, trainable);
  }

  #readWeights(layer?: Layer): Tensor[] {
    const places = this.#weightPlaces('getWeights', layer);
    const copies = readWeights(this.#module('getWeights').instance, places);
    copies.forEach((each, at) => variableOf.set(each, () => this.variable(places[at]!.name)));
    return copies;
  }

  #writeWeights(weights: readonly TensorLike[], layer?: Layer): void {
    const places = this.#weightPlaces('setWeights', layer);
    const whose = layer === undefined ? 'the model' : `layer "${layer.name}"`;
    writeWeights(this.#changing('setWeights').instance, places, weights, whose);
  }

  /** Changes the learning rate of the steps to come. Error: negative, NaN, no optimiser. */
  setLearningRate(learningRate: number): void {
    this.#module('setLearningRate').setLearningRate(learningRate);
    this.#learningRate = this.optimizer!.learningRate = learningRate;
  }

  /** Has stateful layers begin anew with the next batch. */
  override resetStates(): void {
    this.#module('resetStates').resetStates();
  }

  /** A stand-alone module with the weights of now, as docs/training_module.md tells. */
  toWasm(args: ToWasmArgs = {}): Uint8Array<ArrayBuffer> {
    this.#module('toWasm');
    return this.#compiled!.standAlone(args);
  }

  /** The module at hand, training included, in WebAssembly text form. */
  async toWat(): Promise<string> {
    this.#module('toWat');
    return moduleText(this.#compiled!.bytes());
  }

  /** What compiling the module at hand cost, its size and its memory. */
  stats(): CompileStats {
    return this.told('stats').stats();
  }

  /** Intermediate forms of the compilation: 'before:PASS' or 'after:PASS', 'after:*' for all. */
  dumps(when: string[]): Dump[] {
    return this.told('dumps').dumps(when);
  }

  /**
   * Saves topology and weights in the format of TensorFlow.js Layers: to file://FOLDER in Node,
   * indexeddb://NAME, localstorage://NAME or downloads://NAME in a page, an http(s) address, or a
   * handler of `tl.io`. Whenever it ends, the place holds the model of before or all of this one.
   */
  async save(target: string | URL | IOHandler, args: SaveArgs = {}): Promise<SaveResult> {
    this.told('save');
    const { saveModel } = await import('../io/save.js');
    return saveModel(this, target, args);
  }

  /** Saves the weights as one safetensors file: file://PATH in Node, downloads://NAME in a page. */
  async saveWeights(target: string | URL): Promise<void> {
    this.told('saveWeights');
    const { saveWeights } = await import('../io/weight_files.js');
    return saveWeights(this, target);
  }

  /**
   * Replaces the weights by those of the same name in a safetensors file, by its address or its
   * content, or in a saved model; or at once by tensors by their names, as TensorFlow.js does. Errors: missing, extra or mis-shaped tensors; then none changes.
   */
  loadWeights(
    source: WeightSource | Record<string, TensorLike>,
    args: LoadWeightsArgs | boolean = {},
  ): Promise<void> {
    this.told('loadWeights');
    return loadWeights(this, source, args);
  }

  /** Gives all memory back; any later call is an error, also this one. Error: while `fit` runs. */
  override dispose(): DisposeResult {
    this.#check('dispose', true);
    const numDisposedVariables = this.#compiled?.summary.weights.length ?? 0;
    for (const [layer, copy] of this.#copies) {
      copy.leave();
      extrasAtHand()?.members.forgetVariables!(layer as never);
    }
    this.#copies.clear();
    this.#compiled?.free();
    [this.#compiled, this.#disposed] = [undefined, true];
    return { refCountAfterDispose: 0, numDisposedVariables };
  }

  /** @internal */
  get [storable](): StoredModel {
    const { summary, config } = this.told('save');
    const states = storedStates(this.#changing('save').instance);
    const training = this.#goal && trainingOf(this.#goal, states);
    const { weights, metadata } = this;
    return { config, summary, training, weights, states, metadata };
  }

  /** @internal */
  get [tunable](): Tunable[typeof tunable] {
    const { executable, reschedule } = this.told('tune', true)[tunable];
    const isIdle = () => !this.#disposed && !this.#training;
    return { executable, reschedule: () => (isIdle() ? reschedule() : undefined) };
  }

  /** Takes these layers: errors leave the model as it was. */
  protected setStructure(structure: Structure): void {
    const places = leaves(structure.layers);
    this.#takeConfig(structure);
    if (!this.trainable) this.trainable = false; // layers that are new here, too
    for (const [layer, path] of places) {
      if (this.#copies.has(layer)) continue;
      const access = {
        list: () => this.#listWeights(layer),
        read: () => this.#readWeights(layer),
        write: (weights: readonly TensorLike[]) => this.#writeWeights(weights, layer),
        kept: () => keptStates(this.#module('states').instance, path),
      };
      const instance = () => this.#compiled!.module().instance;
      for (const [each, copy] of copiesOf(layer, path, access, instance)) {
        if (!this.#copies.has(each)) this.#copies.set(each, copy());
      }
      const { initialWeights } = layer;
      layer.initialWeights = null;
      if (initialWeights !== null) this.#writeWeights(initialWeights, layer);
    }
  }

  /** Error: the model has been disposed, or fit runs. */
  protected checkChange(what: string): void {
    this.#check(what, true);
  }

  /** @internal What the core says of the model. */
  protected get coreSummary(): ModelSummary | undefined {
    return this.#compiled?.summary;
  }

  #describe(structure = this.structure!, trainable = this.trainable): ModelConfig {
    return { name: this.label, seed: this.seed, ...structure.describe(!trainable) };
  }

  /** The running module for what is wanted, with the newest weights. */
  #module(what: string, wanted: Wanted = {}): ModelModule {
    const module = this.told(what).module(wanted);
    for (const copy of this.#copies.values()) copy.pull();
    const learningRate = this.#goal?.optimizer?.learningRate;
    if (learningRate !== undefined && learningRate !== this.#learningRate) {
      module.setLearningRate(learningRate);
      this.#learningRate = learningRate;
    }
    return module;
  }

  /** As `#module`, for what changes weights: models that share layers wait for it, and go on with what it leaves. */
  #changing(what: string, wanted?: Wanted): ModelModule {
    const module = this.#module(what, wanted);
    for (const copy of this.#copies.values()) copy.push();
    return module;
  }

  #check(what: string, changes = false): void {
    if (this.#disposed)
      throw new LatheError(`${what}: Container "${this.label}" is already disposed`);
    if (changes && this.#training) {
      throw new LatheError(`${what}: fit is running; await it, or set stopTraining first`);
    }
  }

  /** @internal */
  protected override told(what: string, changes = false): CompiledModel {
    this.#check(what, changes);
    if (this.#compiled === undefined) throw new LatheError(`${what}: the model has no layers`);
    return this.#compiled;
  }

  #evaluated(x: ModelData, y: ModelData, args: EvaluateArgs): Tally {
    const { steps, ...weights } = args;
    const batches = wantedBatches('evaluate', args);
    let data = this.labelled(x, y, 'evaluate', false, weights);
    if (steps != null) {
      checkCount('evaluate: steps', steps);
      data = slice(data, 0, Math.min(data.count, steps * (batches.evaluate ?? 32)));
    }
    const { sizes, weighted: rowWeights = false } = data;
    const wanted = { ...batches, labels: labelKinds(this.#goal!, data), rowWeights, sizes };
    if (!this.#goal!.isOwn) return evaluateAll(this.#module('evaluate', wanted), data);
    const size = batches.evaluate ?? 32;
    const whole = data.count - (data.count % size);
    const tally = new Tally();
    for (const part of [slice(data, 0, whole), slice(data, whole, data.count)]) {
      const now = { ...wanted, evaluate: Math.min(size, part.count) };
      if (part.count > 0) evaluateAll(this.#module('evaluate', now), part, tally);
    }
    return tally;
  }

  /** @internal Rows for x and y as the model takes them. */
  labelled(
    x: ModelData,
    y: ModelData,
    where: string,
    trains = false,
    weighting: Weighting = {},
  ): Examples {
    const compiled = this.told(where);
    const losses = this.#goal?.losses;
    if (losses === undefined) throw new LatheError(`${where}: call compile first`);
    if (trains && this.#goal?.optimizer === undefined)
      throw new LatheError(`${where}: compile with an optimizer first`);
    const { sizes, ...ports } = compiled.ports(x, where);
    const targets = ports.outputs.filter((_, at) => losses[at] !== null);
    const data = { ...labelledOf({ x, y }, ports, targets, where), sizes };
    compiled.checkRows(where, data.count);
    return weighted(data, weighting, ports.outputs, where);
  }

  /** What a step on all these rows needs of the module. */
  #wishFor(what: string, data: Examples) {
    this.#freeze(what);
    const { count: train, sizes, weighted: rowWeights = false } = data;
    return { train, sizes, rowWeights, labels: labelKinds(this.#goal!, data) };
  }

  #weightPlaces(what: string, layer?: Layer): BufferPlace[] {
    const { states } = this.#module(what).instance.metadata;
    const isSame = JSON.stringify(frozenPaths(this)) === JSON.stringify(this.#frozen);
    const config = isSame ? undefined : this.#describe();
    const summary = this.#compiled!.summaryOf(config);
    return placesOf(states, summary, layer && leaves(this.structure!.layers).get(layer));
  }
}

export interface LayersModel extends ModelMembers {}
