/** ./dev bench [SUITE…] [options]: measures and writes docs/benchmarks. */
import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openChromium, openFirefox } from './engines/browser.mjs';
import { openNode } from './engines/node.mjs';
import { runSuite } from './interleave.mjs';
import { peers } from './peers.mjs';
import { writeReport } from './report.mjs';
import { calls } from './suites/calls.mjs';
import { compile } from './suites/compile.mjs';
import { images } from './suites/images.mjs';
import { mlps } from './suites/mlp.mjs';
import { ops } from './suites/ops.mjs';
import { products } from './suites/products.mjs';
import { decode } from './suites/decode.mjs';
import { decoders } from './suites/decoders.mjs';
import { onnx } from './suites/onnx.mjs';
import { quantized } from './suites/quantized.mjs';
import { size } from './suites/size.mjs';
import { start } from './suites/start.mjs';
import { tensors } from './suites/tensors.mjs';
import { texts } from './suites/texts.mjs';
import { train } from './suites/train.mjs';
import { tune } from './suites/tune.mjs';

/** A suite either declares rows, or has a custom run(settings). */
const suites = {
  products,
  train,
  mlps,
  images,
  ops,
  tensors,
  onnx,
  decode,
  decoders,
  texts,
  quantized,
  start,
  compile,
  calls,
  size,
  tune,
};
const engines = { node: openNode, chromium: openChromium, firefox: openFirefox };
const efforts = {
  smoke: { rounds: 1, roundMs: 1, warmUpMs: 1 },
  quick: { rounds: 5, roundMs: 40, warmUpMs: 100 },
  full: { rounds: 15, roundMs: 300, warmUpMs: 1000 },
};

const usage = `usage: ./dev bench [${Object.keys(suites).join('|')}]… [options]
  --effort=${Object.keys(efforts).join('|')}      how long to measure; smoke only sees that all rows run and agree
  --engine=${Object.keys(engines).join(',')}
  --threads=1,2
  --row=TEXT                      rows with TEXT in their name
  --seed=N                        of the sizes of more rows that smoke compares; default 1
  --tune=MS                       tune Tensorlathe for MS milliseconds before each row
  --peer=${Object.keys(peers).join(',')}
  --against=DIR                   compare Tensorlathe only with its package in DIR, another checkout that is built:
                                  rounds in turn, and their ratios at the end of each report
Runs that leave something out or have --against write to build/bench, others to docs/benchmarks.`;

function fail(problem) {
  console.error(`bench: ${problem}\n${usage}`);
  process.exit(2);
}

/** The words of a list, each of `allowed`; all when the option is absent. */
function wordsOf(option, list, allowed) {
  if (list === undefined) return allowed;
  const words = list.split(',');
  for (const word of words) if (!allowed.includes(word)) fail(`no ${option} ${word}`);
  return words;
}

function readOptions() {
  const text = { type: 'string' };
  const options = {
    effort: text,
    engine: text,
    threads: text,
    row: text,
    seed: text,
    tune: text,
    peer: text,
    against: text,
    help: { type: 'boolean' },
  };
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    return fail(error.message);
  }
}

/** Where the other checkout is; undefined without one. */
function folderOf(option) {
  if (option === undefined) return undefined;
  const folder = resolve(option);
  // Its core is next to it or in a folder, depending on the version.
  if (!existsSync(join(folder, 'js/dist/index.js'))) {
    fail(`${folder} has no js/dist/index.js: run ./dev build in a checkout there`);
  }
  return folder;
}

const { values, positionals } = readOptions();
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const against = folderOf(values.against);
/** Another checkout is measured by rows. */
const isComparable = (name) => !against || !suites[name].run;
const [effort] = wordsOf('effort', values.effort ?? 'quick', Object.keys(efforts));
const engineNames = wordsOf('engine', values.engine, Object.keys(engines));
const threadCounts = wordsOf('thread count', values.threads, ['1', '2']).map(Number);
const selected = positionals.length > 0 ? positionals : Object.keys(suites).filter(isComparable);
for (const name of selected) {
  if (!(name in suites)) fail(`no suite ${name}`);
  if (!isComparable(name)) fail(`--against knows no suite ${name}`);
}

const seed = Number(values.seed ?? 1);
if (!Number.isInteger(seed)) fail(`no seed ${values.seed}`);
if (effort === 'smoke') console.log(`sizes of random rows: --seed=${seed}`);

let problems = 0;
function problem(text) {
  problems++;
  console.error(`PROBLEM: ${text}`);
}

/** Every engine with every thread count, open one at a time. */
async function* openEngines(counts = threadCounts) {
  for (const name of engineNames) {
    for (const threads of counts) {
      const engine = await engines[name]({ threads, against }).catch((error) => {
        problem(`${name} does not open: ${error}`);
      });
      if (!engine) continue;
      try {
        yield { ...engine, name, threads };
      } finally {
        await engine.close();
      }
    }
  }
}

const partial =
  effort === 'smoke' ||
  [values.engine, values.threads, values.row, values.peer, values.tune, against].some(Boolean);
const peerText = values.peer ?? (against && 'tensorlathe,before');
const onlyPeers = peerText && wordsOf('peer', peerText, Object.keys(peers));
if (onlyPeers?.includes('before') && !against) fail('--peer=before needs --against=DIR');
const settings = {
  ...efforts[effort],
  rowText: values.row ?? '',
  onlyPeers,
  against,
  tuneMs: Number(values.tune ?? 0),
  ...(effort === 'smoke' && { seed }),
  engineNames,
  engines: openEngines,
};
// Everyone runs with defaults: nothing that an earlier run has tuned.
process.env.TENSORLATHE_CACHE = 'off';
const machine = `${cpus()[0].model.trim()}, ${cpus().length} logical CPUs`;
const date = new Date().toISOString().slice(0, 10);
const counts = { measured: 0, unsupported: 0 };
for (const name of selected) {
  const suite = suites[name];
  try {
    const result = await (suite.run ? suite.run(settings) : runSuite(suite, settings));
    writeReport(name, { machine, date, ...result }, { partial });
    result.problems.forEach(problem);
    result.missing?.forEach((line) => console.error(`MISSING: ${line}`));
    for (const key of Object.keys(counts)) counts[key] += result[key] ?? 0;
  } catch (error) {
    problem(`${name}: ${error.stack}`);
  }
}
if (effort === 'smoke')
  console.log(`${counts.measured} passed, ${problems} failed, ${counts.unsupported} skipped`);
process.exit(problems > 0 ? 1 : 0);
