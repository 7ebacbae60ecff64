/** Weights into a model: files on demand, tensors by their names at once. */
import { extrasAtHand, extrasFor, fetchExtras } from '../layers/extras.js';
import type { TensorLike } from '../tensor/tensor.js';
import type { LoadWeightsArgs, WeightSource } from '../io/weight_files.js';
import type { LayersModel } from './model.js';

/** As `model.loadWeights`. */
export function loadWeights(
  model: LayersModel,
  source: WeightSource | Record<string, TensorLike>,
  args: LoadWeightsArgs | boolean,
): Promise<void> {
  const given = typeof args === 'boolean' ? { strict: args } : args;
  if (Object.getPrototypeOf(source) === Object.prototype && !('load' in (source as object))) {
    const load = () =>
      extrasFor('loadWeights').members.loadNamed!(
        model as never,
        source as never,
        given.strict as never,
      );
    if (extrasAtHand() === undefined) return fetchExtras().then(() => void load());
    load();
    return Promise.resolve();
  }
  return import('../io/weight_files.js').then((files) =>
    files.loadWeights(model, source as WeightSource, given),
  );
}
