/** The overhead of a call, in Node: operations at once on few numbers, and a product in the shared memory. */
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { formatTable, median } from '../report.mjs';

const rounds = 40;

export const calls = { run };

/** [what, microseconds of each call in each round], round by round in turns. */
function measured(works, times) {
  const all = Object.entries(works).map(([name, work]) => ({ name, work, list: [] }));
  for (let round = 0; round < rounds; round++) {
    for (const { work, list } of all) {
      const start = performance.now();
      for (let i = 0; i < times; i++) work();
      list.push(((performance.now() - start) * 1000) / times);
    }
  }
  return all.map(({ name, list }) => ({ name, microseconds: median(list) }));
}

async function run() {
  await tf.setBackend('cpu');
  const values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  const sum = (a, b) => () => {
    const c = a.add(b);
    c.dataSync();
    c.dispose();
  };
  const sums = measured(
    {
      'a.add(b), ten numbers, read and freed: tensorlathe': sum(
        tl.tensor(values),
        tl.tensor(values),
      ),
      'the same: TensorFlow.js, cpu': sum(tf.tensor1d(values), tf.tensor1d(values)),
    },
    10_000,
  );
  tl.env().set('THREADS_COUNT', 1);
  const square = () => tl.tensor(new Float32Array(256 * 256).fill(0.5), [256, 256]);
  const product = (heap) =>
    tl.compile({ a: [256, 256], b: [256, 256] }, ({ a, b }) => ({ y: a.matMul(b) }), { heap });
  const [fixed, shared, a, b] = [product(false), product(true), square(), square()];
  const products = measured(
    {
      '256³ in a separate memory': () => fixed.call(),
      '256³ in the shared memory': () => shared.run({ a, b }).y.dispose(),
    },
    10,
  );
  const rows = [...sums, ...products];
  const markdown = formatTable(
    ['Node, one thread, medians of rounds in turns', 'µs'],
    rows.map(({ name, microseconds }) => [name, microseconds.toFixed(2)]),
  );
  console.log(`\n${markdown}`);
  return { rows, markdown, problems: [] };
}
