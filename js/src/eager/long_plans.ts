/**
 * Plans that take long to compile: operation by operation they take less time the first times if they are the same ones again and
 * again, as in loops.
 */
import { Operation } from './formulas.js';
import type { Plan } from './plan.js';

/** Steps of such a plan: some 15 ms, where the compiler is still cold 50. */
export const longest = 100;
/** Compiling a step of a plan takes as long as 20 operations on small tensors, or one on so many elements. */
const stepElements = 250_000;
const operationElements = stepElements / 20;
/** The module of an operation alone takes as long as so many steps. */
const worthOne = 8;

export const isLong = ({ steps }: Plan): boolean => steps.length >= longest;

/** Whether most operations of a plan are the same ones as others of it, or have been computed alone before. */
export function isRepetitive({ steps }: Plan): boolean {
  const fresh = new Set<unknown>();
  for (const { formula } of steps) {
    if (!(formula instanceof Operation)) return false;
    const { op, module, inputs, type } = formula.signature;
    // Where a slice begins makes no other module.
    if (module === undefined)
      fresh.add(op === 'slice' ? inputs[0]!.type + type : formula.signature);
  }
  return fresh.size * worthOne <= steps.length;
}

/** What was spent on plans operation by operation, by their keys. */
const spent = new Map<string, number>();
const mostKeys = 100;

/**
 * Whether a plan that has no module shall be computed operation by operation this time: until that has taken as long as compiling
 * it, when `compile` is begun, and once more as long, lest what it gives never comes.
 */
export function isForOnce(plan: Plan, compile: (plan: Plan) => Promise<void>): boolean {
  const { key, steps } = plan;
  if (!isLong(plan) || !isRepetitive(plan)) return false;
  const elements = steps.reduce((sum, { value }) => sum + operationElements + value.size, 0);
  const before = spent.get(key) ?? 0;
  const worth = stepElements * steps.length;
  if (before > 2 * worth) return false;
  if (spent.size === mostKeys) spent.clear();
  spent.set(key, before + elements);
  if (before <= worth && before + elements > worth) void compile(plan).catch(() => {});
  return true;
}
