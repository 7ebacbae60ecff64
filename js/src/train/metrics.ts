/** Metrics by name, and their values from the sums of all batches; they are defined in src/nn/tables.def. */
import { LatheError } from '../base/errors.js';
import type { MetricFinalizer } from '../core/abi.js';
import type { LossName, MetricName } from '../core/names.js';
import { type PerOutput, perOutput } from './per_output.js';

/** A name with its parameters: {name: 'precision', threshold: 0.7}. */
type Described<Name> = { name: Name } & Record<string, number | string>;

/** A custom function registered in the core; `called` returns it under another name. */
interface Hosted {
  name: string;
  called(name: string): Hosted;
}

/** Registers a custom function in the core. */
export type Host<Fn> = (fn: Fn) => Hosted;

/** A loss by name, with its parameters, one of `losses`, or a function of labels and predictions. */
export type LossLike<Fn = never, Name extends string = string & {}> =
  LossName | Name | Described<LossName> | { readonly config: { name: LossName } } | Fn;

/** Names of metrics: those of the table, and 'crossentropy' for the loss of the model. */
export type MetricNames = MetricName | 'crossentropy' | 'ce';

/** A metric by name, with its parameters, one of `metrics`, or a function of labels and predictions. */
export type MetricLike<Fn = never, Name extends string = string & {}> =
  MetricNames | Name | Described<MetricName> | { readonly config: { name: MetricName } } | Fn;

/** Replaces a function of `losses` or `metrics` by its name, and a custom one by its registration. */
function named<Fn>(value: unknown, host: Host<Fn>): unknown {
  if (typeof value !== 'function') return value;
  return (value as { config?: { name: string } }).config?.name ?? host(value as Fn);
}

/** The loss of each output for the core. */
export function readLosses<Fn>(
  loss: PerOutput<LossLike<Fn> | null>,
  outputs: readonly { name: string }[],
  host: Host<Fn>,
): (LossName | null)[] {
  const isOne = typeof (loss as { name?: unknown } | null)?.name === 'string';
  const perOutputLosses = isOne
    ? outputs.map(() => loss)
    : perOutput(loss as PerOutput<null>, outputs, null, 'compile: loss');
  return perOutputLosses.map((each) => named(each, host) as LossName | null);
}

/** Metrics of all outputs, or of each by its name. */
export type Metrics<Fn = never, Name extends string = string & {}> =
  | MetricLike<Fn, Name>
  | MetricLike<Fn, Name>[]
  | Readonly<Record<string, MetricLike<Fn, Name> | MetricLike<Fn, Name>[]>>;

/** A number; for a confusion matrix its rows, labels by predictions. */
export type MetricValue = number | number[][];

/** The sums of a metric over some rows. */
export interface MetricSums {
  final: MetricFinalizer;
  sums: number[];
}

type PlainMetric = MetricName | Described<MetricName> | Hosted;

const nameOf = (metric: PlainMetric) => (typeof metric === 'string' ? metric : metric.name);
const isHosted = (metric: PlainMetric): metric is Hosted =>
  typeof metric === 'object' && 'called' in metric;
const isAccuracy = (metric: PlainMetric) =>
  !isHosted(metric) && /^acc(uracy)?$/.test(nameOf(metric));

/** The name of the metric in logs. */
const logName = (metric: PlainMetric) =>
  isAccuracy(metric) ? 'acc' : nameOf(metric).replace(/^crossentropy$/, 'ce');

/** Appends numbers to duplicate names, as TensorFlow.js does; the first name, the loss, is unchanged. */
export const numbered = (names: readonly string[]): string[] =>
  names.map((name, at) => {
    const isUnique = at === 0 || names.filter((each) => each === name).length === 1;
    return isUnique ? name : `${name}_${names.slice(0, at).filter((each) => each === name).length}`;
  });

/** The metrics of an output for the core: duplicates removed, functions of one name numbered. */
function distinct(list: readonly PlainMetric[]): PlainMetric[] {
  const names = numbered(['loss', ...list.map(logName)]);
  const seen = new Set<string>();
  return list.flatMap((metric, at) => {
    const name = names[at + 1]!;
    if (isHosted(metric)) return metric.name === name ? metric : metric.called(name);
    const serialized = JSON.stringify(metric);
    return seen.has(serialized) ? [] : (seen.add(serialized), metric);
  });
}

function isMetric(value: unknown): boolean {
  const { name } = (value ?? {}) as { name?: unknown };
  return typeof value === 'string' || typeof name === 'string';
}

/** The metrics of each output for the core, which always computes accuracy, and the names of the requested scores, duplicates included. */
export function readMetrics<Fn>(
  metrics: Metrics<Fn>,
  outputs: readonly { name: string; shape: readonly unknown[] }[],
  losses: readonly (LossName | null)[],
  host: Host<Fn>,
): { lists: PlainMetric[][]; names: string[] } {
  const isOne = !Array.isArray(metrics) && isMetric(metrics);
  const forAll = isOne || Array.isArray(metrics);
  const perOutputMetrics = forAll
    ? outputs.map(() => metrics)
    : perOutput(metrics as PerOutput<PlainMetric | PlainMetric[]>, outputs, [], 'compile: metrics');
  const lists = perOutputMetrics.map((each) =>
    [each].flat().map((metric) => {
      if (isMetric(metric)) return named(metric, host) as PlainMetric;
      throw new LatheError(`compile: a metric must be a name, got ${JSON.stringify(metric)}`);
    }),
  );
  const isSeveral = outputs.length > 1;
  const names = outputs.flatMap(({ name }, output) =>
    lists[output]!.map((metric) => (isSeveral ? `${name}_${logName(metric)}` : logName(metric))),
  );
  const ofLosses = outputs
    .filter((_, at) => isSeveral && losses[at] !== null)
    .map(({ name }) => `${name}_loss`);
  // The built-in accuracy is categorical (argmax per row); independent outputs need the elementwise one.
  const isOther = outputs.map(({ shape }, at) => {
    const loss = losses[at] as PlainMetric | null;
    return (
      shape.at(-1) !== 1 &&
      loss !== null &&
      !isHosted(loss) &&
      nameOf(loss) === 'binaryCrossentropy'
    );
  });
  return {
    lists: lists.map((list, at) =>
      distinct(list).filter((metric) => isOther[at] || !isAccuracy(metric)),
    ),
    names: ['loss', ...ofLosses, ...names],
  };
}

const ratio = (part: number, total: number) => (total === 0 ? 0 : part / total);

/** The area under the points (false, true positives) for descending thresholds, by the trapezoidal rule. */
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
