/** The base class of optimizers of variables: loss and gradients, step count, and saved state. */
import { LatheError } from '../../base/errors.js';
import { engine, valueOf } from '../../eager/engine.js';
import { computeInBackground, settle } from '../../eager/autodiff/background_compute.js';
import { type Variable, variables } from '../../eager/variable.js';
import { Optimizer as ModelOptimizer } from '../../layers/optimizer.js';
import { variableGrads, weightVariable } from '../engine/variable_grads.js';
import type { OptimizerConfig } from '../../core/names.js';
import { scalar } from '../../tensor/create.js';
import type { Tensor } from '../../tensor/tensor.js';

/** A tensor with its saved name. */
export interface NamedTensor {
  name: string;
  tensor: Tensor;
}

/** Gradients by the names of their variables; a missing one leaves the variable unchanged. */
export type VariableGradients = Record<string, Tensor> | readonly NamedTensor[];

/** The result of `variableGrads`. */
export interface LossAndGrads {
  value: Tensor;
  grads: Record<string, Tensor>;
}

/** A variable and its new value. */
export type Change = readonly [Variable, Tensor];

/** An optimizer of models and of variables. Subclasses implement `applyGradients`. */
export abstract class Optimizer extends ModelOptimizer {
  #iterations = 0;
  /** Loss and gradients of the step that `minimize` is running. */
  #currentStep: { readonly loss: Tensor; readonly grads: Record<string, Tensor> } | undefined;

  constructor(config: OptimizerConfig = { name: 'sgd' }) {
    super(config);
  }

  /** Updates variables by gradients. Error: an unknown variable name. */
  abstract applyGradients(gradients: VariableGradients): void;

  /**
   * Computes the gradients of a loss and updates the variables.
   *
   * @param f returns the loss, a scalar
   * @param returnCost whether the loss is returned, else null
   * @param varList the variables; default: all trainable ones that f uses
   *
   * Errors: as of `variableGrads`.
   */
  override minimize(
    f: () => Tensor,
    returnCost = false,
    varList?: readonly Variable[],
  ): Tensor | null {
    settle();
    const loss = this.runStep(f, varList);
    if (returnCost) return loss;
    loss.dispose();
    return null;
  }

  /** Updates variables by the gradients of a loss and returns the loss. */
  protected runStep(f: () => Tensor, varList?: readonly Variable[]): Tensor {
    return this.applyFound(this.computeGradients(f, varList), varList);
  }

  /** Updates variables by computed gradients, disposes of these, and returns the loss. */
  protected applyFound({ value, grads }: LossAndGrads, varList?: readonly Variable[]): Tensor {
    this.#currentStep = { loss: value, grads };
    try {
      const named = varList?.map((each) => {
        const { name } = weightVariable(each);
        return { name, tensor: grads[name]! };
      });
      this.applyGradients(named ?? grads);
    } finally {
      this.#currentStep = undefined;
      for (const each of Object.values(grads)) each.dispose();
    }
    return value;
  }

  /** The loss and its gradients: `variableGrads`. */
  computeGradients(f: () => Tensor, varList?: readonly Variable[]): LossAndGrads {
    return variableGrads(f, varList);
  }

  /** The `className` of its class. */
  override getClassName(): string {
    return (this.constructor as { className?: string }).className ?? super.getClassName();
  }

  /** The number of completed steps. */
  get iterations(): number {
    return this.#iterations;
  }

  protected incrementIterations(): void {
    this.#iterations += 1;
  }

  /** The variables of gradients. Error: an unknown variable name. */
  protected gradientsOf(gradients: VariableGradients): [Variable, Tensor][] {
    const named = Array.isArray(gradients)
      ? (gradients as readonly NamedTensor[]).map(({ name, tensor }) => [name, tensor] as const)
      : Object.entries(gradients as Record<string, Tensor>);
    const present = named.filter(([, each]) => each !== undefined && each !== null);
    return present.map(([name, gradient]) => {
      const found = variables().get(name);
      if (found !== undefined) return [found, gradient];
      throw new LatheError(`applyGradients: there is no variable "${name}"`);
    });
  }

  /** Assigns new values, computed together with the loss; gradients without other owners are not materialized. */
  protected change(changes: readonly Change[]): void {
    const { loss, grads = {} } = this.#currentStep ?? {};
    const results = [...(loss === undefined ? [] : [loss]), ...changes.map(([, next]) => next)];
    const [values, deferred] = [results, Object.values(grads)].map((each) => each.map(valueOf));
    if (this.#currentStep === undefined) engine.plans.compute(values!);
    else computeInBackground(values!, new Set(deferred));
    for (const [variable, next] of changes) variable.assign(next);
  }

  /** Disposes of its state. */
  dispose(): void {}

  async saveIterations(): Promise<NamedTensor> {
    return { name: 'iter', tensor: scalar(this.#iterations, 'int32') };
  }

  /** Its state, the step count first. Error, as in TensorFlow.js: the subclass does not override it. */
  async getWeights(): Promise<NamedTensor[]> {
    throw new LatheError('getWeights() is not implemented for this optimizer yet.');
  }

  /** Restores saved state. Error, as in TensorFlow.js: the subclass does not override it. */
  async setWeights(_weightValues: NamedTensor[]): Promise<void> {
    throw new LatheError(
      `setWeights() is not implemented for this optimizer class ${this.getClassName()}`,
    );
  }

  /** Reads the step count from the first tensor and returns the others. */
  protected async extractIterations(weightValues: NamedTensor[]): Promise<NamedTensor[]> {
    const [first, ...others] = weightValues;
    this.#iterations = (await first!.tensor.data())[0]!;
    return others;
  }

  /** The optimizer that `getConfig` describes. */
  static fromConfig<T>(cls: new (...values: any[]) => T, config: Record<string, unknown>): T {
    const names = (cls as { parameters?: readonly string[] }).parameters;
    return names === undefined ? new cls(config) : new cls(...names.map((name) => config[name]));
  }
}
