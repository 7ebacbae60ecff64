/** Custom losses and metrics in JavaScript: the function of labels and predictions is traced into the training step. */
import type { ValueId } from '../core/abi.js';
import type { CoreGraph } from '../core/handles.js';
import { Trace, TracedTensor } from '../trace/trace.js';
import type { Tensor } from '../tensor/tensor.js';
import { addHosted, type CallValues, type HostedLayer } from './layer_host.js';

/**
 * A loss or metric of an output: maps labels and predictions [rows, …, c] to a value per row, [rows, …], or to one for the
 * batch. It is traced, so it must depend on nothing but its arguments.
 */
export type CustomLossFunction = (labels: TracedTensor, predictions: TracedTensor) => Tensor;

/** The function as an object that the core calls through the layer host. */
export class HostedLossFunction implements HostedLayer {
  readonly host = addHosted(this);
  /** Whether the last trace returned one value for the batch instead of one per row. */
  #isOfBatch = false;
  readonly #fn: CustomLossFunction;

  constructor(
    fn: CustomLossFunction,
    readonly name = fn.name,
  ) {
    this.#fn = fn;
  }

  /** The same function under another name. */
  called(name: string): HostedLossFunction {
    return new HostedLossFunction(this.#fn, name);
  }

  get isOfBatch(): boolean {
    return this.#isOfBatch;
  }

  /** @internal */
  hostWeights(): [] {
    return [];
  }

  /** @internal */
  hostCall(graph: CoreGraph, { inputs }: CallValues): { outputs: ValueId[]; updates: [] } {
    const g = new Trace(graph);
    const [labels, predictions] = g.values(inputs);
    const result = this.#fn(labels!, predictions!);
    const outputs = [g.valueIdOf('its result', result)];
    this.#isOfBatch = result.shape[0] !== labels!.shape[0];
    return { outputs, updates: [] };
  }
}

const hosted = new WeakMap<CustomLossFunction, HostedLossFunction>();

/** The hosted object of a function, cached per function. */
export function hostedLossFunction(fn: CustomLossFunction): HostedLossFunction {
  const cached = hosted.get(fn) ?? new HostedLossFunction(fn);
  hosted.set(fn, cached);
  return cached;
}

/** Whether a loss or metric is a custom function. */
export const isHostedLoss = (value: unknown): value is HostedLossFunction =>
  value instanceof HostedLossFunction;

/** Whether it is a value of a function being traced. */
export const isTraced = (value: unknown): boolean => value instanceof TracedTensor;
