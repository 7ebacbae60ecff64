// Runs the specs of tfjs-core on a subject:
//   node tests/tfjs/run.mjs --subject=tensorlathe/tfjs [--only=REGEX] [--list] [--write-expected] [--backend=NAME]
//        [--first=MODULE] [--engine=chromium]
// README.md describes the options. The last line has the counts.
import { fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readExpected, writeExpected } from './expected_failures.mjs';
import { specFolder } from './subjects.mjs';

/** A spec that sends nothing for so long is killed, in milliseconds. */
const longest = 60_000;

const { values: options } = parseArgs({
  options: {
    subject: { type: 'string', default: 'tensorlathe/tfjs' },
    only: { type: 'string' },
    list: { type: 'boolean' },
    'write-expected': { type: 'boolean' },
    backend: { type: 'string' },
    first: { type: 'string' },
    engine: { type: 'string', default: 'node' },
  },
});

const textOf = (file) => readFileSync(new URL(`${file}.js`, specFolder), 'utf8');

/** How many specs a file declares, for one that fails before declaring them. */
const declared = (file) => textOf(file).match(/^\s*x?it\(/gm)?.length ?? 0;

/** The spec files by their path without ending; those of only helpers declare nothing. */
function specFiles() {
  const names = readdirSync(fileURLToPath(specFolder), { recursive: true });
  const files = names.filter((name) => name.endsWith('_test.js')).map((name) => name.slice(0, -3));
  const hasSpecs = (file) => declared(file) > 0 || /PoolTest\(/.test(textOf(file));
  return files.filter(hasSpecs).sort((a, b) => (a < b ? -1 : 1));
}

/** Every result as { file, name, status, error }; a repeated name is numbered. */
const results = [];
const seen = new Map();

function add({ file, name, status, error, count = 1 }) {
  const key = `${file}: ${name}`;
  const times = (seen.get(key) ?? 0) + 1;
  seen.set(key, times);
  results.push({ key: times > 1 ? `${key} (${times})` : key, status, error, count });
}

/** Handles a message of a file. */
function receive(message) {
  const { file, broken, status } = message;
  if (broken) add({ ...message, name: '*', status: 'failed', count: declared(file) });
  else if (status !== undefined) add(message);
}

/** Runs files in a separate process, and returns those that it did not reach. */
function runFiles(files) {
  const { list, 'write-expected': _, ...passed } = options;
  const argument = JSON.stringify({ ...passed, files });
  const child = fork(fileURLToPath(new URL('child.mjs', import.meta.url)), [argument], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => (printed = (printed + text).slice(-4000)));
  let at = -1;
  let spec = '';
  let open = false;
  let timer;
  let hung = false;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => ((hung = true), child.kill('SIGKILL')), longest);
  };
  wait();
  child.on('message', (message) => {
    wait();
    if (message.begins) [at, open, spec] = [at + 1, true, ''];
    else if (message.starts) spec = message.starts;
    else if (message.ends || message.broken) open = false;
    receive(message);
  });
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(timer);
      if (at < 0) {
        console.log(printed.trim());
        console.log('0 passed, 1 failed, 0 skipped');
        process.exit(1);
      }
      if (open) {
        const error = hung
          ? `silent for ${longest / 1000} s`
          : `the process ended with ${code}: ${printed.trim().slice(-300)}`;
        add({ file: files[at], name: `${spec} (and all after it)`, status: 'failed', error });
      }
      resolve(files.slice(at + 1));
    });
  });
}

let left = specFiles();
if (options.engine === 'chromium') {
  if (options.subject !== 'tensorlathe/tfjs') throw new Error('pages have only tensorlathe/tfjs');
  const { runInChromium } = await import('./chromium.mjs');
  await runInChromium(left, { only: options.only, longest, receive });
} else {
  while (left.length > 0) left = await runFiles(left);
}

/** Failures are accepted only for this package: tensorlathe/tfjs, or our backend of TensorFlow.js. */
const isOurs = options.subject.startsWith('tensorlathe') || options.backend === 'lathe';
const file = options.subject.startsWith('tensorlathe')
  ? 'expected_failures.txt'
  : 'expected_failures_backend.txt';
/** Lists of pages or GPUs in addition. */
const additional = [
  ...(options.engine === 'chromium' ? ['expected_failures_chromium.txt'] : []),
  ...(options.backend === 'webgpu' ? ['expected_failures_webgpu.txt'] : []),
];
const [engineFile] = additional;
const expectedFailures = new Map([file, ...additional].flatMap((each) => [...readExpected(each)]));
const failed = results.filter(({ status }) => status === 'failed');
const count = (list) => list.reduce((sum, each) => sum + each.count, 0);
const selected = new RegExp(options.only ?? '');
const unexpected = isOurs ? failed.filter(({ key }) => !expectedFailures.has(key)) : failed;
const healed = isOurs
  ? results.filter(({ key, status }) => status === 'passed' && expectedFailures.has(key))
  : [];
if (options['write-expected']) {
  const isAdditional = ({ key }) => !readExpected(file).has(key);
  if (engineFile) writeExpected(engineFile, failed.filter(isAdditional), selected);
  else writeExpected(file, failed, selected);
}
for (const { key, error, count: many } of options.list ? failed : unexpected.slice(0, 40)) {
  console.log(`${key}\n    ${error}${many > 1 ? ` (${many} specs)` : ''}`);
}
for (const { key } of healed) console.log(`${key}\n    passes, but tests/tfjs/${file} lists it`);
const accepted = count(failed) - count(unexpected);
if (accepted > 0)
  console.log(
    `${accepted} failures are listed in tests/tfjs/${file}${engineFile ? ` and ${engineFile}` : ''}`,
  );
const passed = count(results.filter(({ status }) => status === 'passed')) - healed.length;
const skipped = count(results.filter(({ status }) => status === 'pending')) + accepted;
console.log(`${passed} passed, ${count(unexpected) + healed.length} failed, ${skipped} skipped`);
process.exitCode = unexpected.length + healed.length > 0 ? 1 : 0;
