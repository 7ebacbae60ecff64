/** Plans: the pending subgraph of some values, topologically sorted, with the key of its module. */
import type { LruCache } from '../../runtime/compilation_cache.js';
import type { Program } from '../../runtime/device.js';
import { type DeviceValue, nextVisit } from '../../runtime/device_value.js';
import type { Trace, TracedTensor } from '../../trace/trace.js';
import {
  type ClosedVjp,
  type LazyNode,
  lazyNodeOf,
  type NodeInput,
  nodeKey,
  Operation,
  visitReads,
  type Vjp,
  VjpOutput,
  wrtOf,
} from '../graph/lazy_nodes.js';
import type { Signature, ValueType } from '../graph/signature.js';

/** A node of a plan; its operands are inputs and results of other steps, by index. */
export interface Step {
  readonly value: DeviceValue;
  readonly node: LazyNode;
  /** The closure conversion with which a gradient is traced. */
  readonly closedVjp: ClosedVjp | undefined;
  readonly operandIndices: readonly number[];
  /** Traces the step instead of its node. */
  readonly write?: (trace: Trace, operands: readonly TracedTensor[]) => TracedTensor;
}

/** Indices count the inputs first, then the steps. */
export interface Plan {
  readonly key: string;
  readonly inputs: readonly NodeInput[];
  readonly inputTypes: readonly ValueType[];
  readonly steps: readonly Step[];
  /** The values that are stored, and their indices. */
  readonly outputs: readonly DeviceValue[];
  readonly results: readonly number[];
}

/** Programs by the keys of their plans, those of single operations by their signatures. */
export type ModuleCache = LruCache<string | Signature, Program>;

export interface PlanOptions {
  /** Values that stay pending although tensors reference them. */
  readonly deferred?: ReadonlySet<DeviceValue> | undefined;
  /**
   * Whether the plan is full: extended so that later plans recompute none of it. For hidden intermediate values that
   * nodes outside the plan read, dependents that tensors reference are computed, too; intermediates with other readers
   * are stored.
   */
  readonly isFull?: boolean;
}

/** Negative ids of strings, for keys; the table is cleared when it is full. */
export class StringIds {
  readonly #ids = new Map<string, number>();
  #last = 0;

  of(part: string): number {
    let found = this.#ids.get(part);
    if (found !== undefined) return found;
    if (this.#ids.size > maxIds) this.#ids.clear();
    this.#ids.set(part, (found = --this.#last));
    return found;
  }
}
const maxIds = 10000;

/** Appends a number to a key as two 16-bit characters: five times as fast as decimal digits. */
function appendToKey(key: number[], value: number): void {
  key.push(value & 0xffff, value >>> 16);
}

/** Engines limit the number of arguments of a call. */
const maxArguments = 10000;

function stringOf(key: readonly number[]): string {
  let result = '';
  for (let at = 0; at < key.length; at += maxArguments) {
    result += String.fromCharCode(...key.slice(at, at + maxArguments));
  }
  return result;
}

/** Limit of extensions of a plan, each of which costs time proportional to its length. */
const maxRounds = 8;

/** The plan of the subgraph of the roots. `ids`: of the strings in its key. */
export function makePlan(
  roots: readonly DeviceValue[],
  ids: StringIds,
  options: PlanOptions,
): Plan {
  let all = roots;
  const closedVjps = new Map<Vjp, ClosedVjp>();
  let planner = new Planner(options, closedVjps);
  planner.addSubgraphs(all);
  for (let round = 0; ; round += 1) {
    const isNew = planner.closeVjps();
    if (options.isFull) planner.findEscaping();
    const next = round < maxRounds ? planner.dependentsOfEscaping() : [];
    if (!isNew && next.length === 0) return planner.plan(roots, ids);
    all = [...all, ...next];
    if (isNew || !planner.addSubgraphs(next)) {
      planner = new Planner(options, closedVjps);
      planner.addSubgraphs(all);
    }
  }
}

class Planner {
  readonly #inputs: NodeInput[] = [];
  readonly #inputTypes: ValueType[] = [];
  readonly #steps: {
    value: DeviceValue;
    node: LazyNode;
    closedVjp: ClosedVjp | undefined;
    operandIndices: number[];
  }[] = [];
  /** Values store their index in `mark`: inputs from 0 up, steps from -1 down until the number of inputs is final. */
  readonly #visit = nextVisit();
  /** Nodes on paths of gradients, which are traced although their values are materialized. */
  readonly #paths = new Map<DeviceValue, LazyNode>();
  readonly #seen = new Set<DeviceValue>();

  /** Operand indices of closed gradients. */
  readonly #closedOperands = new Map<ClosedVjp, number[]>();

  /** The gradients of the plan; all their results are computed together. */
  readonly #vjps = new Set<Vjp>();
  /** Hidden values of the plan that nodes outside it read. */
  readonly #escaping = new Set<DeviceValue>();
  /** The number of these reads. */
  #outsideReads = 0;

  /** @param closedVjps gradients that are traced with their closure conversion */
  constructor(
    private readonly options: PlanOptions,
    private readonly closedVjps: Map<Vjp, ClosedVjp>,
  ) {}

  /** Adds the subgraphs of values. False: a gradient turns inputs into steps, so the plan must be rebuilt. */
  addSubgraphs(values: readonly DeviceValue[]): boolean {
    const before = this.#vjps.size;
    for (const each of values) this.#findVjps(each);
    const isBegun = this.#inputs.length + this.#steps.length > 0;
    if (isBegun && this.#vjps.size > before) return false;
    for (const each of values) this.#indexOf(each, each);
    for (const each of this.#vjps) {
      for (const result of each.results) {
        if (result !== undefined && this.#isOutput(result)) this.#indexOf(result, result);
      }
    }
    return true;
  }

  plan(roots: readonly DeviceValue[], ids: StringIds): Plan {
    const rootSet = new Set(roots);
    const outputs: DeviceValue[] = [];
    const results: number[] = [];
    const steps = this.#steps;
    const count = this.#inputs.length;
    const key = [count, steps.length];
    for (const { type } of this.#inputTypes) appendToKey(key, ids.of(type));
    for (let at = 0; at < steps.length; at += 1) {
      const { value, node, closedVjp, operandIndices } = steps[at]!;
      appendToKey(
        key,
        node instanceof Operation ? node.signature.id : ids.of(nodeKey(node, closedVjp)),
      );
      key.push(operandIndices.length);
      for (let operand = 0; operand < operandIndices.length; operand += 1) {
        const index = operandIndices[operand]!;
        operandIndices[operand] = index < 0 ? count - 1 - index : index;
        appendToKey(key, operandIndices[operand]!);
      }
      const isStoredAnyway = this.#isOutput(value) || this.#escaping.has(value);
      if (!isStoredAnyway && (value.isMaterialized || !rootSet.has(value))) continue;
      outputs.push(value);
      results.push(count + at);
    }
    for (const each of results) appendToKey(key, each);
    return {
      key: stringOf(key),
      inputs: this.#inputs,
      inputTypes: this.#inputTypes,
      steps,
      outputs,
      results,
    };
  }

  /** Whether it is stored because a tensor references it. */
  #isOutput(value: DeviceValue): boolean {
    return isStored(value) && value.tensors > 0 && !this.#isDeferred(value);
  }

  #isDeferred(value: DeviceValue): boolean {
    return this.options.deferred?.has(value) === true;
  }

  /** Whether it is pending and no tensor that is not deferred references it. */
  #isHidden(value: DeviceValue): boolean {
    return isStored(value) && (value.tensors === 0 || this.#isDeferred(value));
  }

  findEscaping(): void {
    this.#escaping.clear();
    if (this.#outsideReads === 0) return;
    const reads = new Map<DeviceValue, number>();
    const count = (each: NodeInput) => {
      if (typeof each !== 'number') reads.set(each, (reads.get(each) ?? 0) + 1);
    };
    for (const { node } of this.#steps) node.retained.forEach(count);
    for (const { sources } of this.#vjps) sources.forEach(count);
    for (const { value } of this.#steps) {
      if (this.#isHidden(value) && value.readers > (reads.get(value) ?? 0))
        this.#escaping.add(value);
    }
  }

  /** Discounts reads by the plan itself. */
  #countReads(retained: readonly NodeInput[]): void {
    for (const each of retained) {
      if (typeof each !== 'number' && this.#isHidden(each)) this.#outsideReads -= 1;
    }
  }

  /** Dependents of escaping values that tensors reference and that are not part of the plan. */
  dependentsOfEscaping(): DeviceValue[] {
    if (this.#escaping.size === 0) return [];
    const seen = new Set<DeviceValue>();
    const computable = new Map<DeviceValue, boolean>();
    const found: DeviceValue[] = [];
    const look = (value: DeviceValue): void => {
      if (seen.has(value) || !isComputable(value, computable)) return;
      seen.add(value);
      if (!this.#isOutput(value)) value.dependents.forEach(look);
      else if (!this.#has(value)) found.push(value);
    };
    for (const each of this.#escaping) each.dependents.forEach(look);
    return found;
  }

  /** Finds gradients whose functions capture values that depend on `wrt`; whether there are new ones. */
  closeVjps(): boolean {
    const { closedVjps } = this;
    const before = closedVjps.size;
    const reached = new Map<string, readonly boolean[]>();
    for (const each of this.#vjps) {
      if (!closedVjps.has(each) && this.#capturesDependents(each, reached))
        closedVjps.set(each, each.close());
    }
    return closedVjps.size > before;
  }

  /**
   * Whether `wrt` or the function of a gradient reads a step that depends on `wrt` but is no part of the function.
   * `reached`: the dependent steps by `wrt`, which several gradients share.
   */
  #capturesDependents(vjp: Vjp, reached: Map<string, readonly boolean[]>): boolean {
    const wrt = wrtOf(vjp);
    const steps = new Set<number>();
    const addStep = (value: DeviceValue): void => {
      if (this.#has(value) && value.mark < 0 && !vjp.path.has(value)) steps.add(value.mark);
    };
    wrt.forEach(addStep);
    for (const node of vjp.path.values()) visitReads(node, addStep);
    if (steps.size === 0) return false;
    const wrtIndices = wrt.map((each) => (this.#has(each) ? each.mark : undefined));
    const key = wrtIndices.join();
    if (!reached.has(key)) reached.set(key, this.#dependentSteps(wrtIndices));
    const dependents = reached.get(key)!;
    return [...steps].some((each) => dependents[-1 - each]);
  }

  /** Which steps depend on these indices. */
  #dependentSteps(from: readonly (number | undefined)[]): boolean[] {
    const start = new Set(from);
    const dependent: boolean[] = [];
    const isDependent = (index: number) =>
      start.has(index) || (index < 0 && dependent[-1 - index] === true);
    for (const { operandIndices } of this.#steps) dependent.push(operandIndices.some(isDependent));
    return dependent;
  }

  #findVjps(root: NodeInput): void {
    const left = [root];
    for (let value = left.pop(); value !== undefined; value = left.pop()) {
      if (typeof value === 'number') continue;
      const node = this.#lazyNodeOf(value);
      if (!node?.hasGradient || this.#seen.has(value)) continue;
      this.#seen.add(value);
      if (node instanceof VjpOutput) left.push(...this.#addVjp(node.vjp));
      else left.push(...node.sources);
    }
  }

  /** Adds a gradient; the values whose subgraphs are searched next. */
  #addVjp(vjp: Vjp): readonly NodeInput[] {
    if (this.#vjps.has(vjp)) return [];
    this.#vjps.add(vjp);
    this.#countReads(vjp.sources);
    const closedVjp = this.closedVjps.get(vjp);
    if (closedVjp !== undefined) return closedVjp.operands;
    const { path, sources } = vjp;
    const further: NodeInput[] = [...sources];
    for (const [on, how] of path) {
      if (on.isMaterialized || lazyNodeOf(on) !== how) this.#paths.set(on, how);
      if (!how.hasGradient) continue;
      this.#seen.delete(on);
      further.push(on);
    }
    return further;
  }

  /** Adds the subgraph of a value, operands first; iterative, as chains of operations may be long. */
  #indexOf(value: NodeInput, type: ValueType): number {
    if (typeof value === 'number') return this.#input(value, type);
    const left = [value];
    for (let each = left.at(-1); each !== undefined; each = left.at(-1)) {
      const node = this.#has(each) ? undefined : this.#lazyNodeOf(each);
      if (node !== undefined && this.#pushMissing(node, left)) continue;
      left.pop();
      if (this.#has(each)) continue;
      const index = node === undefined ? this.#input(each, each) : this.#step(each, node);
      each.visit = this.#visit;
      each.mark = index;
    }
    return value.mark;
  }

  /** Pushes operands without an index; whether there are any. */
  #pushMissing(node: LazyNode, left: DeviceValue[]): boolean {
    const before = left.length;
    const operands = this.#closedVjpOf(node)?.operands ?? node.operands;
    for (let at = operands.length - 1; at >= 0; at -= 1) {
      const each = operands[at]!;
      if (typeof each !== 'number' && !this.#has(each)) left.push(each);
    }
    return left.length > before;
  }

  #closedVjpOf(node: LazyNode): ClosedVjp | undefined {
    return node instanceof VjpOutput ? this.closedVjps.get(node.vjp) : undefined;
  }

  #has(value: DeviceValue): boolean {
    return value.visit === this.#visit;
  }

  /** The node by which the plan computes a value. */
  #lazyNodeOf(value: DeviceValue): LazyNode | undefined {
    const path = this.#paths.size > 0 ? this.#paths.get(value) : undefined;
    return path ?? (value.isMaterialized ? undefined : lazyNodeOf(value));
  }

  #input(source: NodeInput, type: ValueType): number {
    this.#inputTypes.push(type);
    return this.#inputs.push(source) - 1;
  }

  #step(value: DeviceValue, node: LazyNode): number {
    const closedVjp = this.#closedVjpOf(node);
    const { operands } = closedVjp ?? node;
    const types =
      closedVjp?.types ?? (node instanceof Operation ? node.signature.inputs : operands);
    // The results of one vjp have the same operands.
    const memo = closedVjp && this.#closedOperands.get(closedVjp);
    const operandIndices =
      memo ?? operands.map((each, at) => this.#indexOf(each, types[at] as DeviceValue));
    if (closedVjp !== undefined) this.#closedOperands.set(closedVjp, operandIndices);
    if (this.#isHidden(value)) this.#outsideReads += value.readers;
    this.#countReads(node.retained);
    return -this.#steps.push({ value, node, closedVjp, operandIndices });
  }
}

/** Whether it is pending and computed only once: constants are recomputed by each plan. */
const isStored = ({ isMaterialized, constant }: DeviceValue): boolean =>
  !isMaterialized && constant === undefined;

/** Whether it is computable: values that depend on arguments of a traced function are not. */
function isComputable(value: DeviceValue, memo: Map<DeviceValue, boolean>): boolean {
  if (value.isMaterialized) return true;
  const found = memo.get(value);
  if (found !== undefined) return found;
  const node = lazyNodeOf(value);
  memo.set(value, node !== undefined);
  if (node === undefined) return false;
  let can = true;
  visitReads(node, (each) => (can &&= isComputable(each, memo)));
  memo.set(value, can);
  return can;
}
