/**
 * Plans that are expensive to compile. If they consist of the same few operations, as in loops, running them operation
 * by operation is faster the first times.
 */
import { Operation } from '../graph/lazy_nodes.js';
import type { ModuleCache, Plan } from './plan.js';

/** Steps of a long plan: it compiles in 15 ms, 50 ms with a cold compiler. */
export const longPlanSteps = 100;
/** Compiling one step costs as much as 20 operations on small tensors, or one operation on this many elements. */
const stepElements = 250_000;
const operationElements = stepElements / 20;
/** Compiling the module of a single operation costs as much as this many steps. */
const stepsPerModule = 8;

export const isLong = ({ steps }: Plan): boolean => steps.length >= longPlanSteps;

/** Whether few operations of a plan are distinct and without a module. */
export function isRepetitive({ steps }: Plan, modules: ModuleCache): boolean {
  const fresh = new Set<unknown>();
  for (const { node } of steps) {
    if (!(node instanceof Operation)) return false;
    const { op, inputs, type } = node.signature;
    // Slices that differ in their begins share a module.
    if (!modules.has(node.signature))
      fresh.add(op === 'slice' ? inputs[0]!.type + type : node.signature);
  }
  return fresh.size * stepsPerModule <= steps.length;
}

const maxKeys = 100;

/**
 * Whether to run an uncompiled repetitive plan operation by operation this time: until that has cost as much as
 * compiling it, when `compile` starts in the background, and once more as much, in case compilation never finishes.
 *
 * @param spent elements computed operation by operation so far, by the key of the plan; updated
 */
export function shouldRunUncompiled(
  { key, steps }: Plan,
  spent: Map<string, number>,
  compile: () => Promise<void>,
): boolean {
  const elements = steps.reduce((sum, { value }) => sum + operationElements + value.size, 0);
  const before = spent.get(key) ?? 0;
  const worth = stepElements * steps.length;
  if (before > 2 * worth) return false;
  if (spent.size === maxKeys) spent.clear();
  spent.set(key, before + elements);
  if (before <= worth && before + elements > worth) void compile().catch(() => {});
  return true;
}
