/** Computes the results of a training step. Pages do not wait for its compilation. */
import { nodeProcess } from '../../base/node.js';
import type { DeviceValue } from '../../runtime/device_value.js';
import { engine } from '../engine.js';
import { isPending } from '../graph/lazy_nodes.js';

/**
 * As `compute` of pending values. In a page the values of a long plan stay pending while it is compiled in the
 * background, until `settle` or a read.
 */
export function computeInBackground(
  values: readonly DeviceValue[],
  deferred: ReadonlySet<DeviceValue>,
): void {
  const { plans, tape } = engine;
  const isPage = nodeProcess === undefined && !tape.isRecording;
  const plan =
    isPage && !values.some(({ isMaterialized }) => isMaterialized)
      ? plans.planOf(values, { deferred, isFull: true })
      : undefined;
  engine.stepComputed = plan && plans.startInBackground(plan);
  if (engine.stepComputed === undefined) plans.compute(values, deferred, plan);
  else {
    engine.stepResults = values;
    void engine.stepComputed.then(stillPending);
  }
}

/** Values that are still pending: background compilation may have failed. */
const stillPending = () => (engine.stepResults = engine.stepResults.filter(isPending));

/** Computes the values that are still pending. */
export function settle(): void {
  const values = stillPending();
  engine.stepResults = [];
  engine.plans.compute(values);
}

/** Resolves when background compilation has finished. */
export const settled = async (): Promise<void> => engine.stepComputed;
