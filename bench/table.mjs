/** The result of a suite as Markdown: a table for each configuration, targets, problems; and the speeds for its chart. */
import {
  ceilingOf,
  digits,
  fastestOf,
  oursOf,
  ratio,
  scalingOf,
  speedOf,
  times,
} from './figures.mjs';
import { targetSection } from './targets.mjs';
import { ceilingSpeed } from './measure.mjs';
import { peers } from './peers.mjs';
import { formatTable, median } from './report.mjs';

const why = ({ error, unsupported }) => (error ? 'failed' : unsupported ? '–' : undefined);

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
  const speed = speedOf(row);
  return [
    row.name,
    ...measured.map((name) => cell(row.peers[name], ours)),
    times(ratio(fastestOf(row), ours.ms)),
    digits(speed),
    speed ? `${(100 * ratio(speed, ceilingOf(row))).toFixed(0)} %` : '–',
  ];
}

const agreements = {
  infer: 'All peers of a row returned the same numbers within 0.001.',
  train: 'The loss of every peer fell.',
  program: 'All peers of a row returned the same numbers within 0.001.',
};

/** One row as a line of text. */
export function summary(row, measured) {
  const [name, ...rest] = cells(row, measured);
  const parts = measured.map((peer, i) => `${peer} ${rest[i]}`);
  const [fastest, speed, share] = rest.slice(measured.length);
  return `${name.padEnd(28)} ${parts.join('  ')}  fastest/ours ${fastest}  ${speed} GFLOP/s, ${share}`;
}

export function markdown(
  suite,
  { versions, rounds, roundMs, tuneMs, configurations, problems, comparison },
) {
  const headsOf = (measured) => [
    '',
    ...measured.map((name) => `${peers[name].title} ${versions[name]}`.trim()),
    'fastest peer ÷ ours',
    'our GFLOP/s',
    'of ceiling',
  ];
  return [
    suite.about,
    ...(tuneMs > 0 ? [`Tensorlathe was tuned for ${tuneMs} ms before each row.`] : []),
    '',
    `Milliseconds, wall · CPU; in brackets how many times ours. Medians over ${rounds} interleaved rounds of ${roundMs} ms; CPU time`,
    'covers all threads and, in browsers, the entire browser. The ceiling is a loop of nothing but 12 independent fused',
    'multiply-adds on four lanes on one thread, in the same rounds. `–`: the peer cannot do the row. In Node TensorFlow.js and',
    `jax-js have one thread, whatever is requested, and the C library caches freed pages; ConvNetJS has one thread everywhere. ${agreements[suite.task]}`,
    ...configurations.flatMap(({ title, rows, measured }) => {
      const ceiling = (name) => {
        const speeds = rows.map((row) => ceilingSpeed(row.peers[name])).filter(Boolean);
        return speeds.length > 0 ? median(speeds) : undefined;
      };
      const scalings = rows.map(scalingOf).filter(Boolean);
      return [
        '',
        `## ${title}`,
        '',
        formatTable(
          headsOf(measured),
          rows.map((row) => cells(row, measured)),
        ),
        '',
        `Fastest peer ÷ ours, geometric mean: ${times(geometricMean(rows.map(fasterThan)))}.`,
        `Ceiling: ${digits(ceiling('fused'))} GFLOP/s fused, ${digits(ceiling('plain'))} with separate multiplication and addition.`,
        ...(scalings.length > 0
          ? [
              `Its threads together: ${times(median(scalings))} that, ${times(Math.min(...scalings))} to ${times(Math.max(...scalings))} from row to row.`,
            ]
          : []),
      ];
    }),
    ...targetSection(suite.targets, configurations),
    ...(problems.length > 0 ? ['', '## Missing or failed', '', ...problems.map(listed)] : []),
    ...comparison,
  ].join('\n');
}
const fasterThan = (row) => ratio(fastestOf(row), oursOf(row));

/** Of what was measured. */
function geometricMean(values) {
  const logs = values.filter(Boolean).map(Math.log);
  return logs.length > 0 ? Math.exp(logs.reduce((a, b) => a + b) / logs.length) : undefined;
}
const listed = (problem) => `* ${problem.split('\n')[0]}`;

/** Speeds of the first configuration in Chromium, or else the first: 1 is the fastest peer of the row. */
export function chartOf(configurations) {
  const chosen = configurations.find(({ engine }) => engine === 'chromium') ?? configurations[0];
  return {
    title: chosen?.title ?? '',
    names: chosen?.measured ?? [],
    rows: (chosen?.rows ?? []).map((row) => {
      const best = fastestOf(row) ?? oursOf(row);
      const speeds = Object.entries(row.peers).map(([name, { ms }]) => [name, ratio(best, ms)]);
      return { name: row.name, speeds: Object.fromEntries(speeds) };
    }),
  };
}
