/** Runs a declared suite on every engine and thread count, and writes what came of it: table, chart, problems. */
import { drawChart } from './chart.mjs';
import { ceilingSpeed, makePool, measureRow } from './measure.mjs';
import { isRival, peers, versionOf } from './peers.mjs';
import { formatTable, median } from './report.mjs';

export async function runSuite(suite, { rowText, onlyPeers, rounds, roundMs, warmUpMs, engines }) {
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
        options: { ...suite.options, threads: engine.threads },
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
    configurations,
    problems,
    rowCount: rows.length,
    markdown: markdown(suite, { measured, versions, rounds, roundMs, configurations, problems }),
    svg: drawChart(suite.title, chartOf(configurations), measured),
  };
}

/** The shortest time of a competitor of ours in a row; undefined when none has one. */
const fastestOf = (row) =>
  Object.entries(row.peers)
    .filter(([name, { ms }]) => name in peers && isRival(name) && ms)
    .reduce((best, [, { ms }]) => Math.min(best ?? ms, ms), undefined);

const problemsOf = ({ title, rows }) =>
  rows.flatMap((row) =>
    Object.entries(row.peers)
      .filter(([name, { error, unsupported }]) => error || (name === 'tensorlathe' && unsupported))
      .map(
        ([name, { error, unsupported }]) =>
          `${title}, ${row.name}, ${peers[name]?.title ?? name}: ${error ?? unsupported}`,
      ),
  );

const digits = (value) =>
  value === undefined ? '–' : value >= 100 ? value.toFixed(0) : value.toPrecision(3);
const times = (value) => (value === undefined ? '–' : `${value.toFixed(2)}×`);
const why = ({ error, unsupported }) => (error ? 'failed' : unsupported ? '–' : undefined);
const ratio = (a, b) => (a && b ? a / b : undefined);

/** Wall and CPU milliseconds, and for others how many times ours. */
function cell(result, ours) {
  const absent = why(result);
  if (absent) return absent;
  const cpu = result.cpuMs === undefined ? '' : ` · ${digits(result.cpuMs)}`;
  const factor = result === ours || !ours.ms ? '' : ` (${times(result.ms / ours.ms)})`;
  return `${digits(result.ms)}${cpu}${factor}`;
}

function cells(row, measured) {
  const ours = row.peers.tensorlathe ?? {};
  const speed = row.flops && ours.ms ? row.flops / ours.ms / 1e6 : undefined;
  const ceiling = ceilingSpeed(row.peers.fused) ?? ceilingSpeed(row.peers.plain);
  return [
    row.name,
    ...measured.map((name) => cell(row.peers[name], ours)),
    times(ratio(fastestOf(row), ours.ms)),
    digits(speed),
    speed ? `${((100 * speed) / ceiling).toFixed(0)} %` : '–',
  ];
}

function summary(row, measured) {
  const [name, ...rest] = cells(row, measured);
  const parts = measured.map((peer, i) => `${peer} ${rest[i]}`);
  const [fastest, speed, share] = rest.slice(measured.length);
  return `${name.padEnd(28)} ${parts.join('  ')}  fastest/ours ${fastest}  ${speed} GFLOP/s, ${share}`;
}

function markdown(suite, { measured, versions, rounds, roundMs, configurations, problems }) {
  const heads = [
    '',
    ...measured.map((name) => `${peers[name].title} ${versions[name]}`.trim()),
    'fastest peer ÷ ours',
    'our GFLOP/s',
    'of ceiling',
  ];
  return [
    suite.about,
    '',
    'Milliseconds, wall · CPU; in brackets how many times ours. Medians over',
    `${rounds} interleaved rounds of ${roundMs} ms; CPU time covers all threads and, in browsers, the whole browser. The ceiling is a`,
    'loop of nothing but 12 independent fused multiply-adds on four lanes on one thread, in the same rounds. `–`: the peer',
    'cannot do the row. All peers of a row gave the same numbers within 0.001.',
    ...configurations.flatMap(({ title, rows }) => {
      const ceiling = (name) => {
        const speeds = rows.map((row) => ceilingSpeed(row.peers[name])).filter(Boolean);
        return speeds.length > 0 ? median(speeds) : undefined;
      };
      return [
        '',
        `## ${title}`,
        '',
        formatTable(
          heads,
          rows.map((row) => cells(row, measured)),
        ),
        '',
        `Ceiling: ${digits(ceiling('fused'))} GFLOP/s fused, ${digits(ceiling('plain'))} with separate multiplication and addition.`,
      ];
    }),
    ...(problems.length > 0 ? ['', '## Missing or failed', '', ...problems.map(listed)] : []),
  ].join('\n');
}
const listed = (problem) => `* ${problem.split('\n')[0]}`;

/** Speeds of the first configuration in Chromium, or else the first: 1 is the fastest peer of the row. */
function chartOf(configurations) {
  const shown = configurations.find(({ engine }) => engine === 'chromium') ?? configurations[0];
  return {
    title: shown?.title ?? '',
    rows: (shown?.rows ?? []).map((row) => {
      const best = fastestOf(row) ?? row.peers.tensorlathe?.ms;
      const speeds = Object.entries(row.peers).map(([name, { ms }]) => [name, ratio(best, ms)]);
      return { name: row.name, speeds: Object.fromEntries(speeds) };
    }),
  };
}
