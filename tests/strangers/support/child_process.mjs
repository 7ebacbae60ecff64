// Runs a program in a child process with limits of time and memory, so that a hostile file can end only this process.
import { spawn } from 'node:child_process';

/**
 * Runs the source of a module that may import the packages of this repository.
 * Returns { code, signal, output, seconds, stopped }; `stopped`: it was killed at the limit of seconds.
 */
export const runInChildProcess = (source, { seconds = 20, megabytes = 1024, ...options } = {}) =>
  runProgram(
    process.execPath,
    [`--max-old-space-size=${megabytes}`, '--input-type=module', '--eval', source],
    { seconds, ...options },
  );

/** Runs a program: as runInChildProcess. `env` is added to that of this process. */
export function runProgram(program, args, { seconds = 20, cwd, env = {} } = {}) {
  const started = performance.now();
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, TENSORLATHE_CACHE: 'off', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let stopped = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      if (output.length < 1e6) output += chunk;
    });
  }
  const timer = setTimeout(() => {
    stopped = true;
    child.kill('SIGKILL');
  }, seconds * 1000);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, output, stopped, seconds: (performance.now() - started) / 1000 });
    });
  });
}
