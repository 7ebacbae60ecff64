/** Runs a declared suite on every engine and thread count, and writes what came of it: table, chart, problems. */
import { drawChart } from './chart.mjs';
import { makePool, measureRow } from './measure.mjs';
import { peers, versionOf } from './peers.mjs';
import { chartOf, markdown, summary } from './table.mjs';

export async function runSuite(
  suite,
  { rowText, onlyPeers, tuneMs, rounds, roundMs, warmUpMs, engines },
) {
  const measured = suite.peers.filter((name) => !onlyPeers || onlyPeers.includes(name));
  const rows = suite.rows.filter(({ name }) => name.includes(rowText));
  const configurations = [];
  for await (const engine of engines()) {
    const title = `${engine.title}, ${engine.threads} ${engine.threads > 1 ? 'threads' : 'thread'}`;
    console.log(`\n${title}`);
    const pool = makePool(engine);
    const results = [];
    for (const { name, subject, flops } of rows) {
      const work = {
        task: suite.task,
        subject,
        options: { ...suite.options, threads: engine.threads, tuneMs },
        peers: measured,
      };
      const row = {
        name,
        flops,
        peers: await measureRow(pool, work, { rounds, roundMs, warmUpMs }),
      };
      results.push(row);
      console.log(summary(row, measured));
    }
    await pool.close();
    configurations.push({ title, engine: engine.name, threads: engine.threads, rows: results });
  }
  const versions = Object.fromEntries(measured.map((name) => [name, versionOf(name)]));
  const problems = configurations.flatMap(problemsOf);
  return {
    versions,
    rounds,
    roundMs,
    tuneMs,
    configurations,
    problems,
    rowCount: rows.length,
    markdown: markdown(suite, {
      measured,
      versions,
      rounds,
      roundMs,
      tuneMs,
      configurations,
      problems,
    }),
    svg: drawChart(suite.title, chartOf(configurations), measured),
  };
}

const problemsOf = ({ title, rows }) =>
  rows.flatMap((row) =>
    Object.entries(row.peers)
      .filter(([name, { error, unsupported }]) => error || (name === 'tensorlathe' && unsupported))
      .map(
        ([name, { error, unsupported }]) =>
          `${title}, ${row.name}, ${peers[name]?.title ?? name}: ${error ?? unsupported}`,
      ),
  );
