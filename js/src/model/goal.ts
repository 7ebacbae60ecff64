/** What `compile` is given, as the core, the scores and saving read it. Knows no model. */
import { LatheError } from '../base/errors.js';
import { Optimizer } from '../layers/optimizer.js';
import { hostedFormula, isOwn } from '../layers/own_formula.js';
import { readLosses, readMetrics } from '../train/metrics.js';
import { perOutput } from '../train/per_output.js';
import type { LabelKind } from '../train/rows.js';
import type { Goal } from '../train/storable.js';
import type { Training } from './compiled_model.js';
import { checkCompileArgs, type CompileArgs } from './model_args.js';

/** A goal, and what the core makes of it. */
export interface ModelGoal extends Goal {
  readonly optimizer: Optimizer | undefined;
  /** As given. */
  readonly args: CompileArgs;
  readonly training: Training;
  /** What `evaluate` gives, in its order. */
  readonly metricsNames: readonly string[];
  /** Whether functions of the program are among it, which see whole batches only. */
  readonly isOwn: boolean;
}

let epsilon = 0;

/** Clips the probabilities of cross-entropies to [by, 1 - by] in models that are compiled from now on. */
export function boundProbabilities(by: number): void {
  epsilon = by;
}

/** A loss or a metric for the core; saved models keep its plain name. */
const bounded = (each: unknown): unknown =>
  epsilon > 0 && /^(binary|categorical|sparseCategorical)_?crossentropy$/i.test(String(each))
    ? { name: each, epsilon }
    : each;

/** Errors: an unknown option, no loss, another number of losses or metrics than outputs. */
export function readGoal(
  args: CompileArgs,
  outputs: readonly { name: string; shape: readonly unknown[] }[],
): ModelGoal {
  checkCompileArgs(args);
  const { loss, lossWeights, optimizer: given, metrics, ...others } = args;
  if (loss === undefined) throw new LatheError('compile: a loss is needed');
  const losses = readLosses(loss, outputs, hostedFormula);
  const weights = perOutput(lossWeights ?? 1, outputs, 1, 'compile: lossWeights');
  const { names, lists } = readMetrics(metrics ?? [], outputs, losses, hostedFormula);
  const optimizer = given === undefined ? undefined : Optimizer.of(given);
  const training = {
    loss: losses.map(bounded),
    ...(lossWeights === undefined ? {} : { lossWeights: weights }),
    ...(lists.flat().length === 0 ? {} : { metrics: lists.map((list) => list.map(bounded)) }),
    ...others,
    ...(optimizer === undefined ? {} : { optimizer }),
  };
  return {
    args,
    losses,
    lossWeights: lossWeights === undefined ? undefined : weights,
    optimizer,
    metrics: (metrics ?? []) as Goal['metrics'],
    others,
    training,
    metricsNames: names,
    isOwn: [...losses, ...lists.flat()].some(isOwn),
  };
}

/** The kinds of labels of all outputs; it does not matter for one without a loss. */
export function labelKinds(
  { losses }: ModelGoal,
  { kinds }: { kinds: readonly LabelKind[] },
): LabelKind[] {
  let next = 0;
  return losses.map((loss) => (loss === null ? 'dense' : kinds[next++]!));
}
