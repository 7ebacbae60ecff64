/** Traces functions into graphs. */
import { LatheError } from '../base/errors.js';
import { describeKind } from '../base/kinds.js';
import type { ValueId } from '../core/abi.js';
import { CoreGraph } from '../core/handles.js';
import type { DType } from '../tensor/dtypes.js';
import { type Operand, Trace, TracedTensor, UnknownSize } from './trace.js';

/** The shape of an argument, with its dtype. Default: float32. */
export type InputSpec = readonly number[] | { shape: readonly number[]; dtype?: DType };

export const entryName = 'run';

/** The shape of a spec. */
export const shapeIn = <Size>(
  spec: readonly Size[] | { shape: readonly Size[] },
): readonly Size[] => (Array.isArray(spec) ? spec : (spec as { shape: Size[] } | null)?.shape!);

/** A graph with one entry, its variables, and the names of those that a run assigns. */
export interface TracedGraph {
  graph: CoreGraph;
  variables: Trace['variables'];
  assigned: ReadonlySet<string>;
}

/** Traces a function into a new graph. */
export function traceGraph<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, InputSpec>,
  build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
  sizes?: readonly number[],
): TracedGraph & { splitPoints: readonly ValueId[] } {
  const graph = new CoreGraph();
  try {
    const { variables, assigned, splitPoints } = traceInto(graph, specs, build, sizes);
    return { graph, variables, assigned, splitPoints };
  } catch (error) {
    graph.free();
    throw error;
  }
}

/** Traces a function as the entry of a graph. */
export function traceInto<Inputs extends string, Outputs extends string>(
  graph: CoreGraph,
  specs: Record<Inputs, InputSpec>,
  build: (inputs: Record<Inputs, TracedTensor>, g: Trace) => Record<Outputs, Operand>,
  sizes?: readonly number[],
): Trace {
  graph.beginEntry(entryName);
  const trace = new Trace(graph, sizes);
  const inputs = Object.entries<InputSpec>(specs).map(([name, spec]) => {
    const shape = shapeIn(spec);
    if (!Array.isArray(shape) || shape.includes(null as never)) {
      throw new LatheError(
        `compile: ${name} needs a shape: integers, or names such as 'rows' of sizes that calls choose`,
      );
    }
    const { dtype } = spec as { dtype?: DType };
    return [name, trace.input(name, shape, dtype)];
  });
  try {
    const results = build(Object.fromEntries(inputs) as Record<Inputs, TracedTensor>, trace);
    const got = results instanceof TracedTensor ? 'a tensor' : describeKind(results);
    if (got !== 'an object') {
      throw new LatheError(
        `compile: the function must return its results by name, such as ({ x }) => ({ y: x.mul(2) }); it returned ${got}`,
      );
    }
    for (const [name, value] of Object.entries<Operand>(results)) trace.output(name, value);
  } catch (error) {
    if (!(error instanceof UnknownSize)) throw error;
  }
  return trace;
}
