// Opens hostile files, drawn for every format that is read: none may end the process, hang, use much time or memory, stop other
// models, or cause an error of the engine.  node tests/strangers/fuzz/run.mjs [--files=10000] [--seed=0] [--format=onnx,csv]
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const options = Object.fromEntries(
  process.argv.slice(2).map((each) => each.replace(/^--/, '').split('=')),
);
const first = Number(options.seed ?? 0);
const end = first + Number(options.files ?? 10000);
const PER_PROCESS = 500;
/** Seconds without a word after which a file counts as one that hangs, and the memory limit of a process. */
const PATIENCE = 15;
const GIGABYTES = 2;
const batch = fileURLToPath(new URL('batch.mjs', import.meta.url));

const faults = [];
const report = (fault) => {
  faults.push(fault);
  console.log(`seed ${fault.seed}, ${fault.format}: ${fault.why}`);
};

/** Runs seeds from here; the seed to go on with. */
function runBatch(from) {
  const until = Math.min(end, from + PER_PROCESS);
  const args = [batch, String(from), String(until), ...(options.format ? [options.format] : [])];
  const child = spawn(process.execPath, ['--max-old-space-size=2048', ...args], {
    env: { ...process.env, TENSORLATHE_CACHE: 'off' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [rest, errors, current, isEnded, isStopped] = ['', '', { begun: from - 1 }, false, ''];
  let timer;
  const stop = (why) => ((isStopped = why), child.kill('SIGKILL'));
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => stop(`runs for more than ${PATIENCE} s`), PATIENCE * 1000);
  };
  wait();
  child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-2000)));
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    wait();
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const each = JSON.parse(line);
      if (each.begun !== undefined) current = each;
      if (each.end) isEnded = true;
      if (each.fault !== undefined)
        report({ seed: each.done, format: each.format, why: each.fault });
      if (each.gigabytes > GIGABYTES) stop(`the process has ${each.gigabytes.toFixed(1)} GB`);
    }
  });
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (isEnded) return resolve(until);
      if (current.begun < from) {
        report({ seed: from, format: 'all', why: `did not begin: ${errors}` });
        return resolve(until);
      }
      const why =
        isStopped || `the process ended, code ${code} ${signal ?? ''}: ${errors.slice(-300)}`;
      report({ seed: current.begun, format: current.format, why });
      resolve(current.begun + 1);
    });
  });
}

for (let seed = first; seed < end;) seed = await runBatch(seed);
const failed = new Set(faults.map(({ seed }) => seed)).size;
console.log(`${end - first - failed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed > 0 ? 1 : 0;
