/** Scores of models: of a batch, accumulated, and as reported. */
import { entryOf } from '../base/records.js';
import type { ModuleMetadata } from '../core/abi.js';
import type { NumberArray } from '../tensor/convert.js';
import { tracked } from '../tensor/live_tensors.js';
import { type Tensor, tensor } from '../tensor/tensor.js';
import type { Logs } from './history.js';
import { finalValue, type MetricSums, type MetricValue, numbered } from './metrics.js';

/**
 * Means over some rows by name: loss, acc; of a model with several outputs loss, NAME_loss, NAME_acc.
 * In addition the sums of the other metrics.
 */
export interface Score {
  means: Readonly<Record<string, number>>;
  sums: Readonly<Record<string, MetricSums>>;
  rows: number;
}

/** The scores of a model: mean loss, accuracy (of one output), both per output, and metrics. */
export type Scores = { loss: number; acc: number } & Record<string, MetricValue>;

/** Reads the scores of `count` rows from the outputs of an entry. */
export function scoreOf(
  entry: { readonly outputs: ReadonlyMap<string, NumberArray> },
  rows: number,
  { metrics = [] }: Pick<ModuleMetadata, 'metrics'>,
): Score {
  const means: Record<string, number> = Object.create(null);
  const sums: Record<string, MetricSums> = Object.create(null);
  for (const [name, values] of entry.outputs) {
    const metric = metrics.find((each) => each.output === name);
    if (metric !== undefined) {
      sums[metric.name] = { final: metric.final, sums: Array.from(values) };
      continue;
    }
    const [kind, ...output] = name.split('/');
    if (kind === 'not_finite') continue;
    const prefix = output.length === 0 ? '' : `${output.join('/')}_`;
    if (kind === 'loss') means[`${prefix}loss`] = values[0]!;
    else means[`${prefix}acc`] = values[0]! / rows;
  }
  return { means, sums, rows };
}

/** Accumulates the scores of an epoch. */
export class Tally {
  #totals: Record<string, number> = Object.create(null);
  #sums: Record<string, MetricSums> = Object.create(null);
  #start = performance.now();
  rows = 0;

  add({ means, sums, rows }: Score): void {
    for (const [name, mean] of Object.entries(means)) {
      this.#totals[name] = (this.#totals[name] ?? 0) + mean * rows;
    }
    for (const [name, each] of Object.entries(sums)) {
      const before = this.#sums[name]?.sums ?? [];
      this.#sums[name] = { ...each, sums: each.sums.map((sum, at) => sum + (before[at] ?? 0)) };
    }
    this.rows += rows;
  }

  copy(): Tally {
    const copy = new Tally();
    Object.assign(copy.#totals, this.#totals);
    Object.assign(copy.#sums, this.#sums);
    [copy.rows, copy.#start] = [this.rows, this.#start];
    return copy;
  }

  /** Combines the batches. */
  get score(): Score {
    const means = Object.entries(this.#totals).map(([name, total]) => [name, total / this.rows]);
    return { means: Object.fromEntries(means), sums: this.#sums, rows: this.rows };
  }

  /** Means, and final values of the metrics. */
  get scores(): Scores {
    const metrics = Object.entries(this.#sums).map(([name, sums]) => [name, finalValue(sums)]);
    return { ...this.score.means, ...Object.fromEntries(metrics) } as Scores;
  }

  get imagesPerSecond(): number {
    return this.rows / Math.max((performance.now() - this.#start) / 1000, 1e-9);
  }
}

/** The scores of one batch. */
export function scoresOf(score: Score): Scores {
  const tally = new Tally();
  tally.add(score);
  return tally.scores;
}

/** The scores that `compile` requested, in its order. */
export function reported<T extends Readonly<Record<string, MetricValue>>>(
  { metricsNames }: { readonly metricsNames: readonly string[] },
  scores: T,
): T {
  const keys = numbered(metricsNames);
  const requested = keys.map(
    (key, at) => [key, entryOf(scores, key) ?? entryOf(scores, metricsNames[at]!)] as const,
  );
  return Object.fromEntries(requested.filter(([, score]) => score !== undefined)) as T;
}

/** The logs of an epoch, validation first, as in TensorFlow.js. */
export function epochLogs(
  model: { readonly metricsNames: readonly string[] },
  { scores, imagesPerSecond }: Tally,
  validated: Partial<Scores> = {},
): Logs {
  const validation = Object.entries(validated).map(([name, value]) => [`val_${name}`, value]);
  return { ...Object.fromEntries(validation), ...reported(model, scores), imagesPerSecond };
}

/** The scores as tensors, scalars or matrices; a single one, or an array. */
export function asTensors(
  model: { readonly metricsNames: readonly string[] },
  scores: Scores,
): Tensor | Tensor[] {
  const all = Object.values(reported(model, scores)).map((score) => tensor(score)[tracked]());
  return all.length === 1 ? all[0]! : all;
}
