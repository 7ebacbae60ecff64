// Runs the specs of tfjs-core on a subject:
//   node tests/tfjs/run.mjs --subject=tensorlathe/tfjs [--only=REGEX] [--list] [--write-known] [--backend=NAME]
//        [--first=MODULE] [--engine=chromium]
// README.md says what the options do. The last line counts.
import { fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readKnown, writeKnown } from './known.mjs';
import { specFolder } from './subjects.mjs';

/** A spec that says nothing for so long hangs, in milliseconds. */
const longest = 60_000;

const { values: options } = parseArgs({
  options: {
    subject: { type: 'string', default: 'tensorlathe/tfjs' },
    only: { type: 'string' },
    list: { type: 'boolean' },
    'write-known': { type: 'boolean' },
    backend: { type: 'string' },
    first: { type: 'string' },
    engine: { type: 'string', default: 'node' },
  },
});

const textOf = (file) => readFileSync(new URL(`${file}.js`, specFolder), 'utf8');

/** How many specs a file declares, for one that does not come to declare them. */
const declared = (file) => textOf(file).match(/^\s*x?it\(/gm)?.length ?? 0;

/** The spec files by their path without ending; those of only helpers declare nothing. */
function specFiles() {
  const names = readdirSync(fileURLToPath(specFolder), { recursive: true });
  const files = names.filter((name) => name.endsWith('_test.js')).map((name) => name.slice(0, -3));
  const hasSpecs = (file) => declared(file) > 0 || /PoolTest\(/.test(textOf(file));
  return files.filter(hasSpecs).sort((a, b) => (a < b ? -1 : 1));
}

/** Every result as { file, name, status, error }; a name that comes again gets a number. */
const results = [];
const seen = new Map();

function add({ file, name, status, error, count = 1 }) {
  const key = `${file}: ${name}`;
  const times = (seen.get(key) ?? 0) + 1;
  seen.set(key, times);
  results.push({ key: times > 1 ? `${key} (${times})` : key, status, error, count });
}

/** Takes what a file sends. */
function tell(message) {
  const { file, broken, status } = message;
  if (broken) add({ ...message, name: '*', status: 'failed', count: declared(file) });
  else if (status !== undefined) add(message);
}

/** Runs files in a process of their own, and gives those that it did not come to. */
function runFiles(files) {
  const { list, 'write-known': _, ...passed } = options;
  const argument = JSON.stringify({ ...passed, files });
  const child = fork(fileURLToPath(new URL('child.mjs', import.meta.url)), [argument], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => (said = (said + text).slice(-4000)));
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
    tell(message);
  });
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(timer);
      if (at < 0) {
        console.log(said.trim());
        console.log('0 passed, 1 failed, 0 skipped');
        process.exit(1);
      }
      if (open) {
        const error = hung
          ? `silent for ${longest / 1000} s`
          : `the process ended with ${code}: ${said.trim().slice(-300)}`;
        add({ file: files[at], name: `${spec} (and all after it)`, status: 'failed', error });
      }
      resolve(files.slice(at + 1));
    });
  });
}

let left = specFiles();
if (options.engine === 'chromium') {
  if (options.subject !== 'tensorlathe/tfjs') throw new Error('pages have tensorlathe/tfjs alone');
  const { runInChromium } = await import('./chromium.mjs');
  await runInChromium(left, { only: options.only, longest, tell });
} else {
  while (left.length > 0) left = await runFiles(left);
}

/** Failures are accepted of us: by our own interface, or as the backend of TensorFlow.js. */
const isOurs = options.subject.startsWith('tensorlathe') || options.backend === 'lathe';
const file = options.subject.startsWith('tensorlathe') ? 'known.txt' : 'known_backend.txt';
const isPage = options.engine === 'chromium';
const known = new Map([...readKnown(file), ...(isPage ? readKnown('known_chromium.txt') : [])]);
const failed = results.filter(({ status }) => status === 'failed');
const count = (list) => list.reduce((sum, each) => sum + each.count, 0);
const wanted = new RegExp(options.only ?? '');
const unexpected = isOurs ? failed.filter(({ key }) => !known.has(key)) : failed;
const healed = isOurs
  ? results.filter(({ key, status }) => status === 'passed' && known.has(key))
  : [];
if (options['write-known']) {
  if (isPage) writeKnown('known_chromium.txt', unexpected, wanted);
  else writeKnown(file, failed, wanted);
}
for (const { key, error, count: many } of options.list ? failed : unexpected.slice(0, 40)) {
  console.log(`${key}\n    ${error}${many > 1 ? ` (${many} specs)` : ''}`);
}
for (const { key } of healed) console.log(`${key}\n    passes, but tests/tfjs/${file} lists it`);
const accepted = count(failed) - count(unexpected);
if (accepted > 0)
  console.log(
    `${accepted} failures are listed in tests/tfjs/${file}${isPage ? ' and known_chromium.txt' : ''}`,
  );
const passed = count(results.filter(({ status }) => status === 'passed')) - healed.length;
const skipped = count(results.filter(({ status }) => status === 'pending')) + accepted;
console.log(`${passed} passed, ${count(unexpected) + healed.length} failed, ${skipped} skipped`);
process.exitCode = unexpected.length + healed.length > 0 ? 1 : 0;
