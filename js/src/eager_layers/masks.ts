/** `computeMask` of TensorFlow.js. */
import { LatheError } from '../base/errors.js';
import { applyOperation as applied } from '../eager/apply.js';
import type { Layer } from '../layers/layer.js';
import { layerRow } from '../layers/layer_row.js';
import { Tensor, tensor } from '../tensor/tensor.js';

const ruleOf = (layer: Layer) => layerRow(layer.getClassName()).mask ?? 'unsupported';

/** `supportsMasking` of a layer of the core. */
export const supportsMasking = (layer: Layer): boolean =>
  !['unsupported', 'unsupportedSteps', 'notZero'].includes(ruleOf(layer));

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
  if (ruleOf(layer) === 'and') {
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

/** The mask of a layer's output; undefined if the input mask is passed on, or none is supported. */
export function outputMask(layer: Layer, inputs: unknown, mask: unknown): unknown {
  const { maskZero, maskValue = 0 } = layer.options as { maskZero?: boolean; maskValue?: number };
  const differs = (value: number) =>
    applied('notEqual', [applied('cast', [firstOf(inputs)], ['float32']), value]);
  switch (ruleOf(layer)) {
    case 'and':
    case 'concatenated':
      return mergedMask(layer, inputs, mask);
    case 'dropped':
      return null;
    case 'steps':
    case 'unsupportedSteps':
      return maskOfSequences(layer, mask);
    case 'notZero':
      return maskZero === true ? differs(0) : null;
    case 'notValue':
      return applied('any', [differs(maskValue)], [[firstOf(inputs).rank - 1]]);
    case 'passed':
    case 'unsupported':
      return undefined;
  }
}

const firstOf = (inputs: unknown): Tensor => [inputs].flat()[0] as Tensor;
