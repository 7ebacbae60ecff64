/** The model: a graph of layers, as in TensorFlow.js Layers, compiled to one WebAssembly module. */
import { LatheError, withCaller } from '../base/errors.js';
import { checkInteger, checkOptions } from '../base/options.js';
import { nextTask } from '../base/pause.js';
import { randomSeed } from '../base/random.js';
import type { BufferInfo, Dump, LayerConfig, ModelConfig, ModelSummary } from '../core/abi.js';
import { moduleText } from '../core/module_text.js';
import { loadedDevice } from '../devices/registry.js';
import { engine } from '../eager/engine.js';
import { tracked } from '../tensor/live_tensors.js';
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import type { CompileStats } from '../runtime/build.js';
import { type Tunable, tunable } from '../tune/tunable.js';
import { addDeferred, requireDeferred, fetchDeferred } from '../layers/deferred.js';
import type { DisposeResult, Layer } from '../layers/layer.js';
import { Optimizer, type OptimizerLike } from '../layers/optimizer.js';
import { type ModelWeight, onlyTrainable } from '../layers/shared_weights.js';
import type { Dataset } from '../data/dataset.js';
import type { FitOptions, Trainee } from '../train/fit.js';
import type { EvaluateDatasetArgs, FitDatasetOptions } from '../train/fit_dataset.js';
import type { History } from '../train/history.js';
import { type ModelRunner, resetStates, setLearningRate } from '../train/model_runner.js';
import {
  entryName,
  type Examples,
  featuresOf,
  readable,
  labelledOf,
  type ModelData,
  weighted,
  type Weighting,
  weightingNames,
} from '../train/examples.js';
import { asTensors, reported, type Score, type Scores, scoresOf } from '../train/score.js';
import { type Storable, storable, type StoredModel, trainingOf } from '../train/storable.js';
import type { IOHandler, SaveResult } from '../io/artifacts.js';
import type { SaveArgs } from '../io/save.js';
import type { LoadWeightsArgs, WeightSource } from '../io/weight_files.js';
import { CompiledModel, type ToWasmArgs, type ModuleRequirements } from './compiled_model.js';
import { Container } from './container.js';
import { labelKinds, type TrainingConfig, readTrainingConfig } from './training_config.js';
import { frozenPaths, LayerGraph, weightedLayerPaths } from './layer_graph.js';
import {
  checkEvaluateArgs,
  checkPredictArgs,
  requestedBatchSizes,
  type CompileArgs,
  type EvaluateArgs,
  type KnownCompileArgs,
  type ModelArgs,
  type PredictArgs,
  type ModelStructure,
  tensorsOf,
} from './model_args.js';
import { evaluateAll, evaluateAllAsync, type Scoring } from '../train/evaluate.js';
import { evaluateRows } from './evaluate_rows.js';
import { type ModelMembers, modelMembers } from './model_members.js';
import { loadWeights } from './load_weights.js';
import { ModelWeights } from './model_weights.js';
import { storedStates, weightBuffers } from './module_weights.js';

/**
 * A model: a graph of layers, or (`Sequential`) a stack of them; itself a layer that may be part of other models. The first axis
 * of tensors is the batch: x is [rows, …inputShape] float32, y is [rows, …outputShape] (probabilities, one-hot rows, targets), or
 * class indices without the last axis. Several inputs or outputs are arrays, or objects by name. Every method throws (or rejects
 * with) LatheError for invalid arguments, and then changes nothing.
 */
export class LayersModel extends Container implements Trainee, Tunable, Storable {
  static className = 'Model';
  protected static override readonly added = /* @__PURE__ */ addDeferred(LayersModel, modelMembers);
  /** Set to true during `fit` to end it after the current batch; the weights trained so far are retained. `fit` resets it. */
  stopTraining!: boolean;
  /** The arguments of `compile`. */
  loss: CompileArgs['loss'] | undefined;
  metrics: CompileArgs['metrics'];
  /** Epochs `fit` has trained since the model was made. */
  epochsTrained = 0;
  readonly seed: number;
  /** History of the last completed `fit`. */
  history: History | undefined;
  /** @internal User-defined metadata. */
  metadata: object | undefined;

  #compiled: CompiledModel | undefined;
  readonly #weights = new ModelWeights({
    states: (what, changes = false) =>
      (changes ? this.#moduleToChange(what) : this.#module(what)).states,
    loaded: () => this.#compiled!.module().states,
    buffers: (what, layer) => this.#weightBuffers(what, layer),
    frozen: () => frozenPaths(this),
    variable: (name) => this.variable(name),
  });
  #frozen: readonly string[] = [];
  #config: TrainingConfig | undefined;
  #optimizer: Optimizer | undefined;
  #learningRate: number | undefined;
  /** What `fit` requires of the module. */
  #fitting: ModuleRequirements = {};
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

  /** Its layers and their connections, in the format of TensorFlow.js. */
  override getConfig(): Record<string, unknown> {
    const { members } = requireDeferred('getConfig');
    return members.modelConfig!(this as never) as Record<string, unknown>;
  }

  /** The configuration of the model in the core's format. */
  get coreConfig(): ModelConfig {
    this.requireCompiled('coreConfig');
    return this.#describe();
  }

  /** @internal With a key: as an option of a wrapper layer; without: as in TensorFlow.js. */
  override toJSON(key?: unknown, asString = true): unknown {
    if (typeof key === 'string' && key !== '') return super.toJSON();
    const { members } = requireDeferred('toJSON');
    return members.toJSON!(this as never, key as never, asString as never);
  }

  /** @internal */
  override describe(name: string, frozen: boolean): LayerConfig {
    this.requireCompiled('apply');
    const freeze = frozen || !this.trainable ? { trainable: false } : {};
    const config = { ...this.structure!.describe(false), ...freeze, name };
    return { class: this.getClassName(), config };
  }

  /** Sets loss, optimizer and metrics. Validated now, compiled on demand; weights are retained, optimizer states reset. */
  compile<
    Loss extends string = string & {},
    Optimizer extends string = string & {},
    Metric extends string = string & {},
  >(args: KnownCompileArgs<Loss, Optimizer, Metric>): void {
    const compiled = this.requireCompiled('compile', true);
    const config = readTrainingConfig(args, compiled.summary.outputs);
    const device = args.device === undefined ? undefined : loadedDevice(args.device);
    this.#updateCompiled();
    compiled.device = device;
    compiled.setTraining(config.training);
    this.#config = config;
    [this.loss, this.metrics] = [args.loss, args.metrics];
    this.#learningRate = config.optimizer?.learningRate;
  }

  /** Names of the results of `evaluate`: loss, with several outputs the loss of each, the metrics. */
  get metricsNames(): readonly string[] {
    return [...(this.#config?.metricsNames ?? [])];
  }

  get isTraining(): boolean {
    return this.#training;
  }

  /** The optimizer of `compile`, or the one that was set. */
  get optimizer(): Optimizer | undefined {
    return this.#config?.optimizer ?? this.#optimizer;
  }

  /** Recompiles with another optimizer; before `compile` it is only stored. */
  set optimizer(optimizer: OptimizerLike) {
    if (this.#config === undefined) this.#optimizer = Optimizer.of(optimizer);
    else LayersModel.prototype.compile.call(this, { ...this.#config.args, optimizer });
  }

  /** Trains. Resolves with the scores of every epoch, also if stopped; a later call continues with the same optimizer states. */
  async fit(x: ModelData, y: ModelData, args: FitOptions<LayersModel> = {}): Promise<History> {
    return this.#train('fit', async () => {
      const [{ fitData, fitLoop, readFitArgs }] = await Promise.all([
        import('../train/fit.js'),
        fetchDeferred(), // so that deferred members are available after training
      ]);
      const read = readFitArgs(args);
      const reading = readable(x, y, read.validationData, read.sampleWeight);
      if (reading !== undefined) await reading;
      const [data, validation] = fitData(this, x, y, read);
      return fitLoop(this, data, validation, { ...read, seed: read.seed ?? this.seed });
    });
  }

  /** @internal Prepares the module that `current` returns to train on these data. */
  async prepare(data: Examples, args: FitOptions<LayersModel>): Promise<void> {
    const { batchSize = 32, batchesInMemory: count = 1 } = args;
    const { validationBatchSize: evaluate = batchSize } = args;
    const required = this.#requirementsFor('fit', data);
    this.#compiled!.checkRows('fit: validationSplit', data.count);
    this.#fitting = { ...required, train: Math.min(batchSize, data.count), evaluate };
    const batchesInMemory = { train: count, evaluate: count };
    await this.#precompile('fit', { ...this.#fitting, batchesInMemory });
  }

  /** Trains on a dataset of batches `{xs, ys}`, as `fit`. */
  async fitDataset(
    dataset: Dataset<unknown>,
    args: FitDatasetOptions<LayersModel> = {},
  ): Promise<History> {
    return this.#train('fitDataset', async () => {
      return (await import('../train/fit_dataset.js')).fitDataset(this, dataset, args);
    });
  }

  /** Runs `training`; other changes of the model are errors until it ends. */
  async #train(what: string, training: () => Promise<History>): Promise<History> {
    this.#checkUsable(what, true);
    [this.#training, this.stopTraining] = [true, false];
    try {
      return (this.history = await withCaller(training));
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

  /** The module for the next batch of `fit` on the data; without data, the current one. */
  current(data?: Examples, rows: Partial<Record<'train' | 'evaluate', number>> = {}): ModelRunner {
    if (rows.train !== undefined) this.#freeze('fit');
    const { train = 32, evaluate = 32, ...fitting } = this.#fitting;
    const required = { ...fitting, sizes: data?.sizes };
    if (!this.#config?.hasCustomLoss) return this.#moduleToChange('fit', required);
    // Custom losses see exactly the rows of the batch.
    const least = (size: number, left = size) => Math.min(size, left);
    const sizes = { train: least(train, rows.train), evaluate: least(evaluate, rows.evaluate) };
    return this.#moduleToChange('fit', { ...required, ...sizes });
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
    this.#checkUsable('trainOnBatch', true);
    checkOptions('trainOnBatch', weighting, weightingNames);
    const found = reported(this, scoresOf(await this.trainBatch(x, y, weighting)));
    const values = Object.values(found).filter((value) => typeof value === 'number');
    return values.length === 1 ? values[0]! : values;
  }

  /** @internal Before the first step of `fitDataset`. */
  async prepareBatch(x: ModelData, y: ModelData, weighting: Weighting): Promise<void> {
    const reading = readable(x, y, weighting.sampleWeight);
    if (reading !== undefined) await reading;
    const data = this.labelled(x, y, 'fitDataset', true, weighting);
    await this.#precompile('fitDataset', this.#requirementsFor('fitDataset', data));
  }

  /** `#module` that compiles in the background if possible. */
  async #precompile(what: string, required: ModuleRequirements): Promise<void> {
    const isLong = await this.#compiled!.precompile(required);
    this.#module(what, required);
    if (isLong) await nextTask();
  }

  /** @internal One step, also of `fitDataset`; resolves with the scores and their rows. */
  async trainBatch(x: ModelData, y: ModelData, weighting: Weighting = {}): Promise<Score> {
    const reading = readable(x, y, weighting.sampleWeight);
    if (reading !== undefined) await reading;
    const data = this.labelled(x, y, 'trainOnBatch', true, weighting);
    this.#compiled!.checkRows('trainOnBatch', data.count, true);
    const forBatch = this.#requirementsFor('trainOnBatch', data);
    const required = this.#compiled!.forStep(forBatch, this.#config!.hasCustomLoss);
    return this.#moduleToChange('trainOnBatch', required).step(data);
  }

  /**
   * The loss and metrics over all rows, in the order of `metricsNames`: a scalar, or with metrics or several outputs an array of
   * scalars. With `asObject` numbers by name, which always include the accuracy (acc). May be called while `fit` runs.
   */
  evaluate(x: ModelData, y: ModelData, args: EvaluateArgs & { asObject: true }): Scores;
  evaluate(x: ModelData, y: ModelData, args?: EvaluateArgs): Tensor | Tensor[];
  evaluate(x: ModelData, y: ModelData, args: EvaluateArgs = {}): Scores | Tensor | Tensor[] {
    checkEvaluateArgs(args);
    const { device } = this.requireCompiled('evaluate');
    if (device.isAsync) {
      throw new LatheError(
        `evaluate: results of ${device.name} can only be awaited: await model.evaluateAsync(x, y)`,
      );
    }
    const { scores } = evaluateAll(this.#scorings(x, y, args));
    return args.asObject ? scores : asTensors(this, scores);
  }

  /** As `evaluate`, without blocking the page; on every device. */
  evaluateAsync(
    x: ModelData,
    y: ModelData,
    args: EvaluateArgs & { asObject: true },
  ): Promise<Scores>;
  evaluateAsync(x: ModelData, y: ModelData, args?: EvaluateArgs): Promise<Tensor | Tensor[]>;
  async evaluateAsync(
    x: ModelData,
    y: ModelData,
    args: EvaluateArgs = {},
  ): Promise<Scores | Tensor | Tensor[]> {
    checkEvaluateArgs(args);
    const reading = readable(x, y, args.sampleWeight);
    if (reading !== undefined) await reading;
    const { scores } = await evaluateAllAsync(this.#scorings(x, y, args));
    return args.asObject ? scores : asTensors(this, scores);
  }

  /** @internal As `evaluateAsync`, before the sums of its metrics become numbers. */
  async evaluateBatch(x: ModelData, y: ModelData, batchSize?: number): Promise<Score> {
    const reading = readable(x, y);
    if (reading !== undefined) await reading;
    return (await evaluateAllAsync(this.#scorings(x, y, { batchSize }))).score;
  }

  /**
   * The results for all rows, [rows, …outputShape], an array of them for several outputs; may be
   * called while `fit` runs. `batchSize` affects speed and memory only. Default: that of the current module.
   */
  predict<T extends Tensor | Tensor[] = Tensor>(x: ModelData, args: PredictArgs = {}): T {
    checkPredictArgs(args);
    if (engine.tape.isRecording) return this.applyRows(x) as T;
    const required = requestedBatchSizes('predict', args);
    const { sizes, inputs, outputs } = this.requireCompiled('predict').ports(x, 'predict');
    const data = featuresOf(x, inputs, 'predict', this.#compiled!.device);
    this.#compiled!.checkRows('predict', data.count);
    const prediction = this.#module('predict', { ...required, sizes }).predict(data);
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

  /** Copies of all weights in the order of the layers, trainable ones first, or only those. */
  override getWeights(trainableOnly = false): Tensor[] {
    return onlyTrainable(this.#weights.read(), this, trainableOnly);
  }

  /** Replaces all weights. Errors: another number of them or another shape; then none changes. */
  override setWeights(weights: readonly TensorLike[]): void {
    this.#weights.write(weights);
  }

  /** All weights one by one, in the order of `getWeights`. */
  override get weights(): ModelWeight[] {
    return this.#weights.list();
  }

  /** Applies `trainable` of layers, not of the model itself, as changed since `compile` (as Keras). Error: no trainable weight. */
  #freeze(what: string): void {
    const isFrozen = (path: string) => this.#frozen.some((each) => path.startsWith(each));
    if (!frozenPaths(this, true).every(isFrozen)) this.#updateCompiled(this.structure!, true);
    if (this.#compiled!.summary.trainableParams === 0)
      throw new LatheError(`${what}: no weight is trainable; set trainable = true, then compile`);
  }

  /** Passes the current layers to the core. */
  #updateCompiled(structure = this.structure!, trainable = this.trainable): void {
    const config = this.#describe(structure, trainable);
    if (this.#compiled === undefined) this.#compiled = new CompiledModel(config);
    else this.#compiled.setModel(config);
    this.structure = structure;
    this.#frozen = frozenPaths(this, trainable);
  }

  /** Sets the learning rate of subsequent steps. Error: negative, NaN, no optimizer. */
  setLearningRate(learningRate: number): void {
    setLearningRate(this.#module('setLearningRate').states, learningRate);
    this.#learningRate = this.optimizer!.learningRate = learningRate;
  }

  /** Resets the states of stateful layers. */
  override resetStates(): void {
    resetStates(this.#module('resetStates').states);
  }

  /** Exports a standalone module with the current weights (docs/training_module.md). */
  toWasm(args: ToWasmArgs = {}): Uint8Array<ArrayBuffer> {
    this.#module('toWasm');
    return this.#compiled!.exportModule(args);
  }

  /** As `toWasm`, on every device. */
  async toWasmAsync(args: ToWasmArgs = {}): Promise<Uint8Array<ArrayBuffer>> {
    await this.synced();
    return this.toWasm(args);
  }

  /** The current module, training included, in the WebAssembly text format. */
  async toWat(): Promise<string> {
    this.#module('toWat');
    return moduleText(this.#compiled!.bytes());
  }

  /** Compile time, size and memory of the current module. */
  stats(): CompileStats {
    return this.requireCompiled('stats').stats();
  }

  /** IR dumps of the compilation: 'before:PASS' or 'after:PASS', 'after:*' for all. */
  dumps(when: string[]): Dump[] {
    return this.requireCompiled('dumps').dumps(when);
  }

  /**
   * Saves topology and weights in the format of TensorFlow.js Layers: to file://FOLDER in Node,
   * indexeddb://NAME, localstorage://NAME or downloads://NAME in a page, an http(s) address, or a
   * handler of `tl.io`. Atomic: the target contains the previous model or this one.
   */
  async save(target: string | URL | IOHandler, args: SaveArgs = {}): Promise<SaveResult> {
    this.requireCompiled('save');
    const { saveModel } = await import('../io/save.js');
    return saveModel(this, target, args);
  }

  /** Saves the weights as one safetensors file: file://PATH in Node, downloads://NAME in a page. */
  async saveWeights(target: string | URL): Promise<void> {
    this.requireCompiled('saveWeights');
    const { saveWeights } = await import('../io/weight_files.js');
    return saveWeights(this, target);
  }

  /**
   * Replaces the weights by those of the same names in a safetensors file (URL, path or bytes) or a saved model; or by tensors by
   * name, as TensorFlow.js does. Errors: missing or extra tensors, wrong shapes; then none changes.
   */
  loadWeights(
    source: WeightSource | Record<string, TensorLike>,
    args: LoadWeightsArgs | boolean = {},
  ): Promise<void> {
    this.requireCompiled('loadWeights');
    return loadWeights(this, source, args);
  }

  /** Frees all memory; any later call is an error, also this one. Error: while `fit` runs. */
  override dispose(): DisposeResult {
    this.#checkUsable('dispose', true);
    const numDisposedVariables = this.#compiled?.summary.weights.length ?? 0;
    this.#weights.release();
    this.#compiled?.free();
    [this.#compiled, this.#disposed] = [undefined, true];
    return { refCountAfterDispose: 0, numDisposedVariables };
  }

  /** @internal */
  get [storable](): StoredModel {
    const { summary, config } = this.requireCompiled('save');
    const states = storedStates(this.#moduleToChange('save').states);
    const training = this.#config && trainingOf(this.#config, states);
    const { weights, metadata } = this;
    return { config, summary, training, weights, states, metadata };
  }

  /** @internal */
  synced(): Promise<void> | undefined {
    return this.#module('save').states.synced();
  }

  /** @internal */
  get [tunable](): Tunable[typeof tunable] {
    const { executable, reschedule } = this.requireCompiled('tune', true)[tunable];
    const isIdle = () => !this.#disposed && !this.#training;
    return { executable, reschedule: () => (isIdle() ? reschedule() : undefined) };
  }

  /** Replaces the layers; an error leaves the model unchanged. */
  protected setStructure(structure: ModelStructure): void {
    const paths = weightedLayerPaths(structure.layers);
    this.#updateCompiled(structure);
    if (!this.trainable) this.trainable = false; // also of the new layers
    this.#weights.add(paths);
  }

  /** Error: the model has been disposed, or fit runs. */
  protected checkChange(what: string): void {
    this.#checkUsable(what, true);
  }

  /** @internal The core's summary of the model. */
  protected get coreSummary(): ModelSummary | undefined {
    return this.#compiled?.summary;
  }

  #describe(structure = this.structure!, trainable = this.trainable): ModelConfig {
    return { name: this.label, seed: this.seed, ...structure.describe(!trainable) };
  }

  /** The module for these requirements, with the newest weights. */
  #module(what: string, required: ModuleRequirements = {}): ModelRunner {
    const module = this.requireCompiled(what).module(required);
    this.#weights.pull();
    const learningRate = this.#config?.optimizer?.learningRate;
    if (learningRate !== undefined && learningRate !== this.#learningRate) {
      setLearningRate(module.states, learningRate);
      this.#learningRate = learningRate;
    }
    return module;
  }

  /** `#module` for a change of weights: marks its weights as the newest of shared layers. */
  #moduleToChange(what: string, required?: ModuleRequirements): ModelRunner {
    const module = this.#module(what, required);
    this.#weights.push();
    return module;
  }

  #checkUsable(what: string, changes = false): void {
    if (this.#disposed)
      throw new LatheError(`${what}: Container "${this.label}" is already disposed`);
    if (changes && this.#training) {
      throw new LatheError(`${what}: fit is running; await it, or set stopTraining first`);
    }
  }

  /** @internal */
  protected override requireCompiled(what: string, changes = false): CompiledModel {
    this.#checkUsable(what, changes);
    if (this.#compiled === undefined) throw new LatheError(`${what}: the model has no layers`);
    return this.#compiled;
  }

  #scorings(x: ModelData, y: ModelData, args: EvaluateArgs): Iterable<Scoring> {
    const { steps: _, ...weights } = args;
    const data = this.labelled(x, y, 'evaluate', false, weights);
    return evaluateRows(this.#config!, data, args, (each) => this.#module('evaluate', each));
  }

  /** @internal Rows of x and y in the layout of the model. */
  labelled(
    x: ModelData,
    y: ModelData,
    where: string,
    trains = false,
    weighting: Weighting = {},
  ): Examples {
    const compiled = this.requireCompiled(where);
    const losses = this.#config?.losses;
    if (losses === undefined) throw new LatheError(`${where}: call compile first`);
    if (trains && this.#config?.optimizer === undefined)
      throw new LatheError(`${where}: compile with an optimizer first`);
    const { sizes, ...ports } = compiled.ports(x, where);
    const targets = ports.outputs.filter((_, at) => losses[at] !== null);
    const data = { ...labelledOf({ x, y }, ports, targets, where), sizes };
    compiled.checkRows(where, data.count);
    return weighted(data, weighting, ports.outputs, where);
  }

  /** What a step on these rows requires of the module. */
  #requirementsFor(what: string, data: Examples) {
    this.#freeze(what);
    const { count: train, sizes, weighted: rowWeights = false } = data;
    return { train, sizes, rowWeights, labels: labelKinds(this.#config!, data) };
  }

  #weightBuffers(what: string, layer?: Layer): BufferInfo[] {
    const { states } = this.#module(what).states.metadata;
    const isSame = JSON.stringify(frozenPaths(this)) === JSON.stringify(this.#frozen);
    const config = isSame ? undefined : this.#describe();
    const summary = this.#compiled!.summaryOf(config);
    const path = layer && weightedLayerPaths(this.structure!.layers).get(layer);
    return weightBuffers(states, summary, path);
  }
}

export interface LayersModel extends ModelMembers {}
