// Saves models of many seeds into one folder, one after the other: a program for tests to run several times at once, or as a worker.
import { parentPort } from 'node:worker_threads';
import * as tl from 'tensorlathe';
import { smallModel } from './lib.mjs';

await tl.ready();
const save = (folder, seed) => smallModel({ seed }).save(`file://${folder}`);
if (parentPort === null) {
  const [folder, first, count] = process.argv.slice(2);
  for (let seed = Number(first); seed < Number(first) + Number(count); ++seed) {
    await save(folder, seed);
  }
} else {
  parentPort.on('message', async ({ folder, seed }) => {
    parentPort.postMessage(
      await save(folder, seed).then(
        () => 'saved',
        (error) => error.stack,
      ),
    );
  });
  parentPort.postMessage('ready');
}
