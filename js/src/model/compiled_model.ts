/** One model and the generated module that fits what is asked of it now, with its weights. */
import { LatheError } from '../base/errors.js';
import { encodeJson } from '../base/json.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import {
  type BatchCounts,
  type BufferPlace,
  byteLength,
  type CompileRequest,
  type Dump,
  type ModelConfig,
  type ModelSummary,
  type Timing,
} from '../core/abi.js';
import type { CoreExecutable, CoreModel } from '../core/handles.js';
import { type FixedPorts, OpenModel } from '../core/open_model.js';
import { Build, type CompileStats } from '../runtime/build.js';
import { KeptBuilds, roomForSizes, usualRoom } from '../runtime/kept_builds.js';
import { mayBlock } from '../runtime/may_block.js';
import type { Instance } from '../runtime/instance.js';
import { isOwn } from '../layers/own_formula.js';
import { noticeNew } from '../tune/auto_tune.js';
import { schedules } from '../tune/schedules.js';
import { engine, target } from '../tune/target.js';
import { type Tunable, tunable } from '../tune/tunable.js';
import { ModelModule } from '../train/model_module.js';
import { type LabelKind, type ModelData, openSizes } from '../train/rows.js';

/** Without the layers within layers, which may change. */
const asOfNow = (config: ModelConfig) => JSON.parse(encodeJson(config)) as ModelConfig;

/** Models of fewer are compiled at once: a worker would take longer to begin. */
const leastWeights = 3;

const ones: BatchCounts = { train: 1, evaluate: 1, predict: 1 };

/** Bytes of memory beyond which batches that nobody asked for have fewer rows: at most these, one after the other. */
const muchMemory = 2 ** 30;
const fewerRows = [4, 1];

/** How a model learns, in the core's words. */
export interface Training {
  loss?: unknown;
  lossWeights?: unknown;
  optimizer?: unknown;
  metrics?: unknown[][];
  checkNumerics?: boolean;
  timing?: Timing;
}

/** What a caller needs of the module; what it does not name stays as it is. */
export interface Wanted {
  train?: number;
  evaluate?: number;
  predict?: number;
  /** Of every output, or of all of them. */
  labels?: LabelKind[];
  /** Whether every row has a weight. */
  rowWeights?: boolean;
  /** Batches that entries find in memory at once. */
  batchesInMemory?: Partial<BatchCounts>;
  /** Of the null axes of the inputs. */
  sizes?: readonly number[] | undefined;
}

/** What `toWasm` takes. */
export interface ToWasmArgs {
  /**
   * Whether the module also trains and evaluates (docs/training_module.md); it starts with the
   * weights and the optimiser of now. Default: it only predicts.
   */
  training?: boolean;
  /** Rows of a call of each entry of a module that trains. Default: as in the module at hand. */
  batchSize?: { train?: number; evaluate?: number; predict?: number };
  /** How a module that trains takes labels. Default: as last given to this model, else dense. */
  labels?: LabelKind;
  /** Batches that entries of a module that trains find in memory at once; a number is for train and evaluate. Default: 1. */
  batchesInMemory?: number | Partial<BatchCounts>;
  /** Whether it measures its layers or equations, as `compile`; it imports a clock then. Default: false. */
  timing?: Timing;
  /** What the engine of the module can do. Default: what this one can. */
  features?: { simd?: boolean; relaxedSimd?: boolean };
}

const toWasmNames: OptionNames<ToWasmArgs> = {
  training: true,
  batchSize: true,
  labels: true,
  batchesInMemory: true,
  timing: true,
  features: true,
};

/**
 * Compiles when batch sizes, sizes of null axes, label kind, training or engine features differ from those of the
 * module at hand and of those it keeps, and carries every state over. A failure leaves the module
 * at hand in place.
 */
export class CompiledModel implements Tunable {
  #config: ModelConfig;
  #model: OpenModel;
  #build: Build | undefined;
  readonly #kept: KeptBuilds<Build>;
  /** Of the null axes, in the module at hand; before data tell them, sizes that fit. */
  #sizes: readonly number[];
  #areSizesGiven = false;
  #module: ModelModule | undefined;
  #request: CompileRequest | undefined;
  #last: Pick<CompileRequest, 'batch' | 'labels' | 'rowWeights' | 'batchesInMemory'> = {
    batch: { train: 32, evaluate: 32, predict: 32 },
    batchesInMemory: ones,
    labels: ['dense'],
    rowWeights: false,
  };
  #revision = 0;
  #training: Training = {};
  /** Whether the next module takes no optimiser states over. */
  #startsAfresh = false;
  /** Rows of the last step that came alone. */
  #lastStep = 0;
  /** What was compiled for a request that is still to come. */
  #ahead: { key: string; executable: CoreExecutable; start: number } | undefined;

  constructor(config: ModelConfig) {
    this.#config = asOfNow(config);
    this.#model = new OpenModel(this.#config);
    this.#kept = new KeptBuilds<Build>(this.#model.isOpen ? roomForSizes : usualRoom);
    this.#sizes = this.#model.witness;
  }

  /** The layers, in the core's words. */
  get config(): ModelConfig {
    return this.#config;
  }

  get summary(): ModelSummary {
    return this.#model.summary;
  }

  /** Inputs and outputs as x wants them, with the sizes of their null axes. Errors: x or the layers do not take them. */
  ports(x: ModelData, where: string): FixedPorts & { sizes: readonly number[] } {
    const sizes = openSizes(x, this.summary.inputs, where);
    return { sizes, ...this.#model.ports(sizes) };
  }

  /** Rows of every batch, where layers keep states between batches. */
  get batchSize(): number | undefined {
    return this.summary.stateful ? this.#config.batchSize : undefined;
  }

  /** Error: layers keep states for batches of one size, and the rows are no such batches, or not one. */
  checkRows(what: string, rows: number, once = false): void {
    const size = this.batchSize;
    if (size === undefined || (once ? rows === size : rows % size === 0)) return;
    throw new LatheError(
      `${what}: a stateful model takes ${once ? '' : 'whole '}batches of ${size} rows, got ${rows} rows`,
    );
  }

  /** Replaces the layers; weights of the same name and shape stay. */
  setModel(given: ModelConfig): void {
    const config = asOfNow(given);
    if (JSON.stringify(config) === JSON.stringify(this.#config)) return;
    const model = new OpenModel(config);
    this.#model.free();
    this.#model = model;
    this.#sizes = model.witness;
    this.#areSizesGiven = false;
    this.#config = config;
    this.#request = undefined;
    this.#kept.free();
  }

  /** What the core says of the layers, or would say if they were these. */
  summaryOf(config?: ModelConfig): ModelSummary {
    if (config === undefined) return this.summary;
    const model = new OpenModel(config);
    const { summary } = model;
    model.free();
    return summary;
  }

  /** Takes another loss and optimiser: weights stay, the optimiser starts afresh. Errors: the layers do not take them. */
  setTraining(training: Training): void {
    this.#liveModel().check(this.#wish(training, ones));
    this.#training = training;
    this.#startsAfresh = true;
    this.#request = undefined;
    this.#kept.free();
  }

  /** On the own thread of a page, has a worker compile what `module` then finds; whether it has. */
  async ahead(given: Wanted): Promise<boolean> {
    const wanted = this.#sized(given);
    const { sizes = this.#sizes } = wanted;
    const request = this.#wish(this.#training, wanted);
    const key = keyOf(request, sizes);
    const isThere = this.#fits(wanted) || this.#kept.has(key);
    if (mayBlock || this.summary.weights.length < leastWeights || isThere) return false;
    const [model, start] = [this.#model, performance.now()];
    const { inTurn } = await import('../runtime/background.js');
    const executable = await inTurn((compile) => compile(model.at(sizes), request));
    if (executable === undefined || model !== this.#model) return false;
    this.#ahead = { key, executable, start };
    return true;
  }

  /** The running module for what is wanted. */
  module(given: Wanted = {}): ModelModule {
    const wanted = this.#sized(given);
    if (!this.#fits(wanted)) this.#rebuild(wanted);
    if (given.sizes !== undefined) this.#areSizesGiven = true;
    return this.#module!;
  }

  /** A batch smaller than that of the module runs in it, unless it must be whole; the same smaller size twice gets a module of its own. */
  forStep(wanted: Wanted & { train: number }, mustBeWhole: boolean): Wanted {
    const [last, now] = [this.#lastStep, this.#request?.batch.train ?? 0];
    this.#lastStep = wanted.train;
    const isOther = last !== 0 && wanted.train !== last;
    return isOther && wanted.train < now && !mustBeWhole ? { ...wanted, train: now } : wanted;
  }

  /** A copy of the bytes of the module at hand. */
  bytes(): Uint8Array<ArrayBuffer> {
    this.module();
    return this.#build!.moduleCode(() => this.#liveModel().compile(this.#request!));
  }

  /** What the module at hand cost. */
  stats(): CompileStats {
    this.module();
    return { ...this.#build!.stats };
  }

  /** Bytes of the memory of the module at hand, if there is one. */
  get memoryBytes(): number | undefined {
    return this.#build?.stats.memoryBytes;
  }

  /**
   * A stand-alone module with the weights of now. Errors: it shall train, but there is no loss, or a function of the program
   * gives one number for a batch.
   */
  standAlone(args: ToWasmArgs = {}): Uint8Array<ArrayBuffer> {
    checkOptions('toWasm', args, toWasmNames);
    const { training = false, batchSize = {}, labels, features } = args;
    if (training && this.#training.loss === undefined) {
      throw new LatheError('toWasm: call compile before asking for a module that trains');
    }
    if (this.#model.isOpen && !this.#areSizesGiven) {
      throw new LatheError(
        'toWasm: the inputs have axes that are null; call predict before, on data of the sizes of the module',
      );
    }
    const { instance } = this.module();
    if (training) this.#checkOfRows();
    const { timing: _, ...learns } = this.#training;
    const given = args.batchesInMemory ?? 1;
    const counts = typeof given === 'number' ? { train: given, evaluate: given } : given;
    const batchesInMemory = { ...ones, ...counts };
    const wanted = { ...batchSize, batchesInMemory, ...(labels && { labels: [labels] }) };
    const plain = this.#wish(training ? learns : {}, wanted);
    const request = { ...plain, rowWeights: training && plain.rowWeights, standAlone: training };
    const timing = training && args.timing;
    Object.assign(request, {
      timing,
      features: { ...plain.features, ...features, threads: false },
    });
    const executable = this.#liveModel().compile(request);
    try {
      const exported = executable.withStates(statesFor(executable, instance));
      try {
        return exported.bytes();
      } finally {
        exported.free();
      }
    } finally {
      executable.free();
    }
  }

  /** The intermediate forms `before:PASS` or `after:PASS` of a compilation as of now. */
  dumps(when: string[]): Dump[] {
    const request = { ...this.#wish(this.#training, {}), dumps: when };
    const executable = this.#liveModel().compile(request);
    try {
      return executable.dumps();
    } finally {
      executable.free();
    }
  }

  /** @internal */
  get [tunable](): Tunable[typeof tunable] {
    return {
      executable: () => {
        this.module();
        return this.#liveModel().compile(this.#request!);
      },
      reschedule: () => {
        if (this.#revision === schedules.revision) return;
        this.#rebuild(this.#sized({}));
        this.#kept.free();
      },
    };
  }

  free(): void {
    this.#model.free();
    this.#kept.free();
    this.#build?.dispose();
    this.#build = this.#module = undefined;
  }

  #fits(wanted: Wanted): boolean {
    const { train, evaluate, predict, labels, rowWeights, batchesInMemory, sizes } = wanted;
    const made = this.#request;
    if (made === undefined) return false;
    const { features, worthSplitting, winograd } = engine();
    return (
      (sizes ?? this.#sizes).join() === this.#sizes.join() &&
      (train ?? made.batch.train) === made.batch.train &&
      (evaluate ?? made.batch.evaluate) === made.batch.evaluate &&
      (predict ?? made.batch.predict) === made.batch.predict &&
      (labels ?? made.labels).join() === made.labels.join() &&
      (rowWeights ?? made.rowWeights) === made.rowWeights &&
      Object.entries(batchesInMemory ?? {}).every(
        ([name, count]) => made.batchesInMemory![name as keyof BatchCounts] === count,
      ) &&
      features.simd === made.features.simd &&
      features.relaxedSimd === made.features.relaxedSimd &&
      features.wideLanes === made.features.wideLanes &&
      features.threads === made.features.threads &&
      worthSplitting === made.worthSplitting &&
      winograd === made.winograd
    );
  }

  #sized(wanted: Wanted): Wanted {
    const rows = this.batchSize;
    return rows === undefined ? wanted : { ...wanted, train: rows, evaluate: rows, predict: rows };
  }

  #wish(training: Training, given: Wanted): CompileRequest {
    const wanted = this.#sized(given);
    const { train, evaluate, predict } = this.#last.batch;
    return {
      ...training,
      labels: wanted.labels ?? this.#last.labels,
      batchesInMemory: { ...this.#last.batchesInMemory!, ...wanted.batchesInMemory },
      rowWeights: training.loss !== undefined && (wanted.rowWeights ?? this.#last.rowWeights),
      batch: {
        train: wanted.train ?? train,
        evaluate: wanted.evaluate ?? evaluate,
        predict: wanted.predict ?? predict,
      },
      ...target(),
    };
  }

  /** Compiles, with ever fewer rows where nobody asked for a number, as long as that fails or needs much memory. */
  #compiled(
    request: CompileRequest,
    wanted: Wanted,
    sizes: readonly number[],
  ): [CoreExecutable, CompileRequest] {
    const model = this.#model.at(sizes);
    const ahead = this.#ahead;
    this.#ahead = undefined;
    const compile = () =>
      ahead?.key === keyOf(request, sizes) ? ahead.executable : model.compile(request);
    for (const most of fewerRows) {
      const { batch } = request;
      const rows = (entry: keyof BatchCounts) => wanted[entry] ?? Math.min(batch[entry], most);
      const fewer = { train: rows('train'), evaluate: rows('evaluate'), predict: rows('predict') };
      if (JSON.stringify(fewer) === JSON.stringify(batch)) continue;
      try {
        const executable = compile();
        if (executable.metadata().memoryBytes <= muchMemory) return [executable, request];
        executable.free();
      } catch {
        // What is wrong with the model itself is found with fewer rows too.
      }
      request = { ...request, batch: fewer };
    }
    return [compile(), request];
  }

  /** `wanted`: as `#sized` gives it. */
  #rebuild(wanted: Wanted): void {
    const { sizes = this.#sizes } = wanted;
    const onlyWeights = this.#startsAfresh;
    let request = this.#wish(this.#training, wanted);
    const before = this.#build;
    const fill = (instance: Instance, executable: CoreExecutable) => {
      const { metadata } = instance;
      const isWanted = ({ name }: BufferPlace) => !onlyWeights || !name.startsWith('optimizer/');
      const fresh =
        before === undefined ? metadata.states : instance.carryStates(before.instance, isWanted);
      if (before !== undefined && !onlyWeights) instance.carryTimes(before.instance);
      for (const [at, content] of executable.initial(metadata, fresh).entries()) {
        instance.state(fresh[at]!).set(content);
      }
    };
    let kept = onlyWeights ? undefined : this.#kept.take(keyOf(request, sizes));
    if (kept?.executable.alive === false) {
      kept.dispose();
      kept = undefined;
    }
    if (kept !== undefined) fill(kept.instance, kept.executable);
    const compile = () => {
      let executable: CoreExecutable;
      [executable, request] = this.#compiled(request, wanted, sizes);
      return executable;
    };
    this.#build = kept ?? new Build(compile, fill, { start: this.#ahead?.start });
    this.#module = new ModelModule(this.#build.instance);
    if (this.#request === undefined) before?.dispose();
    else this.#kept.keep(keyOf(this.#request, this.#sizes), before!);
    this.#startsAfresh = false;
    this.#request = request;
    this.#sizes = sizes;
    this.#last = request;
    this.#revision = schedules.revision;
    if (!this.#model.isOpen || sizes !== this.#model.witness) noticeNew(this);
  }

  /** Error: a loss or metric is of whole batches, and a module that stands alone fills its last one up. */
  #checkOfRows(): void {
    const { loss, metrics } = this.#training;
    const own = [loss, metrics].flat(3).find((each) => isOwn(each) && each.isOfBatch);
    if (own === undefined) return;
    throw new LatheError(
      `toWasm: ${(own as { name: string }).name || 'a function'} gives one number for a batch, but the last batch of ` +
        'a stand-alone module has rows that do not count; give a number for each row, as with .mean(-1)',
    );
  }

  #liveModel(): CoreModel {
    return this.#model.at(this.#sizes);
  }
}

const keyOf = (request: CompileRequest, sizes: readonly number[]) =>
  `${sizes.join()} ${JSON.stringify(request)}`;

/** The states of an executable, one after the other: those that the instance has, and first ones. */
function statesFor(executable: CoreExecutable, instance: Instance): Uint8Array {
  const metadata = executable.metadata();
  const { states } = metadata;
  const { states: known } = instance.metadata;
  const contents = new Map(known.map((place) => [place.name, instance.state(place)]));
  const fresh = states.filter(({ name }) => !contents.has(name));
  for (const [at, content] of executable.initial(metadata, fresh).entries()) {
    contents.set(fresh[at]!.name, content);
  }
  const result = new Uint8Array(states.reduce((total, place) => total + byteLength(place), 0));
  let at = 0;
  for (const place of states) {
    result.set(contents.get(place.name)!, at);
    at += byteLength(place);
  }
  return result;
}
