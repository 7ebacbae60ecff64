/** Re-records the nodes of a traced function with other values for its arguments, once or for a batch of examples. */
import type { DeviceValue } from '../../runtime/device_value.js';
import type { Tensor } from '../../tensor/tensor.js';
import { tensorOf } from '../apply.js';
import { applyToBatch, type BatchableValue, broadcastBatch } from './batching.js';
import { engine, valueOf } from '../engine.js';
import {
  lastNodeId,
  type LazyNode,
  lazyNodeOf,
  type NodeInput,
  Operation,
  type Vjp,
  VjpOutput,
} from '../graph/lazy_nodes.js';
import { CustomVjp } from '../autodiff/vjp_nodes.js';
import { gradientsOfSinks, type SeededTarget, withTapeStart } from '../autodiff/backward.js';
import { aliasTensor, copyOf, pendingValue } from '../values.js';
import { SymbolicArgument } from './function_trace.js';

/** The replacement of a value. */
export interface Binding extends BatchableValue {
  readonly original: DeviceValue;
}

export class Substitution {
  readonly #rows: Map<DeviceValue, BatchableValue>;
  readonly #gradientRows: Map<Vjp, (BatchableValue | undefined)[]>;
  /** Intermediate values, each with one reference as if for a tensor. */
  readonly #made: Set<DeviceValue>;
  /** What results of a node with several outputs share, by its original. */
  readonly #memo = new Map<object, object>();
  /** Nodes on the paths of gradients. */
  readonly #paths = new Map<DeviceValue, LazyNode>();

  /**
   * @param lastNodeBefore the id of the last node before the traced function
   * @param count the size of the batch if some bindings are batches
   */
  constructor(
    bindings: readonly Binding[],
    private readonly lastNodeBefore: number,
    private readonly count = 0,
    within?: Substitution,
  ) {
    this.#made = within === undefined ? new Set() : within.#made;
    this.#gradientRows = new Map();
    // Gradients distinguish arguments that are bound to the same tensor.
    this.#rows = new Map(
      bindings.map(({ original, value, ...row }) => [
        original,
        { ...row, value: within === undefined ? this.#make(copyOf(value)) : value },
      ]),
    );
  }

  /** Tensors of the substituted values, all of them batches if `count` is positive. Ends the substitution. */
  tensors(values: readonly DeviceValue[]): Tensor[] {
    const found = values.map((each) => {
      const row = this.#row(each);
      return this.count > 0 ? this.#spread(row) : row.value;
    });
    const unused = new Set(this.#made);
    const tensors = found.map((each) => (unused.delete(each) ? tensorOf(each) : aliasTensor(each)));
    for (const each of unused) each.free();
    return tensors;
  }

  #make(value: DeviceValue): DeviceValue {
    this.#made.add(value);
    return value;
  }

  #spread(row: BatchableValue): DeviceValue {
    return row.isBatch ? row.value : this.#make(broadcastBatch(row.value, this.count));
  }

  /** Substitutes operands first; iterative, as chains of operations may be long. */
  #row(value: DeviceValue): BatchableValue {
    const left = [value];
    for (let each = left.at(-1); each !== undefined; each = left.at(-1)) {
      const isDone = this.#rows.has(each);
      const node = isDone ? undefined : this.#lazyNodeOf(each);
      const missing = node instanceof Operation ? this.#missing(node) : [];
      left.push(...missing);
      if (missing.length > 0) continue;
      left.pop();
      if (isDone) continue;
      const row =
        node === undefined ? { value: each, isBatch: false } : this.#substitute(each, node);
      this.#rows.set(each, row);
    }
    return this.#rows.get(value)!;
  }

  #lazyNodeOf(value: DeviceValue): LazyNode | undefined {
    return this.#paths.get(value) ?? (value.isMaterialized ? undefined : lazyNodeOf(value));
  }

  #missing({ sources }: Operation): DeviceValue[] {
    const isMissing = (each: NodeInput): each is DeviceValue =>
      typeof each !== 'number' && !this.#rows.has(each);
    return sources.filter(isMissing).reverse();
  }

  #substitute(value: DeviceValue, node: LazyNode): BatchableValue {
    if (node instanceof CustomVjp) return this.#custom(value, node);
    if (node instanceof VjpOutput) {
      return this.#gradients(node)[node.item] ?? { value, isBatch: false };
    }
    return this.#computed(value, node);
  }

  #computed(value: DeviceValue, node: LazyNode): BatchableValue {
    const { sources } = node;
    const rows = sources.map((each): BatchableValue | number =>
      typeof each === 'number' ? each : this.#row(each),
    );
    const isOther = rows.some((each, at) => typeof each !== 'number' && each.value !== sources[at]);
    if (!isOther) return { value, isBatch: false };
    const rebuild = (memo: Map<object, object>) => (others: readonly NodeInput[]) => {
      if (node instanceof Operation) return pendingValue(node.signature, others);
      return engine.lazyValue(value, node.withSources!(others, memo));
    };
    if (rows.some((each) => typeof each !== 'number' && each.isBatch)) {
      const make = (each: DeviceValue) => this.#make(each);
      const signature = node instanceof Operation ? node.signature : undefined;
      const one = (others: readonly NodeInput[]) => rebuild(new Map())(others);
      return {
        value: applyToBatch({ signature, rows, count: this.count, make, one }),
        isBatch: true,
      };
    }
    const replacementOf = (each: BatchableValue | number): NodeInput =>
      typeof each === 'number' ? each : each.value;
    return { value: this.#make(rebuild(this.#memo)(rows.map(replacementOf))), isBatch: false };
  }

  #custom(value: DeviceValue, node: CustomVjp): BatchableValue {
    const [primal, ...inputs] = [node.value, ...node.inputs].map((each) => this.#row(each));
    const isOther = [primal!, ...inputs].some(({ value }, at) => value !== node.sources[at]);
    if (!isOther) return { value, isBatch: false };
    const isBatch = [primal!, ...inputs].some((each) => each.isBatch);
    const ready = (row: BatchableValue) => (isBatch ? this.#spread(row) : row.value);
    const [result, ...operands] = [primal!, ...inputs].map(ready);
    const count = isBatch ? this.count : 0;
    const isRebound = (of: DeviceValue, { value }: BatchableValue) =>
      of !== value && (of instanceof SymbolicArgument || of.isMaterialized);
    const bindings: Binding[] = [...this.#rows]
      .filter(([of, row]) => isRebound(of, row))
      .map(([of, row]) => ({ original: of, ...row }));
    node.inputs.forEach((of, at) => bindings.push({ original: of, value: operands[at]!, isBatch }));
    for (const { value } of bindings) value.retain();
    const rule = (dy: DeviceValue): DeviceValue[] =>
      substitutedRule(
        node,
        value,
        [...bindings, { original: node.value, value: result!, isBatch }],
        dy,
        count,
      );
    const retained = bindings.map(({ value }) => value);
    const custom = new CustomVjp(result!, operands, rule, retained);
    return { value: this.#make(engine.lazyValue(result!, custom)), isBatch };
  }

  #gradients({ vjp }: VjpOutput): (BatchableValue | undefined)[] {
    const found = this.#gradientRows.get(vjp);
    if (found !== undefined) return found;
    const { targets, seeds, sources, path } = vjp;
    const wrt = sources.slice(targets.length + seeds.length);
    for (const [value, how] of path) this.#paths.set(value, how);
    const isBatch = [...targets, ...seeds, ...wrt].some((each) => this.#row(each).isBatch);
    const within = isBatch ? this.#withSeparateWrt(wrt, path) : this;
    const ready = (each: DeviceValue) => {
      const row = within.#row(each);
      return isBatch ? this.#spread(row) : row.value;
    };
    const sinks = targets.map((each, at): SeededTarget => {
      return { target: ready(each), seed: ready(seeds[at]!) };
    });
    const by = wrt.map((each) => within.#row(each).value);
    const gradients = withTapeStart(this.lastNodeBefore, () => gradientsOfSinks(sinks, by)).map(
      (each) => (each === undefined ? undefined : { value: this.#make(each), isBatch }),
    );
    this.#gradientRows.set(vjp, gradients);
    return gradients;
  }

  /** With a separate copy of `wrt` for each example, from which all dependents are re-recorded. */
  #withSeparateWrt(
    wrt: readonly DeviceValue[],
    path: ReadonlyMap<DeviceValue, LazyNode>,
  ): Substitution {
    if (wrt.every((each) => this.#row(each).isBatch)) return this;
    const bindings = [...this.#rows]
      .filter(([value]) => !path.has(value) && !wrt.includes(value))
      .map(([value, row]): Binding => ({ original: value, ...row }));
    for (const value of wrt)
      bindings.push({ original: value, value: this.#spread(this.#row(value)), isBatch: true });
    const within = new Substitution(bindings, this.lastNodeBefore, this.count, this);
    for (const [value, how] of this.#paths) within.#paths.set(value, how);
    return within;
  }
}

/** The result of the rule of `customGrad` with other values for those that it captured. */
function substitutedRule(
  node: CustomVjp,
  value: DeviceValue,
  bindings: readonly Binding[],
  dy: DeviceValue,
  count: number,
): DeviceValue[] {
  const type = { dtype: value.dtype, shape: value.shape, type: '' };
  const argument = new SymbolicArgument('customGrad', type);
  const lastNodeBefore = lastNodeId();
  const parts = node.rule(argument);
  const substitution = new Substitution(
    [...bindings, { original: argument, value: dy, isBatch: count > 0 }],
    lastNodeBefore,
    count,
  );
  return substitution.tensors(parts).map(valueOf);
}
