/** Operators of strings, sparse and ragged tensors, and spectra. */
import * as tf from '../../ops/index.js';
import type { Operator } from '../call.js';

export const texts = (): Record<string, Operator> => ({
  FFT: (call) => tf.fft(call.tensor(0)),
  IFFT: (call) => tf.ifft(call.tensor(0)),
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
  RaggedRange: (call) => {
    const found = tf.raggedRange(call.tensor(0), call.tensor(1), call.tensor(2));
    return [found.rtNestedSplits, found.rtDenseValues];
  },
  RaggedTensorToTensor: (call) =>
    tf.raggedTensorToTensor(
      call.tensor(0),
      call.tensor(1),
      call.tensor(2),
      call.tensors(3),
      call.attribute<string[]>('row_partition_types', []),
    ),
  SparseFillEmptyRows: (call) => {
    const found = tf.sparse.sparseFillEmptyRows(
      call.tensor(0),
      call.tensor(1),
      call.tensor(2),
      call.tensor(3),
    );
    const { outputIndices, outputValues, emptyRowIndicator, reverseIndexMap } = found;
    return [outputIndices, outputValues, emptyRowIndicator, reverseIndexMap];
  },
  SparseReshape: (call) => {
    const found = tf.sparse.sparseReshape(call.tensor(0), call.tensor(1), call.tensor(2));
    return [found.outputIndices, found.outputShape];
  },
  SparseSegmentMean: (call) =>
    tf.sparse.sparseSegmentMean(call.tensor(0), call.tensor(1), call.tensor(2)),
  SparseSegmentSum: (call) =>
    tf.sparse.sparseSegmentSum(call.tensor(0), call.tensor(1), call.tensor(2)),
  StaticRegexReplace: (call) =>
    tf.string.staticRegexReplace(
      call.tensor(0),
      call.attribute('pattern', ''),
      call.attribute('rewrite', ''),
      call.attribute('replace_global', true),
    ),
  StringNGrams: (call) => {
    const { nGrams, nGramsSplits } = tf.string.stringNGrams(
      call.tensor(0),
      call.tensor(1),
      call.attribute('separator', ''),
      call.attribute<number[]>('ngram_widths', []),
      call.attribute('left_pad', ''),
      call.attribute('right_pad', ''),
      call.attribute('pad_width', 0),
      call.attribute('preserve_short_sequences', false),
    );
    return [nGrams!, nGramsSplits!];
  },
  StringSplit: (call) => {
    const { indices, values, shape } = tf.string.stringSplit(
      call.tensor(0),
      call.tensor(1),
      call.attribute('skip_empty', true),
    );
    return [indices!, values!, shape!];
  },
  StringToHashBucketFast: (call) =>
    tf.string.stringToHashBucketFast(call.tensor(0), call.attribute('num_buckets', 1)),
});
