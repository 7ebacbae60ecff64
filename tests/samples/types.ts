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

export const run = async (net: tl.OnnxModel) => ({
  tensors: (await net.run({ x: [1] })) satisfies Record<string, tl.Tensor>,
  others: (await net.run<{ labels: string[] }>({ x: [1] })).labels satisfies string[],
});
