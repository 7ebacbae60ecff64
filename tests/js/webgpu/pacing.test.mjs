// Runs are cut into submissions by the times of earlier runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTask } from 'node:timers/promises';
import { Pacing } from '../../../js/dist/runtime/webgpu/pacing.js';
import { WebGpuDevice } from '../../../js/dist/runtime/webgpu/device.js';
import { executable, port, region, shader, Value } from './executables.mjs';

/** A queue that takes `costs[i]` ms for the i-th dispatch of a run, on a clock of its own. */
function fakeQueue(costs, clock) {
  let end = 0;
  let done = Promise.resolve();
  return {
    submit(first, last) {
      end = Math.max(end, clock.now);
      for (let at = first; at < last; at += 1) end += costs[at];
    },
    onSubmittedWorkDone() {
      const time = end;
      done = done.then(nextTask).then(() => void (clock.now = Math.max(clock.now, time)));
      return done;
    },
  };
}

/** The ends of the submissions of a run. */
async function ends(pacing, queue, costs, groups = 1) {
  const pace = pacing.begin(queue);
  const cuts = [];
  let first = 0;
  const submit = (end) => {
    pace.submit(() => queue.submit(first, end));
    cuts.push((first = end));
  };
  for (let at = 0; at < costs.length; at += 1) {
    if (pace.isFull(groups)) submit(at);
    pace.add(groups);
  }
  submit(costs.length);
  await queue.onSubmittedWorkDone().then(nextTask);
  return cuts;
}

test('a submission takes at most 100 ms once its kernels are known', async (context) => {
  const clock = { now: 0 };
  context.mock.method(performance, 'now', () => clock.now);
  const costs = Array.from({ length: 200 }, (_, at) => (at === 70 ? 90 : 1));
  const queue = fakeQueue(costs, clock);
  const pacing = new Pacing();
  assert.deepEqual(await ends(pacing, queue, costs), [64, 128, 192, 200]);
  for (let run = 2; run <= 16; run += 1) await ends(pacing, queue, costs);
  const cuts = await ends(pacing, queue, costs);
  const sums = cuts.map((end, at) =>
    costs.slice(cuts[at - 1] ?? 0, end).reduce((sum, each) => sum + each, 0),
  );
  assert.ok(Math.max(...sums) <= 200, `${sums}`);
  assert.ok(cuts.length <= 6, `${cuts}`);
});

test('short kernels are one submission, up to limits', async (context) => {
  const clock = { now: 0 };
  context.mock.method(performance, 'now', () => clock.now);
  const costs = Array(600).fill(0.01);
  const queue = fakeQueue(costs, clock);
  const pacing = new Pacing();
  assert.equal((await ends(pacing, queue, costs)).length, 10);
  assert.deepEqual(await ends(pacing, queue, costs), [512, 600]);
  assert.deepEqual(
    await ends(pacing, queue, costs, 2 ** 20),
    [2, 4, 6].concat(Array.from({ length: 297 }, (_, at) => 8 + 2 * at)),
  );
});

test('long runs of a program are cut after the first', async (t) => {
  const device = new WebGpuDevice();
  await device.ready();
  const loop = `var x = b0[i]; for (var k = 0; k < 1000; k++) { x = fma(x, 0.5, 1.0); } b1[i] = x;`;
  const size = 64 * 256;
  const bytes = 4 * size;
  const kernel = { name: 'slow', shader: 0, groups: [size / 64, 1] };
  kernel.bindings = [region('input', 0, bytes, 'read'), region('output', 0, bytes, 'read_write')];
  const program = device.loadExecutable(
    executable({
      shaders: [shader(['f32', 'f32'], loop)],
      kernels: [kernel],
      steps: Array(12).fill(0),
      inputs: [port('x', 'f32', size)],
      outputs: [port('y', 'f32', size)],
    }),
  );
  const { queue } = device.gpuDevice;
  const { submit } = queue;
  let submissions = 0;
  queue.submit = (...buffers) => {
    submissions += 1;
    return submit.apply(queue, buffers);
  };
  const x = Value.of(device, 'float32', Array(size).fill(1));
  const y = new Value(device, 'float32', [size]);
  /** Submissions of a run, and milliseconds. */
  const run = async () => {
    submissions = 0;
    const start = performance.now();
    program.run([x], [y]);
    assert.equal((await y.read())[0], 2);
    return [submissions - 1, performance.now() - start]; // the read submits a copy
  };
  const [first] = await run(); // compiles the pipeline
  assert.equal(first, 1);
  const [, ms] = await run();
  const [third] = await run();
  if (ms < 210) return t.skip(`this GPU takes ${ms} ms, too few to be cut`);
  assert.ok(third >= Math.min(12, Math.floor(ms / 200)), `${third} submissions of ${ms} ms`);
});
