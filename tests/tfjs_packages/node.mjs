// Runs the programs in Node and prints their results. The argument: ours, or reference for the real TensorFlow.js.
import { readFileSync } from 'node:fs';
import { alias } from './alias.mjs';
import { programs } from './programs.mjs';

const isOurs = process.argv[2] === 'ours';
const { fetch } = globalThis;
/** Reads files too, as @tensorflow/tfjs-node does. */
globalThis.fetch = async (address, options) =>
  /^file:/.test(address) ? new Response(readFileSync(new URL(address))) : fetch(address, options);
alias(isOurs);
const tf = await import('@tensorflow/tfjs');
if (!isOurs) await tf.setBackend('cpu');
const results = {};
for (const [name, program] of Object.entries(programs)) {
  results[name] = await program(tf).catch(({ stack }) => ({ error: stack }));
}
process.stdout.write(`\n${JSON.stringify(results)}`, () => process.exit());
