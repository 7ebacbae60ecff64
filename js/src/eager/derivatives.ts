/** Formulas of gradients: what the core differentiates, and values whose gradients are somebody's functions. */
import { HeapValue } from '../runtime/heap_value.js';
import type { Trace, TracedTensor } from '../trace/trace.js';
import { Apart } from './apart.js';
import { depthOver, GradientPart, haveGradient, Held, type PullBack } from './formulas.js';

/**
 * Sums of the derivatives of targets, each multiplied by its seed, by each of `wrt`; without seeds of one float. What
 * leads from these to the targets is written down here, since values forget how they were computed.
 */
export class Derivatives implements PullBack {
  readonly depth: number;
  readonly sources: readonly HeapValue[];
  /** The results, as long as somebody may want them. */
  readonly results: (HeapValue | undefined)[];

  constructor(
    readonly targets: readonly HeapValue[],
    readonly seeds: readonly HeapValue[],
    readonly wrt: readonly HeapValue[],
    readonly path: ReadonlyMap<HeapValue, Held>,
  ) {
    this.sources = [...targets, ...seeds, ...wrt];
    for (const each of this.sources) each.hold();
    for (const each of path.values()) each.hold();
    this.depth = depthOver(this.sources);
    for (const { depth } of path.values()) this.depth = Math.max(this.depth, depth + 1);
    this.results = wrt.map(
      ({ dtype, shape }, at) => new HeapValue(dtype, shape, new GradientPart(this, at)),
    );
  }

  write(trace: Trace, operands: readonly TracedTensor[]): TracedTensor[] {
    const [count, seeds] = [this.targets.length, this.seeds.length];
    const behind = count + seeds;
    const [targets, by] = [operands.slice(0, count), operands.slice(count, behind)];
    return trace.pullBack(targets, by, operands.slice(behind));
  }

  apart(known?: Map<PullBack, Apart>): Apart {
    return new Apart(this, known);
  }

  leave(item: number): void {
    this.results[item] = undefined;
    if (this.results.some((each) => each !== undefined)) return;
    for (const each of this.sources) each.release();
    for (const each of this.path.values()) each.release();
  }
}

/** What `customGrad` says of its function: gradients of its inputs by the gradient of its value. */
export type GradientRule = (dy: HeapValue) => readonly HeapValue[];

/** A value whose gradient is somebody's function; through it no other gradient flows. */
export class Custom extends Held {
  readonly sources: readonly HeapValue[];

  constructor(
    readonly value: HeapValue,
    readonly inputs: readonly HeapValue[],
    readonly rule: GradientRule,
    /** What the rule reads beside, held for it already. */
    readonly saved: readonly HeapValue[],
  ) {
    super(depthOver([value]), haveGradient([value, ...inputs]));
    this.sources = [value, ...inputs];
    for (const each of this.sources) each.hold();
  }

  get key(): string {
    return 'c';
  }

  override get operands(): readonly HeapValue[] {
    return [this.value];
  }

  override get held(): readonly HeapValue[] {
    return [...this.sources, ...this.saved];
  }

  write(trace: Trace, operands: TracedTensor[]): TracedTensor {
    return trace.apply('detach', operands, []);
  }

  protected override drop(): void {
    for (const each of this.saved) each.release();
  }
}
