/** The arguments of `compile` in the forms that the core, the scores and saving read. */
import { LatheError } from '../base/errors.js';
import { Optimizer } from '../layers/optimizer.js';
import { hostedLossFunction, isHostedLoss } from '../layers/custom_loss.js';
import { readLosses, readMetrics } from '../train/metrics.js';
import { perOutput } from '../train/per_output.js';
import type { LabelKind } from '../train/examples.js';
import type { CompiledTraining } from '../train/storable.js';
import type { TrainingOptions } from './compiled_model.js';
import { checkCompileArgs, type CompileArgs } from './model_args.js';

/** Loss, metrics and optimizer of a model, and their configuration in the core. */
export interface TrainingConfig extends CompiledTraining {
  readonly optimizer: Optimizer | undefined;
  /** The arguments of `compile`. */
  readonly args: CompileArgs;
  readonly training: TrainingOptions;
  /** Names of the results of `evaluate`, in order. */
  readonly metricsNames: readonly string[];
  /** Whether a loss or metric is a custom function, which sees complete batches only. */
  readonly hasCustomLoss: boolean;
}

let epsilon = 0;

/** Clips the probabilities of cross-entropies to [margin, 1 - margin] in models that are compiled from now on. */
export function clipProbabilities(margin: number): void {
  epsilon = margin;
}

/** A loss or metric in the core's format; saved models store its name without `epsilon`. */
const withClipping = (each: unknown): unknown =>
  epsilon > 0 && /^(binary|categorical|sparseCategorical)_?crossentropy$/i.test(String(each))
    ? { name: each, epsilon }
    : each;

/** Errors: an unknown option, no loss, another number of losses or metrics than outputs. */
export function readTrainingConfig(
  args: CompileArgs,
  outputs: readonly { name: string; shape: readonly unknown[] }[],
): TrainingConfig {
  checkCompileArgs(args);
  const { loss, lossWeights, optimizer: optimizerLike, metrics, device: _, ...others } = args;
  if (loss === undefined) throw new LatheError('compile: a loss is needed');
  const losses = readLosses(loss, outputs, hostedLossFunction);
  warnOfOneClass(losses, outputs);
  const weights = perOutput(lossWeights ?? 1, outputs, 1, 'compile: lossWeights');
  const { names, lists } = readMetrics(metrics ?? [], outputs, losses, hostedLossFunction);
  const optimizer = optimizerLike === undefined ? undefined : Optimizer.of(optimizerLike);
  const training = {
    loss: losses.map(withClipping),
    ...(lossWeights === undefined ? {} : { lossWeights: weights }),
    ...(lists.flat().length === 0 ? {} : { metrics: lists.map((list) => list.map(withClipping)) }),
    ...others,
    ...(optimizer === undefined ? {} : { optimizer }),
  };
  return {
    args,
    losses,
    lossWeights: lossWeights === undefined ? undefined : weights,
    optimizer,
    metrics: (metrics ?? []) as CompiledTraining['metrics'],
    others,
    training,
    metricsNames: names,
    hasCustomLoss: [...losses, ...lists.flat()].some(isHostedLoss),
  };
}

/** The label kind of every output; arbitrary for one without a loss. */
export function labelKinds(
  { losses }: TrainingConfig,
  { kinds }: { kinds: readonly LabelKind[] },
): LabelKind[] {
  let next = 0;
  return losses.map((loss) => (loss === null ? 'dense' : kinds[next++]!));
}

/** Warns of a loss over classes where there is one: it is always 0. */
function warnOfOneClass(
  losses: readonly unknown[],
  outputs: readonly { name: string; shape: readonly unknown[] }[],
): void {
  losses.forEach((loss, at) => {
    const name = (loss as { name?: unknown } | null)?.name ?? loss;
    if (
      outputs[at]!.shape.at(-1) !== 1 ||
      !/^(softmax|.*categorical)_?cross_?entropy$/i.test(String(name))
    )
      return;
    console.warn(
      `tensorlathe: compile: ${name} of one class is always 0; for two classes use the activation sigmoid and the loss binaryCrossentropy`,
    );
  });
}
