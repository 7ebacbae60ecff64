/** Losses and metrics as functions, as in TensorFlow.js: configurations for `compile`, or values of tensors. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import {
  type LossName,
  lossNames,
  type LossParameters,
  type MetricName,
  metricNames,
  type MetricParameters,
} from '../core/names.js';
import { checkStored } from '../tensor/convert.js';
import { Tensor, tensor, type TensorLike } from '../tensor/tensor.js';
import { input } from '../layers/input.js';
import { isTraced } from '../layers/custom_loss.js';
import type { Scores } from '../train/score.js';
import { LayersModel } from './model.js';

/**
 * A loss or metric: an argument of `compile` as such, or with parameters `f({threshold: 0.7})`; or the value of tensors,
 * `f(labels, predictions)`, which compiles a separate module: for inspecting results, not for training loops. Error: on traced
 * tensors, as within a custom loss.
 */
export interface LossFunction<Name extends string, Parameters> {
  (labels: TensorLike, predictions: TensorLike): Tensor;
  (parameters?: Parameters): { name: Name } & Parameters;
  /** Its configuration in `compile`. */
  readonly config: { name: Name };
}

type LossFunctions<Names extends string, Parameters> = {
  readonly [Name in Names]: LossFunction<
    Name,
    Name extends keyof Parameters ? Parameters[Name] : object
  >;
};

function lossFunctions(
  names: readonly string[],
  value: (name: string, labels: Tensor, predictions: Tensor) => Tensor,
): Record<string, unknown> {
  return Object.fromEntries(
    names.map((name) => {
      const fn = (...args: unknown[]) => {
        if (args.length < 2) return { name, ...(args[0] as object | undefined) };
        if (args.some(isTraced)) {
          throw new LatheError(
            `${name}: inside a custom loss use operations instead, as a.sub(b).square().mean(-1)`,
          );
        }
        const [labels, predictions] = (args as TensorLike[]).map((each) => tensor(each));
        checkStored(`${name}: labels`, labels!.dtype);
        checkStored(`${name}: predictions`, predictions!.dtype);
        return value(name, labels!, predictions!);
      };
      return [name, Object.assign(fn, { config: { name } })];
    }),
  );
}

/** The losses; their value is the mean over all rows, a scalar. */
export const losses = /* @__PURE__ */ lossFunctions(lossNames, (name, labels, predictions) => {
  const loss = scored(name, labels, predictions, (evaluate) => [evaluate().loss]);
  return new Tensor(loss, [], 'float32');
}) as unknown as LossFunctions<LossName, LossParameters>;

/** Metrics that are not a mean over rows. */
const aggregates = ['precision', 'recall', 'auc', 'r2Score', 'confusionMatrix'];

const byName = /* @__PURE__ */ lossFunctions(
  [...lossNames, ...metricNames],
  (name, labels, predictions) => {
    const rows = predictions.shape.slice(0, -1);
    const key = name === 'accuracy' ? 'acc' : name;
    if (!aggregates.includes(name)) {
      const values = scored(name, labels, predictions, (evaluate) =>
        Array.from({ length: elementCount(rows) }, (_, row) => evaluate(row)[key]),
      );
      return new Tensor(values, rows, 'float32');
    }
    let size: number[] = [];
    const values = scored(name, labels, predictions, (evaluate) => {
      const value = evaluate()[key]!;
      if (Array.isArray(value)) size = [value.length, value.length];
      return [value].flat(2);
    });
    return new Tensor(values, size, 'float32');
  },
) as unknown as LossFunctions<MetricName, MetricParameters>;

/**
 * The metrics; their value for tensors [n, …, c] is one number per row, [n, …], or a scalar if the metric is not a mean over
 * rows (a matrix for confusionMatrix).
 */
export const metrics = { ...byName, MSE: byName.mse, MAPE: byName.mape };

/** Scores an identity model: `evaluate` of one row, or of all. */
function scored(
  name: string,
  labels: Tensor,
  predictions: Tensor,
  read: (evaluate: (row?: number) => Scores) => unknown[],
): Float32Array {
  const width = predictions.shape.at(-1);
  const count = predictions.size / (width ?? 1);
  if (width === undefined || predictions.size === 0) {
    throw new LatheError(
      `${name}: predictions must be [n, …, c], got [${predictions.shape.join(',')}]`,
    );
  }
  const isDense = labels.size === predictions.size;
  if (!isDense && labels.size !== count) {
    throw new LatheError(
      `${name}: the labels [${labels.shape.join(',')}] do not fit predictions ` +
        `[${predictions.shape.join(',')}]`,
    );
  }
  const port = input({ shape: [width] });
  const model = new LayersModel({ inputs: port, outputs: port, seed: 0 });
  try {
    const isLoss = (lossNames as readonly string[]).includes(name);
    const loss = (isLoss ? name : 'meanSquaredError') as LossName;
    model.compile({ loss, metrics: [name as MetricName] });
    const labelWidth = isDense ? width : 1;
    const part = (of: Tensor, size: number, row: number | undefined) => {
      const from = row ?? 0;
      const data = of
        .dataSync()
        .subarray(from * size, row === undefined ? undefined : (row + 1) * size);
      const rows = data.length / size;
      return tensor(data, isDense || of === predictions ? [rows, size] : [rows], 'float32');
    };
    return Float32Array.from(
      read((row) => {
        const batchSize = row === undefined ? count : 1;
        const x = part(predictions, width, row);
        return model.evaluate(x, part(labels, labelWidth, row), { batchSize, asObject: true });
      }) as number[],
    );
  } finally {
    model.dispose();
  }
}
