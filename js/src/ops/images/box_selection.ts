/** The selection of non-maximum suppression, on arrays. */
import { checkCount } from '../../base/limits.js';

export interface Rule {
  /** Upper bound of selected boxes. */
  maxCount: number;
  /** Intersection over union from which boxes are suppressed. */
  iou: number;
  /** Only boxes with higher scores are selected. */
  score: number;
  /** Sigma of soft NMS, which lowers scores instead of suppressing; 0: hard NMS. */
  sigma: number;
}

export interface Candidate {
  box: number;
  score: number;
  /** The number of selected boxes it has been compared with. */
  seen: number;
}

/** Intersection over union of boxes with any two opposite corners; 0 for empty boxes. */
function overlap(boxes: ArrayLike<number>, a: number, b: number): number {
  const side = (box: number, axis: number): [number, number] => {
    const [one, other] = [boxes[box * 4 + axis]!, boxes[box * 4 + axis + 2]!];
    return one < other ? [one, other] : [other, one];
  };
  let [areaA, areaB, common] = [1, 1, 1];
  for (const axis of [0, 1]) {
    const [[fromA, toA], [fromB, toB]] = [side(a, axis), side(b, axis)];
    areaA *= toA - fromA;
    areaB *= toB - fromB;
    common *= Math.max(Math.min(toA, toB) - Math.max(fromA, fromB), 0);
  }
  return areaA <= 0 || areaB <= 0 ? 0 : common / (areaA + areaB - common);
}

/** Inserts a candidate in ascending priority: by score, then by descending index. The last one is the best. */
function insert(queue: Candidate[], next: Candidate): void {
  const isBelow = (other: Candidate) =>
    other.score < next.score || (other.score === next.score && other.box > next.box);
  let [from, to] = [0, queue.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isBelow(queue[middle]!)) from = middle + 1;
    else to = middle;
  }
  queue.splice(from, 0, next);
}

/** The boxes ([y1, x1, y2, x2]) that the rule selects, best first; soft: Bodla et al., Soft-NMS, 2017. */
export function selectBoxes(
  boxes: ArrayLike<number>,
  scores: ArrayLike<number>,
  rule: Rule,
): Candidate[] {
  const queue = Array.from(scores, (score, box) => ({ box, score, seen: 0 }))
    .filter(({ score }) => score > rule.score)
    .sort((a, b) => a.score - b.score || b.box - a.box);
  const decay = rule.sigma > 0 ? -0.5 / rule.sigma : 0;
  const chosen: Candidate[] = [];
  let comparisons = 0;
  while (chosen.length < rule.maxCount && queue.length > 0) {
    const next = queue.pop()!;
    if (next.score < rule.score) break;
    const before = next.score;
    comparisons += chosen.length - next.seen;
    checkCount('nonMaxSuppression', 'comparisons of boxes', comparisons, 2 ** 30);
    let isSuppressed = false;
    for (let at = chosen.length - 1; at >= next.seen && !isSuppressed; at -= 1) {
      const shared = overlap(boxes, next.box, chosen[at]!.box);
      if (shared >= rule.iou) isSuppressed = true;
      else next.score *= Math.exp(decay * shared * shared);
      if (next.score <= rule.score) break;
    }
    next.seen = chosen.length;
    if (isSuppressed) continue;
    if (next.score === before) chosen.push(next);
    else if (next.score > rule.score) insert(queue, next);
  }
  return chosen;
}
