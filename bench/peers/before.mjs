/** Ourselves of another checkout: options.before is the address of its package. */
import * as drive from './drive.mjs';

async function load({ before }) {
  const tl = await import(before);
  await tl.ready();
  return tl;
}

export const train = async (network, batches, options) =>
  drive.train(await load(options), network, batches, options);

export const infer = async (model, options) => drive.infer(await load(options), model, options);
