/** One peer on one network inside one process or page: told what to do in small commands, so that runs can interleave. */
import { makeBatches } from './networks.mjs';

const peers = {
  tensorlathe: () => import('./peers/tensorlathe.mjs'),
  tfjs: () => import('./peers/tfjs.mjs'),
  jax: () => import('./peers/jax.mjs'),
  convnetjs: () => import('./peers/convnetjs.mjs'),
  ceiling: () => import('./peers/ceiling.mjs'),
};

const batches = makeBatches(4);
let session;

/** The mean loss over one pass of all batches: comparable between the first pass and the last, being of the same data. */
async function pass() {
  let sum = 0;
  for (let i = 0; i < batches.length; i++) sum += Number(await session.step(i));
  return sum / batches.length;
}

const commands = {
  /** Builds the model and warms it up; returns the loss of the first pass and what compiling cost. */
  async prepare({ peer, network, warmUpMs }) {
    const started = performance.now();
    const { setup } = await peers[peer]();
    session = await setup(network, batches);
    const firstLoss = await pass();
    const readyMs = performance.now() - started;
    await commands.measure({ forMs: warmUpMs });
    return { firstLoss, readyMs, supported: session.supported ?? true, stats: session.stats?.() };
  },

  /** Steps for about forMs; returns milliseconds of each step. */
  async measure({ forMs }) {
    const times = [];
    const end = performance.now() + forMs;
    let at = performance.now();
    for (let i = 0; at < end || times.length < 2; i++) {
      await session.step(i % batches.length);
      const now = performance.now();
      times.push(now - at);
      at = now;
    }
    return { times };
  },

  /** Ends with one more pass; its loss must be below the first, or nothing was learned. */
  async finish() {
    const lastLoss = await pass();
    session.dispose();
    return { lastLoss };
  },
};

/** Runs one command; errors travel as text. */
export async function run({ command, ...options }) {
  try {
    return await commands[command](options);
  } catch (error) {
    return { error: String(error?.stack ?? error) };
  }
}
