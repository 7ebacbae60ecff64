// Synthesizes a few words: pulses and noise through formants, a small form of Klatt's synthesizer (1980). A stand-in for recordings
// of people.
import { rate, samples } from './log_mel.mjs';
import { Random } from './random.mjs';

/** A phoneme: its formants in Hz, the levels of voice and frication. */
const phone = (first, second, third, voice = 1, hiss = 0) => [first, second, third, voice, hiss];
const [ee, oo, ah] = [phone(280, 2250, 2950), phone(310, 880, 2240), phone(740, 1150, 2450)];
const [eh, oh] = [phone(550, 1830, 2480), phone(540, 1060, 2400)];
const [s, n] = [phone(320, 1500, 2600, 0, 1), phone(250, 1450, 2300, 0.35)];
const w = phone(300, 620, 2200, 0.8);

/** The phonemes of each word and their mean seconds. */
const words = {
  yes: [[ee, 0.07], [eh, 0.17], [s, 0.2]], // prettier-ignore
  no: [[n, 0.09], [oh, 0.16], [oo, 0.12]], // prettier-ignore
  you: [[ee, 0.09], [oo, 0.24]], // prettier-ignore
  why: [[w, 0.08], [ah, 0.17], [ee, 0.13]], // prettier-ignore
  see: [[s, 0.18], [ee, 0.24]], // prettier-ignore
};

/** The labels, in the order of their numbers; the last one is for everything else. */
export const labels = [...Object.keys(words), 'nothing'];

/** A second of sound with the word of that number, which the seed and the stream decide. */
export function say(label, seed, stream) {
  const random = new Random(seed, stream);
  const result = background(random);
  const emphasis = random.between(-0.5, 0.97); // of high pitches, by the microphone
  const spoken = words[labels[label]];
  if (spoken !== undefined) {
    const volume = 0.3 * 10 ** random.between(-1, 0.4);
    const voice = speak(spoken, random).map(
      (each, at, all) => each - emphasis * (all[at - 1] ?? 0),
    );
    const loudest = voice.reduce((most, each) => Math.max(most, Math.abs(each)), 1e-9);
    const begin = Math.floor(random.unit() * Math.max(1, samples - voice.length));
    voice.forEach((value, at) => {
      if (begin + at < samples) result[begin + at] += (volume * value) / loudest;
    });
  }
  return result.map((value) => Math.max(-1, Math.min(1, value)));
}

/** Hiss, rumble, hum and a knock or two, each of which may be missing. */
function background(random) {
  const [hiss, rumble, hum] = [-6, -5, -5].map((least) => 10 ** random.between(least, -2));
  const tone = (2 * Math.PI * random.between(50, 400)) / rate;
  const knocks = Array.from({ length: random.pick([0, 0, 1, 2]) }, () => [
    Math.floor(random.unit() * samples),
    10 ** random.between(-2, -0.7),
  ]);
  let low = 0;
  const result = new Float32Array(samples);
  for (let at = 0; at < samples; ++at) {
    const noise = random.between(-1, 1);
    low = 0.98 * low + noise;
    result[at] = hiss * noise + 0.2 * rumble * low + hum * Math.sin(tone * at);
  }
  for (const [begin, height] of knocks) {
    for (let at = begin; at < Math.min(begin + 800, samples); ++at)
      result[at] += height * Math.exp((begin - at) / 150) * random.between(-1, 1);
  }
  return result;
}

function speak(word, random) {
  const size = random.between(0.9, 1.28); // of the formants: a man's, a woman's, a child's
  const speed = random.between(0.75, 1.6);
  const pitch = random.between(85, 150) * size ** 2.2;
  const fall = random.between(0.7, 1.1);
  const targets = word.map(([[first, second, third, voice, hiss], seconds]) => ({
    formants: [first, second, third, 3600].map((each) => each * size * (1 + 0.06 * random.bell())), // prettier-ignore
    levels: [voice, hiss * random.between(0.6, 1.6)],
    length: seconds * speed * random.between(0.8, 1.25) * rate,
  }));
  const total = Math.floor(targets.reduce((sum, { length }) => sum + length, 0));
  const hissAt = random.between(4800, 6800);
  const cascade = targets[0].formants.map(() => new Resonator());
  const [frication, tilt] = [new Resonator(), random.between(0.2, 0.95)];
  frication.tune(hissAt, 1400);
  let [phase, source, levels] = [0, 0, [0, 0]];
  const result = new Float32Array(total);
  for (let at = 0; at < total; ++at) {
    if (at % 40 === 0) {
      const { formants, levels: now } = between(targets, at);
      formants.forEach((each, index) => cascade[index].tune(each, 50 + 0.03 * each));
      levels = now;
    }
    const noise = random.between(-1, 1);
    phase += (pitch * (1 + (fall - 1) * (at / total)) * (1 + 0.02 * noise)) / rate;
    source = tilt * source + (phase >= 1 ? 1 : 0) + 0.01 * noise;
    phase %= 1;
    const voiced = cascade.reduce((value, each) => each.next(value), source);
    const edge = Math.min(1, at / 400, (total - at) / 800);
    result[at] = edge * (levels[0] * voiced + 0.2 * levels[1] * frication.next(noise));
  }
  return result;
}

/** Formants and levels at a moment: neighbors blend linearly around their border. */
function between(targets, at) {
  let begin = 0;
  for (const [index, target] of targets.entries()) {
    const next = targets[index + 1];
    const end = begin + target.length;
    const blend = next && Math.min(target.length, next.length) / 2;
    if (next && at >= end - blend && at < end + blend) {
      const share = (at - end + blend) / (2 * blend);
      const mix = (a, b) => a.map((value, each) => value * (1 - share) + b[each] * share);
      return {
        formants: mix(target.formants, next.formants),
        levels: mix(target.levels, next.levels),
      };
    }
    if (at < end || next === undefined) return target;
    begin = end;
  }
  throw new Error('no sound');
}

/** A filter with one resonance. */
class Resonator {
  #a = 1;
  #b = 0;
  #c = 0;
  #one = 0;
  #two = 0;

  tune(frequency, bandwidth) {
    this.#c = -Math.exp((-2 * Math.PI * bandwidth) / rate);
    this.#b = 2 * Math.exp((-Math.PI * bandwidth) / rate) * Math.cos((2 * Math.PI * frequency) / rate); // prettier-ignore
    this.#a = 1 - this.#b - this.#c;
  }

  next(value) {
    const result = this.#a * value + this.#b * this.#one + this.#c * this.#two;
    this.#two = this.#one;
    return (this.#one = result);
  }
}
