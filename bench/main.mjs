/** ./dev bench [train|size|compile] [--quick|--full] [--engine=node|chromium] [--network=TEXT]: measures and writes docs/benchmarks. */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { openChromium } from './engines/chromium.mjs';
import { openNode } from './engines/node.mjs';
import { networks } from './networks.mjs';
import { writeReport } from './report.mjs';
import { compileSuite } from './suites/compile.mjs';
import { sizeSuite } from './suites/size.mjs';
import { trainSuite } from './suites/train.mjs';

const suites = { train: trainSuite, compile: compileSuite, size: sizeSuite };
const engines = { node: openNode, chromium: openChromium };
const quick = { rounds: 5, roundMs: 150, warmUpMs: 400 };
const full = { rounds: 15, roundMs: 500, warmUpMs: 1500 };

let parsed;
try {
  parsed = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean' },
      full: { type: 'boolean' },
      engine: { type: 'string' },
      network: { type: 'string', default: '' },
    },
  });
} catch (error) {
  fail(error.message);
}
const { values, positionals } = parsed;
const wanted = positionals.length > 0 ? positionals : Object.keys(suites);
for (const name of wanted) if (!(name in suites)) fail(`no suite ${name}`);
if (values.engine && !(values.engine in engines)) fail(`no engine ${values.engine}`);
const chosen = networks.filter(({ name }) => name.includes(values.network));
if (chosen.length === 0) fail(`no network has ${values.network} in its name`);

function fail(problem) {
  console.error(
    `bench: ${problem}\nusage: ./dev bench [${Object.keys(suites).join('|')}] [--full] [--engine=${Object.keys(engines).join('|')}] [--network=TEXT]`,
  );
  process.exit(2);
}

const machine = `${cpus()[0].model.trim()}, ${cpus().length} logical CPUs`;
let problems = 0;
for (const name of wanted) {
  const opened = [];
  const settings = {
    ...(values.full ? full : quick),
    networks: chosen,
    openEngines: async () => {
      for (const each of values.engine ? [values.engine] : Object.keys(engines))
        opened.push(await engines[each]());
      return opened;
    },
  };
  try {
    const result = await suites[name](settings);
    const partial = values.engine !== undefined || values.network !== '';
    writeReport(
      name,
      { machine, date: new Date().toISOString().slice(0, 10), ...result },
      { partial },
    );
    for (const problem of result.problems) console.error(`PROBLEM: ${problem}`);
    problems += result.problems.length;
  } finally {
    for (const engine of opened) await engine.close();
  }
}
process.exit(problems > 0 ? 1 : 0);
