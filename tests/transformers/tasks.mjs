// The tasks of transformers.js that are compared across runtimes: pipelines on all models, and its small graphs. Runs in Node
// and in pages.

/** Floats that look random, always the same. */
const wave = (length, step) =>
  Float32Array.from({ length }, (_, at) => Math.sin(at * step) * Math.cos(at * 0.017));

/** The results by task, of numbers, texts, arrays and objects. `pipe(task, model)` returns a pipeline. */
export function tasks(transformers, options) {
  const { pipeline, RawImage, TextStreamer, Tensor } = transformers;
  const pipe = (task, model) => pipeline(task, model, { dtype: 'fp32', ...options });
  const texts = [
    'the small model reads a page',
    'two dogs and one green river, running to the house!',
  ];

  async function features() {
    const extract = await pipe('feature-extraction', 'bert-features');
    const pooled = await extract(texts, { pooling: 'mean', normalize: true });
    const each = await extract(texts[0]);
    await extract.dispose();
    return [pooled.dims, pooled.tolist(), each.dims, each.tolist()];
  }

  async function classes() {
    const classify = await pipe('text-classification', 'bert-classes');
    const result = [await classify(texts), await classify(texts[1], { top_k: 3 })];
    await classify.dispose();
    return result;
  }

  async function tokens() {
    const find = await pipe('token-classification', 'bert-tokens');
    const result = await find(texts[1], { ignore_labels: [] });
    await find.dispose();
    return result;
  }

  /** A single prompt, streamed word by word, and several prompts in one batch. */
  const generation = (model, prompts) => async () => {
    const generate = await pipe('text-generation', model);
    const streamed = [];
    const streamer = new TextStreamer(generate.tokenizer, {
      skip_prompt: true,
      callback_function: (text) => streamed.push(text),
    });
    const settings = { max_new_tokens: 24, do_sample: false, add_special_tokens: false };
    const one = await generate('the cat', { ...settings, streamer });
    const several = await generate(prompts, settings);
    const penalized = await generate('one', {
      ...settings,
      max_new_tokens: 8,
      repetition_penalty: 1.3,
    });
    await generate.dispose();
    return [one, streamed.join(''), several, penalized];
  };

  async function imageClassification() {
    const classify = await pipe('image-classification', 'vit');
    const bytes = Uint8ClampedArray.from(wave(32 * 32 * 3, 0.37), (value) => 127.5 + 127 * value);
    const result = await classify(new RawImage(bytes, 32, 32, 3), { top_k: 5 });
    await classify.dispose();
    return result;
  }

  async function speech() {
    const recognize = await pipe('automatic-speech-recognition', 'whisper');
    const result = await recognize(wave(14_000, 0.11), { max_new_tokens: 20 });
    await recognize.dispose();
    return result;
  }

  /** The graphs that transformers.js brings. */
  async function graphs() {
    const { interpolate_4d, matmul, rfft, slice, topk } = transformers;
    const image = new Tensor('float32', wave(48, 0.7), [1, 3, 4, 4]);
    const results = [];
    for (const mode of ['nearest', 'bilinear', 'bicubic']) {
      results.push((await interpolate_4d(image, { size: [6, 7], mode })).tolist());
    }
    const a = new Tensor('float32', wave(12, 0.3), [3, 4]);
    const b = new Tensor('float32', wave(20, 0.9), [4, 5]);
    results.push((await matmul(a, b)).tolist());
    const signal = new Tensor('float32', wave(16, 0.5), [1, 16]);
    results.push((await rfft(signal, new Tensor('int64', [1n], []))).tolist());
    results.push((await topk(b, 2)).map((each) => each.tolist().map((row) => row.map(Number))));
    results.push((await slice(b, [1, 2], [3, 5], [0, 1])).tolist());
    return results;
  }

  return {
    features,
    classes,
    tokens,
    generation: generation('llama', ['the cat', 'a dog is in']),
    imageClassification,
    speech,
    graphs,
    // Where it is padded, grouped attention sees the padding.
    'grouped attention': generation('llama-grouped', ['the cat', 'the dog']),
  };
}

/** Runs all; what fails is { error }. */
export async function runTasks(transformers, options) {
  const results = {};
  for (const [name, task] of Object.entries(tasks(transformers, options))) {
    try {
      results[name] = await task();
    } catch (error) {
      results[name] = { error: String(error) };
    }
  }
  return results;
}
