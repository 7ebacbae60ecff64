/** Evaluation of all rows in batches. */
import { checkCount } from '../base/options.js';
import type { Scoring } from '../train/evaluate.js';
import { type Examples, slice } from '../train/examples.js';
import type { ModelRunner } from '../train/model_runner.js';
import type { ModuleRequirements } from './compiled_model.js';
import { type EvaluateArgs, requestedBatchSizes } from './model_args.js';
import { labelKinds, type TrainingConfig } from './training_config.js';

/**
 * What scores the rows: parts of them on the modules that `moduleFor` returns. A custom loss sees exactly the rows of a batch, so the last
 * rows have a module of their own. Error: `steps` is no count.
 */
export function* evaluateRows(
  config: TrainingConfig,
  labelled: Examples,
  args: EvaluateArgs,
  moduleFor: (required: ModuleRequirements) => ModelRunner,
): Generator<Scoring> {
  const batches = requestedBatchSizes('evaluate', args);
  const { steps } = args;
  const size = batches.evaluate ?? 32;
  if (steps != null) checkCount('evaluate: steps', steps);
  const data =
    steps == null ? labelled : slice(labelled, 0, Math.min(labelled.count, steps * size));
  const { sizes, weighted: rowWeights = false } = data;
  const required = { ...batches, labels: labelKinds(config, data), rowWeights, sizes };
  if (!config.hasCustomLoss) return yield [moduleFor(required), data];
  const fullRows = data.count - (data.count % size);
  for (const part of [slice(data, 0, fullRows), slice(data, fullRows, data.count)]) {
    const now = { ...required, evaluate: Math.min(size, part.count) };
    if (part.count > 0) yield [moduleFor(now), part];
  }
}
