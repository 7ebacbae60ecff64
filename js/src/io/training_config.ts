/** Converts between training options and the trainingConfig of Keras and TensorFlow.js. */
import { queryFormats } from '../core/formats.js';
import type { CompileDescription } from '../train/storable.js';
import type { TrainingConfig } from './artifacts.js';

/** The training configuration that Keras and TensorFlow.js read. */
export function toTrainingConfig(training: CompileDescription): TrainingConfig {
  return queryFormats('lathe_write_training', training, 'save');
}

/** A training configuration as options of `compile`. Error: an unknown entry. */
export function fromTrainingConfig(config: TrainingConfig, file: string): CompileDescription {
  return queryFormats('lathe_read_training', config, `${file}: trainingConfig`);
}
