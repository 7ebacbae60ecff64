/** How long the layers of a model took, and their equations, from what its module has added up. */
import { extrasFor } from '../layers/extras.js';
import type { Trainee } from '../train/fit.js';

export type Phase = 'forward' | 'backward' | 'update';

/** Milliseconds of one layer, of all calls together. */
export interface LayerTimes {
  /** As in `summary`, those of nested models as MODEL/LAYER; "(loss)" for losses and metrics. */
  name: string;
  forward: number;
  backward: number;
  /** The step of the optimiser. */
  update: number;
}

/** What the calls of one entry took. */
export interface EntryTimes {
  calls: number;
  layers: LayerTimes[];
}

/** Milliseconds of what one loop nest computes, of all calls together. */
export interface EquationTime {
  /** "dense_1: x·kernel, bias, relu forward", "dense_1/kernel: adam update". */
  name: string;
  layer: string;
  phase: Phase;
  /** What is computed at once, in order: products of weights, inputs x and gradients dy; else activations, weights, operations. */
  equations: string[];
  milliseconds: number;
}

/** What the calls of one entry took by equation. */
export interface EntryEquations {
  calls: number;
  equations: EquationTime[];
}

export interface TimesOptions {
  /** Whether they begin anew. Default: false. */
  reset?: boolean;
}

const read = (what: string, model: Trainee, options: TimesOptions) =>
  extrasFor(what).members[what]!(model as never, options as never);

/**
 * Milliseconds that the layers of a model took in the calls of `train`, `evaluate`, `predict` and
 * `predict_1` since `compile`, or since the last time with `reset`. Error: `compile` was not asked
 * for timing.
 */
export const layerTimes = (
  model: Trainee,
  options: TimesOptions = {},
): Record<string, EntryTimes> => read('layerTimes', model, options) as Record<string, EntryTimes>;

/**
 * The same of their equations, in the order of their first run. What one loop nest computes at once has one time; a loop over
 * steps, of a recurrent layer, is one equation. Error: `compile` was not asked for timing 'equation'.
 */
export const equationTimes = (
  model: Trainee,
  options: TimesOptions = {},
): Record<string, EntryEquations> =>
  read('equationTimes', model, options) as Record<string, EntryEquations>;
