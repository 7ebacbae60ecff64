// Sound as an image: how loud each band of pitches is at each moment. This file runs in pages, too; it imports nothing, and
// examples/sound_to_word.mjs puts it beside the model that it trains.

/** Samples per second that models hear, and how many of them: one second, rounded up to whole steps. */
export const rate = 16_000;
export const samples = 64 * 256;
const [frame, step, bands] = [512, 256, 32];

/** Sound at another rate: means of the samples of each interval, between two samples a point of the line. */
export function resample(sound, from, to = rate) {
  if (from === to) return sound;
  const ratio = from / to;
  return Float32Array.from({ length: Math.floor(sound.length / ratio) }, (_, at) => {
    const [begin, end] = [Math.floor(at * ratio), Math.floor((at + 1) * ratio)];
    if (ratio < 2) {
      const share = at * ratio - begin;
      return sound[begin] * (1 - share) + (sound[begin + 1] ?? sound[begin]) * share;
    }
    return sound.subarray(begin, end).reduce((sum, each) => sum + each, 0) / (end - begin);
  });
}

/** The loudest second; shorter sounds are in the middle of silence. */
export function loudestSecond(sound) {
  const result = new Float32Array(samples);
  if (sound.length <= samples) {
    result.set(sound, Math.floor((samples - sound.length) / 2));
    return result;
  }
  const sums = new Float64Array(sound.length + 1);
  for (let at = 0; at < sound.length; ++at) sums[at + 1] = sums[at] + sound[at] ** 2;
  let best = 0;
  const energy = (at) => sums[at + samples] - sums[at];
  for (let at = 0; at + samples <= sound.length; at += step)
    if (energy(at) > energy(best)) best = at;
  result.set(sound.subarray(best, best + samples));
  return result;
}

const bins = frame / 2 + 1;
const filters = melFilters();

/** Triangles between frequencies that sound equally far apart, [bins, bands]. */
function melFilters() {
  const mel = (hertz) => 2595 * Math.log10(1 + hertz / 700);
  const [low, high] = [mel(60), mel(rate / 2)];
  const result = new Float32Array(bins * bands);
  for (let bin = 0; bin < bins; ++bin) {
    const position = ((mel((bin * rate) / frame) - low) / (high - low)) * (bands + 1);
    for (let band = 0; band < bands; ++band)
      result[bin * bands + band] = Math.max(0, 1 - Math.abs(position - band - 1));
  }
  return result;
}

/**
 * The log-mel spectrogram of `samples` values, [frames, bands, 1], with mean 0 and deviation 1, so that it is the same for quiet and
 * loud voices. `tf` is tensorlathe/tfjs.
 */
export function logMel(tf, sound) {
  return tf.tidy(() => {
    const power = tf.abs(tf.signal.stft(tf.tensor1d(sound), frame, step)).square();
    const decibels = power
      .matMul(tf.tensor2d(filters, [bins, bands]))
      .add(1e-6)
      .log();
    const { mean, variance } = tf.moments(decibels);
    return decibels.sub(mean).div(variance.add(1e-3).sqrt()).expandDims(-1);
  });
}
