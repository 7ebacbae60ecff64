/** How a model learns, and what its optimiser has gathered <-> trainingConfig and optimiser weights of Keras. */
import { LatheError } from '../base/errors.js';
import { own } from '../base/own.js';
import { tables } from '../core/tables.js';
import { optimizerClass } from '../layers/optimizer.js';
import type { MetricLike, Metrics } from '../train/metrics.js';
import type { CompileDescription, LossDescription } from '../train/storable.js';
import type { TrainingConfig } from './artifacts.js';
import { isObject } from './artifacts.js';
import { kerasLosses, optimizerOptions, sharedMetrics } from './keras_names.js';
import { findName, toCamelCase, toSnakeCase } from './spelling.js';

/** The training configuration that Keras and TensorFlow.js read. */
export function toTrainingConfig(training: CompileDescription): TrainingConfig {
  const { name, ...given } = training.optimizer;
  const row = tables.optimizers.find((each) => each.name === name)!;
  const standard = row.parameters.map((each) => [each.name, each.default]);
  const config: Record<string, unknown> = Object.fromEntries(standard);
  for (const [key, value] of Object.entries(given)) if (value !== undefined) config[key] = value;
  const lossName = (loss: LossDescription | null): unknown =>
    typeof loss === 'string' ? (own(kerasLosses, loss) ?? toSnakeCase(loss)) : loss;
  const { loss, lossWeights } = training;
  return {
    loss: isList(loss) ? loss.map(lossName) : lossName(loss),
    ...(lossWeights === undefined ? {} : { loss_weights: lossWeights }),
    ...metricsConfig(training.metrics),
    optimizer_config: {
      class_name: optimizerClass(name),
      config,
    },
  };
}

/** All of them as they are, and for others the names of those that they know. */
function metricsConfig(given: Metrics): TrainingConfig {
  const isList = typeof given === 'string' || Array.isArray(given);
  const list: unknown[] = isList ? [given].flat() : [];
  const shared = list.filter(isName).filter((name) => sharedMetrics.includes(name));
  const isAll = isList && shared.length === list.length;
  return { metrics: shared.map(toSnakeCase), ...(isAll ? {} : { tensorlathe_metrics: given }) };
}

/** Metrics of Keras: names, or classes with their options, perhaps in a list for each output. */
function fromKerasMetrics(given: unknown): MetricLike[] {
  const rows = tables.metrics;
  const known = rows.flatMap(({ name, short }) => (short ? [name, short] : [name]));
  const metrics = (Array.isArray(given) ? given.flat() : []).map((each: unknown) => {
    const { class_name: className, config } = isObject(each) ? each : { class_name: each };
    const { name, fn, thresholds } = isObject(config) ? config : {};
    const candidates = [className, name, fn].filter(isName);
    const found = candidates.map((each) => findName(each, known)).find((each) => each);
    const hasThreshold = typeof thresholds === 'number' && /^(precision|recall)$/.test(found ?? '');
    return hasThreshold ? { name: found, threshold: thresholds } : found;
  });
  return metrics.filter((each) => each !== undefined) as MetricLike[];
}

/** What `compile` takes for a training configuration. Error: something in it is not known. */
export function fromTrainingConfig(config: TrainingConfig, file: string): CompileDescription {
  const fail = (what: string): never => {
    throw new LatheError(`${file}: trainingConfig: ${what}`);
  };
  const { loss, loss_weights: lossWeights, metrics, optimizer_config: optimizer } = config;
  const losses = tables.losses.flatMap(({ name, short }) => (short ? [name, short] : [name]));
  const lossOf = (each: unknown): LossDescription | null => {
    if (each === null) return null;
    if (isObject(each) && isName(each.name)) return { ...each, name: lossOf(each.name) as string };
    if (isObject(each) && isObject(each.config)) return lossOf(each.config.name);
    if (typeof each !== 'string') return fail(`a loss must be a name, got ${JSON.stringify(each)}`);
    return findName(each, losses) ?? fail(`the loss ${each} is not known`);
  };
  const isKnown = typeof loss === 'string' || Array.isArray(loss) || isObject(loss);
  if (!isKnown)
    return fail(`the loss must be a name or a list of them, got ${JSON.stringify(loss)}`);

  const { class_name: className, config: options } = optimizer ?? {};
  const known = tables.optimizers;
  const isMomentum = className === 'SGD' && isObject(options) && Boolean(options.momentum);
  const wanted = isMomentum ? 'momentum' : String(className).replace(/^.*>/, '');
  const names = known.map(({ name }) => name);
  const foundOptimizer = findName(wanted, names);
  if (foundOptimizer === undefined) return fail(`the optimizer ${wanted} is not known`);
  const row = known.find(({ name }) => name === foundOptimizer)!;
  const settings = Object.entries(isObject(options) ? options : {}).map(([key, value]) => {
    const name = toCamelCase(key);
    return [own(optimizerOptions, name) ?? name, value] as const;
  });
  const takes = row.parameters.map(({ name }) => name);
  const used = settings.filter(([name, value]) => takes.includes(name) && isSetting(value));
  return {
    loss: isList(loss) ? loss.map(lossOf) : lossOf(loss)!,
    ...(Array.isArray(lossWeights) ? { lossWeights: lossWeights as number[] } : {}),
    metrics: (config.tensorlathe_metrics as Metrics | undefined) ?? fromKerasMetrics(metrics),
    optimizer: { name: foundOptimizer, ...Object.fromEntries(used) },
  };
}

function isList(value: unknown): value is readonly (LossDescription | null)[] {
  return Array.isArray(value);
}

function isName(value: unknown): value is string {
  return typeof value === 'string';
}

function isSetting(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'boolean';
}
