/** Operations and plans as programs of a device. */
import type { CoreGraph } from '../../core/handles.js';
import type { Device, Program } from '../../runtime/device.js';
import type { Trace, TracedTensor } from '../../trace/trace.js';
import { type TraceMemo, traceNode } from '../graph/lazy_nodes.js';
import type { Plan } from './plan.js';
import { type Signature, type ValueType, withTrace } from '../graph/signature.js';

export const compileOperation = ({ op, inputs, values }: Signature, device: Device): Program =>
  compileTraced(
    inputs,
    (operands, trace) => [trace.apply(op, operands, [...values])],
    device.compile,
  );

/** The result of `compile` on the graph of a plan; the graph is freed afterwards. */
export const compilePlan = <T>(plan: Plan, compile: (graph: CoreGraph) => T): T =>
  compileTraced(plan.inputTypes, (inputs, trace) => traceSteps(plan, inputs, trace), compile);

/** Traces the steps of a plan; the results. */
export function traceSteps(
  { steps, results }: Plan,
  inputs: readonly TracedTensor[],
  trace: Trace,
): TracedTensor[] {
  const values = [...inputs];
  const at = (index: number) => values[index]!;
  const memo: TraceMemo = new Map();
  for (const { node, closedVjp, operandIndices, write } of steps) {
    const operands = operandIndices.map(at);
    values.push(write?.(trace, operands) ?? traceNode(node, closedVjp, trace, operands, memo));
  }
  return results.map(at);
}

/** The result of `compile` on a traced function; the graph is freed afterwards. */
export function compileTraced<T>(
  types: readonly ValueType[],
  write: (inputs: TracedTensor[], trace: Trace) => TracedTensor[],
  compile: (graph: CoreGraph) => T,
): T {
  return withTrace(types, (inputs, trace, graph) => {
    for (const [at, each] of write(inputs, trace).entries()) trace.output(`y${at}`, each);
    return compile(graph);
  });
}
