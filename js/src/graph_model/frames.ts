/**
 * Loops and branches as TensorFlow 1 wrote them: Enter hands a value into a frame, NextIteration to its next round, Exit out
 * of it; Switch gives one of two outputs, Merge takes what comes (Y. Yu et al., "Dynamic control flow in large-scale
 * machine learning", 2018).
 */
import { checkDepth } from '../base/limits.js';
import { checkStop } from '../base/stop.js';
import type { Value } from './call.js';
import type { Executor, Values } from './execute.js';
import type { GraphNode, Source, Topology } from './topology.js';

/** Where a value is valid: the round of a frame, within another place. */
interface Place {
  readonly outer: Place | undefined;
  readonly frame: string;
  readonly round: number;
  readonly depth: number;
  readonly values: Map<string, readonly Value[]>;
  readonly inner: Map<string, Place>;
}

const placeOf = (outer: Place | undefined, frame: string, round: number): Place => ({
  outer,
  frame,
  round,
  depth: (outer?.depth ?? 0) + 1,
  values: new Map(),
  inner: new Map(),
});

function within(outer: Place, frame: string, round: number): Place {
  const key = `${frame}/${round}`;
  let found = outer.inner.get(key);
  if (found === undefined) {
    found = placeOf(outer, frame, round);
    checkDepth(`graph model: frame "${frame}"`, found.depth);
    outer.inner.set(key, found);
  }
  return found;
}

/** Runs the nodes of an order; gives what each gave last, within frames or not. */
export function runFrames(
  executor: Executor,
  topology: Topology,
  order: readonly GraphNode[],
  seen: Values,
): Values {
  const last: Values = new Map();
  const readers = new Map<string, GraphNode[]>();
  for (const node of order) {
    for (const name of node.after) {
      readers.set(name, [...(readers.get(name) ?? []), node]);
    }
  }
  const root = placeOf(undefined, '', 0);
  const queue: { node: GraphNode; place: Place }[] = [];
  const done = new Map<Place, Set<GraphNode>>();

  /** The value nearest to a place; nothing where there is none yet. */
  const find = (source: Source, place: Place): { value: Value } | undefined => {
    for (let at: Place | undefined = place; at !== undefined; at = at.outer) {
      if (!at.values.has(source.node)) continue;
      return { value: executor.value(source, topology, at.values as Values) };
    }
    if (seen.has(source.node) || !topology.nodes.has(source.node) || isWeight(source)) {
      return { value: executor.value(source, topology, seen) };
    }
    return undefined;
  };
  const isWeight = ({ node }: Source) => topology.nodes.get(node)!.op === 'Const';
  const isReady = (node: GraphNode, place: Place) => {
    const found = node.inputs.map((each) => find(each, place));
    if (node.op === 'Merge') return found.some((each) => each?.value !== undefined);
    const isRun = (name: string) => find({ node: name, index: 0 }, place) !== undefined;
    return found.every((each) => each?.value !== undefined) && node.after.every(isRun);
  };
  const offer = (node: GraphNode, place: Place) => {
    const finished = done.get(place) ?? new Set();
    done.set(place, finished);
    if (finished.has(node) || !isReady(node, place)) return;
    finished.add(node);
    queue.push({ node, place });
  };
  const settle = (node: GraphNode, place: Place, values: readonly Value[]) => {
    place.values.set(node.name, values);
    last.set(node.name, values);
    if (place === root) seen.set(node.name, values);
    for (const each of readers.get(node.name) ?? []) offer(each, place);
  };

  for (const node of order) offer(node, root);
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    checkStop();
    const { node, place } = next;
    const operands = node.inputs.map((each) => find(each, place)?.value);
    switch (node.op) {
      case 'Enter': {
        const inner = within(place, String(node.attributes.frame_name ?? ''), 0);
        settle(node, inner, operands);
        for (const each of order) if (isBeside(each, node)) offer(each, place);
        break;
      }
      case 'Exit':
        settle(node, place.outer!, operands);
        break;
      case 'NextIteration': {
        executor.step(`graph model: NextIteration "${node.name}"`);
        const following = within(place.outer!, place.frame, place.round + 1);
        for (const name of carried(place, following, order)) {
          for (const each of readers.get(name) ?? []) offer(each, following);
        }
        settle(node, following, operands);
        break;
      }
      case 'Merge':
        settle(node, place, [operands.find((each) => each !== undefined)]);
        break;
      case 'Switch': {
        const isTrue = (operands[1] as { dataSync(): ArrayLike<number> }).dataSync()[0] !== 0;
        settle(node, place, isTrue ? [undefined, operands[0]] : [operands[0], undefined]);
        break;
      }
      case 'LoopCond':
        settle(node, place, operands);
        break;
      default:
        settle(node, place, executor.give(node, operands));
    }
  }
  return last;
}

/** Whether both hand values into the same frame: constants have nothing else that makes them. */
const isBeside = (one: GraphNode, other: GraphNode): boolean =>
  one.op === 'Enter' && one.attributes.frame_name === other.attributes.frame_name;

/** What Enter says is constant stays in every round; the names of what was not there yet. */
function carried(from: Place, to: Place, order: readonly GraphNode[]): string[] {
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
