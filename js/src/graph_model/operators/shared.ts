/** Operators that TensorFlow.js also has as kernels: the rows of ops/kernels.ts on the operands of a node. */
import { type Arguments, sharedKernels } from '../../ops/kernels.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { Call, Operator } from '../call.js';

class NodeArguments implements Arguments {
  #next = 0;
  constructor(readonly call: Call) {}
  tensor(): Tensor {
    return this.call.tensor(this.#next++);
  }
  tensors(): Tensor[] {
    return this.call.tensors(this.#next);
  }
  all(): Tensor[] {
    return this.call.tensors();
  }
  number(_: string, otherwise?: number): number {
    return this.call.number(this.#next++, otherwise);
  }
  numbers(): number[] | undefined {
    return this.call.numbers(this.#next++);
  }
  pairs(): [number, number][] {
    return this.call.pairs(this.#next++);
  }
  attribute<T>(name: string, otherwise: T, nodeName = snakeCase(name)): T {
    return this.call.attribute(nodeName, otherwise);
  }
}

const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Operators that are called otherwise than the kernel. */
const aliases: Readonly<Record<string, string>> = {
  AddV2: 'Add',
  Div: 'RealDiv',
  FloorMod: 'Mod',
  Mul: 'Multiply',
  NonMaxSuppressionV2: 'NonMaxSuppressionV3',
  SelectV2: 'Select',
  TopKV2: 'TopK',
  UniqueV2: 'Unique',
};

export function shared(): Record<string, Operator> {
  const kernels = sharedKernels();
  for (const [alias, name] of Object.entries(aliases)) kernels[alias] = kernels[name]!;
  return Object.fromEntries(
    Object.entries(kernels).map(([name, kernel]) => [
      name,
      (call: Call) => kernel(new NodeArguments(call)),
    ]),
  );
}
