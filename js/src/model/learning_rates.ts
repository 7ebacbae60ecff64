/** Learning rates that change from step to step: functions of the step, and the callback that sets them. */
import { LatheError } from '../base/errors.js';
import type { Callbacks } from './callbacks.js';

/** The learning rate of a step; the first step is 0. */
export type LearningRateSchedule = (step: number) => number;

function check(name: string, values: Record<string, number>): void {
  for (const [key, value] of Object.entries(values)) {
    if (!Number.isFinite(value) || value < 0 || (key === 'decaySteps' && value === 0)) {
      const expected = key === 'decaySteps' ? 'a number above 0' : 'a number ≥ 0';
      throw new LatheError(`learningRates.${name}: ${key} must be ${expected}, got ${value}`);
    }
  }
}

/** Factories of schedules, as in Keras. */
export const learningRates = {
  /** initial · rate ^ (step / decaySteps); `staircase` rounds the exponent down. */
  exponentialDecay(
    initial: number,
    decaySteps: number,
    decayRate: number,
    staircase = false,
  ): LearningRateSchedule {
    check('exponentialDecay', { initial, decaySteps, decayRate });
    return (step) => {
      const power = step / decaySteps;
      return initial * decayRate ** (staircase ? Math.floor(power) : power);
    };
  },

  /** initial / (1 + rate · step / decaySteps); `staircase` rounds the quotient down. */
  inverseTimeDecay(
    initial: number,
    decaySteps: number,
    decayRate: number,
    staircase = false,
  ): LearningRateSchedule {
    check('inverseTimeDecay', { initial, decaySteps, decayRate });
    return (step) => {
      const time = step / decaySteps;
      return initial / (1 + decayRate * (staircase ? Math.floor(time) : time));
    };
  },

  /** Half a cosine from `initial` down to `alpha` · `initial` within decaySteps, and constant after. */
  cosineDecay(initial: number, decaySteps: number, alpha = 0): LearningRateSchedule {
    check('cosineDecay', { initial, decaySteps, alpha });
    return (step) => {
      const share = Math.min(step, decaySteps) / decaySteps;
      return initial * (alpha + (1 - alpha) * 0.5 * (1 + Math.cos(Math.PI * share)));
    };
  },

  /** values[i] up to step boundaries[i], inclusive, and the last value after all of them. */
  piecewiseConstant(
    boundaries: readonly number[],
    values: readonly number[],
  ): LearningRateSchedule {
    if (values.length !== boundaries.length + 1) {
      throw new LatheError(
        `learningRates.piecewiseConstant: ${boundaries.length} boundaries need ` +
          `${boundaries.length + 1} values, got ${values.length}`,
      );
    }
    if (boundaries.some((boundary, at) => at > 0 && boundary <= boundaries[at - 1]!)) {
      throw new LatheError('learningRates.piecewiseConstant: boundaries must ascend');
    }
    return (step) => {
      const at = boundaries.findIndex((boundary) => step <= boundary);
      return at < 0 ? values.at(-1)! : values[at]!;
    };
  },
};

/**
 * A callback for `fit` that sets the learning rate before every batch. Steps continue from one fit to the
 * next; `firstStep` is the number of the first.
 */
export function scheduleLearningRate(
  model: { setLearningRate(learningRate: number): void },
  schedule: LearningRateSchedule,
  firstStep = 0,
): Callbacks {
  let step = firstStep;
  return { onBatchBegin: () => model.setLearningRate(schedule(step++)) };
}
