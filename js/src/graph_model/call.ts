/** A node being executed: typed access to its operands and attributes. */
import { LatheError } from '../base/errors.js';
import { entryOf } from '../base/records.js';
import type { Tensor } from '../tensor/tensor.js';
import type { Handle } from './resources.js';
import type { GraphNode } from './topology.js';

/** The value of an edge: a tensor, a list of tensors or a table; undefined on a branch that does not run. */
export type Value = Tensor | Handle | undefined;

/** The outputs of nodes, by node name. */
export type Values = Map<string, readonly Value[]>;

export class Call {
  constructor(
    readonly node: GraphNode,
    readonly values: readonly Value[],
  ) {}

  /** How many operands there are. */
  get count(): number {
    return this.values.length;
  }

  /** Operand `at`; negative: from the last one. Error: it is missing, or not a tensor. */
  tensor(at: number): Tensor {
    const value = this.values.at(at);
    if (value !== undefined && 'shape' in value) return value;
    throw this.wrong(`operand ${at} is no tensor`);
  }

  /** Operands from `first` to `end` - 1. */
  tensors(first = 0, end = this.count): Tensor[] {
    const list: Tensor[] = [];
    for (let at = first; at < end; at++) list.push(this.tensor(at));
    return list;
  }

  /** Operand `at`, an instance of `Kind`. */
  handle<H extends Handle>(at: number, Kind: abstract new (...args: never[]) => H): H {
    const value = this.values.at(at);
    if (value instanceof Kind) return value;
    throw this.wrong(`operand ${at} is no ${Kind.name}`);
  }

  /** The elements of operand `at`; undefined if it is absent. */
  numbers(at: number): number[] | undefined {
    return at < this.count ? Array.from(this.tensor(at).dataSync(), Number) : undefined;
  }

  /** The elements of operand `at`, two by two. */
  pairs(at: number): [number, number][] {
    const flat = this.numbers(at)!;
    return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);
  }

  /** The first number of operand `at`. */
  number(at: number, otherwise?: number): number {
    const found = this.numbers(at)?.[0] ?? otherwise;
    if (found === undefined) throw this.wrong(`operand ${at} is missing`);
    return found;
  }

  attribute<T>(name: string, otherwise: T): T {
    return (entryOf(this.node.attributes, name) ?? otherwise) as T;
  }

  wrong(what: string, options?: ErrorOptions): LatheError {
    return new LatheError(`graph model: ${this.node.op} "${this.node.name}": ${what}`, options);
  }
}

/** The outputs of a node: one value or several. */
export type Operator = (call: Call) => Value | Value[];
