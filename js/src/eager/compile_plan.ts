/** Operations and plans as modules for the heap. */
import type { CoreGraph } from '../core/handles.js';
import type { HeapModule } from '../runtime/heap_module.js';
import { compileForHeap } from '../trace/heap_function.js';
import type { Trace, TracedTensor } from '../trace/trace.js';
import { writePart, type Written } from './formulas.js';
import type { Plan } from './plan.js';
import { type Signature, traced, type ValueType } from './signature.js';

export const compileOperation = ({ op, inputs, values }: Signature): HeapModule =>
  compiled(
    inputs,
    (operands, trace) => [trace.apply(op, operands, [...values])],
    (graph) => compileForHeap(graph),
  );

/** What `compile` makes of a plan that has been written down in a graph, which goes with it. */
export const compilePlan = <T>(plan: Plan, compile: (graph: CoreGraph) => T): T =>
  compiled(plan.inputTypes, (inputs, trace) => writeSteps(plan, inputs, trace), compile);

/** Adds the steps of a plan to a function, and gives their results. */
export function writeSteps(
  { steps, results }: Plan,
  inputs: readonly TracedTensor[],
  trace: Trace,
): TracedTensor[] {
  const values = [...inputs];
  const at = (place: number) => values[place]!;
  const written: Written = new Map();
  for (const { formula, apart, places, write } of steps) {
    const operands = places.map(at);
    values.push(write?.(trace, operands) ?? writePart(formula, apart, trace, operands, written));
  }
  return results.map(at);
}

/** What `compile` makes of a function that has been written down. */
export function compiled<T>(
  types: readonly ValueType[],
  write: (inputs: TracedTensor[], trace: Trace) => TracedTensor[],
  compile: (graph: CoreGraph) => T,
): T {
  return traced(types, (inputs, trace, graph) => {
    for (const [at, each] of write(inputs, trace).entries()) trace.output(`y${at}`, each);
    return compile(graph);
  });
}
