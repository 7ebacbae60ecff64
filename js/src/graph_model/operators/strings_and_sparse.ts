/** Operators of strings, sparse and ragged tensors, and spectra. */
import * as tf from '../../ops/index.js';
import type { Operator } from '../call.js';

export const texts = (): Record<string, Operator> => ({
  IRFFT: (call) => tf.irfft(call.tensor(0)),
  RFFT: (call) => tf.rfft(call.tensor(0), call.numbers(1)?.[0]),
  RaggedGather: (call) => {
    const { outputNestedSplits, outputDenseValues } = tf.raggedGather(
      call.tensors(0, call.count - 2),
      call.tensor(-2),
      call.tensor(-1),
      call.attribute('OUTPUT_RAGGED_RANK', 1),
    );
    return [...outputNestedSplits, outputDenseValues];
  },
});
