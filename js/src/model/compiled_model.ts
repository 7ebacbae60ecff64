/** A model and its compiled module for the current requirements, with its weights. */
import { LatheError } from '../base/errors.js';
import { encodeJson } from '../base/json.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import {
  type BatchCounts,
  type BufferInfo,
  byteLength,
  type CompileRequest,
  type Dump,
  type ModelConfig,
  type ModelSummary,
  type Timing,
} from '../core/abi.js';
import type { CoreExecutable, CoreModel } from '../core/handles.js';
import { type FixedPorts, DynamicModel } from '../core/dynamic_model.js';
import { Build, type CompileStats } from '../runtime/build.js';
import {
  CompilationCache,
  dynamicShapeCacheLimits,
  defaultCacheLimits,
} from '../runtime/compilation_cache.js';
import { mayBlock } from '../runtime/may_block.js';
import { companions, defaultDevice } from '../devices/registry.js';
import { engine as eager } from '../eager/engine.js';
import type { Device } from '../runtime/device.js';
import type { Instance } from '../runtime/instance.js';
import type { States } from '../runtime/states.js';
import { isHostedLoss } from '../layers/custom_loss.js';
import { queueForTuning } from '../tune/auto_tune.js';
import { schedules } from '../tune/schedules.js';
import { engine, target } from '../tune/target.js';
import { type Tunable, tunable } from '../tune/tunable.js';
import { ModelModule } from '../train/model_module.js';
import type { ModelRunner } from '../train/model_runner.js';
import type { DeviceBuild } from './device_build.js';
import { type LabelKind, type ModelData, openSizes } from '../train/examples.js';

/** A copy without references to layer objects, which may change. */
const snapshot = (config: ModelConfig) => JSON.parse(encodeJson(config)) as ModelConfig;

/** Models with fewer weights are compiled synchronously: starting a worker is slower. */
const leastWeights = 3;

const ones: BatchCounts = { train: 1, evaluate: 1, predict: 1 };

/** Above this memory, batch sizes that the caller did not specify are reduced to these limits, in turn. */
const memoryLimit = 2 ** 30;
const reducedBatchSizes = [4, 1];

/** A compiled model: a module of WebAssembly, or a program of a device. */
interface ModelBuild {
  readonly states: States;
  readonly runner: ModelRunner;
  readonly stats: CompileStats;
  readonly bytes: number;
  dispose(): void;
  /** Undefined on other devices than the default. */
  readonly wasm?: Build;
}

let ForDevice: typeof DeviceBuild | undefined;
companions.add(async () => (ForDevice = (await import('./device_build.js')).DeviceBuild));

/** Training options in the core's format. */
export interface TrainingOptions {
  loss?: unknown;
  lossWeights?: unknown;
  optimizer?: unknown;
  metrics?: unknown[][];
  checkNumerics?: boolean;
  timing?: Timing;
}

/** What a caller requires of the module; unspecified properties stay as they are. */
export interface ModuleRequirements {
  train?: number;
  evaluate?: number;
  predict?: number;
  /** Label kind of each output, or of all. */
  labels?: LabelKind[];
  /** Whether every row has a weight. */
  rowWeights?: boolean;
  /** Batches loaded into memory at once, per entry. */
  batchesInMemory?: Partial<BatchCounts>;
  /** Sizes of the null axes of the inputs. */
  sizes?: readonly number[] | undefined;
}

/** Options of `toWasm`. */
export interface ToWasmArgs {
  /**
   * Whether the module also trains and evaluates (docs/training_module.md); it starts with the current weights and optimizer
   * states. Default: false, only `predict`.
   */
  training?: boolean;
  /** Batch size of each entry of a training module. Default: as in the current module. */
  batchSize?: { train?: number; evaluate?: number; predict?: number };
  /** Label kind of a training module. Default: the last one used with this model, else dense. */
  labels?: LabelKind;
  /** Batches in memory at once, of a training module; a number is for train and evaluate. Default: 1. */
  batchesInMemory?: number | Partial<BatchCounts>;
  /** Whether it times its layers or equations, as `compile`; it then imports a clock. Default: false. */
  timing?: Timing;
  /** Features of the target engine. Default: those of this engine. */
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
 * Recompiles when batch sizes, sizes of null axes, label kinds, training options or engine features differ from those of the
 * current module and of all cached ones; states are transferred. A failure leaves the current module unchanged.
 */
export class CompiledModel implements Tunable {
  #config: ModelConfig;
  #model: DynamicModel;
  #build: ModelBuild | undefined;
  readonly #cache: CompilationCache<ModelBuild>;
  /** The device of the current build. */
  #device: Device = defaultDevice;
  /** The device that `compile` has chosen; otherwise that of operations on tensors. */
  #chosen: Device | undefined;
  /** Sizes of the null axes in the current module; valid placeholders before the first data. */
  #sizes: readonly number[];
  #areSizesFromData = false;
  #request: CompileRequest | undefined;
  #last: Pick<CompileRequest, 'batch' | 'labels' | 'rowWeights' | 'batchesInMemory'> = {
    batch: { train: 32, evaluate: 32, predict: 32 },
    batchesInMemory: ones,
    labels: ['dense'],
    rowWeights: false,
  };
  #revision = 0;
  #training: TrainingOptions = {};
  /** Whether the next module resets the optimizer states. */
  #resetsOptimizer = false;
  /** Rows of the last single step. */
  #lastStep = 0;
  /** Result of `precompile`, for the request with this key. */
  #precompiled: { key: string; executable: CoreExecutable; start: number } | undefined;

  constructor(config: ModelConfig) {
    this.#config = snapshot(config);
    this.#model = new DynamicModel(this.#config);
    this.#cache = new CompilationCache<ModelBuild>(
      this.#model.isDynamic ? dynamicShapeCacheLimits : defaultCacheLimits,
    );
    this.#sizes = this.#model.witness;
  }

  /** The layers in the core's format. */
  get config(): ModelConfig {
    return this.#config;
  }

  get summary(): ModelSummary {
    return this.#model.summary;
  }

  /** Inputs and outputs for the null axes of x, and the sizes of these. Errors: x or the layers do not support them. */
  ports(x: ModelData, where: string): FixedPorts & { sizes: readonly number[] } {
    const sizes = openSizes(x, this.summary.inputs, where);
    return { sizes, ...this.#model.ports(sizes) };
  }

  /** Batch size of a stateful model. */
  get batchSize(): number | undefined {
    return this.summary.stateful ? this.#config.batchSize : undefined;
  }

  /** Error: the model is stateful and the rows are not a multiple of its batch size; with `once` not equal to it. */
  checkRows(what: string, rows: number, once = false): void {
    const size = this.batchSize;
    if (size === undefined || (once ? rows === size : rows % size === 0)) return;
    throw new LatheError(
      `${what}: a stateful model requires ${once ? '' : 'complete '}batches of ${size} rows, got ${rows} rows`,
    );
  }

  /** Replaces the layers; weights of the same name and shape are retained. */
  setModel(modelConfig: ModelConfig): void {
    const config = snapshot(modelConfig);
    if (JSON.stringify(config) === JSON.stringify(this.#config)) return;
    const model = new DynamicModel(config);
    this.#model.free();
    this.#model = model;
    this.#sizes = model.witness;
    this.#areSizesFromData = false;
    this.#config = config;
    this.#request = undefined;
    this.#cache.free();
  }

  /** Summary of the layers, or of those of `config`. */
  summaryOf(config?: ModelConfig): ModelSummary {
    if (config === undefined) return this.summary;
    const model = new DynamicModel(config);
    const { summary } = model;
    model.free();
    return summary;
  }

  /** Replaces loss and optimizer: weights are retained, optimizer states reset. Errors: they do not fit the layers. */
  setTraining(training: TrainingOptions): void {
    this.#liveModel().check(this.#compileRequest(training, ones));
    this.#training = training;
    this.#resetsOptimizer = true;
    this.#request = undefined;
    this.#cache.free();
  }

  /** On the main thread of a page, compiles in a worker what the next call of `module` requires. Returns whether it did. */
  async precompile(requirements: ModuleRequirements): Promise<boolean> {
    const required = this.#sized(requirements);
    const { sizes = this.#sizes } = required;
    const request = this.#compileRequest(this.#training, required);
    const key = keyOf(request, sizes, defaultDevice);
    const isCompiled = this.#fits(required) || this.#cache.has(key);
    if (
      this.device !== defaultDevice ||
      mayBlock ||
      this.summary.weights.length < leastWeights ||
      isCompiled
    )
      return false;
    const [model, start] = [this.#model, performance.now()];
    const { enqueueCompilation } = await import('../runtime/background.js');
    const executable = await enqueueCompilation((compile) => compile(model.at(sizes), request));
    if (executable === undefined || model !== this.#model) return false;
    this.#precompiled = { key, executable, start };
    return true;
  }

  /** The module for these requirements. */
  module(requirements: ModuleRequirements = {}): ModelRunner {
    const required = this.#sized(requirements);
    if (!this.#fits(required)) this.#rebuild(required);
    if (requirements.sizes !== undefined) this.#areSizesFromData = true;
    return this.#build!.runner;
  }

  /** Where the next module runs. */
  get device(): Device {
    return this.#chosen ?? eager.device;
  }

  /** Chooses a device; undefined: that of operations on tensors. */
  set device(device: Device | undefined) {
    this.#chosen = device;
  }

  /** The requirements of a step: a smaller batch runs padded in the current module, unless `mustBeFull` or the size repeats. */
  forStep(
    required: ModuleRequirements & { train: number },
    mustBeFull: boolean,
  ): ModuleRequirements {
    const [last, now] = [this.#lastStep, this.#request?.batch.train ?? 0];
    this.#lastStep = required.train;
    const isOther = last !== 0 && required.train !== last;
    return isOther && required.train < now && !mustBeFull ? { ...required, train: now } : required;
  }

  /** A copy of the bytes of the current module. */
  bytes(): Uint8Array<ArrayBuffer> {
    this.module();
    const compile = () => this.#liveModel().compile(this.#request!);
    const { wasm } = this.#build!;
    if (wasm !== undefined) return wasm.moduleCode(compile);
    const executable = compile();
    try {
      return executable.bytes();
    } finally {
      executable.free();
    }
  }

  /** Compile time, size and memory of the current module. */
  stats(): CompileStats {
    this.module();
    return { ...this.#build!.stats };
  }

  /** Memory of the current module in bytes. */
  get memoryBytes(): number | undefined {
    return this.#build?.stats.memoryBytes;
  }

  /**
   * Compiles a standalone module with the current weights. Errors: `training` without a loss, or with a custom loss that returns
   * one value per batch.
   */
  exportModule(args: ToWasmArgs = {}): Uint8Array<ArrayBuffer> {
    checkOptions('toWasm', args, toWasmNames);
    const { training = false, batchSize = {}, labels, features } = args;
    if (training && this.#training.loss === undefined) {
      throw new LatheError('toWasm: call compile before exporting a module that trains');
    }
    if (this.#model.isDynamic && !this.#areSizesFromData) {
      throw new LatheError(
        'toWasm: the inputs have null axes; call predict first, on data with the sizes of the module',
      );
    }
    const { states } = this.module();
    if (training) this.#checkRowLosses();
    const { timing: _, ...untimed } = this.#training;
    const batches = args.batchesInMemory ?? 1;
    const counts = typeof batches === 'number' ? { train: batches, evaluate: batches } : batches;
    const batchesInMemory = { ...ones, ...counts };
    const required = { ...batchSize, batchesInMemory, ...(labels && { labels: [labels] }) };
    const plain = this.#compileRequest(training ? untimed : {}, required);
    const request = { ...plain, rowWeights: training && plain.rowWeights, standalone: training };
    const timing = training && args.timing;
    Object.assign(request, {
      timing,
      features: { ...plain.features, ...features, threads: false },
    });
    const executable = this.#liveModel().compile(request);
    try {
      const exported = executable.withStates(statesFor(executable, states));
      try {
        return exported.bytes();
      } finally {
        exported.free();
      }
    } finally {
      executable.free();
    }
  }

  /** The IR dumps `before:PASS` or `after:PASS` of a compilation with the current options. */
  dumps(when: string[]): Dump[] {
    const request = { ...this.#compileRequest(this.#training, {}), dumps: when };
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
        this.#cache.free();
      },
    };
  }

  free(): void {
    this.#model.free();
    this.#cache.free();
    this.#build?.dispose();
    this.#build = undefined;
  }

  #fits(required: ModuleRequirements): boolean {
    const { train, evaluate, predict, labels, rowWeights, batchesInMemory, sizes } = required;
    const current = this.#request;
    if (current === undefined) return false;
    const { features, worthSplitting, winograd } = engine();
    return (
      this.device === this.#device &&
      (sizes ?? this.#sizes).join() === this.#sizes.join() &&
      (train ?? current.batch.train) === current.batch.train &&
      (evaluate ?? current.batch.evaluate) === current.batch.evaluate &&
      (predict ?? current.batch.predict) === current.batch.predict &&
      (labels ?? current.labels).join() === current.labels.join() &&
      (rowWeights ?? current.rowWeights) === current.rowWeights &&
      Object.entries(batchesInMemory ?? {}).every(
        ([name, count]) => current.batchesInMemory![name as keyof BatchCounts] === count,
      ) &&
      features.simd === current.features.simd &&
      features.relaxedSimd === current.features.relaxedSimd &&
      features.wideLanes === current.features.wideLanes &&
      features.threads === current.features.threads &&
      worthSplitting === current.worthSplitting &&
      winograd === current.winograd
    );
  }

  #sized(required: ModuleRequirements): ModuleRequirements {
    const rows = this.batchSize;
    return rows === undefined
      ? required
      : { ...required, train: rows, evaluate: rows, predict: rows };
  }

  #compileRequest(training: TrainingOptions, requirements: ModuleRequirements): CompileRequest {
    const required = this.#sized(requirements);
    const { train, evaluate, predict } = this.#last.batch;
    return {
      ...training,
      labels: required.labels ?? this.#last.labels,
      batchesInMemory: { ...this.#last.batchesInMemory!, ...required.batchesInMemory },
      rowWeights: training.loss !== undefined && (required.rowWeights ?? this.#last.rowWeights),
      batch: {
        train: required.train ?? train,
        evaluate: required.evaluate ?? evaluate,
        predict: required.predict ?? predict,
      },
      ...target(),
    };
  }

  /** Compiles; reduces unspecified batch sizes while compilation fails or exceeds `memoryLimit`. */
  #compiled(
    request: CompileRequest,
    required: ModuleRequirements,
    sizes: readonly number[],
  ): [CoreExecutable, CompileRequest] {
    const model = this.#model.at(sizes);
    const precompiled = this.#precompiled;
    this.#precompiled = undefined;
    const compile = () =>
      precompiled?.key === keyOf(request, sizes, defaultDevice)
        ? precompiled.executable
        : model.compile(request);
    for (const limit of reducedBatchSizes) {
      const { batch } = request;
      const rows = (entry: keyof BatchCounts) => required[entry] ?? Math.min(batch[entry], limit);
      const fewer = { train: rows('train'), evaluate: rows('evaluate'), predict: rows('predict') };
      if (JSON.stringify(fewer) === JSON.stringify(batch)) continue;
      try {
        const executable = compile();
        if (executable.metadata().memoryBytes <= memoryLimit) return [executable, request];
        executable.free();
      } catch {
        // An error of the model itself recurs with fewer rows.
      }
      request = { ...request, batch: fewer };
    }
    return [compile(), request];
  }

  /** `required`: the result of `#sized`. */
  #rebuild(required: ModuleRequirements): void {
    const { sizes = this.#sizes } = required;
    const onlyWeights = this.#resetsOptimizer;
    let request = this.#compileRequest(this.#training, required);
    const before = this.#build;
    const fill = (states: States, initial: InitialStates) => {
      const isTransferred = ({ name }: BufferInfo) =>
        !onlyWeights || !name.startsWith('optimizer/');
      const fresh =
        before === undefined
          ? states.metadata.states
          : states.copyStatesFrom(before.states, isTransferred);
      for (const [at, content] of initial(fresh).entries()) states.setState(fresh[at]!, content);
    };
    const { device } = this;
    const key = keyOf(request, sizes, device);
    const make = () => {
      if (device !== defaultDevice) return this.#buildOn(device, request, sizes, fill);
      const cached = onlyWeights ? undefined : this.#cachedModule(key);
      const { instance: timed } = onlyWeights ? {} : (before?.wasm ?? {});
      const fillModule = (instance: Instance, executable: CoreExecutable) => {
        fill(instance, (fresh) => executable.initial(instance.metadata, fresh));
        if (timed !== undefined) instance.copyTimesFrom(timed);
      };
      if (cached !== undefined) {
        fillModule(cached.wasm!.instance, cached.wasm!.executable);
        return cached;
      }
      const compile = () => {
        let executable: CoreExecutable;
        [executable, request] = this.#compiled(request, required, sizes);
        return executable;
      };
      return wasmBuild(new Build(compile, fillModule, { start: this.#precompiled?.start }));
    };
    this.#build = make();
    if (this.#request === undefined) before?.dispose();
    else this.#cache.insert(keyOf(this.#request, this.#sizes, this.#device), before!);
    this.#resetsOptimizer = false;
    this.#request = request;
    this.#sizes = sizes;
    this.#device = device;
    this.#last = request;
    this.#revision = schedules.revision;
    if (device !== defaultDevice) return;
    if (!this.#model.isDynamic || sizes !== this.#model.witness) queueForTuning(this);
  }

  #buildOn(
    device: Device,
    request: CompileRequest,
    sizes: readonly number[],
    fill: (states: States, initial: InitialStates) => void,
  ): ModelBuild {
    const cached = this.#resetsOptimizer
      ? undefined
      : this.#cache.remove(keyOf(request, sizes, device));
    if (cached !== undefined) {
      fill(cached.states, (fresh) => fresh.map((info) => new Uint8Array(byteLength(info))));
      return cached;
    }
    return new ForDevice!(this.#model.at(sizes), request, device, fill);
  }

  /** A module of the cache whose core is alive. */
  #cachedModule(key: string): ModelBuild | undefined {
    const cached = this.#cache.remove(key);
    if (cached?.wasm!.executable.alive !== false) return cached;
    cached.dispose();
    return undefined;
  }

  /** Error: a loss or metric has one value per batch, but a standalone module pads its last batch. */
  #checkRowLosses(): void {
    const { loss, metrics } = this.#training;
    const batchLoss = [loss, metrics].flat(3).find((each) => isHostedLoss(each) && each.isOfBatch);
    if (batchLoss === undefined) return;
    throw new LatheError(
      `toWasm: ${(batchLoss as { name: string }).name || 'a function'} returns one value per batch, but the last batch of a ` +
        'standalone module is padded; return one value per row, as with .mean(-1)',
    );
  }

  #liveModel(): CoreModel {
    return this.#model.at(this.#sizes);
  }
}

/** The first contents of states. */
type InitialStates = (states: BufferInfo[]) => Uint8Array[];

function wasmBuild(wasm: Build): ModelBuild {
  const { instance: states, stats } = wasm;
  return {
    states,
    stats,
    wasm,
    runner: new ModelModule(states),
    get bytes() {
      return wasm.bytes;
    },
    dispose: () => wasm.dispose(),
  };
}

const keyOf = (request: CompileRequest, sizes: readonly number[], { name }: Device) =>
  `${name} ${sizes.join()} ${JSON.stringify(request)}`;

/** The states of an executable, concatenated: those of another program, and initial values of others. */
function statesFor(executable: CoreExecutable, from: States): Uint8Array {
  const metadata = executable.metadata();
  const { states } = metadata;
  const { states: existing } = from.metadata;
  const contents = new Map(existing.map((info) => [info.name, from.state(info)]));
  const fresh = states.filter(({ name }) => !contents.has(name));
  for (const [at, content] of executable.initial(metadata, fresh).entries()) {
    contents.set(fresh[at]!.name, content);
  }
  const result = new Uint8Array(states.reduce((total, info) => total + byteLength(info), 0));
  let at = 0;
  for (const info of states) {
    result.set(contents.get(info.name)!, at);
    at += byteLength(info);
  }
  return result;
}
