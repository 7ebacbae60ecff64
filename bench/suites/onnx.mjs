/**
 * Published ONNX models compared with ONNX Runtime Web: milliseconds of a call by turns; from the bytes of the file to the first result,
 * each in a fresh process or page, which starts the engine's WebAssembly too; and the same where that is loaded. The models are
 * in the folder of LATHE_DATA.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { modelsFolder } from '../onnx/folder.mjs';
import { names } from '../onnx/engines.mjs';
import { formatTable, median } from '../report.mjs';
import { inEngines, usual } from './onnx_engines.mjs';

/** The tolerance of results; of integers that are rounded up or down far more. */
const tolerance = (name) => (name.includes('int8') ? 0.2 : 1e-3);
const visits = { max: 3, perRound: 5 };

export const onnx = { run };

const mean = (rows, of) =>
  Math.exp(rows.reduce((sum, row) => sum + Math.log(of(row)), 0) / rows.length);

async function run(settings) {
  const models = readdirSync(join(modelsFolder, 'golden')).filter((name) =>
    name.includes(settings.rowText),
  );
  const loads = Math.min(visits.max, Math.ceil(settings.rounds / visits.perRound));
  return inEngines(settings, async ({ title, name: engine, threads, call }) => {
    const folder = engine === 'node' ? modelsFolder : undefined;
    const rows = [];
    const problems = [];
    for (const name of models) {
      const firsts = names.map(() => []);
      for (let visit = 0; visit < loads; visit++) {
        for (const [at, who] of names.entries()) {
          firsts[at].push((await call({ task: 'first', name, who, threads, folder })).ms);
        }
      }
      const reply = await call({ task: 'turns', name, threads, folder, settings: usual(settings) });
      if (!(reply.off <= tolerance(name))) problems.push(`${title}, ${name}: off by ${reply.off}`);
      rows.push({ name, times: reply.times, firsts: firsts.map(median), reloads: reply.reloads });
      console.log(`${title}, ${name}: ${reply.times.map((ms) => ms.toFixed(2)).join(' and ')} ms`);
    }
    return { rows, markdown: markdown(title, rows), problems };
  });
}

const ratio = ([ours, theirs]) => theirs / ours;

function markdown(title, rows) {
  const pair = (times, digits) => times.map((ms) => ms.toFixed(digits)).join(' / ');
  const table = formatTable(
    [
      title,
      'call, ms: ours / theirs',
      'ratio',
      'to the first result',
      'ratio',
      'engine there',
      'ratio',
    ],
    rows.map(({ name, times, firsts, reloads }) => [
      name.split('__').at(-1),
      pair(times, 2),
      ratio(times).toFixed(2),
      pair(firsts, 0),
      ratio(firsts).toFixed(2),
      pair(reloads, 0),
      ratio(reloads).toFixed(2),
    ]),
  );
  const [calls, firsts, reloads] = ['times', 'firsts', 'reloads'].map((key) =>
    mean(rows, (row) => ratio(row[key])).toFixed(2),
  );
  const faster = rows.filter((row) => ratio(row.times) > 1).length;
  return `${table}\n\nGeometric means: a call ${calls} times as fast (${faster} of ${rows.length} are faster), the first result ${firsts} times, with the engine loaded ${reloads} times.`;
}
