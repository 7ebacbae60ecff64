/** Computes the results of a training step. Pages do not wait for its compilation. */
import { nodeProcess } from '../base/node.js';
import type { HeapValue } from '../runtime/heap_value.js';
import { compute, isPending, isRecording, startBackgroundCompute } from './compute.js';
import { fullPlanOf } from './plan.js';

/** Values whose plan is being compiled, and the promise of their computation. */
let pending: readonly HeapValue[] = [];
let computed: Promise<void> | undefined;

/**
 * As `compute` of pending values. In a page the values of a long plan stay pending while it is compiled in the
 * background, until `settle` or a read.
 */
export function computeInBackground(
  values: readonly HeapValue[],
  deferred: ReadonlySet<HeapValue>,
): void {
  const isPage = nodeProcess === undefined && !isRecording();
  const plan =
    isPage && !values.some(({ isMaterialized }) => isMaterialized)
      ? fullPlanOf(values, deferred)
      : undefined;
  computed = plan && startBackgroundCompute(plan);
  if (computed === undefined) compute(values, deferred, plan);
  else {
    pending = values;
    void computed.then(stillPending);
  }
}

/** Values that are still pending: background compilation may have failed. */
const stillPending = () => (pending = pending.filter(isPending));

/** Computes the values that are still pending. */
export function settle(): void {
  const values = stillPending();
  pending = [];
  compute(values);
}

/** Resolves when background compilation has finished. */
export const settled = async (): Promise<void> => computed;
