/** Checks the option names of factories of inputs, models and callbacks. */
import { LatheError } from '../base/errors.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import type { LayerArgs } from '../layers/base_args.js';
import type { InputArgs } from '../layers/input.js';
import type { EarlyStoppingArgs } from './monitor.js';
import type { ModelCheckpointArgs } from './callbacks.js';
import type { ModelArgs } from './model_args.js';
import type { SequentialArgs } from './sequential.js';

const input: OptionNames<InputArgs> = {
  shape: true,
  batchShape: true,
  name: true,
  dtype: true,
  sparse: true,
};
const inputLayer: OptionNames<LayerArgs & Pick<InputArgs, 'sparse'>> = {
  inputShape: true,
  batchInputShape: true,
  batchSize: true,
  name: true,
  dtype: true,
  sparse: true,
  // Of all layers; without an effect here.
  trainable: true,
  activityRegularizer: true,
  inputDim: true,
  inputLength: true,
  weights: true,
  inputDType: true,
  implementation: true,
};
const model: OptionNames<ModelArgs> = { inputs: true, outputs: true, name: true, seed: true };
const sequential: OptionNames<SequentialArgs> = { layers: true, name: true, seed: true };
const modelCheckpoint: OptionNames<ModelCheckpointArgs> = {
  monitor: true,
  mode: true,
  saveBestOnly: true,
  includeOptimizer: true,
};
const earlyStopping: OptionNames<EarlyStoppingArgs> = {
  monitor: true,
  mode: true,
  minDelta: true,
  patience: true,
  verbose: true,
  baseline: true,
  restoreBestWeights: true,
};
const optionsByFactory: Record<string, Record<string, true>> = {
  input,
  inputLayer,
  model,
  sequential,
  modelCheckpoint,
  earlyStopping,
};

/** Pairs of mutually exclusive options. */
const either: [factory: string, first: string, second: string, message: string][] = [
  ['input', 'shape', 'batchShape', 'Please provide either a `shape` or a `batchShape`, not both'],
  ['inputLayer', 'inputShape', 'batchInputShape', 'Only provide the inputShape OR batchInputShape'],
  [
    'inputLayer',
    'batchSize',
    'batchInputShape',
    'Cannot specify batchSize if batchInputShape is specified',
  ],
];

/** Checks the options of a factory. Errors: an unknown option; mutually exclusive options; a missing one of several. */
export function checkArguments(factory: string, args: object): void {
  const has = (name: string) => (args as Record<string, unknown> | undefined)?.[name] != null;
  for (const [who, first, second, message] of either) {
    if (who === factory && has(first) && has(second))
      throw new LatheError(`${factory}: ${message}`);
  }
  if (factory === 'inputLayer' && !has('inputShape') && !has('batchInputShape')) {
    throw new LatheError(
      'An InputLayer should be passed either a batchInputShape or an inputShape',
    );
  }
  checkOptions(factory, args, optionsByFactory[factory]!);
}
