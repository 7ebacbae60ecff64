/** Task of a llama of random weights with a key/value cache: a prompt, then token by token, the engines by turns. */
import { llama } from '../../tests/js/onnx/llama.mjs';
import { random } from '../../tests/js/onnx/write.mjs';
import { engine, names } from './engines.mjs';
import { limits } from './limits.mjs';
import { wllama } from './wllama.mjs';

const config = {
  width: 768,
  heads: 12,
  groups: 12,
  layers: 12,
  hidden: 2048,
  vocabulary: 32000,
  positions: 256,
};
const size = config.width / config.heads;

/** The same for a name, of a normal look. */
function randomWeights() {
  const pool = random(1, [1 << 20], 1).data;
  return (name, shape) => {
    const count = shape.reduce((product, size) => product * size, 1);
    if (name.includes('norm')) return new Float32Array(count).fill(1);
    const seed = [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 7919, 7);
    const scale = 1 / Math.sqrt(config.width);
    return Float32Array.from(
      { length: count },
      (_, k) => pool[(k * 17 + seed * 131) & (pool.length - 1)] * scale,
    );
  };
}

/** Where the largest is: a loop, as what is measured would drown in calls of functions. */
function largestOf(values) {
  let largest = 0;
  for (let at = 1; at < values.length; at++) if (values[at] > values[largest]) largest = at;
  return largest;
}

/** An engine with a model: `prompt` starts a new sequence, `next` generates `count` further tokens, each with its time. */
async function decoder(who, bytes, threads) {
  const { tensor, elements, load } = await engine(who, threads);
  const model = await load(bytes);
  const step = stepOf({ tensor, elements }, model);
  return {
    prompt: (tokens) => step(tokens, true),
    async next(tokens, count) {
      const [times, generated] = [[], []];
      for (let last = tokens.at(-1); generated.length < count; last = generated.at(-1)) {
        const [ms, token] = await step([last]);
        times.push(ms);
        generated.push(token);
      }
      return { times, generated };
    },
    close: () => model.close(),
  };
}

/** A function that appends tokens to the sequence, or starts a new one, and returns the next one and its time. */
function stepOf({ tensor, elements }, model) {
  let [cache, length] = [{}, 0];
  const clear = () => {
    length = 0;
    for (let layer = 0; layer < config.layers; layer++) {
      for (const each of ['key', 'value']) {
        const shape = [1, config.groups, 0, size];
        cache[`past_key_values.${layer}.${each}`] = tensor('float32', new Float32Array(0), shape);
      }
    }
  };
  const integers = (values) =>
    tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
  return async (tokens, isNew = false) => {
    if (isNew) clear();
    length += tokens.length;
    const feeds = { input_ids: integers(tokens), attention_mask: integers(Array(length).fill(1)) };
    const start = performance.now();
    const results = await model.run({ ...feeds, ...cache });
    const next = largestOf(elements(results.logits).subarray(-config.vocabulary));
    cache = Object.fromEntries(
      Object.keys(cache).map((name) => [name, results[name.replace('past_key_values', 'present')]]),
    );
    return [performance.now() - start, next];
  };
}

/** Prompts before those that count. */
const warmUpPrompts = 2;

/** Tokens that an engine generates in its turn. */
const turn = 8;

/** Before a turn: threads spin for a while after a run, and would occupy the processors of the other engine. */
const rest = () => new Promise((done) => setTimeout(done, 50));

/**
 * Milliseconds of prompts and of tokens of all engines, and how many of all tokens are the same as ours. llama.cpp is one of them
 * in pages, where it runs; it rounds rows to 8 bits for weights of few.
 */
export async function decoded({ bits, threads, prompts, promptLength, warmUp, tokens }) {
  const prompt = Array.from({ length: promptLength }, (_, k) => (k * 7919 + 1) % config.vocabulary);
  const weights = randomWeights();
  const bytes = llama(config, weights, { grouped: true, bits });
  const open = [];
  for (const who of names) open.push(await decoder(who, bytes, threads));
  if (globalThis.document) open.push(await wllama({ config, weights, bits, threads }));
  const limit = await limits(threads);
  const found = open.map(() => ({ prompts: [], times: [], generated: [] }));
  for (let at = -warmUpPrompts; at < prompts; at++) {
    for (const [who, each] of open.entries()) {
      await rest();
      const [ms, token] = await each.prompt(prompt);
      if (at >= 0) found[who].prompts.push(ms);
      found[who].generated = [token];
    }
  }
  for (let at = 0; at < warmUp + tokens; at += turn) {
    for (const [who, each] of open.entries()) {
      await rest();
      const { times, generated } = found[who];
      const more = await each.next([...prompt, ...generated], turn);
      if (at >= warmUp) times.push(...more.times);
      generated.push(...more.generated);
    }
    await rest();
    await limit.measure();
  }
  const measuredLimits = limit.found();
  for (const each of [...open, limit]) await each.close();
  const same = found
    .slice(1)
    .map(
      ({ generated }) => generated.filter((token, at) => token === found[0].generated[at]).length,
    );
  const engines = found.map(({ prompts: first, times }) => ({ prompts: first, times }));
  return {
    engines,
    same,
    all: found[0].generated.length,
    limits: allowed(measuredLimits, bits, promptLength),
  };
}

/** Tokens a second that the memory allows one by one, and multiply-adds of floats those of a prompt. */
function allowed({ bytes, flops }, bits, promptLength) {
  const { width, hidden, layers, vocabulary } = config;
  const weights = layers * (4 * width ** 2 + 3 * width * hidden) + vocabulary * width;
  // Few bits have a scale of 32 bits for each 32 weights; their products are of integers.
  const read = weights * (bits / 8 + (bits < 16 ? 1 / 8 : 0));
  const products = 2 * (weights + 2 * layers * width * promptLength);
  return {
    next: (1000 * bytes) / read,
    prompt: bits < 16 ? undefined : (1000 * flops) / products,
  };
}
