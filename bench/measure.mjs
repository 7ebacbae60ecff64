/** Measures one row: every peer in a separate process, rounds that interleave all of them, medians of their times. */
import { disagreements } from './digest.mjs';
import { openNative } from './engines/native.mjs';
import { peers } from './peers.mjs';
import { flopsPerStep as ceilingFlops } from './peers/ceiling.mjs';
import { median } from './report.mjs';

const ceilings = (threads) => ({
  fused: { fused: true },
  plain: { fused: false },
  ...(threads > 1 && { parallel: { fused: true, threads } }),
});

/** A peer whose steps are so long that it spent this many times its share skips the remaining rounds. */
const slowest = 3;

/** Processes of one engine, one for each peer, reused from row to row and restarted after an error. */
export function makePool(engine) {
  const open = new Map();
  const drop = async (name) => {
    await open.get(name)?.close();
    open.delete(name);
  };
  return {
    async call(name, message) {
      try {
        if (!open.has(name))
          open.set(name, await (peers[name]?.native ? openNative() : engine.open()));
        const reply = await open.get(name).call(message);
        if (reply.error) await drop(name);
        return reply;
      } catch (error) {
        await drop(name);
        return { error: String(error) };
      }
    },
    close: async () => {
      for (const name of [...open.keys()]) await drop(name);
    },
  };
}

/** work: {task, subject, options, peers}. Returns, for each peer and ceiling, its times or why it has none. */
export async function measureRow(pool, work, { rounds, roundMs, warmUpMs }) {
  const results = {};
  const runners = [
    ...work.peers.map((name) => ({ name, peer: name, task: work.task, subject: work.subject })),
    ...Object.entries(ceilings(work.options.threads)).map(([name, subject]) => {
      return { name, peer: 'ceiling', task: 'ceiling', subject };
    }),
  ];
  const optionsOf = ({ name }) =>
    name === 'solo' ? { ...work.options, threads: 1 } : work.options;
  const shareOf = ({ task }) => (task === 'ceiling' ? 0.2 : 1);
  for (const { name, ...runner } of runners) {
    const message = { command: 'prepare', ...runner, options: optionsOf({ name }) };
    const reply = await pool.call(name, { ...message, warmUpMs: warmUpMs * shareOf(runner) });
    results[name] = { ...reply, cpuMs: 0, steps: 0, spentMs: 0, times: [], roundMedians: [] };
  }
  const alive = () =>
    runners.filter(({ name }) => !results[name].error && !results[name].unsupported);

  const maxMs = slowest * rounds * roundMs;
  for (let round = 0; round < rounds; round++) {
    for (const runner of alive()) {
      const result = results[runner.name];
      if (result.spentMs > maxMs) continue;
      const started = performance.now();
      const message = { command: 'measure', forMs: roundMs * shareOf(runner) };
      const reply = await pool.call(runner.name, message);
      result.spentMs += performance.now() - started;
      if (reply.error) result.error = reply.error;
      else {
        result.times.push(...reply.times);
        result.roundMedians.push(median(reply.times));
        result.cpuMs += reply.cpuMs ?? 0;
        result.steps += reply.steps;
      }
    }
  }
  for (const { name } of alive()) {
    const { error, lastLoss } = await pool.call(name, { command: 'finish' });
    if (error) results[name].error = error;
    results[name].lastLoss = lastLoss;
  }
  judge[work.task](results);
  const condensed = mapValues(results, condense);
  const { before, tensorlathe } = condensed;
  if (before?.ms && tensorlathe?.ms) before.ratios = ratiosOf(results.before, results.tensorlathe);
  return condensed;
}

/** Ratios of the times of two peers in the same round: a temporary slowdown of the machine affects both. */
const ratiosOf = (one, other) =>
  one.roundMedians
    .slice(0, other.roundMedians.length)
    .map((ms, round) => ms / other.roundMedians[round]);

/** A peer that learned nothing or computed something else has an error and no times. */
const judge = {
  program: (results) => judge.infer(results),
  train(results) {
    for (const result of Object.values(results)) {
      const { firstLoss, lastLoss, error, unsupported } = result;
      if (error || unsupported || firstLoss === undefined) continue;
      if (lastLoss < firstLoss && firstLoss < 10) continue;
      result.error = `learned nothing: loss ${firstLoss} at first, ${lastLoss} at last`;
    }
  },
  infer(results) {
    const digests = mapValues(results, ({ digest }) => digest);
    for (const name of Object.keys(digests)) if (!digests[name]) delete digests[name];
    const wrong = disagreements(digests);
    for (const [name, problem] of Object.entries(wrong)) results[name].error ??= problem;
  },
};

/** The recorded result: the median step, how far rounds spread, CPU time per step, losses, or why there are no times. */
function condense({ error, unsupported, times, roundMedians, cpuMs, steps, ...rest }) {
  if (error) return { error };
  if (unsupported) return { unsupported };
  return {
    ms: median(times),
    spread: [Math.min(...roundMedians), Math.max(...roundMedians)],
    cpuMs: cpuMs > 0 ? cpuMs / steps : undefined,
    steps,
    firstLoss: rest.firstLoss,
    lastLoss: rest.lastLoss,
    readyMs: rest.readyMs,
    stats: rest.stats,
  };
}

export const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));

/** GFLOP/s of a ceiling's result; undefined where the engine has none. */
export const ceilingSpeed = ({ ms, stats } = {}) =>
  ms && ((stats?.steps ?? 1) * ceilingFlops) / ms / 1e6;
