/** Non-maximum suppression of boxes, in JavaScript, as the result size depends on values. */
import { LatheError } from '../../base/errors.js';
import { toTensor } from '../../eager/operands.js';
import type { Tensor1D } from '../../tensor/ranked_tensors.js';
import { startScope, endScope } from '../../tensor/live_tensors.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';
import { type Candidate, type Rule, selectBoxes } from './box_selection.js';
import { constant, integers } from '../common/constants.js';

function checked(op: string, boxes: Tensor, scores: Tensor, rule: Rule): Rule {
  const fail = (text: string): never => {
    throw new LatheError(`Error in ${op}: ${text}`);
  };
  if (!(rule.iou >= 0 && rule.iou <= 1))
    fail(`iouThreshold must be in [0, 1], but was '${rule.iou}'`);
  if (boxes.rank !== 2) fail(`boxes must be a 2D tensor, but was of rank '${boxes.rank}'`);
  if (boxes.shape[1] !== 4)
    fail(`boxes must have 4 columns, but 2nd dimension was ${boxes.shape[1]}`);
  if (scores.rank !== 1) fail('scores must be a 1D tensor');
  if (scores.shape[0] !== boxes.shape[0]) {
    fail(
      `scores has incompatible shape with boxes. Expected ${boxes.shape[0]}, but was ${scores.shape[0]}`,
    );
  }
  if (rule.sigma < 0 || rule.sigma > 1)
    fail(`softNmsSigma must be in [0, 1], but was '${rule.sigma}'`);
  return { ...rule, maxCount: Math.min(rule.maxCount, boxes.shape[0]!) };
}

/** Reads boxes and scores and returns what `build` makes of the selection. */
function runSuppression<T>(
  op: string,
  boxes: TensorLike,
  scores: TensorLike,
  rule: Rule,
  build: (chosen: Candidate[], rule: Rule) => T,
): T {
  startScope();
  let result: T | undefined;
  try {
    const corners = toTensor(boxes, 'boxes', op, 'float32');
    const values = toTensor(scores, 'scores', op, 'float32');
    const strict = checked(op, corners, values, rule);
    result = build(selectBoxes(corners.dataSync(), values.dataSync(), strict), strict);
    return result;
  } finally {
    endScope(result);
  }
}

const numbers = (chosen: readonly Candidate[]) => integers(chosen.map(({ box }) => box));

/**
 * The indices of the boxes with the highest scores that overlap no better one, best first, int32 [≤ maxOutputSize].
 *
 * @param boxes [boxes, 4]: y1, x1, y2, x2
 * @param iouThreshold intersection over union from which a box is suppressed
 * @param scoreThreshold boxes with scores ≤ it are dropped
 *
 * Errors: shapes; an iouThreshold outside [0, 1].
 */
export const nonMaxSuppression = (
  boxes: TensorLike,
  scores: TensorLike,
  maxOutputSize: number,
  iouThreshold = 0.5,
  scoreThreshold = -Infinity,
): Tensor1D => {
  const rule = { maxCount: maxOutputSize, iou: iouThreshold, score: scoreThreshold, sigma: 0 };
  return runSuppression('nonMaxSuppression', boxes, scores, rule, numbers);
};

/** `nonMaxSuppression` that also returns scores; with a `softNmsSigma` overlaps lower scores (Bodla et al., 2017). */
export const nonMaxSuppressionWithScore = (
  boxes: TensorLike,
  scores: TensorLike,
  maxOutputSize: number,
  iouThreshold = 0.5,
  scoreThreshold = -Infinity,
  softNmsSigma = 0,
): { selectedIndices: Tensor; selectedScores: Tensor } => {
  const rule = {
    maxCount: maxOutputSize,
    iou: iouThreshold,
    score: scoreThreshold,
    sigma: softNmsSigma,
  };
  return runSuppression('nonMaxSuppression', boxes, scores, rule, (chosen) => ({
    selectedIndices: numbers(chosen),
    selectedScores: constant(
      Float32Array.from(chosen, ({ score }) => score),
      [chosen.length],
    ),
  }));
};

/** `nonMaxSuppression` that also returns how many were selected; optionally padded with zeros to `maxOutputSize`. */
export const nonMaxSuppressionPadded = (
  boxes: TensorLike,
  scores: TensorLike,
  maxOutputSize: number,
  iouThreshold = 0.5,
  scoreThreshold = -Infinity,
  padToMaxOutputSize = false,
): { selectedIndices: Tensor; validOutputs: Tensor } => {
  const rule = { maxCount: maxOutputSize, iou: iouThreshold, score: scoreThreshold, sigma: 0 };
  return runSuppression('nonMaxSuppression', boxes, scores, rule, (chosen, { maxCount }) => {
    const all = chosen.map(({ box }) => box);
    while (padToMaxOutputSize && all.length < maxCount) all.push(0);
    return { selectedIndices: integers(all), validOutputs: integers([chosen.length], []) };
  });
};

async function read(boxes: TensorLike, scores: TensorLike): Promise<void> {
  for (const each of [boxes, scores]) {
    const { data } = (each ?? {}) as Tensor;
    if (typeof data === 'function') await (each as Tensor).data();
  }
}

/** Asynchronous `nonMaxSuppression`. */
export const nonMaxSuppressionAsync = async (
  ...args: Parameters<typeof nonMaxSuppression>
): Promise<Tensor1D> => {
  await read(args[0], args[1]);
  return nonMaxSuppression(...args);
};

/** Asynchronous `nonMaxSuppressionWithScore`. */
export const nonMaxSuppressionWithScoreAsync = async (
  ...args: Parameters<typeof nonMaxSuppressionWithScore>
): Promise<ReturnType<typeof nonMaxSuppressionWithScore>> => {
  await read(args[0], args[1]);
  return nonMaxSuppressionWithScore(...args);
};

/** Asynchronous `nonMaxSuppressionPadded`. */
export const nonMaxSuppressionPaddedAsync = async (
  ...args: Parameters<typeof nonMaxSuppressionPadded>
): Promise<ReturnType<typeof nonMaxSuppressionPadded>> => {
  await read(args[0], args[1]);
  return nonMaxSuppressionPadded(...args);
};
