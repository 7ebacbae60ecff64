/** `LayerVariable` of TensorFlow.js: a variable for a custom layer. */
import { LatheError } from '../../base/errors.js';
import { type Variable, variable, variables } from '../../eager/variable.js';
import { LayerVariable as LayerWeight } from '../../layers/custom_layer.js';
import type { DType } from '../../tensor/dtypes.js';
import type { Tensor } from '../../tensor/tensor.js';

let lastId = 0;

/** A unique name. */
function freeName(name: string): string {
  let free = name;
  for (let number = 1; variables().has(free); ++number) free = `${name}_${number}`;
  return free;
}

export class LayerVariable {
  readonly id = lastId++;
  readonly originalName: string;
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly val: Variable;

  /** The variables that `addWeight` returns are instances, too. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof LayerWeight || Function.prototype[Symbol.hasInstance].call(this, value);
  }

  /** Without a name it is called Variable; a name in use gets a numeric suffix. */
  constructor(
    initial: Tensor,
    dtype?: DType | null,
    name?: string | null,
    trainable = true,
    /** Applied to each assigned value. */
    readonly constraint: { apply(value: Tensor): Tensor } | null = null,
  ) {
    this.dtype = dtype ?? 'float32';
    this.shape = initial.shape;
    this.originalName = name ?? 'Variable';
    this.name = freeName(this.originalName);
    this.val = variable(initial, trainable, this.name, this.dtype);
  }

  get trainable(): boolean {
    return this.val.trainable;
  }

  set trainable(trainable: boolean) {
    this.val.trainable = trainable;
  }

  read(): Variable {
    return this.#alive();
  }

  /** Error: another shape. */
  write(value: Tensor): this {
    const variable = this.#alive();
    if (value.shape.join() !== this.shape.join()) {
      const [has, got] = [this.shape, value.shape].map((shape) => JSON.stringify(shape));
      throw new LatheError(`LayersVariable ${this.name}: Shape mismatch: ${has} vs. ${got}`);
    }
    if ((value as unknown) !== variable) {
      variable.assign(this.constraint === null ? value : this.constraint.apply(value));
    }
    return this;
  }

  dispose(): void {
    this.#alive().dispose();
  }

  #alive(): Variable {
    if (!this.val.isDisposed) return this.val;
    throw new LatheError(`LayersVariable ${this.name} is already disposed`);
  }
}
