/** Task of small decoders of random weights whose states have other names, ranks and kinds: tokens one by one, the engines by turns. */
import { config, decoder, feedsOf } from '../../tests/js/onnx/decoders.mjs';
import * as seq2seq from '../../tests/js/onnx/seq2seq.mjs';
import { median } from '../median.mjs';
import { distance, engine, names } from './engines.mjs';

/** Whether a name is of an encoder-decoder model, and how its tokens get their positions. */
const positionings = { whisper: 'gather', t5: 'relative' };
const encoderLength = 64;

/** Bytes of a model, the name of its logits, and the feeds of a token after the results of the first and the last call. */
function programOf(kind) {
  const positioning = positionings[kind];
  if (positioning === undefined) {
    const made = decoder(kind);
    const feeds = (make, token, length, { last }) => feedsOf(make, made, [token], length, last);
    return { bytes: made.bytes, logits: made.logits, vocabulary: config.vocabulary, feeds };
  }
  const { width, heads, vocabulary } = seq2seq.config;
  const bytes = seq2seq.decoder({ positioning, choice: 'model', isMasked: kind === 't5' });
  const states = Float32Array.from({ length: encoderLength * width }, (_, k) => Math.sin(k));
  const none = new Float32Array(0);
  const feeds = (make, token, _, { first, last }) => ({
    input_ids: make('int64', BigInt64Array.of(BigInt(token)), [1, 1]),
    encoder_attention_mask: make('int64', new BigInt64Array(encoderLength).fill(1n), [
      1,
      encoderLength,
    ]),
    encoder_hidden_states: make('float32', states, [1, encoderLength, width]),
    use_cache_branch: make('bool', Uint8Array.of(last === undefined ? 0 : 1), [1]),
    ...Object.fromEntries(
      seq2seq.cacheNames.map((name) => {
        const from = name.includes('encoder') ? first : last;
        const past = from?.[`present.${name}`];
        return [
          `past_key_values.${name}`,
          past ?? make('float32', none, [1, heads, 0, width / heads]),
        ];
      }),
    ),
  });
  return { bytes, logits: 'logits', vocabulary, feeds };
}

/** Tokens that an engine generates in its turn, and of which the first turns do not count. */
const turn = 4;

/** Median milliseconds of a token of each engine, and the maximum difference of the last logits. */
export async function decoders({ kind, threads, warmUp, tokens }) {
  const { bytes, logits, vocabulary, feeds } = programOf(kind);
  const open = [];
  for (const who of names) {
    const { tensor, elements, load } = await engine(who, threads);
    open.push({ tensor, elements, model: await load(bytes), past: {}, times: [] });
  }
  for (let from = 0; from < warmUp + tokens; from += turn) {
    for (const each of open) {
      for (let at = from; at < from + turn; at++) {
        const start = performance.now();
        const results = await each.model.run(
          feeds(each.tensor, (at * 7) % vocabulary, at, each.past),
        );
        each.last = each.elements(results[logits]);
        if (at >= warmUp) each.times.push(performance.now() - start);
        each.past = { first: each.past.first ?? results, last: results };
      }
    }
  }
  for (const { model } of open) await model.close();
  return {
    times: open.map(({ times }) => median(times)),
    off: distance(open[1].last, open[0].last),
  };
}
