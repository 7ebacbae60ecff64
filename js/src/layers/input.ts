/** Inputs of models. */
import { LatheError } from '../base/errors.js';
import type { DynamicShape } from '../core/abi.js';
import { loadedDeferred } from './deferred.js';
import { Layer, type SymbolicTensor } from './layer.js';
import { inputClassName } from './layer_names.js';

/** Arguments of `input`. */
export interface InputArgs {
  /** Shape of one example, null for any size. */
  shape?: DynamicShape;
  /** Instead of it, the shape with the batch size first; null: any. */
  batchShape?: DynamicShape;
  /** Default: input1, input2, … */
  name?: string;
  /** Element type of the data; models compute in float32. */
  dtype?: string;
  /** For compatibility with TensorFlow.js; data are never sparse. */
  sparse?: boolean;
}

/** Creates an input of a model. Errors: an unknown option; no shape, or an invalid one. */
export function input(args: InputArgs): SymbolicTensor {
  loadedDeferred()?.checkArguments('input', args);
  const { batchShape, name, dtype = 'float32', sparse = false } = args;
  const shape = args.shape ?? batchShape?.slice(1);
  const isSize = (size: number | null) => size === null || (Number.isInteger(size) && size > 0);
  if (!Array.isArray(shape) || !shape.every(isSize)) {
    throw new LatheError(
      shape === undefined
        ? 'Please provide to Input either a `shape` or a `batchShape`'
        : `input: shape must be an array of positive integers or null, got ${String(shape)}`,
    );
  }
  const batchInputShape = [batchShape?.[0] ?? null, ...shape];
  const layer = new Layer(inputClassName, {
    ...(name === undefined ? {} : { name }),
    batchInputShape,
    trainable: false,
  });
  Object.assign(layer, { inputDType: dtype, sparse, inputSpec: [{ shape: batchInputShape }] });
  return layer.addCall([], [batchInputShape])[0]!;
}
