/** Callbacks that every training gets: those of `registerCallbackConstructor` of TensorFlow.js. */
import type { TrainingCallbacks } from './history.js';

/** What makes one, and from which `verbose` of a training on. */
export interface RegisteredCallback {
  level: number;
  Made: new () => TrainingCallbacks<any>;
}

export const registered: RegisteredCallback[] = [];
