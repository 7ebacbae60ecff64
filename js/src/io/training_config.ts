/** How a model learns <-> trainingConfig of Keras and TensorFlow.js. */
import { askFormats } from '../core/formats.js';
import type { CompileDescription } from '../train/storable.js';
import type { TrainingConfig } from './artifacts.js';

/** The training configuration that Keras and TensorFlow.js read. */
export function toTrainingConfig(training: CompileDescription): TrainingConfig {
  return askFormats('lathe_write_training', training, 'save');
}

/** What `compile` takes for a training configuration. Error: something in it is not known. */
export function fromTrainingConfig(config: TrainingConfig, file: string): CompileDescription {
  return askFormats('lathe_read_training', config, `${file}: trainingConfig`);
}
