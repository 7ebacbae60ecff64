// How long each layer takes, from the outside: the first k layers are compiled alone and timed, and compared with the first k-1.
import * as tl from 'tensorlathe';
import { type DataSet } from './data/data_set';
import { nextTask } from './dom';
import { type LayerSpec, placed } from './network';

export const timedBatch = 32;
const shortestMs = 2;
const rounds = 9;

/** The forward pass of a row of layers in a module of its own, without what goes in and out. */
async function forward(layers: LayerSpec[], data: DataSet): Promise<() => void> {
  const model = tl.sequential({ seed: 1, layers: placed(layers, data) as tl.LayerConfig[] });
  try {
    const shape = model.inputs[0]!.shape.slice(1) as number[];
    const size = shape.reduce((total, n) => total * n, timedBatch);
    const x = tl.tensor(new Float32Array(size).fill(0.5), [timedBatch, ...shape]);
    model.predict(x, { batchSize: timedBatch });
    const { instance } = await WebAssembly.instantiate(model.toWasm());
    return instance.exports.predict as () => void;
  } finally {
    model.dispose();
  }
}

/** Milliseconds of one call; many together where the clock is coarse. */
function time(run: () => void, calls: number): number {
  const start = performance.now();
  for (let call = 0; call < calls; ++call) run();
  return (performance.now() - start) / calls;
}

/** Milliseconds of the first layer, the first two, … of all, on one thread; the fastest of several rounds. */
export async function prefixTimes(
  layers: readonly LayerSpec[],
  data: DataSet,
  onProgress: (share: number) => void,
): Promise<number[]> {
  const passes: { run: () => void; calls: number; best: number }[] = [];
  for (let count = 1; count <= layers.length; ++count) {
    const run = await forward(layers.slice(0, count), data);
    let calls = 1;
    while (time(run, calls) * calls < shortestMs && calls < 1 << 16) calls *= 2;
    passes.push({ run, calls, best: Infinity });
    onProgress((0.5 * count) / layers.length);
    await nextTask();
  }
  for (let round = 0; round < rounds; ++round) {
    for (const pass of passes) pass.best = Math.min(pass.best, time(pass.run, pass.calls));
    onProgress(0.5 + (0.5 * round) / rounds);
    await nextTask();
  }
  return passes.map(({ best }) => best);
}
