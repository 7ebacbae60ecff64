/** Types of `tf.io` by the names that TensorFlow.js has for them. */
import type { IOHandler, LoadOptions } from '../../io/artifacts.js';
import type { SaveArgs } from '../../io/save.js';

export type SaveConfig = Pick<SaveArgs, 'includeOptimizer' | 'trainableOnly'>;
export type SaveHandler = NonNullable<IOHandler['save']>;
export type LoadHandler = NonNullable<IOHandler['load']>;
export type OnProgressCallback = NonNullable<LoadOptions['onProgress']>;
