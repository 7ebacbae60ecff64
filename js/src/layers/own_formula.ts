/** Losses and metrics written in JavaScript: what a function does with labels and predictions is traced into the steps. */
import type { ValueId } from '../core/abi.js';
import type { CoreGraph } from '../core/handles.js';
import { Trace, TracedTensor } from '../trace/trace.js';
import type { Tensor } from '../tensor/tensor.js';
import { addHosted, type CallValues, type HostedLayer } from './layer_host.js';

/**
 * A loss or metric of an output: labels and predictions [rows, …, c] give a number for each row, [rows, …], or one for all.
 * Traced, so it must depend on nothing but its arguments.
 */
export type OwnFormula = (labels: TracedTensor, predictions: TracedTensor) => Tensor;

/** The function as the core knows it. */
export class HostedFormula implements HostedLayer {
  readonly host = addHosted(this);
  /** Whether it gave no number for each row when it was last traced, but one for the batch. */
  #isOfBatch = false;
  readonly #formula: OwnFormula;

  constructor(
    formula: OwnFormula,
    readonly name = formula.name,
  ) {
    this.#formula = formula;
  }

  /** The same by another name. */
  called(name: string): HostedFormula {
    return new HostedFormula(this.#formula, name);
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
    const result = this.#formula(labels!, predictions!);
    const outputs = [g.numberOf('its result', result)];
    this.#isOfBatch = result.shape[0] !== labels!.shape[0];
    return { outputs, updates: [] };
  }
}

const hosted = new WeakMap<OwnFormula, HostedFormula>();

/** The same function is the same formula. */
export function hostedFormula(formula: OwnFormula): HostedFormula {
  const known = hosted.get(formula) ?? new HostedFormula(formula);
  hosted.set(formula, known);
  return known;
}

/** Whether it is a function of the program. */
export const isOwn = (value: unknown): value is HostedFormula => value instanceof HostedFormula;

/** Whether it stands for a value of a function that is being traced. */
export const isTraced = (value: unknown): boolean => value instanceof TracedTensor;
