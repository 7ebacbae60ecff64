/** Nodes of gradients: vector-Jacobian products computed by the core, and values with custom gradients. */
import type { DeviceValue } from '../../runtime/device_value.js';
import type { Trace, TracedTensor } from '../../trace/trace.js';
import { ClosedCoreVjp } from './closed_vjp.js';
import { engine } from '../engine.js';
import {
  type ClosedVjp,
  depthOver,
  haveGradient,
  LazyNode,
  type Vjp,
  VjpOutput,
} from '../graph/lazy_nodes.js';

/**
 * The vector-Jacobian product of `targets` and `seeds` with respect to `wrt`; without seeds `targets` is one float
 * scalar. Stores the nodes between `wrt` and `targets`, since values drop their nodes.
 */
export class CoreVjp implements Vjp {
  readonly depth: number;
  readonly sources: readonly DeviceValue[];
  /** The results that are still referenced. */
  readonly results: (DeviceValue | undefined)[];

  constructor(
    readonly targets: readonly DeviceValue[],
    readonly seeds: readonly DeviceValue[],
    readonly wrt: readonly DeviceValue[],
    readonly path: ReadonlyMap<DeviceValue, LazyNode>,
  ) {
    this.sources = [...targets, ...seeds, ...wrt];
    for (const each of this.sources) each.retain();
    for (const each of path.values()) each.retain();
    this.depth = depthOver(this.sources);
    for (const { depth } of path.values()) this.depth = Math.max(this.depth, depth + 1);
    this.results = wrt.map((each, at) => engine.lazyValue(each, new VjpOutput(this, at)));
  }

  write(trace: Trace, operands: readonly TracedTensor[]): TracedTensor[] {
    const [count, seeds] = [this.targets.length, this.seeds.length];
    const wrtBegin = count + seeds;
    const [targets, by] = [operands.slice(0, count), operands.slice(count, wrtBegin)];
    return trace.vjp(targets, by, operands.slice(wrtBegin));
  }

  close(closedVjps?: Map<Vjp, ClosedVjp>): ClosedVjp {
    return new ClosedCoreVjp(this, closedVjps);
  }

  dropResult(item: number): void {
    this.results[item] = undefined;
    if (this.results.some((each) => each !== undefined)) return;
    for (const each of this.sources) each.release();
    for (const each of this.path.values()) each.release();
  }
}

/** The gradient function of `customGrad`: gradients of the inputs from the gradient of the result. */
export type GradientRule = (dy: DeviceValue) => readonly DeviceValue[];

/** A value with a custom gradient, which is opaque to the core. */
export class CustomVjp extends LazyNode {
  readonly sources: readonly DeviceValue[];

  constructor(
    readonly value: DeviceValue,
    readonly inputs: readonly DeviceValue[],
    readonly rule: GradientRule,
    /** Values captured by the rule, already retained for this node. */
    readonly saved: readonly DeviceValue[],
  ) {
    super(depthOver([value]), haveGradient([value, ...inputs]));
    this.sources = [value, ...inputs];
    for (const each of this.sources) each.retain();
  }

  get key(): string {
    return 'c';
  }

  override get operands(): readonly DeviceValue[] {
    return [this.value];
  }

  override get retained(): readonly DeviceValue[] {
    return [...this.sources, ...this.saved];
  }

  write(trace: Trace, operands: TracedTensor[]): TracedTensor {
    return trace.apply('detach', operands, []);
  }

  protected override drop(): void {
    for (const each of this.saved) each.release();
  }
}
