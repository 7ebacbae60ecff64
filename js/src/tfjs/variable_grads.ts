/** Gradients by variables, the weights of layers among them. */
import { variableGrads as gradsOf } from '../eager/gradients.js';
import type { Variable } from '../eager/variable.js';
import { variableOf } from '../layers/shared_weights.js';
import type { Tensor } from '../tensor/tensor.js';

/** Of what `getWeights` of a layer or model gave, its variable; else itself. */
export const weightVariable = (given: Variable): Variable =>
  (variableOf.get(given)?.() ?? given) as Variable;

/**
 * The value of f, a scalar, and its gradients by variables, by their names.
 *
 * @param varList the variables, or what `getWeights` of a layer or model gave; left out, all that can be trained and that
 *     f uses
 *
 * Errors: f gives no scalar; it uses no variable that can be trained.
 */
export const variableGrads = (
  f: () => Tensor,
  varList?: readonly Variable[],
): { value: Tensor; grads: Record<string, Tensor> } =>
  gradsOf(f, Array.isArray(varList) ? varList.map(weightVariable) : varList);
