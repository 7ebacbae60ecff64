/** What an optimiser has gathered <-> the optimiser weights of TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import type { State, StoredModel } from '../train/storable.js';
import { savedNames } from './assign_weights.js';
import type { NamedArray } from './weight_data.js';

const prefix = 'optimizer/';
const group = 'optimizer';

/** A state that belongs to one weight: optimizer/SLOT/WEIGHT. */
function slotName({ name }: State): { slot: string; weight: string } | undefined {
  const found = /^optimizer\/([^/]+)\/(.+)$/.exec(name);
  return found === null ? undefined : { slot: found[1]!, weight: found[2]! };
}

/** The steps taken, then each slot for all weights in their order, named WEIGHT/SLOT. */
export function optimizerArrays(model: StoredModel): NamedArray[] {
  const { states, summary, training } = model;
  const steps = states.find(({ name }) => name === `${prefix}step`);
  if (steps === undefined) return [];
  const names = savedNames(model);
  const slots = [...new Set(states.flatMap((state) => slotName(state)?.slot ?? []))];
  const count = Int32Array.of(Math.round(steps.values[0]!));
  const arrays: NamedArray[] = [{ name: 'iter', shape: [], dtype: 'int32', data: count, group }];
  for (const slot of slotOrder(slots, training)) {
    for (const { name: weight } of summary.weights) {
      const like = states.find(({ name }) => name === `${prefix}${slots[0]}/${weight}`);
      if (like === undefined) continue;
      const state = states.find(({ name }) => name === `${prefix}${slot}/${weight}`);
      const data = state?.values.slice() ?? new Float32Array(like.values.length);
      const { shape, dtype } = like;
      arrays.push({ name: `${names.get(weight)!}/${slot}`, shape, dtype, data, group });
    }
  }
  return arrays;
}

/** TensorFlow.js counts on the momentum of RMSProp, second, even where there is none. */
function slotOrder(slots: string[], training: StoredModel['training']): string[] {
  if (training?.optimizer.name !== 'rmsprop') return slots;
  return ['rms', 'momentum', ...slots.filter((slot) => slot === 'mg')];
}

/** Gives a model what its optimiser had gathered. Error: a tensor is missing or of another shape. */
export function assignOptimizer(
  model: StoredModel,
  arrays: readonly NamedArray[],
  where: string,
): void {
  const { states, training } = model;
  const names = savedNames(model);
  const find = (name: string) => arrays.find((each) => each.name === name);
  const steps = Number(find('iter')?.data[0] ?? 0);
  const writes: (() => void)[] = [];
  for (const state of states) {
    const found = slotName(state);
    if (state.name === `${prefix}step`) writes.push(() => (state.values[0] = steps));
    else if (found !== undefined) {
      const name = `${names.get(found.weight) ?? found.weight}/${found.slot}`;
      const array = find(name);
      if (array?.shape.join() !== state.shape.join()) {
        const got = array === undefined ? 'is missing' : `has shape [${array.shape.join(',')}]`;
        throw new LatheError(
          `${where}: the optimizer needs ${name} [${state.shape.join(',')}], which ${got}`,
        );
      }
      writes.push(() => state.values.set(array.data));
    } else {
      const power = /^optimizer\/(.+)_power$/.exec(state.name);
      if (power === null) continue;
      const base = Number(training?.optimizer[power[1]!] ?? state.values[0]);
      writes.push(() => (state.values[0] = powerOf(base, steps + 1)));
    }
  }
  for (const write of writes) write();
}

/** As the module computes it, step by step in 32 bits. */
function powerOf(base: number, exponent: number): number {
  const factor = Math.fround(base);
  let power = factor;
  for (let step = 1; step < exponent && power > 0; ++step) power = Math.fround(power * factor);
  return power;
}
