/** The masks that layers pass on, as `computeMask` of TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { apply as applied } from '../eager/apply.js';
import type { Layer } from '../layers/layer.js';
import { Tensor, tensor } from '../tensor/tensor.js';

/** The classes that take masks in TensorFlow.js. */
export const masking =
  /^(Dense|Activation|Masking|Dropout|.*(Noise|GaussianDropout|AlphaDropout)|.*(ReLU|ELU)|LayerNormalization|BatchNormalization|Add|Multiply|Average|Maximum|Minimum|Concatenate|Dot|.*RNN|LSTM|GRU|Bidirectional|TimeDistributed|RepeatVector|SpatialDropout1D)$/;

/** What stands for each state in the masks of what a recurrent layer gives. */
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
  const { returnSequences: gives = returnSequences } = (inner?.options ?? {}) as {
    returnSequences?: boolean;
  };
  const own = gives === true ? ([mask].flat()[0] ?? null) : null;
  if (inner !== undefined) return mergeMode === 'none' ? [own, own] : own;
  if (returnState !== true) return own;
  const { stateSize } = (layer as unknown as { cell: { stateSize: unknown } }).cell;
  return [own, ...[stateSize].flat().map(() => null)];
}

/** Of several inputs the mask of what they become: where all count; along the axis that joins them each has its own. */
function mergedMask(layer: Layer, inputs: unknown, mask: unknown): Tensor | null {
  if (mask == null) return null;
  const [given, masks] = [inputs as Tensor[], mask as (Tensor | null)[]];
  if (!Array.isArray(inputs) || !Array.isArray(mask) || given.length !== masks.length) {
    throw new LatheError(
      `computeMask: layer "${layer.label}" takes arrays of inputs and masks of the same length`,
    );
  }
  if (masks.every((each) => each === null)) return null;
  if (layer.getClassName() !== 'Concatenate') {
    const rows = masks.flatMap((each) => each && applied('expandDims', [each], [0]));
    return (rows.filter(Boolean) as Tensor[]).reduce((a, b) => applied('logicalAnd', [a, b]));
  }
  const { axis = -1 } = layer.options as { axis?: number };
  const whole = given.map((x, at) => {
    const own = masks[at];
    if (own === null) return tensor(new Uint8Array(x.size).fill(1), x.shape, 'bool');
    return own!.rank < x.rank ? applied('expandDims', [own!], [-1]) : own!;
  });
  return applied('all', [applied('concat', whole, [axis])], [[-1]]);
}

/** The mask of what a layer gives; nothing where it is that of what it reads. */
export function passedMask(layer: Layer, inputs: unknown, mask: unknown): unknown {
  const name = layer.getClassName();
  if (/^(Add|Multiply|Average|Maximum|Minimum|Concatenate)$/.test(name))
    return mergedMask(layer, inputs, mask);
  if (name === 'Dot') return null;
  if (/RNN$|^(LSTM|GRU|ConvLSTM2D|Bidirectional)$/.test(name)) return maskOfSequences(layer, mask);
  return madeMask(layer, [inputs].flat()[0] as Tensor);
}

/** The mask that a layer makes of its input, null for none; nothing where it makes no masks. */
function madeMask(layer: Layer, x: Tensor): Tensor | null | undefined {
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
