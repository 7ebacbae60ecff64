/** Losses and metrics as the functions of TensorFlow.js: plain descriptions, or values of tensors. */
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
import { input } from '../layers/layer.js';
import { isTraced } from '../layers/own_formula.js';
import type { Scores } from '../train/score.js';
import { LayersModel } from './model.js';

/**
 * A loss or metric: an argument of `compile` as it is, or with parameters `f({threshold: 0.7})`; of
 * tensors `f(labels, predictions)`, which compiles a module of its own and is meant for looking at
 * results, not for training loops. Error: inside a function that is traced, as a loss of the program is.
 */
export interface Formula<Name extends string, Parameters> {
  (labels: TensorLike, predictions: TensorLike): Tensor;
  (parameters?: Parameters): { name: Name } & Parameters;
  /** What `compile` takes it for. */
  readonly config: { name: Name };
}

type Formulas<Names extends string, Parameters> = {
  readonly [Name in Names]: Formula<
    Name,
    Name extends keyof Parameters ? Parameters[Name] : object
  >;
};

function formulas(
  names: readonly string[],
  value: (name: string, labels: Tensor, predictions: Tensor) => Tensor,
): Record<string, unknown> {
  return Object.fromEntries(
    names.map((name) => {
      const formula = (...args: unknown[]) => {
        if (args.length < 2) return { name, ...(args[0] as object | undefined) };
        if (args.some(isTraced)) {
          throw new LatheError(
            `${name}: inside a function of the program write it with operations, as a.sub(b).square().mean(-1)`,
          );
        }
        const [labels, predictions] = (args as TensorLike[]).map((each) => tensor(each));
        checkStored(`${name}: labels`, labels!.dtype);
        checkStored(`${name}: predictions`, predictions!.dtype);
        return value(name, labels!, predictions!);
      };
      return [name, Object.assign(formula, { config: { name } })];
    }),
  );
}

/** The losses; of tensors the mean over all rows, a scalar. */
export const losses = /* @__PURE__ */ formulas(lossNames, (name, labels, predictions) => {
  const loss = scored(name, labels, predictions, (evaluate) => [evaluate().loss]);
  return new Tensor(loss, [], 'float32');
}) as unknown as Formulas<LossName, LossParameters>;

/** Metrics that are no mean over rows. */
const ofAll = ['precision', 'recall', 'auc', 'r2Score', 'confusionMatrix'];

const byName = /* @__PURE__ */ formulas(
  [...lossNames, ...metricNames],
  (name, labels, predictions) => {
    const rows = predictions.shape.slice(0, -1);
    const key = name === 'accuracy' ? 'acc' : name;
    if (!ofAll.includes(name)) {
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
) as unknown as Formulas<MetricName, MetricParameters>;

/**
 * The metrics; of tensors [n, …, c] one number for each row, [n, …], and a scalar where the metric is
 * no mean over rows (a matrix of confusionMatrix).
 */
export const metrics = { ...byName, MSE: byName.mse, MAPE: byName.mape };

/** What a model that gives its input is worth: `evaluate` looks at one row, or at all. */
function scored(
  name: string,
  labels: Tensor,
  predictions: Tensor,
  take: (evaluate: (row?: number) => Scores) => unknown[],
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
      take((row) => {
        const batchSize = row === undefined ? count : 1;
        const given = part(predictions, width, row);
        return model.evaluate(given, part(labels, labelWidth, row), { batchSize, asObject: true });
      }) as number[],
    );
  } finally {
    model.dispose();
  }
}
