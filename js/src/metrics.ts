/** Metrics by name, and what the sums of all batches make of them; the formulas are named in src/nn/tables.def. */
import type { MetricName } from './generated.js';
import { type PerOutput, perOutput } from './per_output.js';

/** A metric by name or with its parameters: {name: 'precision', threshold: 0.7}. */
export type MetricLike = MetricName | ({ name: MetricName } & Record<string, number | string>);

/** Metrics of all outputs, or of each by its name. */
export type Metrics =
  MetricLike | MetricLike[] | Readonly<Record<string, MetricLike | MetricLike[]>>;

/** A number; of a confusion matrix its rows, labels by predictions. */
export type MetricValue = number | number[][];

/** The sums of a metric over some rows. */
export interface MetricSums {
  final: Final;
  sums: number[];
}

const nameOf = (metric: MetricLike) => (typeof metric === 'string' ? metric : metric.name);
const isAccuracy = (metric: MetricLike) => /^acc(uracy)?$/.test(nameOf(metric));

/** The metrics of each output for the core, and whether accuracy, which it always counts, is among them. */
export function readMetrics(
  metrics: Metrics,
  outputs: readonly { name: string }[],
): { accuracy: boolean; lists: MetricLike[][] } {
  const isOne = typeof metrics === 'string' || (!Array.isArray(metrics) && 'name' in metrics);
  const forAll = isOne || Array.isArray(metrics);
  const lists = forAll
    ? outputs.map(() => [metrics].flat() as MetricLike[])
    : perOutput(metrics as PerOutput<MetricLike | MetricLike[]>, outputs, [], 'metrics').map(
        (each) => [each].flat() as MetricLike[],
      );
  return {
    accuracy: lists.flat().some(isAccuracy),
    lists: lists.map((list) => list.filter((metric) => !isAccuracy(metric))),
  };
}

/** Names of the formulas. */
export type Final = 'mean' | 'ratio' | 'curve' | 'determination' | 'matrix';

const ratio = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);

/** The area under the points (false, true positives) for falling thresholds, joined by lines. */
function areaUnderCurve(sums: readonly number[]): number {
  const count = sums.length / 2;
  let area = 0;
  for (let at = 0; at + 1 < count; ++at) {
    const width = sums[count + at]! - sums[count + at + 1]!;
    area += (width * (sums[at]! + sums[at + 1]!)) / 2;
  }
  return ratio(area, sums[0]! * sums[count]!);
}

/** A number; for a matrix its rows. */
export function finalValue({ final, sums }: MetricSums): MetricValue {
  const [first = 0, second = 0, third = 0, fourth = 0] = sums;
  switch (final) {
    case 'mean':
      return ratio(first, second);
    case 'ratio':
      return ratio(first, first + second);
    case 'curve':
      return areaUnderCurve(sums);
    case 'determination':
      return 1 - ratio(first, third - ratio(second * second, fourth));
    case 'matrix': {
      const size = Math.sqrt(sums.length);
      return Array.from({ length: size }, (_, row) => sums.slice(row * size, (row + 1) * size));
    }
  }
}
