/** Which functions are methods of tensors too, by the names of TensorFlow.js: x.f(y) is f(x, y). */
import { Tensor, type TensorLike } from '../tensor/tensor.js';
import type { Rank } from '../tensor/ranks.js';
import type { OperationMethods } from '../trace/operations.js';
import * as arithmetic from '../ops/arithmetic.js';
import * as shapes from '../ops/shapes.js';

const functions = {
  add: arithmetic.add,
  addN: arithmetic.addN,
  clone: shapes.clone,
  div: arithmetic.div,
  mul: arithmetic.mul,
  sub: arithmetic.sub,
};

type Methods = {
  [Name in keyof typeof functions]: (typeof functions)[Name] extends (
    x: never,
    ...rest: infer Rest
  ) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** Gives tensors their methods. */
export function installChained(): void {
  for (const [name, action] of Object.entries(functions) as [
    string,
    (...all: unknown[]) => unknown,
  ][]) {
    const value = function (this: Tensor, ...rest: unknown[]): unknown {
      return action(this, ...rest);
    };
    Object.defineProperty(Tensor.prototype, name, { value, configurable: true });
  }
}

/** Methods whose types the core's own table does not give. */
export type ChainedMethods = Omit<Methods, keyof OperationMethods<Tensor, TensorLike>>;

declare module '../tensor/tensor.js' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type
  interface Tensor<R extends Rank = Rank> extends ChainedMethods {}
}
