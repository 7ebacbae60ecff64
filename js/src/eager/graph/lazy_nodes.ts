/**
 * Lazy nodes: operations on tensors that are not computed yet, each with its operands, so pending values form a graph.
 */
import type { Constant, DeviceValue, PendingOperation } from '../../runtime/device_value.js';
import type { Trace, TracedTensor } from '../../trace/trace.js';
import { constantOf } from './fill.js';
import type { Signature, ValueType } from './signature.js';

/** An operand of a node; a number is a scalar. */
export type NodeInput = DeviceValue | number;

let last = 0;
/** The id of the node that was recorded last. Ids order the nodes of all engines. */
export const lastNodeId = (): number => last;

/** Traced results of nodes with several outputs, by the object that these share. */
export type TraceMemo = Map<object, TracedTensor[]>;

export abstract class LazyNode implements PendingOperation {
  /** In the order of recording. */
  readonly id = ++last;
  #references = 1;

  constructor(
    /** Length of the longest chain of pending nodes that ends here; an upper bound once some of them are computed. */
    public depth: number,
    /** Whether the subgraph includes a gradient. */
    readonly hasGradient: boolean,
  ) {}

  /** The values that it reads. */
  abstract readonly sources: readonly NodeInput[];
  /** Equal keys and equal operands imply equal results. */
  abstract get key(): string;

  /** The operands of `write`. */
  get operands(): readonly NodeInput[] {
    return this.sources;
  }

  /** All values that it retains. */
  get retained(): readonly NodeInput[] {
    return this.sources;
  }

  /** The same node with other sources; `memo`: what several results share, by its original. */
  withSources?(sources: readonly NodeInput[], memo: Map<object, object>): LazyNode;

  /** Traces the node. */
  abstract write(trace: Trace, operands: TracedTensor[], memo: TraceMemo): TracedTensor;

  retain(): void {
    this.#references += 1;
  }

  release(): void {
    this.#references -= 1;
    if (this.#references > 0) return;
    for (const each of this.sources) if (typeof each !== 'number') each.release();
    this.drop();
  }

  protected drop(): void {}
}

/** An operation of the core. */
export class Operation extends LazyNode {
  /** The fill of a constant: plans recompute it for every reader, and it has no memory until it is read itself. */
  readonly constant: Constant | undefined;

  constructor(
    readonly signature: Signature,
    readonly sources: readonly NodeInput[],
  ) {
    super(depthOver(sources), haveGradient(sources));
    for (const each of sources) if (typeof each !== 'number') each.retain();
    this.constant = constantOf(signature, sources);
  }

  get key(): string {
    return String(this.signature.id);
  }

  write(trace: Trace, operands: TracedTensor[]): TracedTensor {
    const { op, values } = this.signature;
    return trace.apply(op, operands, [...values]);
  }
}

/** A vector-Jacobian product; each `VjpOutput` is one of its results. */
export interface Vjp {
  readonly depth: number;
  readonly targets: readonly DeviceValue[];
  readonly seeds: readonly DeviceValue[];
  /** Targets, seeds and `wrt`. */
  readonly sources: readonly DeviceValue[];
  /** The nodes between `wrt` and the targets. */
  readonly path: ReadonlyMap<DeviceValue, LazyNode>;
  /** The results that are still referenced. */
  readonly results: readonly (DeviceValue | undefined)[];
  write(trace: Trace, operands: readonly TracedTensor[]): TracedTensor[];
  /** Its closure conversion. `closedVjps`: those of nested gradients, which this adds to. */
  close(closedVjps?: Map<Vjp, ClosedVjp>): ClosedVjp;
  /** Drops a result that is no longer referenced. */
  dropResult(item: number): void;
}

/** A gradient together with the function that it differentiates, closed over the values that the function captures. */
export interface ClosedVjp {
  readonly vjp: Vjp;
  /** Seeds, variables of differentiation, then captured values of the function, in this order, with their types. */
  readonly operands: readonly NodeInput[];
  readonly types: readonly ValueType[];
  /** Equal keys and equal operands imply equal results. */
  readonly key: string;
  write(trace: Trace, operands: readonly TracedTensor[]): TracedTensor[];
}

/** One result of a `Vjp`. */
export class VjpOutput extends LazyNode {
  readonly sources = [];

  constructor(
    readonly vjp: Vjp,
    readonly item: number,
  ) {
    super(vjp.depth, true);
  }

  get key(): string {
    const { targets, seeds } = this.vjp;
    return `g${targets.length}/${seeds.length}/${this.item}`;
  }

  override get operands(): readonly DeviceValue[] {
    return this.vjp.sources;
  }

  write(trace: Trace, operands: TracedTensor[], memo: TraceMemo): TracedTensor {
    return traceOnce(memo, this.vjp, () => this.vjp.write(trace, operands))[this.item]!;
  }

  protected override drop(): void {
    this.vjp.dropResult(this.item);
  }
}

/** The node of a pending value. */
export const lazyNodeOf = (value: DeviceValue) => value.node as LazyNode | undefined;

/** Whether the value is computable and not materialized. */
export const isPending = (value: DeviceValue): boolean =>
  !value.isMaterialized && lazyNodeOf(value) !== undefined;

/** Depth of a node with these sources; NaN if one is an argument of a traced function, which has no node. */
export function depthOver(sources: readonly NodeInput[]): number {
  let depth = 0;
  for (const each of sources) {
    if (typeof each === 'number' || each.isMaterialized) continue;
    depth = Math.max(depth, lazyNodeOf(each)?.depth ?? NaN);
  }
  return depth + 1;
}

/** Whether the subgraph of a node with these sources includes a gradient. */
export function haveGradient(sources: readonly NodeInput[]): boolean {
  for (const each of sources) {
    if (typeof each !== 'number' && lazyNodeOf(each)?.hasGradient === true) return true;
  }
  return false;
}

/** Traced results of a node with several outputs, traced once. */
export function traceOnce(
  memo: TraceMemo,
  shared: object,
  write: () => TracedTensor[],
): TracedTensor[] {
  if (!memo.has(shared)) memo.set(shared, write());
  return memo.get(shared)!;
}

/** The values that a gradient is with respect to. */
export const wrtOf = ({ sources, targets, seeds }: Vjp): readonly DeviceValue[] =>
  sources.slice(targets.length + seeds.length);

/** Visits all values that a node reads, for a gradient also those that its function reads. */
export function visitReads(
  node: LazyNode,
  visit: (value: DeviceValue) => void,
  seen = new Set<Vjp>(),
): void {
  for (const each of node.operands) if (typeof each !== 'number') visit(each);
  if (!(node instanceof VjpOutput) || seen.has(node.vjp)) return;
  seen.add(node.vjp);
  for (const each of node.vjp.path.values()) visitReads(each, visit, seen);
}

/** The key of a node, for a closed gradient including its function. */
export const nodeKey = (node: LazyNode, closedVjp: ClosedVjp | undefined): string =>
  closedVjp === undefined ? node.key : `a${(node as VjpOutput).item}/${closedVjp.key}`;

/** Traces a node or, for a gradient, its closure conversion. */
export const traceNode = (
  node: LazyNode,
  closedVjp: ClosedVjp | undefined,
  trace: Trace,
  operands: TracedTensor[],
  memo: TraceMemo,
): TracedTensor =>
  closedVjp === undefined
    ? node.write(trace, operands, memo)
    : traceOnce(memo, closedVjp.vjp, () => closedVjp.write(trace, operands))[
        (node as VjpOutput).item
      ]!;
