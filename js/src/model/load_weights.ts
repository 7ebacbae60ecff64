/** Loads weights into a model: files asynchronously, tensors by name immediately. */
import { loadedDeferred, requireDeferred, fetchDeferred } from '../layers/deferred.js';
import type { TensorLike } from '../tensor/tensor.js';
import type { LoadWeightsArgs, WeightSource } from '../io/weight_files.js';
import type { Storable } from '../train/storable.js';

/** As `model.loadWeights`. */
export function loadWeights(
  model: Storable,
  source: WeightSource | Record<string, TensorLike>,
  args: LoadWeightsArgs | boolean,
): Promise<void> {
  const options = typeof args === 'boolean' ? { strict: args } : args;
  if (Object.getPrototypeOf(source) === Object.prototype && !('load' in (source as object))) {
    const load = () =>
      requireDeferred('loadWeights').members.loadNamed!(
        model as never,
        source as never,
        options.strict as never,
      );
    if (loadedDeferred() === undefined) return fetchDeferred().then(() => void load());
    load();
    return Promise.resolve();
  }
  return import('../io/weight_files.js').then((files) =>
    files.loadWeights(model, source as WeightSource, options),
  );
}
