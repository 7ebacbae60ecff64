/** Metrics by name, and what the sums of all batches make of them; the formulas are named in src/nn/tables.def. */
import { LatheError } from '../base/errors.js';
import type { Final } from '../core/abi.js';
import type { LossName, MetricName } from '../core/names.js';
import { type PerOutput, perOutput } from './per_output.js';

/** A name with its parameters: {name: 'precision', threshold: 0.7}. */
type Described<Name> = { name: Name } & Record<string, number | string>;

/** A loss by name, with its parameters, or one of `losses`. */
export type LossLike = LossName | Described<LossName> | { readonly config: { name: LossName } };

/** A metric by name, with its parameters, or one of `metrics`. */
export type MetricLike =
  MetricName | Described<MetricName> | { readonly config: { name: MetricName } };

/** A function of `losses` or `metrics` as its name. Error: another function. */
function named(what: string, value: unknown): unknown {
  if (typeof value !== 'function') return value;
  const { config } = value as { config?: { name: string } };
  if (config !== undefined) return config.name;
  throw new LatheError(
    `compile: ${what} "${value.name}" is a function of your own; take a name, or one of tl.${what}`,
  );
}

/** The loss of each output for the core. */
export function readLosses(
  loss: PerOutput<LossLike | null>,
  outputs: readonly { name: string }[],
): (LossName | null)[] {
  const isOne = typeof (loss as { name?: unknown } | null)?.name === 'string';
  const given = isOne
    ? outputs.map(() => loss)
    : perOutput(loss as PerOutput<null>, outputs, null, 'compile: loss');
  return given.map((each) => named('losses', each) as LossName | null);
}

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

type PlainMetric = MetricName | Described<MetricName>;

const nameOf = (metric: PlainMetric) => (typeof metric === 'string' ? metric : metric.name);
const isAccuracy = (metric: PlainMetric) => /^acc(uracy)?$/.test(nameOf(metric));

function isMetric(value: unknown): value is MetricLike {
  const { name } = (value ?? {}) as { name?: unknown };
  return typeof value === 'string' || typeof name === 'string';
}

/** The metrics of each output for the core, which always counts accuracy, and what the scores are called that are asked for. */
export function readMetrics(
  metrics: Metrics,
  outputs: readonly { name: string; shape: readonly unknown[] }[],
  losses: readonly (LossName | null)[],
): { lists: PlainMetric[][]; names: string[] } {
  const isOne = !Array.isArray(metrics) && isMetric(metrics);
  const forAll = isOne || Array.isArray(metrics);
  const given = forAll
    ? outputs.map(() => metrics)
    : perOutput(metrics as PerOutput<MetricLike | MetricLike[]>, outputs, [], 'compile: metrics');
  const lists = given.map((each) =>
    [each].flat().map((metric) => {
      if (isMetric(metric)) return named('metrics', metric) as PlainMetric;
      throw new LatheError(`compile: a metric must be a name, got ${JSON.stringify(metric)}`);
    }),
  );
  const isSeveral = outputs.length > 1;
  const names = outputs.flatMap(({ name }, at) =>
    lists[at]!.map((metric) => {
      const own = isAccuracy(metric) ? 'acc' : nameOf(metric);
      return isSeveral ? `${name}_${own}` : own;
    }),
  );
  const ofLosses = outputs
    .filter((_, at) => isSeveral && losses[at] !== null)
    .map(({ name }) => `${name}_loss`);
  // What is always counted are rows whose greatest number is right; of independent numbers each counts.
  const isOther = outputs.map(({ shape }, at) => {
    const loss = losses[at] as PlainMetric | null;
    return shape.at(-1) !== 1 && loss !== null && nameOf(loss) === 'binaryCrossentropy';
  });
  return {
    lists: lists.map((list, at) => list.filter((metric) => isOther[at] || !isAccuracy(metric))),
    names: ['loss', ...ofLosses, ...names],
  };
}

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
