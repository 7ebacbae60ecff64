/** `tf.kernel_impls`: operations whose result size depends on the data, on typed arrays. */
import { indicesWhere } from '../base/arrays.js';
import type { Tensor } from '../tensor/tensor.js';
import { TensorBuffer } from './buffer.js';
import { binaryInsert } from './search.js';
import { indexToLoc, computeStrides } from '../shapes/shapes.js';
import type { TypedArray } from '../shapes/types.js';

interface Candidate {
  score: number;
  box: number;
  /** The number of selected boxes it has been compared with. */
  compared: number;
}

interface Chosen {
  selectedIndices: number[];
  selectedScores: number[];
  validOutputs: number;
}

interface Limits {
  maxCount: number;
  overlap: number;
  score: number;
  sigma?: number;
  pad?: boolean;
}

/** Ascending by score, then descending by index. */
const order = (a: Candidate, b: Candidate): number => a.score - b.score || b.box - a.box;

/** Intersection over union of two boxes. */
function overlapOf(boxes: TypedArray, i: number, j: number): number {
  const corners = (at: number) => {
    const [y1, x1, y2, x2] = boxes.subarray(4 * at, 4 * at + 4) as unknown as [
      number,
      number,
      number,
      number,
    ];
    return [Math.min(y1, y2), Math.min(x1, x2), Math.max(y1, y2), Math.max(x1, x2)] as const;
  };
  const [a, b] = [corners(i), corners(j)];
  const area = (box: readonly number[]) => (box[2]! - box[0]!) * (box[3]! - box[1]!);
  const [areaA, areaB] = [area(a), area(b)];
  if (areaA <= 0 || areaB <= 0) return 0;
  const height = Math.max(Math.min(a[2], b[2]) - Math.max(a[0], b[0]), 0);
  const width = Math.max(Math.min(a[3], b[3]) - Math.max(a[1], b[1]), 0);
  const shared = height * width;
  return shared / (areaA + areaB - shared);
}

/** Lowers the score for each overlapping selected box; returns whether one suppresses it. */
function isRuledOut(
  candidate: Candidate,
  chosen: readonly number[],
  boxes: TypedArray,
  limits: Limits,
): boolean {
  const scale = limits.sigma ? -0.5 / limits.sigma : 0;
  for (let at = chosen.length - 1; at >= candidate.compared; --at) {
    const overlap = overlapOf(boxes, candidate.box, chosen[at]!);
    if (overlap >= limits.overlap) return true;
    candidate.score *= Math.exp(scale * overlap * overlap);
    if (candidate.score <= limits.score) return false;
  }
  return false;
}

/** Non-maximum suppression, soft where there is a sigma (Bodla et al., Soft-NMS, 2017). Boxes: [y1, x1, y2, x2]. */
function choose(boxes: TypedArray, scores: TypedArray, limits: Limits): Chosen {
  const candidates: Candidate[] = [];
  scores.forEach((score, box) => {
    if (score > limits.score) candidates.push({ score, box, compared: 0 });
  });
  candidates.sort(order);
  const selectedIndices: number[] = [];
  const selectedScores: number[] = [];
  while (selectedIndices.length < limits.maxCount && candidates.length > 0) {
    const candidate = candidates.pop()!;
    const before = candidate.score;
    if (before < limits.score) break;
    const isOut = isRuledOut(candidate, selectedIndices, boxes, limits);
    candidate.compared = selectedIndices.length;
    if (isOut) continue;
    if (candidate.score === before) {
      selectedIndices.push(candidate.box);
      selectedScores.push(before);
    } else if (candidate.score > limits.score) {
      binaryInsert(candidates, candidate, order);
    }
  }
  const validOutputs = selectedIndices.length;
  while (limits.pad && selectedIndices.length < limits.maxCount) {
    selectedIndices.push(0);
    selectedScores.push(0);
  }
  return { selectedIndices, selectedScores, validOutputs };
}

/** Hard non-maximum suppression, best boxes first. */
export function nonMaxSuppressionV3Impl(
  boxes: TypedArray,
  scores: TypedArray,
  maxOutputSize: number,
  iouThreshold: number,
  scoreThreshold: number,
): { selectedIndices: number[] } {
  const limits = { maxCount: maxOutputSize, overlap: iouThreshold, score: scoreThreshold };
  const { selectedIndices } = choose(boxes, scores, limits);
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
  const limits = {
    maxCount: maxOutputSize,
    overlap: iouThreshold,
    score: scoreThreshold,
    pad: padToMaxOutputSize,
  };
  const { selectedIndices, validOutputs } = choose(boxes, scores, limits);
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
  const limits = {
    maxCount: maxOutputSize,
    overlap: iouThreshold,
    score: scoreThreshold,
    sigma: softNmsSigma,
  };
  const { selectedIndices, selectedScores } = choose(boxes, scores, limits);
  return { selectedIndices, selectedScores };
}

/** The coordinates of true elements: int32 [count, rank]. */
export function whereImpl(shape: number[], values: TypedArray): Tensor {
  const strides = computeStrides(shape);
  const trueIndices = indicesWhere(values, Boolean);
  const flat = Int32Array.from(trueIndices.flatMap((at) => indexToLoc(at, shape.length, strides)));
  return new TensorBuffer([trueIndices.length, shape.length], 'int32', flat).toTensor();
}
