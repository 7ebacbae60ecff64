/** Task of an encoder of random weights that is called with texts of ever other lengths, the engines by turns. */
import { bertModel } from '../../tests/transformers/networks.mjs';
import { distance, engine, names } from './engines.mjs';

const vocabulary = 30522;
const config = { width: 384, heads: 12, layers: 6, hidden: 1536, positions: 512 };

/** Milliseconds to load the bytes and of the first call, and the means of new and of repeated lengths; the maximum difference of results. */
export async function texts({ threads, lengths, rounds }) {
  const bytes = bertModel(vocabulary, { features: true }, config);
  const open = [];
  const loaded = [];
  for (const who of names) {
    const { tensor, elements, load } = await engine(who, threads);
    const start = performance.now();
    open.push({ tensor, elements, model: await load(bytes) });
    loaded.push(performance.now() - start);
  }
  let off = 0;
  const pass = async (all) => {
    const total = names.map(() => 0);
    for (const length of all) {
      const ids = Array.from({ length }, (_, at) => (at * 7919 + length) % vocabulary);
      const results = [];
      for (const [who, { tensor, elements, model }] of open.entries()) {
        const integers = (values) =>
          tensor('int64', BigInt64Array.from(values, BigInt), [1, length]);
        const feeds = {
          input_ids: integers(ids),
          attention_mask: integers(ids.map(() => 1)),
          token_type_ids: integers(ids.map(() => 0)),
        };
        // Threads of the other engine look for work for a while.
        await new Promise((done) => setTimeout(done, 20));
        const start = performance.now();
        const { last_hidden_state: states } = await model.run(feeds);
        results.push(elements(states));
        total[who] += performance.now() - start;
      }
      off = Math.max(off, distance(results[1], results[0]));
    }
    return total.map((ms) => ms / all.length);
  };
  const first = (await pass([3])).map((ms, who) => ms + loaded[who]);
  const fresh = await pass(lengths);
  const more = [];
  for (let round = 0; round < rounds; round++) more.push(await pass(lengths));
  const repeated = names.map((_, who) => more.reduce((sum, each) => sum + each[who], 0) / rounds);
  for (const { model } of open) await model.close();
  return { first, fresh, repeated, off };
}
