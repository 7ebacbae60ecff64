/** Operators of graph models that programs bring along. */
import { LatheError } from '../base/errors.js';
import type { Tensor } from '../tensor/tensor.js';
import { isTensor } from './execute.js';
import { custom } from './operators/index.js';

/** A node of a graph, as an operator of a program sees it. */
export interface CustomNode {
  inputs: Tensor[];
  attrs: Record<string, unknown>;
}

/** Makes an operator known by its name in TensorFlow; it takes the place of one that is there. */
export function registerOp(name: string, execute: (node: CustomNode) => Tensor | Tensor[]): void {
  if (typeof execute !== 'function') throw new LatheError('registerOp: a function is needed');
  custom.set(name, ({ values, node }) =>
    execute({ inputs: values.filter(isTensor), attrs: { ...node.attributes } }),
  );
}

/** Forgets an operator of `registerOp`. */
export function deregisterOp(name: string): void {
  custom.delete(name);
}
