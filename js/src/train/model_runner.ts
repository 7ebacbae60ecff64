/** A compiled model as training, evaluation and prediction use it. Knows no device. */
import { LatheError } from '../base/errors.js';
import { type BufferInfo, byteLength } from '../core/abi.js';
import type { States } from '../runtime/states.js';
import type { PendingData } from '../tensor/tensor.js';
import type { Examples } from './examples.js';
import type { Score } from './score.js';

export interface ModelRunner {
  readonly states: States;
  /** The batch size an entry is compiled for. */
  batch(name: 'train' | 'evaluate'): number;
  /**
   * Runs train or evaluate on `count` rows from `from` on. Returns their scores. Error: the device can only be awaited.
   */
  score(
    name: 'train' | 'evaluate',
    data: Examples,
    from: number,
    count: number,
    order?: Uint32Array,
  ): Score;
  /** As `score`, without blocking the page. */
  scoreAsync(
    name: 'train' | 'evaluate',
    data: Examples,
    from: number,
    count: number,
    order?: Uint32Array,
  ): Promise<Score>;
  /** A step on all rows, which the caller may modify once it has the promise. */
  step(data: Examples): Promise<Score>;
  /** Predicts every row of x. */
  predict(x: Examples): { output(name: string): PendingData };
}

/** Error: a rate that is negative or NaN; no optimizer. */
export function setLearningRate(states: States, learningRate: number): void {
  const state = states.metadata.states.find(({ name }) => name === 'optimizer/learning_rate');
  if (state === undefined) throw new LatheError('setLearningRate: compile with an optimizer first');
  if (!(learningRate >= 0 && learningRate < Infinity)) {
    throw new LatheError(`setLearningRate: must be a finite number ≥ 0, got ${learningRate}`);
  }
  states.setState(state, new Uint8Array(Float32Array.of(learningRate).buffer));
}

/** Zeros the states of layers that persist between batches. */
export function resetStates(states: States): void {
  for (const info of states.metadata.states) {
    if (info.name.startsWith('states/')) states.setState(info, zeroBytes(info));
  }
}

const zeroBytes = (info: BufferInfo) => new Uint8Array(byteLength(info));
