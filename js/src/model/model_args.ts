/** Options of `model` and its methods; inputs and outputs as one symbolic tensor or several. */
import { LatheError } from '../base/errors.js';
import type { KnownNames } from '../base/known_names.js';
import { checkCount, checkOptions, type OptionNames } from '../base/options.js';
import type { BatchCounts, ModelConfig, DynamicShape, Timing } from '../core/abi.js';
import type { LossName, OptimizerName, RegularizerConfig, RegularizerName } from '../core/names.js';
import { type LayerCall, type SymbolicShape, SymbolicTensor } from '../layers/layer.js';
import type { CustomLossFunction } from '../layers/custom_loss.js';
import type { DeviceName } from '../runtime/device.js';
import type { OptimizerLike } from '../layers/optimizer.js';
import type { LossLike, MetricNames, Metrics } from '../train/metrics.js';
import type { PerOutput } from '../train/per_output.js';
import { type Weighting, weightingNames } from '../train/examples.js';
import type { NamedLayer } from './layer_graph.js';

/** Arguments of `model`. */
export interface ModelArgs {
  inputs: SymbolicTensor | readonly SymbolicTensor[];
  outputs: SymbolicTensor | readonly SymbolicTensor[];
  /** Default: model. */
  name?: string;
  /** Seed of initial weights and shuffling. Default: random. */
  seed?: number;
}

/** Options of `model.evaluate`. */
export interface EvaluateArgs extends Weighting {
  /**
   * Affects speed and memory only; with a custom loss or metric also the rows that it sees at once. Default: that of the current
   * module; with a custom loss or metric 32.
   */
  batchSize?: number | undefined;
  /** As in `fit`, for `evaluate`. Default: the last value set, else 1. */
  batchesInMemory?: number | undefined;
  /** Number of batches, of 32 rows unless batchSize is set. Default: all. */
  steps?: number | undefined;
  /** For compatibility with TensorFlow.js; nothing is printed. */
  verbose?: number | boolean;
  /** Whether to return an object of numbers by name instead of tensors. Default: false. */
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
  /** Affects speed and memory only. Default: that of the current module. */
  batchSize?: number | undefined;
  /** As in `fit`, for `predict`. Default: the last value set, else 1. */
  batchesInMemory?: number | undefined;
  /** For compatibility with TensorFlow.js; nothing is printed. */
  verbose?: number | boolean;
}

/** Error: `predict` has no option of this name. */
export function checkPredictArgs(args: PredictArgs): void {
  const names: OptionNames<PredictArgs> = { batchSize: true, batchesInMemory: true, verbose: true };
  checkOptions('predict', args, names);
}

/** The batch sizes that a caller specified. Error: not a positive integer. */
export function requestedBatchSizes(
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
export interface ModelStructure {
  readonly layers: readonly NamedLayer[];
  readonly inputs: readonly SymbolicTensor[];
  readonly outputs: readonly SymbolicTensor[];
  /** The calls that are part of it; undefined: all calls of a sequential model. */
  readonly calls?: readonly LayerCall[];
  /** Its configuration in the core's format; `frozen`: no layer is trainable. */
  describe(frozen: boolean): Omit<ModelConfig, 'name' | 'seed'>;
}

/** Arguments of `model.compile`; the parameters are the names of losses, optimizers and metrics in them. */
export interface CompileArgs<
  Loss extends string = string & {},
  Optimizer extends string = string & {},
  Metric extends string = string & {},
> {
  /** An output may have none, if others have: null, or no entry for its name. */
  loss: PerOutput<LossLike<CustomLossFunction, Loss> | null>;
  /** Weight of each output's loss in the sum. Default: 1. */
  lossWeights?: PerOutput<number>;
  /** A name or an optimizer of `train`. Without one the model can be evaluated but not trained. */
  optimizer?: OptimizerLike<Optimizer>;
  /**
   * Metrics of all outputs, or of each by name. 'accuracy' ('acc') is the fraction of rows whose argmax is
   * the label; logs, history and `evaluate` use the names specified here for the others.
   */
  metrics?: Metrics<CustomLossFunction, Metric>;
  /** Whether training reports the metrics, and whether evaluation does. Default: true. */
  trainMetrics?: boolean;
  testMetrics?: boolean;
  /** Regularizer of every trainable weight of rank 2 or more (no biases), in addition to those of the layers. */
  regularizer?: RegularizerName | RegularizerConfig;
  /**
   * Whether training and evaluation fail if data, the output of a layer, the loss or a weight is NaN or infinite; the error names
   * it and the step, and the weights remain those before the step. Costs a copy of the weights at every step. Default: false.
   */
  checkNumerics?: boolean;
  /**
   * Whether the module times its layers, for `tl.layerTimes`; with 'equation' also each of their equations. It then runs on one
   * thread. Default: false.
   */
  timing?: Timing;
  /** Where it runs: a device that `await tl.setDevice(…)` has loaded, such as 'webgpu'. Default: that of operations on tensors. */
  device?: DeviceName;
}

/**
 * `CompileArgs` whose literal names are rows of the tables. A conditional type, so that the compiler infers the names and then
 * reports the first that is unknown; a variable of type `string` may be any name.
 */
export type KnownCompileArgs<
  Loss extends string,
  Optimizer extends string,
  Metric extends string,
  Losses extends string = KnownNames<Loss, LossName>,
  Optimizers extends string = KnownNames<Optimizer, OptimizerName>,
  AllMetrics extends string = KnownNames<Metric, MetricNames>,
> = [Loss, Optimizer, Metric] extends [Losses, Optimizers, AllMetrics]
  ? CompileArgs<Loss, Optimizer, Metric>
  : CompileArgs<Losses, Optimizers, AllMetrics>;

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
    device: true,
  };
  checkOptions('compile', args, names);
}

/** The tensors as an array. Error: an element is no symbolic tensor. */
export function tensorsOf(
  tensors: SymbolicTensor | readonly SymbolicTensor[],
  what: string,
): SymbolicTensor[] {
  const list = [tensors].flat() as SymbolicTensor[];
  if (list.length > 0 && list.every((each) => each instanceof SymbolicTensor)) return list;
  throw new LatheError(`model: ${what} must be symbolic tensors, as of tl.input and layer.apply`);
}

/** Shapes with the batch of these tensors first: one, or a list of several. */
export function shapesOf(
  ports: readonly { shape: DynamicShape }[],
  tensors: readonly SymbolicTensor[],
): SymbolicShape | SymbolicShape[] {
  const shapes = ports.map(({ shape }, at) => [tensors[at]?.shape[0] ?? null, ...shape]);
  return shapes.length === 1 ? shapes[0]! : shapes;
}
