/** Compares measurements with the performance targets of a suite. */
import { ceilingOf, digits, fastestOf, oursOf, ratio, scalingOf, speedOf } from './figures.mjs';
import { peers } from './peers.mjs';
import { formatTable } from './report.mjs';

/**
 * Kinds of targets: name, value, whether less is better, and what the ceiling of the same rounds allows.
 * find(row name) returns other rows of the configuration.
 */
const kinds = {
  fastest: {
    name: 'fastest peer ÷ ours',
    value: (row) => ratio(fastestOf(row), oursOf(row)),
    possible: (row) => ratio(fastestOf(row) * ceilingOf(row), row.flops / 1e6),
  },
  ceiling: { name: 'share of the ceiling', value: (row) => ratio(speedOf(row), ceilingOf(row)) },
  squareRate: {
    name: 'GFLOP/s over those of 256³',
    value: (row, find) => ratio(speedOf(row), speedOf(find('256³'))),
  },
  overFloats: {
    name: 'float32 ÷ ours',
    value: (row, find) => ratio(oursOf(find(row.name.split(' ')[0])), oursOf(row)),
  },
  oneThread: {
    name: 'one thread ÷ ours',
    value: (row) => ratio(row.peers.solo?.ms, oursOf(row)),
    possible: scalingOf,
  },
  narrow: { name: '128 bits ÷ 256 bits', value: (row) => ratio(oursOf(row), row.peers.wide?.ms) },
  ms: { name: 'ms', value: oursOf, less: true },
  kilobytes: {
    name: 'KB of code',
    value: (row) => ratio(row.peers.tensorlathe?.bytes, 1000),
    less: true,
  },
  ...Object.fromEntries(
    Object.entries(peers).map(([peer, { title }]) => [
      peer,
      { name: `${title} ÷ ours`, value: (row) => ratio(row.peers[peer]?.ms, oursOf(row)) },
    ]),
  ),
};
const noRow = { flops: 0, peers: {} };

/** targets: [{engine, threads, rows: names, or absent for all, kind: limit…}]. Returns a line for each that was measured. */
function evaluateTargets(targets, configurations) {
  return targets.flatMap(({ engine, threads, rows, ...limits }) =>
    configurations
      .filter((each) => (engine ?? each.engine) === each.engine && each.threads === threads)
      .flatMap((configuration) => {
        const find = (name) => configuration.rows.find((row) => row.name === name) ?? noRow;
        return configuration.rows
          .filter(({ name }) => rows?.includes(name) ?? true)
          .flatMap((row) =>
            Object.entries(limits).map(([kind, limit]) => {
              const value = kinds[kind].value(row, find);
              const met = kinds[kind].less ? value <= limit : value >= limit;
              return {
                title: configuration.title,
                row: row.name,
                name: kinds[kind].name,
                possible: kinds[kind].possible?.(row),
                value,
                limit,
                met,
              };
            }),
          );
      }),
  );
}

/** The section of a report about the targets of a suite. */
export function targetSection(targets, configurations) {
  return targetTable(evaluateTargets(targets ?? [], configurations));
}

/** The section of such lines: configuration, kind, value, target and what is possible. */
export function targetTable(lines) {
  if (lines.length === 0) return [];
  const missed = lines.filter(({ met }) => !met);
  return [
    '',
    `## Targets: ${lines.length - missed.length} of ${lines.length} met`,
    ...(missed.length > 0
      ? [
          '',
          formatTable(
            ['missed', '', 'measured', 'target', 'ceiling allows'],
            missed.map(({ title, row, name, value, limit, possible }) => [
              row === undefined ? title : `${title}: ${row}`,
              name,
              digits(value),
              digits(limit),
              digits(possible),
            ]),
          ),
        ]
      : []),
  ];
}
