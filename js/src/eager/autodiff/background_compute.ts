/** Computes the results of a training step. Pages do not wait for its compilation. */
import { nodeProcess } from '../../base/node.js';
import type { HeapValue } from '../../runtime/heap_value.js';
import { engine } from '../engine.js';
import { isPending } from '../graph/lazy_nodes.js';

/**
 * As `compute` of pending values. In a page the values of a long plan stay pending while it is compiled in the
 * background, until `settle` or a read.
 */
export function computeInBackground(
  values: readonly HeapValue[],
  deferred: ReadonlySet<HeapValue>,
): void {
  const { plans, tape, deferredStep } = engine;
  const isPage = nodeProcess === undefined && !tape.isRecording;
  const plan =
    isPage && !values.some(({ isMaterialized }) => isMaterialized)
      ? plans.fullPlanOf(values, deferred)
      : undefined;
  deferredStep.computed = plan && plans.startInBackground(plan);
  if (deferredStep.computed === undefined) plans.compute(values, deferred, plan);
  else {
    deferredStep.values = values;
    void deferredStep.computed.then(stillPending);
  }
}

/** Values that are still pending: background compilation may have failed. */
const stillPending = () =>
  (engine.deferredStep.values = engine.deferredStep.values.filter(isPending));

/** Computes the values that are still pending. */
export function settle(): void {
  const values = stillPending();
  engine.deferredStep.values = [];
  engine.plans.compute(values);
}

/** Resolves when background compilation has finished. */
export const settled = async (): Promise<void> => engine.deferredStep.computed;
