// What TypeScript knows of ranks: compiled as the samples are, and run.
import * as tl from 'tensorlathe';

const table: tl.Tensor2D = tl.tensor2d([[1, 2]]);
export const known = {
  scalar: tl.scalar(1).arraySync() satisfies number,
  row: tl.tensor1d([1]).arraySync() satisfies number[],
  table: (await table.array()) satisfies number[][],
  bigints: tl.tensor2d([[1n]]).arraySync<'int64'>() satisfies bigint[][],
  zeros: tl.zeros<tl.Rank.R3>([1, 1, 1]).arraySync() satisfies number[][][],
  size: (table.shape[0] * table.shape[1]) satisfies number,
};
export const unknown = {
  element: tl.tensor([[1]]).arraySync()[0][0] as number,
  table: tl
    .tensor([[1]])
    .add(1)
    .arraySync() satisfies number[][],
  size: tl.tensor([[1]]).shape[0] satisfies number | undefined,
};
export const wider: tl.Tensor[] = [table, tl.scalar(2)];
export const narrower: tl.Tensor2D[] = [tl.tensor([[1]]), wider[0]!];

// @ts-expect-error: a matrix is no number
export const number: number = table.arraySync();
// @ts-expect-error: another rank
export const other: tl.Tensor2D = tl.tensor1d([1]);
// @ts-expect-error: a shape of another rank
export const shape = () => tl.tensor2d([1], [1]);

// Names in compile: literals must be rows of the tables; a variable of type string is any name.
const model = tl.sequential({ layers: [tl.layers.dense({ units: 2, inputShape: [1] })] });
declare const anything: {
  one: string;
  list: string[];
  byOutput: Record<string, string>;
  some: 'mse' | 'mae';
  args: tl.CompileArgs;
};
const literal = { loss: 'mse', optimizer: 'adam' };
const error: tl.OwnFormula = (y, x) => y.sub(x).abs();
export const names = () => {
  model.compile({ loss: 'mse', optimizer: 'adam', metrics: ['accuracy', 'mae', 'ce'] });
  model.compile({ loss: 'mean_squared_error', optimizer: 'SGD', metrics: ['MSE', 'MAE'] });
  model.compile({
    loss: { a: 'mse', b: 'MAE', c: null },
    metrics: { a: ['acc', 'AUC'], b: 'mse' },
  });
  model.compile({ loss: ['mse', 'Huber'], optimizer: tl.train.adam(0.1) });
  model.compile({ loss: { name: 'huber', delta: 2 }, optimizer: { name: 'sgd', learningRate: 1 } });
  model.compile({ loss: (y, x) => y.sub(x).square(), metrics: [(y, x) => y.sub(x), 'acc'] });
  model.compile({ loss: error, metrics: { a: error, b: [tl.metrics.precision(), error] } });
  model.compile({ loss: anything.one, optimizer: anything.one, metrics: anything.one });
  model.compile({ loss: anything.list, metrics: anything.list });
  model.compile({ loss: anything.byOutput, metrics: anything.byOutput });
  model.compile({ loss: anything.some, optimizer: Math.random() < 1 ? 'adam' : 'sgd' });
  model.compile(anything.args);
  model.compile(literal);
  // @ts-expect-error
  model.compile({ loss: 'mse2', optimizer: 'adam' });
  // @ts-expect-error
  model.compile({ loss: 'mse', optimizer: 'adamm' });
  // @ts-expect-error
  model.compile({ loss: 'mse', metrics: 'acuracy' });
  // @ts-expect-error
  model.compile({ loss: 'mse', metrics: ['accuracy', 'acuracy'] });
  // @ts-expect-error
  model.compile({ loss: { a: 'mse', b: 'mse2' } });
  // @ts-expect-error
  model.compile({ loss: ['mse', 'mse2'] });
  // @ts-expect-error
  model.compile({ loss: 'mse', metrics: { a: ['acc', 'mse2'] } });
  // @ts-expect-error
  tl.layers.dense({ units: 1, activation: 'reluu' });
  // @ts-expect-error
  tl.layers.dense({ units: 1, kernelInitializer: 'zeroes' });
};
export class Own extends tl.LayersModel {
  override compile(args: tl.CompileArgs): void {
    super.compile({ ...args, optimizer: 'adam' });
  }
}

export const run = async (net: tl.OnnxModel) => ({
  tensors: (await net.run({ x: [1] })) satisfies Record<string, tl.Tensor>,
  others: (await net.run<{ labels: string[] }>({ x: [1] })).labels satisfies string[],
});

// Devices by name.
export const devices = async () => {
  await tl.setDevice(tl.getDevice());
  await table.to('wasm');
  const run = tl.compile({ x: [2] }, ({ x }) => ({ y: x }), { device: 'webgpu' });
  run satisfies tl.CompiledFunction;
  // @ts-expect-error
  await tl.setDevice('webgl');
  // @ts-expect-error
  await table.to('gpu');
  // @ts-expect-error
  tl.compile({ x: [2] }, ({ x }) => ({ y: x }), { device: 'cuda' });
};
