/**
 * Loops and branches of TensorFlow 1: Enter passes a value into a frame, NextIteration to its next round, Exit out
 * of it; Switch forwards to one of two outputs, Merge forwards the input that arrives (Y. Yu et al., "Dynamic control flow in large-scale
 * machine learning", 2018).
 */
import { checkDepth } from '../base/limits.js';
import { checkStop } from '../base/stop.js';
import { Call, type Value, type Values } from './call.js';
import { type Steps, unreadIn } from './steps.js';
import type { GraphNode, Source, Topology } from './topology.js';

/** Runs single nodes. */
export interface NodeExecutor {
  /** The outputs of a node for its operands. Error: an unsupported operator. */
  evaluate(node: GraphNode, operands: readonly Value[]): Steps<readonly Value[]>;
  /** The value of an edge. Error: it has not been computed. */
  value(source: Source, topology: Topology, seen: Values): Value;
  /** Counts a loop iteration. Error: too many. */
  step(where: string): void;
}

/** One iteration of a frame, the scope in which values are valid; nested in an iteration of an outer frame. */
interface Iteration {
  readonly outer: Iteration | undefined;
  readonly frame: string;
  readonly round: number;
  readonly depth: number;
  readonly values: Map<string, readonly Value[]>;
  readonly inner: Map<string, Iteration>;
}

const newIteration = (outer: Iteration | undefined, frame: string, round: number): Iteration => ({
  outer,
  frame,
  round,
  depth: (outer?.depth ?? 0) + 1,
  values: new Map(),
  inner: new Map(),
});

function childIteration(outer: Iteration, frame: string, round: number): Iteration {
  const key = `${frame}/${round}`;
  let found = outer.inner.get(key);
  if (found === undefined) {
    found = newIteration(outer, frame, round);
    checkDepth(`graph model: frame "${frame}"`, found.depth);
    outer.inner.set(key, found);
  }
  return found;
}

/** The iteration in which a frame was entered. Error: the node is in no frame. */
function outerOf({ outer }: Iteration, node: GraphNode): Iteration {
  if (outer !== undefined) return outer;
  throw new Call(node, []).wrong('is in no frame; Enter must come before it');
}

/** Runs the nodes in order; returns the last outputs of each, within frames or not. */
export function* runFrames(
  executor: NodeExecutor,
  topology: Topology,
  order: readonly GraphNode[],
  seen: Values,
): Steps<Values> {
  const last: Values = new Map();
  const readers = new Map<string, GraphNode[]>();
  for (const node of order) {
    for (const name of node.after) {
      readers.set(name, [...(readers.get(name) ?? []), node]);
    }
  }
  const root = newIteration(undefined, '', 0);
  const queue: { node: GraphNode; iteration: Iteration }[] = [];
  const done = new Map<Iteration, Set<GraphNode>>();

  /** The value in the innermost enclosing iteration; undefined if there is none yet. */
  const find = (source: Source, iteration: Iteration): { value: Value } | undefined => {
    for (let at: Iteration | undefined = iteration; at !== undefined; at = at.outer) {
      if (!at.values.has(source.node)) continue;
      return { value: executor.value(source, topology, at.values as Values) };
    }
    if (seen.has(source.node) || !topology.nodes.has(source.node) || isWeight(source)) {
      return { value: executor.value(source, topology, seen) };
    }
    return undefined;
  };
  const isWeight = ({ node }: Source) => topology.nodes.get(node)!.op === 'Const';
  const isReady = (node: GraphNode, iteration: Iteration) => {
    const found = node.inputs.map((each) => find(each, iteration));
    if (node.op === 'Merge') return found.some((each) => each?.value !== undefined);
    const isRun = (name: string) => find({ node: name, index: 0 }, iteration) !== undefined;
    return found.every((each) => each?.value !== undefined) && node.after.every(isRun);
  };
  const offer = (node: GraphNode, iteration: Iteration) => {
    const finished = done.get(iteration) ?? new Set();
    done.set(iteration, finished);
    if (finished.has(node) || !isReady(node, iteration)) return;
    finished.add(node);
    queue.push({ node, iteration });
  };
  const propagate = (node: GraphNode, iteration: Iteration, values: readonly Value[]) => {
    iteration.values.set(node.name, values);
    last.set(node.name, values);
    if (iteration === root) seen.set(node.name, values);
    for (const each of readers.get(node.name) ?? []) offer(each, iteration);
  };

  for (const node of order) offer(node, root);
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    checkStop();
    const { node, iteration } = next;
    const operands = node.inputs.map((each) => find(each, iteration)?.value);
    switch (node.op) {
      case 'Enter': {
        const inner = childIteration(iteration, String(node.attributes.frame_name ?? ''), 0);
        propagate(node, inner, operands);
        for (const each of order) if (entersSameFrame(each, node)) offer(each, iteration);
        break;
      }
      case 'Exit':
        propagate(node, outerOf(iteration, node), operands);
        break;
      case 'NextIteration': {
        executor.step(`graph model: NextIteration "${node.name}"`);
        const outer = outerOf(iteration, node);
        const following = childIteration(outer, iteration.frame, iteration.round + 1);
        for (const name of copyLoopConstants(iteration, following, order)) {
          for (const each of readers.get(name) ?? []) offer(each, following);
        }
        propagate(node, following, operands);
        break;
      }
      case 'Merge':
        propagate(node, iteration, [operands.find((each) => each !== undefined)]);
        break;
      case 'Switch': {
        const unread = unreadIn([operands[1]]);
        if (unread.length > 0) yield unread;
        const isTrue = new Call(node, operands).number(1) !== 0;
        propagate(node, iteration, isTrue ? [undefined, operands[0]] : [operands[0], undefined]);
        break;
      }
      case 'LoopCond':
        propagate(node, iteration, operands);
        break;
      default:
        propagate(node, iteration, yield* executor.evaluate(node, operands));
    }
  }
  return last;
}

/** Whether both enter the same frame: constants that enter it have no other trigger. */
const entersSameFrame = (one: GraphNode, other: GraphNode): boolean =>
  one.op === 'Enter' && one.attributes.frame_name === other.attributes.frame_name;

/** Copies the values that Enter marks as constant to the next iteration; returns the names of the new ones. */
function copyLoopConstants(from: Iteration, to: Iteration, order: readonly GraphNode[]): string[] {
  const names: string[] = [];
  for (const { name, op, attributes } of order) {
    if (op !== 'Enter' || attributes.is_constant !== true || to.values.has(name)) continue;
    const values = from.values.get(name);
    if (values === undefined) continue;
    to.values.set(name, values);
    names.push(name);
  }
  return names;
}
