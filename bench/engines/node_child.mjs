/** The process of one peer in Node: a command in, an answer with its CPU time out. */
import { run } from '../runner.mjs';

process.on('message', async (message) => {
  const before = process.cpuUsage();
  const reply = await run(message);
  const { user, system } = process.cpuUsage(before);
  process.send({ ...reply, cpuMs: (user + system) / 1000 });
});
