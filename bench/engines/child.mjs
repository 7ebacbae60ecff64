/** A child process that answers commands, one at a time; terminated at a timeout. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const longestCallMs = 180_000;

/**
 * Makes the C library cache freed pages. By default it returns them to the system now and then, and a copy of 4 MB then
 * needs 0.5 or 2.5 ms by chance, in every peer.
 */
const pages = { MALLOC_MMAP_THRESHOLD_: String(2 ** 30), MALLOC_TRIM_THRESHOLD_: String(2 ** 32) };

export function openChild(script) {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: [],
    env: { ...process.env, ...pages },
  });
  let answer;
  child.on('message', (reply) => answer?.(reply));
  const ended = new Promise((done) => {
    child.on('exit', (status, signal) => done({ error: `the process ended: ${signal ?? status}` }));
    child.on('error', (error) => done({ error: String(error) }));
  });
  return {
    async call(message) {
      const reply = new Promise((done) => (answer = done));
      if (child.connected) child.send(message);
      const timer = setTimeout(() => child.kill('SIGKILL'), longestCallMs);
      const first = await Promise.race([reply, ended]);
      clearTimeout(timer);
      return first;
    },
    close: async () => void child.kill('SIGKILL'),
  };
}
