/** What optimisers of variables share: the loss and its gradients, the number of steps, and what they keep of them. */
import { LatheError } from '../../base/errors.js';
import { compute } from '../../eager/compute.js';
import { computeSoon, settle } from '../../eager/soon.js';
import { type Variable, variables } from '../../eager/variable.js';
import { Optimizer as ModelOptimizer } from '../../layers/optimizer.js';
import { variableGrads, weightVariable } from '../variable_grads.js';
import type { OptimizerConfig } from '../../core/names.js';
import { HeapValue } from '../../runtime/heap_value.js';
import { scalar } from '../../tensor/create.js';
import type { Tensor } from '../../tensor/tensor.js';

/** A tensor with the name that it is saved by. */
export interface NamedTensor {
  name: string;
  tensor: Tensor;
}

/** Gradients by the names of their variables; those that are missing leave the variable alone. */
export type VariableGradients = Record<string, Tensor> | readonly NamedTensor[];

/** What `variableGrads` gives. */
export interface LossAndGrads {
  value: Tensor;
  grads: Record<string, Tensor>;
}

/** A variable and what it becomes. */
export type Change = readonly [Variable, Tensor];

/** An optimiser, of models and of variables. Subclasses say what `applyGradients` does. */
export abstract class Optimizer extends ModelOptimizer {
  #iterations = 0;
  /** Those of the step that `minimize` takes. */
  #taken: { readonly loss: Tensor; readonly grads: Record<string, Tensor> } | undefined;

  constructor(config: OptimizerConfig = { name: 'sgd' }) {
    super(config);
  }

  /** Changes variables by gradients. Error: there is no variable of a name. */
  abstract applyGradients(gradients: VariableGradients): void;

  /**
   * Takes the gradients of a loss and changes the variables by them.
   *
   * @param f gives the loss, a scalar
   * @param returnCost whether the loss is returned, else null
   * @param varList the variables; left out, all that can be trained and that f uses
   *
   * Errors: as of `variableGrads`.
   */
  override minimize(
    f: () => Tensor,
    returnCost = false,
    varList?: readonly Variable[],
  ): Tensor | null {
    settle();
    const loss = this.takeStep(f, varList);
    if (returnCost) return loss;
    loss.dispose();
    return null;
  }

  /** Changes variables by the gradients of a loss, which it gives. */
  protected takeStep(f: () => Tensor, varList?: readonly Variable[]): Tensor {
    return this.applyFound(this.computeGradients(f, varList), varList);
  }

  /** Changes variables by gradients of a loss, which it gives; the gradients are disposed of. */
  protected applyFound({ value, grads }: LossAndGrads, varList?: readonly Variable[]): Tensor {
    this.#taken = { loss: value, grads };
    try {
      const named = varList?.map((each) => {
        const { name } = weightVariable(each);
        return { name, tensor: grads[name]! };
      });
      this.applyGradients(named ?? grads);
    } finally {
      this.#taken = undefined;
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

  /** Steps taken so far. */
  get iterations(): number {
    return this.#iterations;
  }

  protected incrementIterations(): void {
    this.#iterations += 1;
  }

  /** The variables of gradients. Error: there is none of a name. */
  protected gradientsOf(gradients: VariableGradients): [Variable, Tensor][] {
    const named = Array.isArray(gradients)
      ? (gradients as readonly NamedTensor[]).map(({ name, tensor }) => [name, tensor] as const)
      : Object.entries(gradients as Record<string, Tensor>);
    const given = named.filter(([, each]) => each !== undefined && each !== null);
    return given.map(([name, gradient]) => {
      const found = variables.get(name);
      if (found !== undefined) return [found, gradient];
      throw new LatheError(`applyGradients: there is no variable "${name}"`);
    });
  }

  /** Gives variables what they become, all computed at once, with the loss; gradients that nobody else has are not stored. */
  protected change(changes: readonly Change[]): void {
    const { loss, grads = {} } = this.#taken ?? {};
    const wanted = [...(loss === undefined ? [] : [loss]), ...changes.map(([, next]) => next)];
    const how = this.#taken === undefined ? compute : computeSoon;
    how(wanted.map(HeapValue.of), new Set(Object.values(grads).map(HeapValue.of)));
    for (const [variable, next] of changes) variable.assign(next);
  }

  /** Lets what it keeps go. */
  dispose(): void {}

  async saveIterations(): Promise<NamedTensor> {
    return { name: 'iter', tensor: scalar(this.#iterations, 'int32') };
  }

  /** What it keeps, with the number of steps first. Error: it cannot tell. */
  async getWeights(): Promise<NamedTensor[]> {
    throw new LatheError('getWeights() is not implemented for this optimizer yet.');
  }

  /** Takes over what another one kept. Error: it cannot. */
  async setWeights(_weightValues: NamedTensor[]): Promise<void> {
    throw new LatheError(
      `setWeights() is not implemented for this optimizer class ${this.getClassName()}`,
    );
  }

  /** Takes the number of steps from the first one and gives the others. */
  protected async extractIterations(weightValues: NamedTensor[]): Promise<NamedTensor[]> {
    const [first, ...others] = weightValues;
    this.#iterations = (await first!.tensor.data())[0]!;
    return others;
  }

  /** The optimiser that `getConfig` describes. */
  static fromConfig<T>(cls: new (...values: any[]) => T, config: Record<string, unknown>): T {
    const names = (cls as { parameters?: readonly string[] }).parameters;
    return names === undefined ? new cls(config) : new cls(...names.map((name) => config[name]));
  }
}
