/** What `model` and its methods take, and inputs and outputs as they are given: one, or several. */
import { LatheError } from '../base/errors.js';
import { checkCount, checkOptions, type OptionNames } from '../base/options.js';
import type { BatchCounts, ModelConfig, OpenShape, Timing } from '../core/abi.js';
import type { RegularizerConfig, RegularizerName } from '../core/names.js';
import { type LayerCall, type SymbolicShape, SymbolicTensor } from '../layers/layer.js';
import type { OwnFormula } from '../layers/own_formula.js';
import type { OptimizerLike } from '../layers/optimizer.js';
import type { FitOptions } from '../train/fit.js';
import type { FitDatasetOptions } from '../train/fit_dataset.js';
import type { LossLike, Metrics } from '../train/metrics.js';
import type { PerOutput } from '../train/per_output.js';
import { type Weighting, weightingNames } from '../train/rows.js';
import type { NamedLayer } from './layer_graph.js';
import type { LayersModel } from './model.js';

/** Arguments of `model`. */
export interface ModelArgs {
  inputs: SymbolicTensor | readonly SymbolicTensor[];
  outputs: SymbolicTensor | readonly SymbolicTensor[];
  /** Default: model. */
  name?: string;
  /** Decides first weights and shuffling. Default: another one every time. */
  seed?: number;
}

/** Options of `model.fit`. */
export interface FitArgs extends FitOptions<LayersModel> {}

/** Options of `model.fitDataset`. */
export interface FitDatasetArgs extends FitDatasetOptions<LayersModel> {}

/** Options of `model.evaluate`. */
export interface EvaluateArgs extends Weighting {
  /**
   * Changes speed and memory only; where a loss or metric is a function of the program, also the rows that it
   * sees at once. Default: that of the module at hand; with such a function 32.
   */
  batchSize?: number | undefined;
  /** As that of `fit`, for `evaluate` alone. Default: as last given, else 1. */
  batchesInMemory?: number | undefined;
  /** Batches to look at, of 32 rows where no batchSize is given. Default: all. */
  steps?: number | undefined;
  /** Taken from programs for TensorFlow.js; nothing is printed. */
  verbose?: number | boolean;
  /** Whether to give an object of numbers by name instead of tensors. Default: false. */
  asObject?: boolean;
}

/** Error: `evaluate` has no option of this name. */
export function checkEvaluateArgs(args: EvaluateArgs): void {
  const names: OptionNames<EvaluateArgs> = {
    ...weightingNames,
    batchSize: true,
    batchesInMemory: true,
    steps: true,
    verbose: true,
    asObject: true,
  };
  checkOptions('evaluate', args, names);
}

/** Options of `model.predict`. */
export interface PredictArgs {
  /** Changes speed and memory only. Default: that of the module at hand. */
  batchSize?: number | undefined;
  /** As that of `fit`, for `predict` alone. Default: as last given, else 1. */
  batchesInMemory?: number | undefined;
  /** Taken from programs for TensorFlow.js; nothing is printed. */
  verbose?: number | boolean;
}

/** Error: `predict` has no option of this name. */
export function checkPredictArgs(args: PredictArgs): void {
  const names: OptionNames<PredictArgs> = { batchSize: true, batchesInMemory: true, verbose: true };
  checkOptions('predict', args, names);
}

/** What an entry is asked for, where its caller asks. Error: a number that is no count. */
export function wantedBatches(
  entry: keyof BatchCounts,
  { batchSize, batchesInMemory }: Pick<PredictArgs, 'batchSize' | 'batchesInMemory'>,
): Partial<BatchCounts> & { batchesInMemory?: Partial<BatchCounts> } {
  if (batchSize != null) checkCount(`${entry}: batchSize`, batchSize);
  if (batchesInMemory != null) checkCount(`${entry}: batchesInMemory`, batchesInMemory);
  return {
    ...(batchSize != null && { [entry]: batchSize }),
    ...(batchesInMemory != null && { batchesInMemory: { [entry]: batchesInMemory } }),
  };
}

/** The layers of a model and how they are connected. */
export interface Structure {
  readonly layers: readonly NamedLayer[];
  readonly inputs: readonly SymbolicTensor[];
  readonly outputs: readonly SymbolicTensor[];
  /** Those of its layers that are part of it; none: every one of a row of layers. */
  readonly calls?: readonly LayerCall[];
  /** As the core reads it; frozen: no layer learns. */
  describe(frozen: boolean): Omit<ModelConfig, 'name' | 'seed'>;
}

/** Arguments of `model.compile`. */
export interface CompileArgs {
  /** An output may have none, if others have: null, or no entry for its name. */
  loss: PerOutput<LossLike<OwnFormula> | null>;
  /** What the loss of each output is multiplied by in the sum. Default: 1. */
  lossWeights?: PerOutput<number>;
  /** By name, or made by `train`. Without one the model can be evaluated but not trained. */
  optimizer?: OptimizerLike;
  /**
   * Of all outputs, or of each by its name. 'accuracy' ('acc') is the share of rows whose greatest
   * output is the label's; logs, history and `evaluate` call the others as they are called here.
   */
  metrics?: Metrics<OwnFormula>;
  /** Whether training counts them, and whether evaluation does. Default: true. */
  trainMetrics?: boolean;
  testMetrics?: boolean;
  /** Of every trained weight of two axes or more (no biases), beside those of the layers. */
  regularizer?: RegularizerName | RegularizerConfig;
  /**
   * Whether training and evaluation end with an error where data, the result of a layer, the loss or
   * a weight is NaN or infinite, naming it and the step; the weights then stay those before the step.
   * Costs a copy of the weights at every step; without it, nothing. Default: false.
   */
  checkNumerics?: boolean;
  /**
   * Whether the module measures its layers, for `tl.layerTimes`; with 'equation' also each of their
   * equations. It runs on one thread then; without it not one instruction is spent on it. Default: false.
   */
  timing?: Timing;
}

/** Error: `compile` has no option of this name. */
export function checkCompileArgs(args: CompileArgs): void {
  const names: OptionNames<CompileArgs> = {
    loss: true,
    lossWeights: true,
    optimizer: true,
    metrics: true,
    trainMetrics: true,
    testMetrics: true,
    regularizer: true,
    checkNumerics: true,
    timing: true,
  };
  checkOptions('compile', args, names);
}

/** The tensors as a list. Error: something else is among them. */
export function tensorsOf(
  tensors: SymbolicTensor | readonly SymbolicTensor[],
  what: string,
): SymbolicTensor[] {
  const list = [tensors].flat() as SymbolicTensor[];
  if (list.length > 0 && list.every((each) => each instanceof SymbolicTensor)) return list;
  throw new LatheError(`model: ${what} must be symbolic tensors, as tl.input and layer.apply give`);
}

/** Shapes with the batch of these tensors first: one, or a list of several. */
export function shapesOf(
  ports: readonly { shape: OpenShape }[],
  tensors: readonly SymbolicTensor[],
): SymbolicShape | SymbolicShape[] {
  const shapes = ports.map(({ shape }, at) => [tensors[at]?.shape[0] ?? null, ...shape]);
  return shapes.length === 1 ? shapes[0]! : shapes;
}
