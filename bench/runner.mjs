/** One peer inside one process or page: controlled by small commands, so that runs can interleave. */
import { digest } from './digest.mjs';
import { Unsupported } from './models/model.mjs';
import { makeBatches } from './networks.mjs';

const peers = {
  tensorlathe: () => import('./peers/tensorlathe.mjs'),
  solo: () => import('./peers/tensorlathe.mjs'),
  before: () => import('./peers/before.mjs'),
  wide: () => import('./peers/wide.mjs'),
  litert: () => import('./peers/litert.mjs'),
  tfjs: () => import('./peers/tfjs.mjs'),
  adapter: () => import('./peers/adapter.mjs'),
  onnxruntime: () => import('./peers/onnxruntime.mjs'),
  jax: () => import('./peers/jax.mjs'),
  convnetjs: () => import('./peers/convnetjs.mjs'),
  ceiling: () => import('./peers/ceiling.mjs'),
};

/** Shorter than this, steps are timed together: clocks of pages are coarse. */
const shortestMs = 8;

/** A peer that needed longer than this to get ready has run for long already. */
const warmEnoughMs = 5000;

let batches;
let session;
let task;
let together;
let steps;

/** The mean loss over one pass of all batches: comparable between the first pass and the last, being of the same data. */
async function pass() {
  let sum = 0;
  for (let i = 0; i < batches.length; i++) sum += Number(await session.step(i));
  return sum / batches.length;
}

/** How each kind of work opens a session and what it shows before and after the measured steps. */
const tasks = {
  train: {
    open(peer, network, options) {
      batches ??= makeBatches(4);
      return peer.train(network, batches, options);
    },
    before: async () => ({ firstLoss: await pass() }),
    after: async () => ({ lastLoss: await pass() }),
  },
  infer: {
    open: (peer, model, options) => peer.infer(model, options),
    before: async () => ({ digest: digest(await session.output()) }),
    after: async () => ({}),
  },
  /** A program on tensors. */
  program: {
    open: (peer, subject, options) => peer.program(subject, options),
    before: async () => ({ digest: digest(await session.step()) }),
    after: async () => ({}),
  },
  ceiling: {
    open: (peer, subject) => peer.ceiling(subject),
    before: async () => ({}),
    after: async () => ({}),
  },
};

const commands = {
  /** Builds the model and warms it up; returns what the task shows first and what getting ready cost. */
  async prepare({ peer, task: name, subject, options, warmUpMs }) {
    task = tasks[name];
    const started = performance.now();
    session = await task.open(await peers[peer](), subject, options);
    const prepared = await task.before();
    const readyMs = performance.now() - started;
    together = 1;
    steps = 0;
    if (readyMs < warmEnoughMs) await commands.measure({ forMs: warmUpMs });
    return { ...prepared, readyMs, stats: session.stats?.() };
  },

  /** Steps for about forMs; returns their number and milliseconds of each, or means where several are timed together. */
  async measure({ forMs }) {
    const times = [];
    const first = steps;
    const end = performance.now() + forMs;
    for (;;) {
      const start = performance.now();
      if (session.synchronous) for (let i = 0; i < together; i++) session.step(steps++ % 4);
      else for (let i = 0; i < together; i++) await session.step(steps++ % 4);
      const now = performance.now();
      const elapsed = now - start;
      const over = now >= end;
      if (elapsed >= shortestMs || over) times.push(elapsed / together);
      if (over) return { times, steps: steps - first };
      if (elapsed < shortestMs) {
        together *= Math.min(10, Math.ceil((1.2 * shortestMs) / Math.max(elapsed, 0.1)));
      }
    }
  },

  /** GFLOP/s of register tiles on a square product. */
  async sweep(options) {
    const { sweep } = await import('./sweep.mjs');
    return sweep(options);
  },

  /** A task of ONNX models, which reports its measurements itself. */
  async onnx({ task, ...options }) {
    const tasks = await import('./onnx/tasks.mjs');
    return tasks[task](options);
  },

  async finish() {
    const prepared = await task.after();
    await session.dispose();
    session = undefined;
    return prepared;
  },
};

/** Runs one command; errors travel as text. */
export async function run({ command, ...options }) {
  try {
    return await commands[command](options);
  } catch (error) {
    if (error instanceof Unsupported) return { unsupported: error.message };
    return { error: String(error?.stack || error) };
  }
}
