/** A node being executed: its operands and attributes, as an operator wants them. */
import { LatheError } from '../base/errors.js';
import { own } from '../base/own.js';
import type { Tensor } from '../tensor/tensor.js';
import type { Handle } from './resources.js';
import type { GraphNode } from './topology.js';

/** What nodes hand on: tensors, lists of them and tables; nothing where a branch was not taken. */
export type Value = Tensor | Handle | undefined;

export class Call {
  constructor(
    readonly node: GraphNode,
    readonly values: readonly Value[],
  ) {}

  /** How many operands there are. */
  get count(): number {
    return this.values.length;
  }

  /** Operand `at`; counted from the last one where it is negative. Error: there is none, or no tensor. */
  tensor(at: number): Tensor {
    const value = this.values.at(at);
    if (value !== undefined && 'shape' in value) return value;
    throw this.wrong(`operand ${at} is no tensor`);
  }

  /** All from `first` to before `end`. */
  tensors(first = 0, end = this.count): Tensor[] {
    const list: Tensor[] = [];
    for (let at = first; at < end; at++) list.push(this.tensor(at));
    return list;
  }

  /** Operand `at`, of the kind that `Kind` makes. */
  handle<H extends Handle>(at: number, Kind: abstract new (...args: never[]) => H): H {
    const value = this.values.at(at);
    if (value instanceof Kind) return value;
    throw this.wrong(`operand ${at} is no ${Kind.name}`);
  }

  /** The content of operand `at`, nothing where it is left out. */
  numbers(at: number): number[] | undefined {
    return at < this.count ? Array.from(this.tensor(at).dataSync(), Number) : undefined;
  }

  /** The first number of operand `at`. */
  number(at: number, otherwise?: number): number {
    const found = this.numbers(at)?.[0] ?? otherwise;
    if (found === undefined) throw this.wrong(`operand ${at} is missing`);
    return found;
  }

  attribute<T>(name: string, otherwise: T): T {
    return (own(this.node.attributes, name) ?? otherwise) as T;
  }

  wrong(what: string): LatheError {
    return new LatheError(`graph model: ${this.node.op} "${this.node.name}": ${what}`);
  }
}

/** What a node gives: one value or several. */
export type Operator = (call: Call) => Value | Value[];
