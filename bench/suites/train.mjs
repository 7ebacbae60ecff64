/** Time per training step of a batch of 64, ours beside the peers', in rounds that interleave all of them. */
import { readFileSync } from 'node:fs';
import { flopsPerStep as ceilingFlops } from '../peers/ceiling.mjs';
import { flopsPerStep } from '../networks.mjs';
import { formatTable, median } from '../report.mjs';

const packages = {
  tensorlathe: 'tensorlathe',
  tfjs: '@tensorflow/tfjs',
  jax: '@jax-js/jax',
  convnetjs: 'convnetjs',
};
const titles = {
  tensorlathe: 'Tensorlathe',
  tfjs: 'TensorFlow.js wasm',
  jax: 'jax-js wasm',
  convnetjs: 'ConvNetJS',
};
const rivals = ['tfjs', 'jax', 'convnetjs'];
const loops = { fused: { fused: true }, plain: { fused: false } };

export async function trainSuite({ networks, rounds, roundMs, warmUpMs, openEngines }) {
  const result = { versions: versions(), rounds, roundMs, engines: [], problems: [] };
  for (const engine of await openEngines()) {
    console.log(`\n${engine.title}`);
    const rows = [];
    for (const network of networks) {
      const row = await measureNetwork(engine, network, { rounds, roundMs, warmUpMs });
      for (const [peer, { error }] of Object.entries(row.peers)) {
        if (error)
          result.problems.push(
            `${engine.title}, ${network.name}, ${titles[peer] ?? peer}: ${error}`,
          );
      }
      rows.push(row);
      console.log(summary(row));
    }
    result.engines.push({ title: engine.title, rows });
  }
  result.markdown = markdown(result);
  return result;
}

function versions() {
  return Object.fromEntries(
    Object.entries(packages).map(([peer, name]) => {
      const manifest = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
      return [peer, JSON.parse(readFileSync(manifest, 'utf8')).version];
    }),
  );
}

async function measureNetwork(engine, network, { rounds, roundMs, warmUpMs }) {
  const peers = {};
  const running = [];
  const start = async (name, peer, options) => {
    const process = await engine.open();
    const reply = await process.call({ command: 'prepare', peer, network: options, warmUpMs });
    peers[name] = { ...reply, cpuMs: 0, times: [], roundMedians: [] };
    if (reply.error || reply.supported === false) await process.close();
    else running.push({ name, process });
  };
  for (const peer of Object.keys(packages)) await start(peer, peer, network);
  for (const [name, options] of Object.entries(loops)) await start(name, 'ceiling', options);

  for (let round = 0; round < rounds; round++) {
    for (const { name, process } of running) {
      const forMs = name in loops ? roundMs / 5 : roundMs;
      const reply = await process.call({ command: 'measure', forMs });
      if (reply.error) peers[name].error ??= reply.error;
      else {
        peers[name].times.push(...reply.times);
        peers[name].roundMedians.push(median(reply.times));
        peers[name].cpuMs += reply.cpuMs ?? 0;
      }
    }
  }

  for (const { name, process } of running) {
    const { lastLoss, error } = await process.call({ command: 'finish' });
    const peer = peers[name];
    peer.lastLoss = lastLoss;
    if (error) peer.error ??= error;
    else if (!(name in loops) && !(lastLoss < peer.firstLoss && peer.firstLoss < 10)) {
      peer.error ??= `learned nothing: loss ${peer.firstLoss} at first, ${lastLoss} at last`;
    }
    await process.close();
  }
  return { network: network.name, flops: flopsPerStep(network), peers: mapValues(peers, condense) };
}

/** What is kept of a peer's run: the median step, how far rounds spread, losses, CPU time per step. */
function condense({ times, roundMedians, cpuMs, ...rest }) {
  delete rest.supported;
  if (times.length === 0) return rest;
  const spread = [Math.min(...roundMedians), Math.max(...roundMedians)];
  return {
    ms: median(times),
    spread,
    steps: times.length,
    ...rest,
    cpuMs: cpuMs > 0 ? cpuMs / times.length : undefined,
  };
}

const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
const fixed = (value, digits) =>
  value === undefined || Number.isNaN(value) ? '–' : value.toFixed(digits);
const gflops = (flops, ms) => flops / ms / 1e6;

function cells({ network, flops, peers }) {
  const ours = peers.tensorlathe.ms;
  const ceiling = (name) => fixed(peers[name].ms && gflops(ceilingFlops, peers[name].ms), 1);
  return [
    network,
    fixed(ours, 3),
    ...rivals.map((peer) => `${fixed(peers[peer].ms, 2)} (${fixed(peers[peer].ms / ours, 1)}×)`),
    fixed(gflops(flops, ours), 1),
    ceiling('fused'),
    ceiling('plain'),
    fixed(peers.tensorlathe.stats?.compileMs, 1),
  ];
}

const summary = (row) => {
  const [network, ours, tfjs, jax, convnetjs, speed, fused, plain, compile] = cells(row);
  return `${network.padEnd(14)} ours ${ours} ms  tfjs ${tfjs}  jax ${jax}  convnetjs ${convnetjs}  ${speed} GFLOP/s of ${fused} fused, ${plain} mul+add  compile ${compile} ms`;
};

function markdown({ versions, rounds, roundMs, engines }) {
  const heads = [
    'network',
    ...Object.keys(packages).map((peer) => `${titles[peer]} ${versions[peer]}`),
  ];
  heads.push('our GFLOP/s', 'ceiling FMA', 'ceiling mul+add', 'our compile ms');
  return [
    'Milliseconds for one training step of a batch of 64 (sigmoid hidden layers, softmax cross-entropy, SGD 0.02), each step',
    'reading its loss. In brackets: how many times our time that is. Medians of all steps of',
    `${rounds} interleaved rounds of ${roundMs} ms. GFLOP/s counts the matrix products only; the ceilings are loops of nothing but`,
    '12 independent multiply-adds on four lanes, measured in the same rounds. Everyone runs with defaults: in Chromium the pages',
    'are cross-origin isolated, so TensorFlow.js and jax-js use their threads; in Node everyone has one.',
    ...engines.flatMap(({ title, rows }) => [
      '',
      `## ${title}`,
      '',
      formatTable(heads, rows.map(cells)),
    ]),
  ].join('\n');
}
