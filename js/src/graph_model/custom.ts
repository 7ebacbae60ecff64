/** Custom operators of graph models. */
import { LatheError } from '../base/errors.js';
import type { Tensor } from '../tensor/tensor.js';
import { isTensor } from './execute.js';
import { custom } from './operators/index.js';

/** The interface of a graph node for custom operators. */
export interface CustomNode {
  inputs: Tensor[];
  attrs: Record<string, unknown>;
}

/** Registers an operator under its TensorFlow name; replaces a registered one. */
export function registerOp(name: string, execute: (node: CustomNode) => Tensor | Tensor[]): void {
  if (typeof execute !== 'function') throw new LatheError('registerOp: a function is needed');
  custom.set(name, ({ values, node }) =>
    execute({ inputs: values.filter(isTensor), attrs: { ...node.attributes } }),
  );
}

/** Removes an operator of `registerOp`. */
export function deregisterOp(name: string): void {
  custom.delete(name);
}
