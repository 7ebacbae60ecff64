/** Tasks of one published model: the way to its first result, and calls by turns. */
import { inTurns } from '../turns.mjs';
import { distance, engine, names } from './engines.mjs';

const arrays = { float32: Float32Array, int64: BigInt64Array, int32: Int32Array };

/** A file of the models' folder, `folder` in Node. */
async function bytesAt(folder, path) {
  if (folder === undefined) {
    const response = await fetch(`/models/${path}`);
    if (!response.ok) throw new Error(`${path}: HTTP status ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  }
  const [{ readFile }, { join }] = await Promise.all([
    import('node:fs/promises'),
    import('node:path'),
  ]);
  return new Uint8Array(await readFile(join(folder, path)));
}

async function read(folder, name) {
  const meta = JSON.parse(
    new TextDecoder().decode(await bytesAt(folder, `golden/${name}/meta.json`)),
  );
  const inputs = await Promise.all(
    meta.inputs.map(async ({ name: input, type, dims, file }) => {
      const { buffer } = await bytesAt(folder, `golden/${name}/${file}`);
      return { input, type, dims, data: new arrays[type](buffer) };
    }),
  );
  return { bytes: await bytesAt(folder, meta.model), inputs };
}

const feedsFor = ({ tensor }, inputs) =>
  Object.fromEntries(
    inputs.map(({ input, type, data, dims }) => [input, tensor(type, data, dims)]),
  );

/** Milliseconds from the bytes of a model to its first result, WebAssembly of the engine included: in a fresh process or page. */
export async function first({ name, who, threads, folder }) {
  const { bytes, inputs } = await read(folder, name);
  const made = await engine(who, threads);
  const feeds = feedsFor(made, inputs);
  const start = performance.now();
  await (await made.load(bytes)).run(feeds);
  return { ms: performance.now() - start };
}

/** Milliseconds of a call of both, the time to the first result where the WebAssembly is loaded, and the maximum difference of results. */
export async function turns({ name, threads, folder, settings }) {
  const { bytes, inputs } = await read(folder, name);
  const results = [];
  const reloads = [];
  const calls = [];
  const open = [];
  for (const who of names) {
    const made = await engine(who, threads);
    const feeds = feedsFor(made, inputs);
    await (await made.load(bytes)).run(feeds);
    const start = performance.now();
    const model = await made.load(bytes);
    const outputs = await model.run(feeds);
    reloads.push(performance.now() - start);
    results.push(
      Object.fromEntries(Object.entries(outputs).map(([key, each]) => [key, made.elements(each)])),
    );
    calls.push(() => model.run(feeds));
    open.push(model);
  }
  const [ours, theirs] = results;
  const off = Math.max(...Object.keys(theirs).map((key) => distance(theirs[key], ours[key])));
  const times = await inTurns(calls, settings);
  for (const each of open) await each.close();
  return { times, reloads, off };
}
