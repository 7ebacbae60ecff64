/** Callbacks of every training: `registerCallbackConstructor` of TensorFlow.js. */
import type { TrainingCallbacks } from './history.js';

/** A callback class and the minimal `verbose` that enables it. */
export interface RegisteredCallback {
  level: number;
  Made: new () => TrainingCallbacks<any>;
}

export const registered: RegisteredCallback[] = [];
