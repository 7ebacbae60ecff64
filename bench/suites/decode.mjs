/**
 * A llama of 109.5 M random weights with a key/value cache, in Node on one thread: tokens a second, one at a time, beside ONNX
 * Runtime Web; the engines take turns, token by token. What is read for a token limits both: the weights, once.
 */
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { llama } from '../../tests/js/onnx/llama.mjs';
import { random } from '../../tests/js/onnx/write.mjs';
import { formatTable, median } from '../report.mjs';

const config = {
  width: 768,
  heads: 12,
  groups: 12,
  layers: 12,
  hidden: 2048,
  vocabulary: 32000,
  positions: 256,
};
const forms = { float32: 32, '4 bits in blocks of 32': 4 };
const warmUpTokens = 8;

export const decode = { run };

/** The same for a name, of a normal look. */
function drawn() {
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

/** A program that gives the next token, and how long that took. */
function decoder(run, int64, empty) {
  const size = config.width / config.heads;
  let cache = {};
  for (let layer = 0; layer < config.layers; layer++) {
    for (const each of ['key', 'value']) {
      cache[`past_key_values.${layer}.${each}`] = empty([1, config.groups, 0, size]);
    }
  }
  let [token, length] = [1, 0];
  return async () => {
    length += 1;
    const feeds = { input_ids: int64([token]), attention_mask: int64(Array(length).fill(1)) };
    const start = performance.now();
    const results = await run({ ...feeds, ...cache });
    const logits = results.logits.dataSync?.() ?? results.logits.data;
    token = logits.indexOf(logits.reduce((most, each) => Math.max(most, each), -Infinity));
    cache = Object.fromEntries(
      Object.keys(cache).map((name) => [name, results[name.replace('past_key_values', 'present')]]),
    );
    return [performance.now() - start, token];
  };
}

async function run({ rounds }) {
  tl.env().set('THREADS', false);
  ort.env.wasm.numThreads = 1;
  const rows = [];
  for (const [name, bits] of Object.entries(forms)) {
    const bytes = llama(config, drawn(), { grouped: true, bits });
    const model = await tl.loadModel(bytes);
    const session = await ort.InferenceSession.create(bytes, {
      executionProviders: ['wasm'],
      logSeverityLevel: 4,
    });
    const engines = [
      decoder(
        (feeds) => model.run(feeds),
        (values) => tl.tensor(BigInt64Array.from(values, BigInt), [1, values.length], 'int64'),
        (shape) => tl.zeros(shape),
      ),
      decoder(
        (feeds) => session.run(feeds),
        (values) => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]),
        (shape) => new ort.Tensor('float32', new Float32Array(0), shape),
      ),
    ];
    const times = engines.map(() => []);
    let same = 0;
    const tokens = warmUpTokens + 4 * rounds;
    for (let at = 0; at < tokens; at++) {
      const given = [];
      for (const [k, next] of engines.entries()) {
        const [ms, token] = await next();
        given.push(token);
        if (at >= warmUpTokens) times[k].push(ms);
      }
      same += given[0] === given[1] ? 1 : 0;
    }
    model.dispose();
    await session.release();
    const [ours, theirs] = times.map((each) => 1000 / median(each));
    rows.push({ name, ours, theirs, same, tokens });
  }
  const table = formatTable(
    ['llama of 109.5 M weights, Node, one thread', 'tokens/s', 'ONNX Runtime Web', 'same tokens'],
    rows.map(({ name, ours, theirs, same, tokens }) => [
      name,
      ours.toFixed(1),
      theirs.toFixed(1),
      `${same} of ${tokens}`,
    ]),
  );
  console.log(`\n${table}`);
  return { rows, markdown: table, problems: [] };
}
