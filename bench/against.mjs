/** Compares Tensorlathe with Tensorlathe of another checkout, by the ratios of rounds that measureRow returns. */
import { formatTable, median } from './report.mjs';

/** Rows that got slower by more than this share are named. */
const tolerated = 0.03;

const percent = (share) => `${(100 * share).toFixed(0)} %`;
const ratioOf = ({ peers: { before } }) => before?.ratios && median(before.ratios);
const format = (ratio) => ratio?.toFixed(3) ?? '–';

/** The median, and the middle half of the rounds. */
function cell(row) {
  const { ratios } = row.peers.before ?? {};
  if (!ratios) return '–';
  const sorted = [...ratios].sort((a, b) => a - b);
  const half = sorted.length / 2;
  const [low, high] = [sorted.slice(0, Math.ceil(half)), sorted.slice(Math.floor(half))];
  return `${format(ratioOf(row))} (${format(median(low))} to ${format(median(high))})`;
}

function geometricMean(ratios) {
  if (ratios.length === 0) return undefined;
  return Math.exp(ratios.reduce((sum, each) => sum + Math.log(each), 0) / ratios.length);
}

/** The last section of a report: a column for each configuration, and which rows got slower. */
export function againstSection(against, configurations) {
  if (!against) return [];
  const [{ rows } = { rows: [] }] = configurations;
  const slower = configurations.flatMap((configuration) =>
    configuration.rows
      .filter((row) => ratioOf(row) < 1 / (1 + tolerated))
      .map((row) => `${configuration.title}, ${row.name} (${format(ratioOf(row))})`),
  );
  return [
    '',
    '## Before ÷ now',
    '',
    `Before: ${against}. Medians of the ratios of rounds, in brackets their middle half; above 1 we are faster now.`,
    '',
    formatTable(
      ['', ...configurations.map(({ title }) => title)],
      [
        ...rows.map(({ name }, i) => [name, ...configurations.map((each) => cell(each.rows[i]))]),
        [
          'geometric mean',
          ...configurations.map((each) =>
            format(geometricMean(each.rows.map(ratioOf).filter(Boolean))),
          ),
        ],
      ],
    ),
    '',
    `slower by more than ${percent(tolerated)}: ${slower.join('; ') || 'none'}`,
  ];
}
