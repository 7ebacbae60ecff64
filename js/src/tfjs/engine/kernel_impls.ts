/** `tf.kernel_impls`: operations whose result size depends on the data, on typed arrays. */
import { indicesWhere } from '../../base/arrays.js';
import type { Tensor } from '../../tensor/tensor.js';
import { type Rule, selectBoxes } from '../../ops/images/box_selection.js';
import { TensorBuffer } from '../util/buffer.js';
import { indexToLoc, computeStrides } from '../../shapes/shapes.js';
import type { TypedArray } from '../../shapes/types.js';

interface Chosen {
  selectedIndices: number[];
  selectedScores: number[];
  validOutputs: number;
}

/** The selection as lists; with `pad` zeros follow up to `maxCount`. */
function choose(boxes: TypedArray, scores: TypedArray, rule: Rule, pad = false): Chosen {
  const chosen = selectBoxes(boxes, scores, rule);
  const selectedIndices = chosen.map(({ box }) => box);
  const selectedScores = chosen.map(({ score }) => score);
  while (pad && selectedIndices.length < rule.maxCount) {
    selectedIndices.push(0);
    selectedScores.push(0);
  }
  return { selectedIndices, selectedScores, validOutputs: chosen.length };
}

/** Hard non-maximum suppression, best boxes first. */
export function nonMaxSuppressionV3Impl(
  boxes: TypedArray,
  scores: TypedArray,
  maxOutputSize: number,
  iouThreshold: number,
  scoreThreshold: number,
): { selectedIndices: number[] } {
  const rule = { maxCount: maxOutputSize, iou: iouThreshold, score: scoreThreshold, sigma: 0 };
  const { selectedIndices } = choose(boxes, scores, rule);
  return { selectedIndices };
}

/** As V3, optionally zero-padded. */
export function nonMaxSuppressionV4Impl(
  boxes: TypedArray,
  scores: TypedArray,
  maxOutputSize: number,
  iouThreshold: number,
  scoreThreshold: number,
  padToMaxOutputSize: boolean,
): { selectedIndices: number[]; validOutputs: number } {
  const rule = { maxCount: maxOutputSize, iou: iouThreshold, score: scoreThreshold, sigma: 0 };
  const { selectedIndices, validOutputs } = choose(boxes, scores, rule, padToMaxOutputSize);
  return { selectedIndices, validOutputs };
}

/** As V3, but soft: overlaps lower scores by a Gaussian of this sigma. */
export function nonMaxSuppressionV5Impl(
  boxes: TypedArray,
  scores: TypedArray,
  maxOutputSize: number,
  iouThreshold: number,
  scoreThreshold: number,
  softNmsSigma: number,
): { selectedIndices: number[]; selectedScores: number[] } {
  const rule = {
    maxCount: maxOutputSize,
    iou: iouThreshold,
    score: scoreThreshold,
    sigma: softNmsSigma,
  };
  const { selectedIndices, selectedScores } = choose(boxes, scores, rule);
  return { selectedIndices, selectedScores };
}

/** The coordinates of true elements: int32 [count, rank]. */
export function whereImpl(shape: number[], values: TypedArray): Tensor {
  const strides = computeStrides(shape);
  const trueIndices = indicesWhere(values, Boolean);
  const flat = Int32Array.from(trueIndices.flatMap((at) => indexToLoc(at, shape.length, strides)));
  return new TensorBuffer([trueIndices.length, shape.length], 'int32', flat).toTensor();
}
