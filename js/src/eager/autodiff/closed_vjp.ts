/**
 * Closure conversion of gradients. A function under a gradient may read values that depend on the variables of
 * differentiation but were recorded before the function: constants to it, which the core would differentiate through as
 * well. Such a function is traced a second time on copies of these values, which are leaves.
 */
import type { Trace, TracedTensor } from '../../trace/trace.js';
import {
  type ClosedVjp,
  type LazyNode,
  type NodeInput,
  nodeKey,
  Operation,
  type TraceMemo,
  traceNode,
  type Vjp,
  VjpOutput,
  wrtOf,
} from '../graph/lazy_nodes.js';
import type { ValueType } from '../graph/signature.js';

/** A node of the function. Indices count the operands of the gradient first, then the steps before. */
interface ClosedStep {
  readonly node: LazyNode;
  readonly closedVjp: ClosedVjp | undefined;
  readonly indices: readonly number[];
}

/** The closure conversion of a `CoreVjp`. */
export class ClosedCoreVjp implements ClosedVjp {
  readonly operands: NodeInput[];
  readonly types: ValueType[];
  readonly key: string;
  readonly #steps: ClosedStep[] = [];
  readonly #targets: readonly number[];
  readonly #seeds: number;
  readonly #wrt: number;

  /** @param closedVjps gradients nested in the function; this constructor adds to them */
  constructor(
    readonly vjp: Vjp,
    closedVjps = new Map<Vjp, ClosedVjp>(),
  ) {
    closedVjps.set(vjp, this);
    const { targets, seeds, path } = vjp;
    const wrt = wrtOf(vjp);
    [this.#seeds, this.#wrt] = [seeds.length, wrt.length];
    this.operands = [...seeds, ...wrt];
    this.types = [...seeds, ...wrt];
    const indices = new Map<NodeInput, number>(wrt.map((each, at) => [each, seeds.length + at]));
    const outside = (each: NodeInput, type: ValueType): void => {
      if (typeof each === 'number' || !(path.has(each) || indices.has(each))) {
        this.types.push(type);
        const index = this.operands.push(each) - 1;
        if (typeof each !== 'number') indices.set(each, index);
      }
    };
    const begins = new Map<Vjp | undefined, number>();
    const reads = [...path].map(([value, node]) => {
      const within = node instanceof VjpOutput ? node.vjp : undefined;
      const closedVjp = within && (closedVjps.get(within) ?? within.close(closedVjps));
      const operands = closedVjp?.operands ?? node.operands;
      const types =
        closedVjp?.types ?? (node instanceof Operation ? node.signature.inputs : operands);
      // The results of one vjp have the same operands.
      const begin = within && begins.get(within);
      const firstNumber = begin ?? this.operands.length;
      begins.set(within, firstNumber);
      if (begin === undefined)
        operands.forEach((each, at) => outside(each, types[at] as ValueType));
      return { value, node, closedVjp, operands, firstNumber };
    });
    for (const each of targets) outside(each, each);
    for (const { value, node, closedVjp, operands, firstNumber } of reads) {
      let number = firstNumber;
      const indexOf = (each: NodeInput): number => {
        if (typeof each !== 'number') return indices.get(each)!;
        while (typeof this.operands[number] !== 'number') number += 1;
        return number++;
      };
      this.#steps.push({ node, closedVjp, indices: operands.map(indexOf) });
      indices.set(value, this.operands.length + this.#steps.length - 1);
    }
    this.#targets = targets.map((each) => indices.get(each)!);
    this.key = `${seeds.length}/${wrt.length}(${this.#stepsKey()})`;
  }

  #stepsKey(): string {
    const steps = this.#steps.map(
      ({ node, closedVjp, indices }) => `${nodeKey(node, closedVjp)}:${indices.join()}`,
    );
    return `${steps.join(';')}>${this.#targets.join()}`;
  }

  write(trace: Trace, operands: readonly TracedTensor[]): TracedTensor[] {
    const [seeds, wrtEnd] = [this.#seeds, this.#seeds + this.#wrt];
    const values = operands.map((each, at) =>
      at < seeds || at >= wrtEnd ? each : copyOf(trace, each),
    );
    const memo: TraceMemo = new Map();
    for (const { node, closedVjp, indices } of this.#steps) {
      const inputs = indices.map((index) => values[index]!);
      values.push(traceNode(node, closedVjp, trace, inputs, memo));
    }
    const targets = this.#targets.map((index) => values[index]!);
    return trace.vjp(targets, values.slice(0, seeds), values.slice(seeds, wrtEnd));
  }
}

/** A copy under another id: the core sees through identity operations such as a reshape to the same shape. */
const copyOf = (trace: Trace, x: TracedTensor): TracedTensor =>
  trace.apply('neg', [trace.apply('neg', [x], [])], []);
