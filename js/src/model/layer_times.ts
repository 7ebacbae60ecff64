/** Execution times of the layers of a model, and of their equations, as accumulated by its module. */
import { requireDeferred } from '../layers/deferred.js';
import type { Trainee } from '../train/fit.js';

export type Phase = 'forward' | 'backward' | 'update';

/** Total milliseconds of one layer. */
export interface LayerTimes {
  /** As in `summary`, those of nested models as MODEL/LAYER; "(loss)" for losses and metrics. */
  name: string;
  forward: number;
  backward: number;
  /** The optimizer step. */
  update: number;
}

/** Times of the calls of one entry. */
export interface EntryTimes {
  calls: number;
  layers: LayerTimes[];
}

/** Total milliseconds of one loop nest. */
export interface EquationTime {
  /** "dense_1: x·kernel, bias, relu forward", "dense_1/kernel: adam update". */
  name: string;
  layer: string;
  phase: Phase;
  /** The fused operations: products of weights, inputs x and gradients dy; otherwise activations, weights, operations. */
  equations: string[];
  milliseconds: number;
}

/** Times of the calls of one entry, by equation. */
export interface EntryEquations {
  calls: number;
  equations: EquationTime[];
}

export interface TimesOptions {
  /** Whether to reset the times. Default: false. */
  reset?: boolean;
}

const read = (what: string, model: Trainee, options: TimesOptions) =>
  requireDeferred(what).members[what]!(model as never, options as never);

/**
 * Milliseconds per layer of a model in the calls of `train`, `evaluate`, `predict` and
 * `predict_1` since `compile`, or since the last time with `reset`. Error: compiled without
 * timing.
 */
export const layerTimes = (
  model: Trainee,
  options: TimesOptions = {},
): Record<string, EntryTimes> => read('layerTimes', model, options) as Record<string, EntryTimes>;

/**
 * Milliseconds per equation, in the order of their first run. A fused loop nest has one time; the loop over steps of a recurrent
 * layer is one equation. Error: compiled without timing 'equation'.
 */
export const equationTimes = (
  model: Trainee,
  options: TimesOptions = {},
): Record<string, EntryEquations> =>
  read('equationTimes', model, options) as Record<string, EntryEquations>;
