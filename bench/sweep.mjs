/** Every register tile of a list on one square product, in one engine. */
import * as tl from 'tensorlathe';

/** Tiles are [rows, columns, unroll]; returns GFLOP/s in their order. */
export async function sweep({ size, tiles, budgetMs }) {
  const operand = [size, size];
  const product = tl.compile({ x: operand, y: operand }, ({ x, y }) => ({ z: x.matMul(y) }));
  const candidates = tiles.map(([rows, columns, unroll]) => ({ rows, columns, unroll }));
  const { kernels } = await tl.tune(product, { budgetMs, candidates });
  product.dispose();
  const name = ({ rows, columns, unroll }) => `${rows} ${columns} ${unroll}`;
  const speeds = new Map(kernels[0].tried.map(({ schedule, gflops }) => [name(schedule), gflops]));
  return {
    speeds: candidates.map((each) => speeds.get(name(each))),
    standard: kernels[0].gflops / kernels[0].speedup,
    standardTile: kernels[0].standard,
  };
}
