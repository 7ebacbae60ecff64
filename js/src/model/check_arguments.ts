/** The options of what makes inputs, models and callbacks, by name: an unknown one is an error. */
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

/** Error: the maker has no option of a name. */
export function checkArguments(maker: string, given: object): void {
  checkOptions(maker, given, makers[maker]!);
}
