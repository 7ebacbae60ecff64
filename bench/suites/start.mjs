/**
 * D: a page that was never visited, from navigation to the first result, what it downloads, and the time when it
 * is reopened. Chromium only, without developer tools: for these Chromium reads scripts once more, to report
 * where each request comes from, and copies what comes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { rolldown } from 'rolldown';
import { toChannelsFirst } from '../builders/channels.mjs';
import { buildOnnx } from '../builders/onnx.mjs';
import { buildTflite } from '../builders/tflite.mjs';
import { disagreements } from '../digest.mjs';
import { targetSection } from '../targets.mjs';
import { launchUnwatched } from '../engines/browser.mjs';
import { root, serve } from '../engines/server.mjs';
import { mobileNetV1 } from '../models/images.mjs';
import { mlp } from '../models/mlp.mjs';
import { fill, leaves } from '../models/model.mjs';
import { networks } from '../networks.mjs';
import { isRival, peers, versionOf } from '../peers.mjs';
import { formatTable, median } from '../report.mjs';
import { standaloneModule } from '../start/standalone_module.mjs';

const names = ['tensorlathe', 'precompiled', 'litert', 'tfjs', 'onnxruntime', 'jax'];
const longestMs = 60_000;
const fillingMs = 1000;
const bundles = 'build/bench/start';

const targets = [{ engine: 'chromium', threads: 1, fastest: 1, kilobytes: 350 }];

export const start = { run };

async function run({ rounds, rowText, onlyPeers, engineNames }) {
  const measured = names.filter((name) => !onlyPeers || onlyPeers.includes(name));
  const result = { versions: versionsOf(measured), rounds, rows: [], problems: [] };
  if (!engineNames.includes('chromium')) return { ...result, markdown: 'Chromium only.' };
  const preloads = await bundle(measured);
  const { browser, protocol } = await launchUnwatched();
  const models = [
    mlp(
      networks.find(({ name }) => name === '784-2x128-10'),
      1,
    ),
    mobileNetV1(),
  ];
  for (const model of models.filter(({ name }) => name.includes(rowText))) {
    const row = await measureModel(protocol, model, measured, rounds, preloads);
    result.rows.push(row);
    for (const [name, { error }] of Object.entries(row.peers))
      if (error) result.problems.push(`${model.name}, ${peers[name].title}: ${error}`);
    console.log(`${row.name}: ${cells(row, measured).slice(1).join('  ')}`);
  }
  result.engine = (await browser.version()).replace('Chrome/', 'Chromium ');
  await browser.close();
  return { ...result, markdown: markdown(result, measured) };
}

const versionsOf = (list) => Object.fromEntries(list.map((name) => [name, versionOf(name)]));

/**
 * Ours as npm gets it: what it loads on demand stays in separate files, so by the bundler of Vite, which concatenates the others.
 * Returns for each what its script imports at once.
 */
async function bundle(measured) {
  const imported = measured.map((name) =>
    name === 'tensorlathe' ? bundleOurs() : bundlePeer(name),
  );
  const files = await Promise.all(imported);
  return Object.fromEntries(measured.map((name, at) => [name, files[at]]));
}

const entryOf = (name) => join(root, `bench/start/${name}.mjs`);

async function bundlePeer(name) {
  await build({
    entryPoints: [entryOf(name)],
    outdir: join(root, bundles),
    bundle: true,
    minify: true,
    format: 'esm',
    external: ['node:*'],
    logLevel: 'error',
  });
  return [];
}

async function bundleOurs() {
  const alias = { tensorlathe: join(root, 'build/package/dist/modules/index.js') };
  const ours = await rolldown({ input: entryOf('tensorlathe'), resolve: { alias } });
  const { output } = await ours.write({ dir: join(root, bundles), minify: true });
  return output[0].imports;
}

/** What a script imports is named in the page, as Vite does. */
const pageOf = (name, imports) => {
  const preloads = imports.map((file) => `<link rel="modulepreload" href="/${bundles}/${file}">`);
  return `<!doctype html><title>start</title>${preloads.join('')}<body><script type="module" src="/${bundles}/${name}.js"></script>`;
};

const pageBefore = `<!doctype html><title>before</title>
<script>setTimeout(() => location.replace(location.search.slice(1)), 300)</script>`;

const bytesOf = ({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength);

/** Everything that a page may request and that the repository does not have. */
async function filesOf(model, measured, preloads) {
  const [input] = model.values.filter(({ op }) => op === 'input');
  const numbers = fill(input);
  const weights = leaves(model).map((value) => bytesOf(fill(value)));
  return {
    '/before.html': pageBefore,
    ...Object.fromEntries(measured.map((name) => [`/${name}.html`, pageOf(name, preloads[name])])),
    [`/${bundles}/lathe-core.wasm`]: readFileSync(join(root, 'js/dist/core/lathe-core.wasm')),
    '/model.json': JSON.stringify(model),
    '/weights.bin': Buffer.concat(weights),
    '/model.onnx': bytesOf(buildOnnx(model).bytes),
    '/model.tflite': bytesOf(buildTflite(model)),
    '/model.wasm': bytesOf(await standaloneModule(model)),
    '/input.bin': bytesOf(numbers),
    '/input_channels_first.bin': bytesOf(toChannelsFirst(numbers, input.shape)),
  };
}
const isOther = (path) => /^\/(before|model|weights|input)/.test(path);

/** The very first visit is a warm-up: the server prepares its files then. */
async function measureModel(protocol, model, measured, rounds, preloads) {
  const pages = await filesOf(model, measured, preloads);
  const server = await serve({ compressed: true, pages });
  const results = Object.fromEntries(measured.map((name) => [name, { times: [], reload: [] }]));
  for (let round = -1; round < rounds; round++) {
    for (const name of measured.filter((each) => !results[each].error)) {
      const visited = await visit(protocol, server, name);
      const sent = server.drainSent().filter(([path]) => !isOther(path));
      if (round >= 0) {
        results[name].times.push(visited.ms);
        results[name].reload.push(visited.reload);
      }
      const bytes = sent.reduce((sum, [, count]) => sum + count, 0);
      Object.assign(results[name], { bytes, digest: visited.digest, error: visited.error });
    }
  }
  server.close();
  const digests = measured
    .filter((name) => results[name].digest)
    .map((name) => [name, results[name].digest]);
  for (const [name, problem] of Object.entries(disagreements(Object.fromEntries(digests))))
    results[name].error = problem;
  const range = (times) => [Math.min(...times), Math.max(...times)];
  const condensed = Object.entries(results).map(([name, { error, times, reload, bytes }]) => [
    name,
    error ? { error } : { ms: median(times), reload: median(reload), spread: range(times), bytes },
  ]);
  return { name: model.name, peers: Object.fromEntries(condensed) };
}

/** One page in a fresh context, whose caches are empty, and the same page once more when they are filled. */
async function visit(protocol, server, name) {
  const { browserContextId } = await protocol.send('Target.createBrowserContext');
  try {
    const first = await open(protocol, browserContextId, server, name);
    // Engines store compiled code in idle moments.
    await sleep(fillingMs);
    const reload = await open(protocol, browserContextId, server, name);
    return { ...first, reload: reload.ms };
  } catch (error) {
    return { error: String(error) };
  } finally {
    await protocol.send('Target.disposeBrowserContext', { browserContextId });
  }
}

/** Navigates there from another page, as by a link. Returns the report of the page. */
async function open(protocol, browserContextId, server, name) {
  const posted = server.nextPosted();
  const url = `${server.address}/before.html?/${name}.html`;
  const { targetId } = await protocol.send('Target.createTarget', {
    url,
    browserContextId,
    newWindow: true,
  });
  const late = sleep(longestMs, '{"error":"no result in a minute"}', { ref: false });
  const result = JSON.parse(await Promise.race([posted, late]));
  await protocol.send('Target.closeTarget', { targetId });
  return result;
}

function cells({ name, peers: results }, measured) {
  const ours = results.tensorlathe ?? {};
  const rivals = measured.filter((each) => isRival(each) && results[each].ms);
  const fastest = Math.min(...rivals.map((each) => results[each].ms));
  const factor = ours.ms && rivals.length > 0 ? `${(fastest / ours.ms).toFixed(2)}×` : '–';
  return [
    name,
    ...measured.map((each) => {
      const { ms, reload, bytes } = results[each];
      if (!ms) return 'failed';
      return `${ms.toFixed(0)} ms, reloaded ${reload.toFixed(0)} ms, ${(bytes / 1000).toFixed(0)} KB`;
    }),
    factor,
  ];
}

function markdown({ engine, rounds, rows, versions, problems }, measured) {
  const configuration = { title: engine, engine: 'chromium', threads: 1, rows };
  const heads = measured.map((name) => `${peers[name].title} ${versions[name]}`);
  return [
    `From navigation to the first result in ${engine}, without developer tools, on one thread, with empty caches, from a server on the same machine;`,
    `medians of ${rounds} visits; and when the page is reopened. Next to it what the page downloads of code (gzip), without the model, which comes as weights,`,
    'as an ONNX file or as a TensorFlow Lite file. Every page is one minified bundle of what it needs. "Precompiled" is a module that',
    '`model.toWasm()` made before, weights included: it has no competitor here, because peers have nothing like it.',
    '',
    formatTable(
      ['', ...heads, 'fastest peer ÷ ours'],
      rows.map((row) => cells(row, measured)),
    ),
    ...targetSection(targets, [configuration]),
    ...(problems.length > 0
      ? ['', '## Failed', '', ...problems.map((each) => `* ${each.split('\n')[0]}`)]
      : []),
  ].join('\n');
}
