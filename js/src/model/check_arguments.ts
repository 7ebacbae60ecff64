/** The options of what makes inputs, models and callbacks, by name: an unknown one is an error. */
import { LatheError } from '../base/errors.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import type { InputArgs } from '../layers/layer.js';
import type { EarlyStoppingArgs, ModelCheckpointArgs } from './callbacks.js';
import type { ModelArgs } from './model_args.js';
import type { SequentialArgs } from './sequential.js';

const input: OptionNames<InputArgs> = {
  shape: true,
  batchShape: true,
  name: true,
  dtype: true,
  sparse: true,
};
const model: OptionNames<ModelArgs> = { inputs: true, outputs: true, name: true, seed: true };
const sequential: OptionNames<SequentialArgs> = { layers: true, name: true, seed: true };
const modelCheckpoint: OptionNames<ModelCheckpointArgs> = {
  monitor: true,
  mode: true,
  saveBestOnly: true,
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
const makers: Record<string, Record<string, true>> = {
  input,
  model,
  sequential,
  modelCheckpoint,
  earlyStopping,
};

/** Pairs of options of which one may be there. */
const either: [maker: string, first: string, second: string, message: string][] = [
  ['input', 'shape', 'batchShape', 'Please provide either a `shape` or a `batchShape`, not both'],
  ['inputLayer', 'inputShape', 'batchInputShape', 'Only provide the inputShape OR batchInputShape'],
  [
    'inputLayer',
    'batchSize',
    'batchInputShape',
    'Cannot specify batchSize if batchInputShape is specified',
  ],
];

/** Errors: the maker has no option of a name; two that exclude each other, or none of those that are needed. */
export function checkArguments(maker: string, given: object): void {
  const has = (name: string) => (given as Record<string, unknown> | undefined)?.[name] != null;
  for (const [who, first, second, message] of either) {
    if (who === maker && has(first) && has(second)) throw new LatheError(`${maker}: ${message}`);
  }
  if (maker === 'inputLayer') {
    if (has('inputShape') || has('batchInputShape')) return;
    throw new LatheError(
      'An InputLayer should be passed either a batchInputShape or an inputShape',
    );
  }
  checkOptions(maker, given, makers[maker]!);
}
