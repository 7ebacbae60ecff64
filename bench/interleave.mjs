/** Runs a declared suite on every engine and thread count, and writes what came of it: table, chart, problems. */
import { missingData } from '../tools/data.mjs';
import { againstSection } from './against.mjs';
import { drawChart } from './chart.mjs';
import { makePool, measureRow } from './measure.mjs';
import { peers, versionOf } from './peers.mjs';
import { Sizes } from './sizes.mjs';
import { chartOf, markdown, summary } from './table.mjs';

export async function runSuite(
  suite,
  { rowText, onlyPeers, tuneMs, rounds, roundMs, warmUpMs, engines, seed, against },
) {
  const randomRows = seed === undefined ? [] : (suite.randomRows?.(new Sizes(seed)) ?? []);
  const rows = [...suite.rows, ...randomRows].filter(({ name }) => name.includes(rowText));
  const configurations = [];
  for await (const engine of engines()) {
    const title = `${engine.title}, ${engine.threads} ${engine.threads > 1 ? 'threads' : 'thread'}`;
    console.log(`\n${title}`);
    const pool = makePool(engine);
    const measured = suite.peers
      .flatMap((name) => [name, ...companions(name, engine)])
      .filter((name) => !onlyPeers || onlyPeers.includes(name));
    const results = [];
    for (const { name, subject, flops, data } of rows) {
      const work = {
        task: suite.task,
        subject,
        options: { ...suite.options, threads: engine.threads, tuneMs, before: engine.before },
        peers: measured,
      };
      const lacking = data && missingData(data);
      const row = {
        name,
        flops,
        peers: lacking
          ? Object.fromEntries(measured.map((peer) => [peer, { unsupported: lacking }]))
          : await measureRow(pool, work, { rounds, roundMs, warmUpMs }),
      };
      results.push(row);
      console.log(summary(row, measured));
    }
    await pool.close();
    configurations.push({
      title,
      engine: engine.name,
      threads: engine.threads,
      measured,
      rows: results,
    });
  }
  const names = [...new Set(configurations.flatMap(({ measured }) => measured))];
  const versions = Object.fromEntries(names.map((name) => [name, versionOf(name)]));
  const problems = configurations.flatMap(problemsOf);
  const missing = configurations.flatMap(missingOf);
  const comparison = againstSection(against, configurations);
  for (const line of comparison) console.log(line);
  return {
    versions,
    rounds,
    roundMs,
    tuneMs,
    against,
    configurations,
    problems,
    missing,
    ...countCells(configurations),
    markdown: markdown(suite, {
      versions,
      rounds,
      roundMs,
      tuneMs,
      configurations,
      problems: [...problems, ...missing],
      comparison,
    }),
    svg: drawChart(suite.title, chartOf(configurations)),
  };
}

/** Further Tensorlathe peers of the same rounds: with several threads, one thread; with --against, another checkout. */
const companions = (name, { threads, before }) =>
  name === 'tensorlathe' ? [...(threads > 1 ? ['solo'] : []), ...(before ? ['before'] : [])] : [];

/** How many times of peers there are, and how many that cannot be. */
function countCells(configurations) {
  const cells = configurations.flatMap(({ rows, measured }) =>
    rows.flatMap((row) => measured.map((name) => row.peers[name])),
  );
  return {
    measured: cells.filter(({ ms }) => ms !== undefined).length,
    unsupported: cells.filter(({ unsupported }) => unsupported).length,
  };
}

/** A line for every result that has this property. */
const linesOf = (key, isIncluded) => (configuration) =>
  configuration.rows.flatMap((row) =>
    Object.entries(row.peers)
      .filter(([name, result]) => result[key] && isIncluded(name))
      .map(([name, result]) => {
        const title = peers[name]?.title ?? name;
        return `${configuration.title}, ${row.name}, ${title}: ${result[key]}`;
      }),
  );
const problemsOf = linesOf('error', () => true);
const missingOf = linesOf('unsupported', (name) => name === 'tensorlathe');
