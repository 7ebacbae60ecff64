/** How long the layers of a model took, and their equations, from what its module has added up. */
import { LatheError } from '../base/errors.js';
import type { EntryPlace } from '../core/abi.js';
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

/** Of every entry the numbers that it has added up, calls first. Error: `compile` was not asked for timing. */
function timesOf<T>(
  what: string,
  model: Trainee,
  reset: boolean,
  read: (place: EntryPlace, values: Float64Array) => T,
): Record<string, T> {
  const { instance } = model.current();
  instance.settle();
  const result: Record<string, T> = {};
  for (const place of instance.metadata.entries) {
    const values = instance.times(place);
    if (values === undefined) throw new LatheError(`${what}: compile with timing first`);
    result[place.name] = read(place, values);
    if (reset) values.fill(0);
  }
  return result;
}

/** "forward dense_1", with equations a line for each behind it. */
function readPart(part: string): { phase: Phase; name: string; equations: string[] } {
  const [first, ...equations] = part.trimEnd().split('\n');
  const [, phase, name] = /^(\S+) (.*)$/.exec(first!)!;
  return { phase: phase as Phase, name: name!, equations };
}

/**
 * Milliseconds that the layers of a model took in the calls of `train`, `evaluate`, `predict` and
 * `predict_1` since `compile`, or since the last time with `reset`. Error: `compile` was not asked
 * for timing.
 */
export function layerTimes(
  model: Trainee,
  { reset = false }: { reset?: boolean } = {},
): Record<string, EntryTimes> {
  return timesOf('layerTimes', model, reset, ({ times }, values) => {
    const layers = new Map<string, LayerTimes>();
    times!.parts.forEach((part, at) => {
      const { phase, name } = readPart(part);
      const sums = layers.get(name) ?? { name, forward: 0, backward: 0, update: 0 };
      layers.set(name, { ...sums, [phase]: sums[phase] + values[1 + at]! });
    });
    return { calls: values[0]!, layers: [...layers.values()] };
  });
}

/**
 * The same of their equations, in the order of their first run. What one loop nest computes at once has one time; a loop over
 * steps, of a recurrent layer, is one equation. Error: `compile` was not asked for timing 'equation'.
 */
export function equationTimes(
  model: Trainee,
  { reset = false }: { reset?: boolean } = {},
): Record<string, EntryEquations> {
  return timesOf('equationTimes', model, reset, ({ times }, values) => ({
    calls: values[0]!,
    equations: times!.parts.map((part, at) => {
      const { phase, name: layer, equations } = readPart(part);
      if (equations.length === 0) {
        throw new LatheError(`equationTimes: compile with timing: 'equation' first`);
      }
      const of = phase === 'update' ? `${layer}/` : `${layer}: `;
      const name = `${of}${equations.join(', ')} ${phase}`;
      return { name, layer, phase, equations, milliseconds: values[1 + at]! };
    }),
  }));
}
