/** Texts and spectra. */
import * as tf from '../../ops/index.js';
import type { Operator } from '../call.js';

export const texts: Record<string, Operator> = {
  FFT: (call) => tf.fft(call.tensor(0)),
  IFFT: (call) => tf.ifft(call.tensor(0)),
  IRFFT: (call) => tf.irfft(call.tensor(0)),
  RFFT: (call) => tf.rfft(call.tensor(0), call.numbers(1)?.[0]),
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
};
