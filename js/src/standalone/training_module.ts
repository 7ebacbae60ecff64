/**
 * Runs a standalone training module (docs/training_module.md) in Node, pages and workers, without the compiler.
 *
 * @module tensorlathe/training-module
 */
import { LatheError, reasonOf } from '../base/errors.js';
import { kindOf } from '../base/kinds.js';
import { checkCount, checkInteger, checkOptions, type OptionNames } from '../base/options.js';
import { entryOf } from '../base/records.js';
import { Pacer, type YieldEvery } from '../base/pause.js';
import { permutation } from '../base/random.js';
import { elementCount } from '../base/shape.js';
import type { BufferInfo, EntryInfo, ModuleMetadata } from '../core/abi.js';
import { decodeSafetensors, encodeSafetensors } from '../io/safetensors.js';
import type { NumberArray } from '../tensor/convert.js';
import { BatchLoader } from '../train/batch_loader.js';
import type { MetricValue } from '../train/metrics.js';
import type { Rows } from '../train/examples.js';
import { scoreOf, Tally } from '../train/score.js';
import { checkSection, checkStart, readSection } from './module_section.js';
import { checkLabels, type ModuleData, rowsOf } from './rows.js';

export type { ModuleData, Values } from './rows.js';
export { LatheError } from '../base/errors.js';

/** The bytes of a module, a response of `fetch`, or a compiled module. */
export type ModuleSource =
  BufferSource | WebAssembly.Module | Response | PromiseLike<BufferSource | Response>;

/** Loss, accuracy (acc) and metrics over some rows; with several outputs NAME_loss and NAME_acc. */
export type ModuleScores = { loss: number; acc: number } & Record<string, MetricValue>;

/** Scores of an epoch, with val_NAME for validation data, or of a batch. */
export type TrainingLogs = Record<string, MetricValue>;

/** Options of `train`. */
export interface TrainArgs {
  /** Number of epochs. Default: 1. */
  epochs?: number;
  /** Whether rows are shuffled in every epoch. Default: true. */
  shuffle?: boolean;
  /** Seed of the shuffling, an integer. Default: 0. */
  seed?: number;
  /** [x, y] for validation after every epoch. */
  validationData?: readonly [ModuleData, ModuleData];
  /** Called after every batch, and awaited. */
  onBatchEnd?(batch: number, logs: TrainingLogs): void | Promise<void>;
  /** Called after every epoch, and awaited. */
  onEpochEnd?(epoch: number, logs: TrainingLogs): void | Promise<void>;
  /** Aborting it ends training after the batch. */
  signal?: AbortSignal;
  /** When to yield to the event loop: 'auto' (every 10 ms), 'batch', 'epoch', 'never' or milliseconds. */
  yieldEvery?: YieldEvery;
}

const trainNames: OptionNames<TrainArgs> = {
  epochs: true,
  shuffle: true,
  seed: true,
  validationData: true,
  onBatchEnd: true,
  onEpochEnd: true,
  signal: true,
  yieldEvery: true,
};

/** A weight or another state of the module, in row-major order. */
export interface StateValues {
  shape: readonly number[];
  values: ArrayLike<number>;
}

interface LoadedEntry {
  readonly info: EntryInfo;
  readonly inputs: ReadonlyMap<string, NumberArray>;
  readonly outputs: ReadonlyMap<string, NumberArray>;
}

/** Rows for the inputs of an entry, by name. */
interface Examples {
  count: number;
  rows: ReadonlyMap<string, Rows>;
  kinds: [];
}

const typedArrays = { f32: Float32Array, i32: Int32Array } as Record<
  string,
  new (buffer: ArrayBuffer, offset: number, length: number) => NumberArray
>;
const isWeight = ({ name }: BufferInfo) => !/^(optimizer|totals|random|states)\//.test(name);
const isSaved = ({ name }: BufferInfo) => !name.startsWith('totals/');

/**
 * Instantiates a module from its bytes or a response of `fetch`. Errors: the request failed; not a standalone module; the engine
 * rejects it.
 */
export async function loadTrainingModule(source: ModuleSource): Promise<TrainingModule> {
  const resolved = await source;
  const isModule = resolved instanceof WebAssembly.Module;
  const module = isModule ? resolved : await compile(resolved as BufferSource | Response);
  const metadata = readSection(module);
  const imports = { env: { now: () => performance.now() } };
  return new TrainingModule(
    await WebAssembly.instantiate(module, imports).catch(rethrow),
    metadata,
  );
}

const rethrow = (error: unknown): never => {
  throw new LatheError(`loadTrainingModule: ${reasonOf(error)}`, { cause: error });
};

async function compile(code: BufferSource | Response): Promise<WebAssembly.Module> {
  const isResponse = (each: unknown): each is Response => kindOf(each) === 'Response';
  if (isResponse(code) && !code.ok) {
    throw new LatheError(`loadTrainingModule: ${code.url}: ${code.status} ${code.statusText}`);
  }
  const bytes = isResponse(code) ? await code.arrayBuffer() : code;
  const module = await WebAssembly.compile(bytes).catch(rethrow);
  checkStart(ArrayBuffer.isView(bytes) ? bytesIn(bytes) : new Uint8Array(bytes));
  return module;
}

const bytesIn = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** An instance of a training module; its memory contains weights and optimizer states. */
export class TrainingModule {
  /** Epochs trained since it was loaded; offset of the shuffling. */
  epochsTrained = 0;
  readonly #exports: WebAssembly.Exports;
  readonly #loaders = new Map<string, BatchLoader<LoadedEntry>>();

  /** @internal */
  constructor(
    { exports }: WebAssembly.Instance,
    /** Metadata of the module: entries, states, metrics. */
    readonly metadata: ModuleMetadata,
  ) {
    checkSection(metadata, exports);
    this.#exports = exports;
    const windows = (infos: BufferInfo[]) =>
      new Map(infos.map((info) => [info.name, this.#window(info)]));
    for (const info of metadata.entries) {
      const entry = { info, inputs: windows(info.inputs), outputs: windows(info.outputs) };
      this.#loaders.set(info.name, new BatchLoader(entry));
    }
  }

  /** The learning rate. Errors: the module has no optimizer; a number that is negative or not finite. */
  get learningRate(): number {
    return this.#learningRate[0]!;
  }

  set learningRate(learningRate: number) {
    if (!(learningRate >= 0 && learningRate < Infinity)) {
      throw new LatheError(`learningRate: must be a finite number ≥ 0, got ${learningRate}`);
    }
    this.#learningRate[0] = learningRate;
  }

  get #learningRate(): NumberArray {
    const info = this.metadata.states.find(({ name }) => name === 'optimizer/learning_rate');
    if (info === undefined) throw new LatheError('learningRate: the module has no optimizer');
    return this.#window(info);
  }

  /** Batch size of an entry. Error: there is no such entry. */
  batchSize(name: 'train' | 'evaluate' | 'predict'): number {
    return this.#loader(name).batch;
  }

  /**
   * Trains on all rows of x and y in batches. Resolves with the scores of every epoch by name. Errors: wrong shapes, labels out
   * of range; then nothing has been trained.
   */
  async train(
    x: ModuleData,
    y: ModuleData,
    args: TrainArgs = {},
  ): Promise<Record<string, MetricValue[]>> {
    checkOptions('train', args, trainNames);
    const { epochs = 1, shuffle = true, seed = 0, validationData, signal } = args;
    checkCount('train: epochs', epochs);
    checkInteger('train: seed', seed);
    const data = this.#labelled('train', x, y, 'train');
    const [testX, testY] = validationData ?? [];
    const validation = testX && this.#labelled('evaluate', testX, testY!, 'train: validationData');
    const pacer = new Pacer(args.yieldEvery ?? 'auto');
    const history: Record<string, MetricValue[]> = {};
    for (let epoch = 0; epoch < epochs && !signal?.aborted; ++epoch) {
      const order = shuffle ? permutation(data.count, seed, this.epochsTrained) : undefined;
      const tally = new Tally();
      for (let batch = 0; tally.rows < data.count && !signal?.aborted; ++batch) {
        tally.add(this.#score('train', data, tally.rows, order));
        await args.onBatchEnd?.(batch, tally.scores);
        await pacer.at('batch');
      }
      if (tally.rows < data.count) break;
      this.epochsTrained += 1;
      const logs: TrainingLogs = { ...tally.scores };
      for (const [name, score] of Object.entries(validation ? this.#tested(validation) : {})) {
        logs[`val_${name}`] = score;
      }
      for (const [name, score] of Object.entries(logs)) (history[name] ??= []).push(score);
      await args.onEpochEnd?.(epoch, logs);
      await pacer.at('epoch');
    }
    return history;
  }

  /** Evaluates all rows. Errors: as `train`. */
  test(x: ModuleData, y: ModuleData): ModuleScores {
    return this.#tested(this.#labelled('evaluate', x, y, 'test'));
  }

  /** The outputs for all rows, concatenated; by name if there are several outputs. Error: rows of another shape. */
  predict(x: ModuleData): Float32Array | Record<string, Float32Array> {
    const loader = this.#loader('predict');
    const data = this.#examples(loader.entry.info, { x }, 'predict');
    const results = [...loader.entry.outputs].map(([name, values]) => {
      const width = values.length / loader.batch;
      return { name, values, width, all: new Float32Array(data.count * width) };
    });
    for (let from = 0; from < data.count; from += loader.batch) {
      const count = Math.min(loader.batch, data.count - from);
      loader.load(data, from, count);
      this.#call('predict');
      for (const { values, width, all } of results) {
        all.set(values.subarray(0, count * width), from * width);
      }
    }
    if (results.length === 1) return results[0]!.all;
    return Object.fromEntries(results.map(({ name, all }) => [name.slice(2), all]));
  }

  /**
   * Counts by true class (first axis) and predicted class. A single output is a binary classifier with threshold 0.5. Errors:
   * several outputs, labels out of range.
   */
  confusionMatrix(x: ModuleData, y: ModuleData): number[][] {
    const labels = this.#labelled('evaluate', x, y, 'confusionMatrix').rows.get('y');
    const results = this.predict(x);
    if (labels === undefined || !(results instanceof Float32Array)) {
      throw new LatheError('confusionMatrix: the module has several outputs; test returns metrics');
    }
    const width = this.#loader('predict').entry.info.outputs[0]!.shape.at(-1)!;
    const classes = Math.max(width, 2);
    const matrix = Array.from({ length: classes }, () => new Array<number>(classes).fill(0));
    const count = results.length / width;
    const isSparse = labels.data instanceof Int32Array;
    for (let row = 0; row < count; ++row) {
      const truth = isSparse ? labels.data[row]! : classAt(labels.data, row, width);
      matrix[truth]![classAt(results, row, width)]! += 1;
    }
    return matrix;
  }

  /** Copies of the weights by name; with `optimizer` also optimizer states and the seed of dropout. */
  getWeights({ optimizer = false } = {}): Record<string, StateValues> {
    const infos = this.metadata.states.filter(optimizer ? isSaved : isWeight);
    return Object.fromEntries(
      infos.map((info) => [info.name, { shape: info.shape, values: this.#window(info).slice() }]),
    );
  }

  /**
   * Replaces all weights, and other states that are included. Errors: a missing weight, an unknown name, another shape, values
   * that are no numbers; then none changes.
   */
  setWeights(weights: Readonly<Record<string, StateValues>>): void {
    const states = new Map(this.metadata.states.filter(isSaved).map((each) => [each.name, each]));
    for (const { name } of this.metadata.states.filter(isWeight)) {
      if (entryOf(weights, name) === undefined)
        throw new LatheError(`setWeights: ${name} is missing`);
    }
    for (const [name, state] of Object.entries(weights)) {
      const { shape, values } = (state ?? {}) as Partial<StateValues>;
      const info = states.get(name);
      if (info === undefined) throw new LatheError(`setWeights: the module has no ${name}`);
      const count = elementCount(info.shape);
      if (`${shape}` !== `${info.shape}` || values?.length !== count) {
        throw new LatheError(
          `setWeights: ${name} has the shape [${info.shape}], got [${shape}] with ${values?.length} values`,
        );
      }
      const wrong = Array.prototype.find.call(values, (each) => typeof each !== 'number');
      if (wrong !== undefined) throw new LatheError(`setWeights: ${name}: ${wrong} is no number`);
    }
    for (const [name, { values }] of Object.entries(weights)) {
      this.#window(states.get(name)!).set(values);
    }
  }

  /** The weights for JSON.stringify and `fromJSON`. */
  toJSON(): Record<string, { shape: readonly number[]; values: number[] }> {
    const weights = Object.entries(this.getWeights());
    return Object.fromEntries(
      weights.map(([name, { shape, values }]) => [name, { shape, values: Array.from(values) }]),
    );
  }

  /** Sets weights from the JSON of `toJSON`, as a string or parsed. Errors: as `setWeights`. */
  fromJSON(json: string | Readonly<Record<string, StateValues>>): void {
    this.setWeights(typeof json === 'string' ? parsed(json) : json);
  }

  /** The weights as a safetensors file, also for `model.loadWeights` and `lathe compile --weights`. */
  toSafetensors(args: { optimizer?: boolean } = {}): Uint8Array<ArrayBuffer> {
    const tensors = Object.entries(this.getWeights(args)).map(([name, { shape, values }]) => {
      const data = values as Float32Array;
      return { name, shape: [...shape], dtype: 'float32' as const, data };
    });
    return encodeSafetensors(tensors);
  }

  /** Sets weights from a safetensors file. Errors: a damaged file; as `setWeights`. */
  fromSafetensors(file: Uint8Array): void {
    const tensors = decodeSafetensors(file, 'fromSafetensors');
    this.setWeights(
      Object.fromEntries(tensors.map(({ name, shape, data }) => [name, { shape, values: data }])),
    );
  }

  /** Sets the seed of random layers. Errors: there are none; no integer from 0 to 2²⁴ - 1. */
  setSeed(seed: number): void {
    const info = this.metadata.states.find(({ name }) => name === 'random/seed');
    if (info === undefined) throw new LatheError('setSeed: no layer draws random numbers');
    if (!(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 24)) {
      throw new LatheError(`setSeed: must be an integer from 0 to 2^24 - 1, got ${seed}`);
    }
    this.#window(info)[0] = seed;
  }

  /** Milliseconds of an entry's calls by part, if the module was compiled with timing. */
  times(name: string): { calls: number; parts: Record<string, number> } | undefined {
    const { times } = this.#loader(name).entry.info;
    if (times === undefined) return undefined;
    const { buffer } = this.#exports.memory as WebAssembly.Memory;
    const [calls, ...sums] = new Float64Array(buffer, times.offset, 1 + times.parts.length);
    const parts = times.parts.map((part, at) => [part.trim().replaceAll('\n', ', '), sums[at]!]);
    return { calls: calls!, parts: Object.fromEntries(parts) };
  }

  #tested(data: Examples): ModuleScores {
    const tally = new Tally();
    while (tally.rows < data.count) tally.add(this.#score('evaluate', data, tally.rows));
    return tally.scores;
  }

  #score(name: 'train' | 'evaluate', data: Examples, from: number, order?: Uint32Array) {
    const loader = this.#loader(name);
    const count = Math.min(loader.batch, data.count - from);
    loader.load(data, from, count, order);
    this.#call(name);
    return scoreOf(loader.entry, count, this.metadata);
  }

  #call(name: string): void {
    try {
      (this.#exports[name] as () => void)();
    } catch (error) {
      throw new LatheError(`the module stopped in ${name}: ${reasonOf(error)}`, { cause: error });
    }
  }

  #labelled(name: 'train' | 'evaluate', x: ModuleData, y: ModuleData, where: string): Examples {
    const { info } = this.#loader(name).entry;
    const examples = this.#examples(info, { x, y }, where);
    const outputs = this.#loader('predict').entry.info.outputs;
    for (const each of info.inputs) {
      if (!/^y(\/|$)/.test(each.name)) continue;
      const rows = examples.rows.get(each.name)!;
      const classes = outputs.find((output) => output.name === each.name)!.shape.at(-1)!;
      checkLabels(rows, each, classes, `${where}: ${each.name}`);
    }
    return examples;
  }

  /** Errors: a missing input, other shapes, different numbers of rows. */
  #examples(entry: EntryInfo, data: Record<string, ModuleData>, where: string): Examples {
    const rows = new Map<string, Rows>();
    const required = entry.inputs.filter(({ name }) => /^[xy](\/|$)/.test(name));
    for (const [kind, values] of Object.entries(data)) {
      const infos = required.filter(({ name }) => name[0] === kind);
      for (const each of infos) {
        const name = each.name.slice(2);
        const found = name === '' ? values : entryOf(values as Record<string, unknown>, name);
        if (found === undefined) throw new LatheError(`${where}: ${each.name} is missing`);
        rows.set(each.name, rowsOf(found, each, `${where}: ${each.name}`));
      }
    }
    const [[first, { count }] = ['', { count: 0 }]] = rows;
    for (const [name, each] of rows) {
      if (each.count === count) continue;
      throw new LatheError(
        `${where}: ${first} has ${count} rows, ${name} ${each.count}${hint(entry, name)}`,
      );
    }
    // All rows have the weight 1.
    for (const { name } of entry.inputs) {
      if (!name.startsWith('weights')) continue;
      rows.set(name, { data: new Float32Array(count).fill(1), count, width: 1 });
    }
    return { count, rows, kinds: [] };
  }

  #window({ dtype, shape, offset }: BufferInfo): NumberArray {
    const { buffer } = this.#exports.memory as WebAssembly.Memory;
    return new typedArrays[dtype]!(buffer, offset, elementCount(shape));
  }

  #loader(name: string): BatchLoader<LoadedEntry> {
    const loader = this.#loaders.get(name);
    if (loader !== undefined) return loader;
    const names = [...this.#loaders.keys()].join(', ');
    throw new LatheError(`the module has no entry ${name}; it has ${names}`);
  }
}

function parsed(json: string): Record<string, StateValues> {
  try {
    return JSON.parse(json) ?? {};
  } catch (error) {
    throw new LatheError(`fromJSON: ${(error as Error).message}`);
  }
}

function classAt(values: ArrayLike<number>, row: number, width: number): number {
  if (width === 1) return values[row]! > 0.5 ? 1 : 0;
  let best = row * width;
  for (let at = best; at < (row + 1) * width; ++at) if (values[at]! > values[best]!) best = at;
  return best - row * width;
}

function hint({ inputs }: EntryInfo, name: string): string {
  const { dtype, shape } = inputs.find((each) => each.name === name)!;
  if (name[0] !== 'y') return '';
  const row = shape.slice(1).join(',');
  return dtype === 'i32'
    ? '; expected class indices, one per row'
    : `; expected the shape [${row}] per row`;
}
