/** The time of our compiler from layers to module, in a fresh engine (cold) and once more in the same one (warm). */
import { networks } from '../networks.mjs';
import { formatTable, median } from '../report.mjs';

const coldRuns = 3;

export const compile = { run };

async function run({ rowText, engines }) {
  const result = { engines: [], problems: [] };
  for await (const engine of engines([1])) {
    console.log(`\n${engine.title}`);
    const rows = [];
    for (const network of networks.filter(({ name }) => name.includes(rowText))) {
      const cold = [];
      const warm = [];
      for (let round = 0; round < coldRuns; round++) {
        const process = await engine.open();
        for (const list of [cold, warm, warm]) {
          const reply = await process.call({
            command: 'prepare',
            peer: 'tensorlathe',
            task: 'train',
            subject: network,
            options: { threads: 1 },
            warmUpMs: 0,
          });
          if (reply.error) result.problems.push(`${engine.title}, ${network.name}: ${reply.error}`);
          else list.push(reply.stats);
        }
        await process.close();
      }
      if (cold.length === 0 || warm.length === 0) continue;
      const middle = (list, key) => median(list.map((stats) => stats[key]));
      const row = {
        network: network.name,
        coldMs: middle(cold, 'compileMs'),
        warmMs: middle(warm, 'compileMs'),
        instantiateMs: middle(warm, 'instantiateMs'),
        moduleBytes: middle(warm, 'moduleBytes'),
      };
      rows.push(row);
      console.log(
        `${network.name.padEnd(14)} cold ${row.coldMs.toFixed(1)} ms, warm ${row.warmMs.toFixed(1)} ms, instantiate ${row.instantiateMs.toFixed(1)} ms, ${row.moduleBytes} bytes`,
      );
    }
    result.engines.push({ title: engine.title, rows });
  }
  result.markdown = [
    'Milliseconds from the layers to the bytes of the training module, first in a fresh process or page, then once more in it; and',
    'from the bytes to a running module. Medians.',
    ...result.engines.flatMap(({ title, rows }) => ['', `## ${title}`, '', table(rows)]),
  ].join('\n');
  return result;
}

const table = (rows) =>
  formatTable(
    ['network', 'compile, cold', 'compile, warm', 'instantiate', 'module bytes'],
    rows.map((row) => [
      row.network,
      ...[row.coldMs, row.warmMs, row.instantiateMs].map((each) => each.toFixed(1)),
      row.moduleBytes,
    ]),
  );
