/** What CategoryEncoding does besides the graph of the core: checks of values, and weights of counts. */
import { LatheError } from '../base/errors.js';
import { applyOperation as applied } from '../eager/apply.js';
import type { LayerClass } from '../layers/layer_classes.js';
import type { ApplyArgs, Layer } from '../layers/layer.js';
import { tensor } from '../tensor/create.js';
import type { Tensor } from '../tensor/tensor.js';
import { floats } from './casts.js';
import { isTraced } from './layer_node.js';

export const categoryEncoding: LayerClass = 'CategoryEncoding';

/** Errors: more than two axes; a category out of range (unless traced). */
export function checkCategories(layer: Layer, x: Tensor): void {
  const { numTokens, outputMode = 'multiHot' } = layer.options as {
    numTokens: number;
    outputMode?: string;
  };
  if (x.rank > 2) {
    throw new LatheError(
      `When outputMode is not int, maximum output rank is 2 Received outputMode ${outputMode} and input shape ` +
        `${x.shape.join()} which would result in output rank ${x.rank}.`,
    );
  }
  const isCategory = (each: number) => each >= 0 && each < numTokens;
  if (isTraced(x) || (x.dataSync() as Float32Array).every(isCategory)) return;
  throw new LatheError(
    `Input values must be between 0 < values <= numTokens with numTokens=${numTokens}`,
  );
}

/** CategoryEncoding with `countWeights`; undefined without them. Errors: another outputMode or shape. */
export function weightedCounts(
  layer: Layer,
  x: Tensor,
  countWeights: ApplyArgs['countWeights'],
): { results: Tensor[]; masks: undefined[] } | undefined {
  if (layer.getClassName() !== categoryEncoding || countWeights === undefined) return undefined;
  const { outputMode, numTokens } = layer.options as { outputMode?: string; numTokens: number };
  const weights = floats([countWeights].flat()[0] as Tensor);
  if (outputMode !== 'count') {
    throw new LatheError(`layer "${layer.label}": countWeights require the outputMode count`);
  }
  if (weights.shape.join() !== x.shape.join()) {
    throw new LatheError(
      `layer "${layer.label}": countWeights of shape [${weights.shape.join()}] do not fit [${x.shape.join()}]`,
    );
  }
  const column = [...x.shape, 1];
  const category = applied('reshape', [applied('cast', [x], ['int32'])], [column]);
  const each = tensor(Int32Array.from({ length: numTokens }, (_, at) => at));
  const occurs = floats(applied('equal', [category, each]));
  const weighted = applied('mul', [occurs, applied('reshape', [weights], [column])]);
  return { results: [applied('sum', [weighted], [[x.rank - 1]])], masks: [undefined] };
}
