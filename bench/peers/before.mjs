/** Ourselves of another checkout: options.before is the address of its package. */
import * as drive from './drive.mjs';

export const train = async (network, batches, options) =>
  drive.train(await import(options.before), network, batches, options);

export const infer = async (model, options) =>
  drive.infer(await import(options.before), model, options);
