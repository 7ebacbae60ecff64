/** How long the layers of a model took, from what its module has added up. */
import { LatheError } from '../base/errors.js';
import type { Trainee } from '../train/fit.js';

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

/**
 * Milliseconds that the layers of a model took in the calls of `train`, `evaluate`, `predict` and
 * `predict_1` since `compile`, or since the last time with `reset`. Error: `compile` was not asked
 * for timing.
 */
export function layerTimes(
  model: Trainee,
  { reset = false }: { reset?: boolean } = {},
): Record<string, EntryTimes> {
  const { instance } = model.current();
  instance.settle();
  const result: Record<string, EntryTimes> = {};
  for (const entry of instance.metadata.entries) {
    const values = instance.times(entry);
    if (values === undefined) throw new LatheError('layerTimes: compile with timing first');
    const layers = new Map<string, LayerTimes>();
    entry.times!.parts.forEach((part, at) => {
      const [phase, name] = part.split(' ') as ['forward' | 'backward' | 'update', string];
      const times = layers.get(name) ?? { name, forward: 0, backward: 0, update: 0 };
      layers.set(name, { ...times, [phase]: values[1 + at]! });
    });
    result[entry.name] = { calls: values[0]!, layers: [...layers.values()] };
    if (reset) values.fill(0);
  }
  return result;
}
