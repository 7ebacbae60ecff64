/** Steps of recurrent networks, written with operations. */
import { apply } from '../eager/apply.js';
import { elementwise, toTensor, toTensors } from '../eager/operands.js';
import { tidy } from '../tensor/scopes.js';
import type { Tensor, TensorLike } from '../tensor/tensor.js';

/** A step: from data, memory and state to memory and state. */
export type LSTMCellFunc = (data: Tensor, c: Tensor, h: Tensor) => [Tensor, Tensor];

/**
 * A step of an LSTM: [memory, state], each [batch, units].
 *
 * @param forgetBias added to the forget gate
 * @param lstmKernel [inputs + units, 4 · units]: of input, candidate, forget and output
 * @param lstmBias [4 · units]
 * @param data [batch, inputs]
 * @param c,h [batch, units]
 */
export function basicLSTMCell(
  forgetBias: TensorLike,
  lstmKernel: TensorLike,
  lstmBias: TensorLike,
  data: TensorLike,
  c: TensorLike,
  h: TensorLike,
): [Tensor, Tensor] {
  const op = 'basicLSTMCell';
  return tidy((): [Tensor, Tensor] => {
    const extra = toTensor(forgetBias, 'forgetBias', op);
    const kernel = toTensor(lstmKernel, 'lstmKernel', op);
    const bias = toTensor(lstmBias, 'lstmBias', op);
    const input = toTensor(data, 'data', op);
    const [memory, state] = [toTensor(c, 'c', op), toTensor(h, 'h', op)];
    const joined = apply('concat', [input, state], [1]);
    const sums = elementwise('add', ['x', 'bias'], [apply('matMul', [joined, kernel]), bias]);
    const [batch, units] = [sums.shape[0]!, sums.shape[1]! / 4];
    const [take, candidate, forget, give] = [0, 1, 2, 3].map((at) =>
      apply(
        'slice',
        [sums],
        [
          [0, at * units],
          [batch, units],
        ],
      ),
    ) as [Tensor, Tensor, Tensor, Tensor];
    const gate = (x: Tensor) => apply('sigmoid', [x]);
    const kept = apply('mul', [memory, gate(elementwise('add', ['x', 'bias'], [forget, extra]))]);
    const taken = apply('mul', [gate(take), apply('tanh', [candidate])]);
    const next = apply('add', [kept, taken]);
    return [next, apply('mul', [apply('tanh', [next]), gate(give)])];
  });
}

/** One step of cells one behind the other: the memories and states of all of them. */
export function multiRNNCell(
  lstmCells: readonly LSTMCellFunc[],
  data: TensorLike,
  c: readonly TensorLike[],
  h: readonly TensorLike[],
): [Tensor[], Tensor[]] {
  const op = 'multiRNNCell';
  return tidy((): [Tensor[], Tensor[]] => {
    let input = toTensor(data, 'data', op);
    const [memories, states] = [toTensors(c, 'c', op), toTensors(h, 'h', op)];
    const [nextC, nextH]: [Tensor[], Tensor[]] = [[], []];
    for (const [at, cell] of lstmCells.entries()) {
      const [memory, state] = cell(input, memories[at]!, states[at]!);
      nextC.push(memory);
      nextH.push(state);
      input = state;
    }
    return [nextC, nextH];
  });
}
