/** llama.cpp in a page, as npm's wllama, with the interface of an engine of `decoded`. It reports times itself. */
import { gguf, textOf, tokensIn } from './gguf.mjs';

const wasm = '/node_modules/@wllama/wllama/esm/wasm/wllama.wasm';
const storedAtOnce = 2 ** 26;

/** The engine with the model of `gguf` of these. */
export async function wllama({ config, weights, bits, threads }) {
  const { Wllama } = await import('@wllama/wllama');
  const engine = new Wllama({ default: wasm }, { suppressNativeLog: true });
  engine.setCompat(null);
  await engine.loadModel([await stored(gguf(config, weights, bits))], {
    n_threads: threads,
    n_gpu_layers: 0,
    n_ctx: config.positions,
    n_parallel: 1,
    warmup: false,
  });
  const complete = async (tokens, count, reusesCache) => {
    const { choices, timings } = await engine.createCompletion({
      prompt: textOf(tokens),
      max_tokens: count,
      temperature: 0,
      top_k: 1,
      ignore_eos: true,
      cache_prompt: reusesCache,
    });
    return { timings, generated: tokensIn(choices[0].text) };
  };
  return {
    async prompt(tokens) {
      const { timings, generated } = await complete(tokens, 1, false);
      return [timings.prompt_ms, generated[0]];
    },
    /** So many more tokens; the time of each is the mean. */
    async next(tokens, count) {
      const { timings, generated } = await complete(tokens, count, true);
      const ms = (timings.prompt_ms + timings.predicted_ms) / count;
      return { times: Array(count).fill(ms), generated };
    },
    close: () => engine.exit(),
  };
}

/** A copy on the disk: browsers limit this to a few hundred megabytes in memory. */
async function stored(blob) {
  const folder = await navigator.storage.getDirectory();
  const file = await folder.getFileHandle('model.gguf', { create: true });
  const writable = await file.createWritable();
  for (let at = 0; at < blob.size; at += storedAtOnce) {
    await writable.write(blob.slice(at, at + storedAtOnce));
  }
  await writable.close();
  return file.getFile();
}
