/** Runs peers in child processes of this Node, one process for each. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export async function openNode() {
  return {
    title: `Node ${process.versions.node}, V8 ${process.versions.v8}`,
    open: async () => {
      const child = fork(fileURLToPath(new URL('node_child.mjs', import.meta.url)), {
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        execArgv: [],
      });
      return {
        async call(message) {
          if (child.exitCode !== null)
            return { error: `the process ended with status ${child.exitCode}` };
          child.send(message);
          const [reply] = await Promise.race([
            once(child, 'message'),
            once(child, 'exit').then(([status]) => [
              { error: `the process ended with status ${status}` },
            ]),
          ]);
          return reply;
        },
        async close() {
          child.kill('SIGKILL');
        },
      };
    },
    async close() {},
  };
}
