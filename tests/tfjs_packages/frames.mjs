// Tables of danfojs-node, whose numbers go through TensorFlow.js: arithmetic, statistics, scalers, encoders, training.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const require = createRequire(import.meta.url);

/** A frame, a series or a tensor as plain values. */
function plain(x) {
  if (Array.isArray(x)) return x.map(plain);
  if (x?.arraySync !== undefined) return [x.shape, x.dtype, x.arraySync()];
  if (x?.columns !== undefined) return [x.columns, x.dtypes, x.index, x.values];
  return x ?? null;
}

function arithmetic({ DataFrame, Series }, numbers) {
  const found = [];
  for (const name of ['add', 'sub', 'mul', 'div', 'pow', 'mod']) {
    found.push(numbers()[name](2), numbers()[name](numbers()));
    found.push(numbers()[name](new Series([1, 2, 3]), { axis: 0 }));
    found.push(new Series([1, 2, 3])[name](new Series([3, 2, 1])));
  }
  for (const name of ['mean', 'median', 'sum', 'std', 'var', 'min', 'max', 'mode', 'count']) {
    found.push(numbers()[name](), numbers()[name]({ axis: 0 }), new Series([1, 2, 2, 5.5])[name]());
  }
  for (const name of ['cumSum', 'cumProd', 'cumMax', 'cumMin', 'abs', 'round', 'isNa'])
    found.push(numbers()[name](), new Series([1.4, -2, 2, 5.5])[name]());
  for (const name of ['eq', 'ne', 'gt', 'lt', 'ge', 'le']) found.push(numbers()[name](5));
  found.push(
    numbers().describe(),
    numbers().applyMap((x) => 2 * x),
  );
  found.push(numbers().apply((row) => row.reduce((sum, each) => sum + each, 0)));
  return [...found, new DataFrame({ a: [1, NaN], b: [3, 4] }).fillNa(0)];
}

function moves({ DataFrame, Series, merge, concat, getDummies }, numbers) {
  const mixed = () =>
    new DataFrame({ a: [1, 2, 3, 4], b: [2.5, -1, 0, 7], c: ['x', 'y', 'x', 'z'] });
  const other = new DataFrame({ c: ['x', 'y'], e: [10, 20] });
  return [
    numbers().loc({ rows: [0, 2], columns: ['q', 'r'] }),
    numbers().iloc({ rows: ['0:2'], columns: [1] }),
    numbers().query(numbers().q.gt(3)),
    mixed().groupby(['c']).agg({ a: 'mean', b: 'sum' }),
    merge({ left: mixed(), right: other, on: ['c'], how: 'left' }),
    concat({ dfList: [numbers(), numbers()], axis: 0 }),
    mixed().sortValues('b', { ascending: false }),
    getDummies(mixed(), { columns: ['c'] }),
    mixed().c.valueCounts(),
    mixed().c.str.toUpperCase(),
    new Series(['2020-01-02', '2021-03-04']).dt.year(),
    numbers().toString(),
  ];
}

function learning(dfd, tf, numbers) {
  const { StandardScaler, MinMaxScaler, LabelEncoder, OneHotEncoder, DataFrame, Series } = dfd;
  const found = [numbers().tensor, new Series([1, 2, 3.5]).tensor];
  found.push(new DataFrame(tf.tensor2d([[1, 2.5]])), new Series(tf.tensor1d([1, 2])));
  for (const Scaler of [StandardScaler, MinMaxScaler]) {
    const scaler = new Scaler();
    scaler.fit(numbers());
    const scaled = scaler.transform(numbers());
    found.push(scaled, scaler.inverseTransform(scaled));
    const x = tf.tensor2d([
      [1, 2],
      [3, 5],
    ]);
    found.push(new Scaler().fitTransform(x), new Scaler().fitTransform([2, 4, 8]));
  }
  const words = new Series(['x', 'y', 'x', 'z']);
  for (const Encoder of [LabelEncoder, OneHotEncoder])
    found.push(new Encoder().fitTransform(words));
  return found;
}

async function training(tf, numbers) {
  const frame = numbers();
  const model = tf.sequential();
  model.add(tf.layers.dense({ units: 1, inputShape: [3], kernelInitializer: 'ones' }));
  model.compile({ loss: 'meanSquaredError', optimizer: tf.train.sgd(0.001) });
  const options = { epochs: 3, shuffle: false, verbose: 0 };
  const { history } = await model.fit(frame.tensor, frame.p.tensor, options);
  return [history.loss, model.predict(frame.tensor)];
}

export async function frames(tf) {
  const dfd = require('danfojs-node');
  const rows = [
    [1, 2, 3],
    [4, 5, 6],
    [7, 8, 10],
  ];
  const numbers = () => new dfd.DataFrame(rows, { columns: ['p', 'q', 'r'] });
  const folder = mkdtempSync(join(tmpdir(), 'frames-'));
  const file = join(folder, 'table.csv');
  writeFileSync(file, 'a,b\n1,x\n2,y\n');
  try {
    return {
      arithmetic: plain(arithmetic(dfd, numbers)),
      moves: plain(moves(dfd, numbers)),
      learning: plain(learning(dfd, tf, numbers)),
      training: plain(await training(tf, numbers)),
      file: plain(await dfd.readCSV(file)),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
