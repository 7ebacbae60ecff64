/** Positions of a directed acyclic graph in ranks, after Sugiyama, Tagawa and Toda (1981). Must not know what the nodes are. */

/** A node with the nodes that it reads. */
export interface Node {
  readonly inputs: readonly Node[];
  readonly width: number;
  /** Set by `assignPositions`: its row, from the top, and the center of its column. */
  rank: number;
  x: number;
}

/** A node, or a point where an edge passes a rank. */
interface Slot extends Node {
  above: Slot[];
  below: Slot[];
}

const gap = 22;
const sweeps = 6;

/**
 * Assigns rank and x. `nodes` are in topological order. Each edge is a list of points from the input to its reader, one in every
 * rank.
 */
export function assignPositions(nodes: readonly Node[]): {
  width: number;
  ranks: number;
  edges: { x: number; rank: number }[][];
} {
  for (const node of nodes) node.rank = Math.max(0, ...node.inputs.map(({ rank }) => rank + 1));
  const ranks = Math.max(0, ...nodes.map(({ rank }) => rank + 1));
  const rows = Array.from({ length: ranks }, (): Slot[] => []);
  const slots = new Map<Node, Slot>();
  const chains: Slot[][] = [];
  const addSlot = (node: Node): Slot => {
    const slot: Slot = { ...node, above: [], below: [] };
    rows[node.rank]!.push(slot);
    return slot;
  };
  for (const node of nodes) {
    const slot = addSlot(node);
    slots.set(node, slot);
    for (const input of new Set(node.inputs)) {
      const chain = [slots.get(input)!];
      for (let rank = input.rank + 1; rank < node.rank; ++rank)
        chain.push(addSlot({ inputs: [], width: 10, rank, x: 0 }));
      chain.push(slot);
      for (const [at, each] of chain.slice(1).entries()) {
        chain[at]!.below.push(each);
        each.above.push(chain[at]!);
      }
      chains.push(chain);
    }
  }
  const width = Math.max(0, ...rows.map(place));
  for (let sweep = 0; sweep < sweeps; ++sweep) {
    for (const row of sweep % 2 === 0 ? rows : [...rows].reverse()) {
      const means = new Map(row.map((slot) => [slot, meanX(sweep % 2 === 0 ? slot.above : slot.below) ?? slot.x])); // prettier-ignore
      row.sort((a, b) => means.get(a)! - means.get(b)!);
      place(row);
    }
  }
  for (const [node, { x }] of slots) node.x = x + width / 2;
  const edges = chains.map((chain) => chain.map(({ x, rank }) => ({ x: x + width / 2, rank })));
  return { width, ranks, edges };
}

const meanX = (slots: readonly Slot[]): number | undefined =>
  slots.length === 0 ? undefined : slots.reduce((sum, { x }) => sum + x, 0) / slots.length;

/** Puts a row side by side around 0, and gives its width. */
function place(row: readonly Slot[]): number {
  const width = row.reduce((sum, each) => sum + each.width, 0) + gap * (row.length - 1);
  let x = -width / 2;
  for (const slot of row) {
    slot.x = x + slot.width / 2;
    x += slot.width + gap;
  }
  return width;
}
