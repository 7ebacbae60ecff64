/** Reads the timers of a model's module; `layer_times.ts` documents them. */
import { LatheError } from '../base/errors.js';
import type { EntryInfo } from '../core/abi.js';
import { Instance } from '../runtime/instance.js';
import type { Trainee } from '../train/fit.js';
import type { EntryEquations, EntryTimes, LayerTimes, Phase, TimesOptions } from './layer_times.js';

/** Reads the counters of every entry, calls first. Error: compiled without timing. */
function timesOf<T>(
  what: string,
  model: Trainee,
  reset: boolean,
  read: (entry: EntryInfo, values: Float64Array) => T,
): Record<string, T> {
  const { states: instance } = model.current();
  if (!(instance instanceof Instance)) {
    throw new LatheError(`${what}: only models on wasm have timers`);
  }
  instance.settle();
  const result: Record<string, T> = Object.create(null);
  for (const entry of instance.metadata.entries) {
    const values = instance.times(entry);
    if (values === undefined) throw new LatheError(`${what}: compile with timing first`);
    result[entry.name] = read(entry, values);
    if (reset) values.fill(0);
  }
  return result;
}

/** Parses "forward dense_1", followed by a line for each equation. */
function readPart(part: string): { phase: Phase; name: string; equations: string[] } {
  const [first, ...equations] = part.trimEnd().split('\n');
  const [, phase, name] = /^(\S+) (.*)$/.exec(first!)!;
  return { phase: phase as Phase, name: name!, equations };
}

export function layerTimes(
  model: Trainee,
  { reset = false }: TimesOptions = {},
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

export function equationTimes(
  model: Trainee,
  { reset = false }: TimesOptions = {},
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
