/** Gradients with respect to variables, including weights of layers. */
import { variableGrads as gradsOf } from '../../eager/autodiff/gradients.js';
import type { Variable } from '../../eager/variable.js';
import { variableOfCopy } from '../../layers/shared_weights.js';
import type { Tensor } from '../../tensor/tensor.js';

/** The variable of a weight that `getWeights` of a layer or model returned; else the argument itself. */
export const weightVariable = (weight: Variable): Variable =>
  (variableOfCopy.get(weight)?.() ?? weight) as Variable;

/**
 * The value of f, a scalar, and its gradients with respect to variables, by name.
 *
 * @param varList the variables, or weights from `getWeights` of a layer or model; by default all trainable ones that
 *     f uses
 *
 * Errors: f does not return a scalar; it uses no trainable variable.
 */
export const variableGrads = (
  f: () => Tensor,
  varList?: readonly Variable[],
): { value: Tensor; grads: Record<string, Tensor> } =>
  gradsOf(f, Array.isArray(varList) ? varList.map(weightVariable) : varList);
