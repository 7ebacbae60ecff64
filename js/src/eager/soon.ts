/** What a step of training changes: pages need not wait until it is compiled. */
import { nodeProcess } from '../base/node.js';
import type { HeapValue } from '../runtime/heap_value.js';
import { begun, compute, isPending, isRecording } from './compute.js';
import { wholePlanOf } from './plan.js';

/** What is computed once its plan is compiled, and when. */
let waiting: readonly HeapValue[] = [];
let computed: Promise<void> | undefined;

/**
 * As `compute` of values that are pending; in a page those of a long plan stay so while it is compiled, until `settle` or whoever
 * reads them.
 */
export function computeSoon(values: readonly HeapValue[], later: ReadonlySet<HeapValue>): void {
  const isPage = nodeProcess === undefined && !isRecording();
  const plan =
    isPage && !values.some(({ isThere }) => isThere) ? wholePlanOf(values, later) : undefined;
  computed = plan && begun(plan);
  if (computed === undefined) compute(values, later, plan);
  else {
    waiting = values;
    void computed.then(left);
  }
}

/** What could not be compiled in the background, too. */
const left = () => (waiting = waiting.filter(isPending));

/** Computes what was left. */
export function settle(): void {
  const values = left();
  waiting = [];
  compute(values);
}

/** Resolves when nothing is left. */
export const settled = async (): Promise<void> => computed;
