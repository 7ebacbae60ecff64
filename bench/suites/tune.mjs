/** Register tiles of every shape on square products: which one an engine runs fastest. */
import { drawHeatMaps } from '../heat_map.mjs';
import { formatTable } from '../report.mjs';

const sizes = [64, 128, 256, 512, 1024];
const rows = [1, 2, 3, 4, 5, 6, 7, 8];
const columns = [4, 8, 12, 16, 20, 24, 28, 32];
const unrolls = [1, 2, 4];
const tiles = unrolls.flatMap((unroll) =>
  rows.flatMap((height) => columns.map((width) => [height, width, unroll])),
);

/** Runs the sweep in one process or page of an engine for every size. */
async function sweepEngine(engine, budgetMs) {
  const process = await engine.open();
  const results = [];
  try {
    for (const size of sizes) {
      const reply = await process.call({ command: 'sweep', size, tiles, budgetMs });
      if (reply.error) throw new Error(`${engine.title}, ${size}³: ${reply.error}`);
      const { speeds, standard, standardTile } = reply;
      const all = tiles.map((tile, at) => ({ tile, gflops: speeds[at] ?? 0 }));
      const measured = all.filter(({ gflops }) => gflops > 0);
      measured.sort((a, b) => b.gflops - a.gflops);
      results.push({ size, standard, standardTile, measured });
      console.log(
        `${engine.title}, ${size}³: ${format(measured[0])}, default ${standard.toFixed(1)}`,
      );
    }
  } finally {
    await process.close();
  }
  return { title: engine.title, results };
}

const format = ({ tile: [height, width, unroll], gflops }) =>
  `${height}×${width}${unroll > 1 ? ` u${unroll}` : ''} ${gflops.toFixed(1)}`;

/** The speed of a tile at its best unrolling, averaged over sizes as a share of each size's best. */
function share({ results }, height, width) {
  const shares = results.flatMap(({ measured }) => {
    const sameTile = measured.filter(({ tile }) => tile[0] === height && tile[1] === width);
    if (sameTile.length === 0) return [];
    return [Math.max(...sameTile.map(({ gflops }) => gflops)) / measured[0].gflops];
  });
  return shares.reduce((sum, each) => sum + each, 0) / shares.length;
}

function markdown(engines) {
  const heads = ['N', 'default', 'best', 'second', 'third', 'worst'];
  return [
    `GFLOP/s of N×N×N products for every register tile of ${rows[0]}–${rows.at(-1)} rows × ${columns[0]}–${columns.at(-1)} columns,`,
    `with the innermost loop unrolled ${unrolls.join(', ')} times (u), measured by \`tl.tune\` in rounds that interleave`,
    'a few tiles at a time. The chart shows, for every tile at its best unrolling, its speed as a share of the best tile,',
    'averaged over the sizes.',
    ...engines.flatMap(({ title, results }) => [
      '',
      `## ${title}`,
      '',
      formatTable(
        heads,
        results.map(({ size, standard, standardTile, measured }) => [
          `${size}`,
          `${standardTile.rows}×${standardTile.columns} ${standard.toFixed(1)}`,
          ...measured.slice(0, 3).map(format),
          format(measured.at(-1)),
        ]),
      ),
    ]),
  ].join('\n');
}

/** Of what the time did not suffice for. */
function missing({ title, results }) {
  const short = results.filter(({ measured }) => measured.length < tiles.length);
  return short.map(
    ({ size, measured }) => `${title}, ${size}³: ${measured.length} of ${tiles.length} tiles`,
  );
}

export const tune = {
  async run({ engines: openEngines, rounds }) {
    const engines = [];
    for await (const engine of openEngines([1])) {
      engines.push(await sweepEngine(engine, rounds * 4000));
    }
    const svg = drawHeatMaps(
      engines.map((engine) => ({
        title: engine.title,
        cells: rows.map((height) => columns.map((width) => share(engine, height, width))),
      })),
      { rows, columns },
    );
    return {
      engines,
      problems: [],
      missing: engines.flatMap(missing),
      svg,
      markdown: markdown(engines),
    };
  },
};
