/** Single steps of recurrent cells, composed of operations. */
import { applyOperation } from '../../eager/apply.js';
import { elementwise, toTensor, toTensors } from '../../eager/operands.js';
import { tidy } from '../../tensor/scopes.js';
import type { Tensor, TensorLike } from '../../tensor/tensor.js';

/** A step: from data, cell state c and hidden state h to the new c and h. */
export type LSTMCellFunc = (data: Tensor, c: Tensor, h: Tensor) => [Tensor, Tensor];

/**
 * A step of an LSTM: [c, h], each [batch, units].
 *
 * @param forgetBias added to the forget gate
 * @param lstmKernel [inputs + units, 4 · units]: gates in the order input, candidate, forget, output
 * @param lstmBias [4 · units]
 * @param data [batch, inputs]
 * @param c cell state, [batch, units]
 * @param h output of the step before, [batch, units]
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
    const inputAndState = applyOperation('concat', [input, state], [1]);
    const sums = elementwise(
      'add',
      ['x', 'bias'],
      [applyOperation('matMul', [inputAndState, kernel]), bias],
    );
    const [batch, units] = [sums.shape[0]!, sums.shape[1]! / 4];
    const [inputGate, candidate, forgetGate, outputGate] = [0, 1, 2, 3].map((at) =>
      applyOperation(
        'slice',
        [sums],
        [
          [0, at * units],
          [batch, units],
        ],
      ),
    ) as [Tensor, Tensor, Tensor, Tensor];
    const gate = (x: Tensor) => applyOperation('sigmoid', [x]);
    const retained = applyOperation('mul', [
      memory,
      gate(elementwise('add', ['x', 'bias'], [forgetGate, extra])),
    ]);
    const candidateIn = applyOperation('mul', [
      gate(inputGate),
      applyOperation('tanh', [candidate]),
    ]);
    const next = applyOperation('add', [retained, candidateIn]);
    return [next, applyOperation('mul', [applyOperation('tanh', [next]), gate(outputGate)])];
  });
}

/** One step of stacked cells, each fed the state of the one before: the new cell and hidden states of all. */
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
