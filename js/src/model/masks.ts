/** `computeMask` of TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { applyOperation as applied } from '../eager/apply.js';
import type { Layer } from '../layers/layer.js';
import { Tensor, tensor } from '../tensor/tensor.js';

/** The classes that support masking in TensorFlow.js. */
export const maskingClasses =
  /^(Dense|Activation|Masking|Dropout|.*(Noise|GaussianDropout|AlphaDropout)|.*(ReLU|ELU)|LayerNormalization|BatchNormalization|Add|Multiply|Average|Maximum|Minimum|Concatenate|Dot|.*RNN|LSTM|GRU|Bidirectional|TimeDistributed|RepeatVector|SpatialDropout1D)$/;

/** Masks of a recurrent layer's outputs: null for each state. */
function maskOfSequences(layer: Layer, mask: unknown): unknown {
  const {
    returnSequences,
    returnState,
    mergeMode,
    layer: inner,
  } = layer.options as {
    returnSequences?: boolean;
    returnState?: boolean;
    mergeMode?: string;
    layer?: Layer;
  };
  const { returnSequences: isSequence = returnSequences } = (inner?.options ?? {}) as {
    returnSequences?: boolean;
  };
  const sequenceMask = isSequence === true ? ([mask].flat()[0] ?? null) : null;
  if (inner !== undefined)
    return mergeMode === 'none' ? [sequenceMask, sequenceMask] : sequenceMask;
  if (returnState !== true) return sequenceMask;
  const { stateSize } = (layer as unknown as { cell: { stateSize: unknown } }).cell;
  return [sequenceMask, ...[stateSize].flat().map(() => null)];
}

/** The mask of a merge layer: logical and; of Concatenate the concatenated masks. */
function mergedMask(layer: Layer, inputs: unknown, mask: unknown): Tensor | null {
  if (mask == null) return null;
  const [tensors, masks] = [inputs as Tensor[], mask as (Tensor | null)[]];
  if (!Array.isArray(inputs) || !Array.isArray(mask) || tensors.length !== masks.length) {
    throw new LatheError(
      `computeMask: layer "${layer.label}" requires arrays of inputs and masks of the same length`,
    );
  }
  if (masks.every((each) => each === null)) return null;
  if (layer.getClassName() !== 'Concatenate') {
    const rows = masks.flatMap((each) => each && applied('expandDims', [each], [0]));
    return (rows.filter(Boolean) as Tensor[]).reduce((a, b) => applied('logicalAnd', [a, b]));
  }
  const { axis = -1 } = layer.options as { axis?: number };
  const expanded = tensors.map((x, at) => {
    const inputMask = masks[at];
    if (inputMask === null) return tensor(new Uint8Array(x.size).fill(1), x.shape, 'bool');
    return inputMask!.rank < x.rank ? applied('expandDims', [inputMask!], [-1]) : inputMask!;
  });
  return applied('all', [applied('concat', expanded, [axis])], [[-1]]);
}

/** The mask of a layer's output; undefined if the input mask is passed on. */
export function outputMask(layer: Layer, inputs: unknown, mask: unknown): unknown {
  const name = layer.getClassName();
  if (/^(Add|Multiply|Average|Maximum|Minimum|Concatenate)$/.test(name))
    return mergedMask(layer, inputs, mask);
  if (name === 'Dot') return null;
  if (/RNN$|^(LSTM|GRU|ConvLSTM2D|Bidirectional)$/.test(name)) return maskOfSequences(layer, mask);
  return createdMask(layer, [inputs].flat()[0] as Tensor);
}

/** The mask that a layer computes from its input, or null; undefined if the layer creates no masks. */
function createdMask(layer: Layer, x: Tensor): Tensor | null | undefined {
  const { maskZero, maskValue = 0 } = layer.options as { maskZero?: boolean; maskValue?: number };
  const differs = (value: number) =>
    applied('notEqual', [applied('cast', [x], ['float32']), value]);
  switch (layer.getClassName()) {
    case 'Embedding':
      return maskZero === true ? differs(0) : null;
    case 'Masking':
      return applied('any', [differs(maskValue)], [[x.rank - 1]]);
  }
  return undefined;
}
