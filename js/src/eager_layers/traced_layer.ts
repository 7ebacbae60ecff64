/** Layers as graphs for inputs of certain shapes: weights are inputs of the graph, by name. */
import type { GraphPort, LayerGraphRequest } from '../core/abi.js';
import { type CoreGraph, layerGraph } from '../core/handles.js';
import { type DType, hostDTypes } from '../tensor/dtypes.js';
import type { Trace, TracedTensor } from '../trace/trace.js';

/** An input or output of the graph. */
interface Port {
  name: string;
  dtype: DType;
  shape: readonly number[];
}

/** A traced layer. */
export interface TracedLayer {
  readonly id: number;
  /** "x0", "x1", …, masks "mask0", …, then weights and states, "@LAYER/WEIGHT". */
  readonly inputs: readonly Port[];
  /** Results, the masks of some of them. */
  readonly outputs: readonly Port[];
  /** The index in `outputs` of each result's mask, if it has one. */
  readonly masks: readonly (number | undefined)[];
  /** Becomes invalid with its core. */
  graph: CoreGraph;
  readonly request: LayerGraphRequest;
}

/** Name of the layer in the graph. */
export const layerName = 'layer';
const maxCached = 500;

const typed = (ports: readonly GraphPort[]): Port[] =>
  ports.map((each) => ({ ...each, dtype: hostDTypes[each.dtype] }));

function traceUncached(request: LayerGraphRequest): Omit<TracedLayer, 'id'> {
  const { graph, ...ports } = layerGraph(request);
  const [inputs, outputs] = [typed(ports.inputs), typed(ports.outputs)];
  const results = outputs.filter(({ name }) => name.startsWith('y'));
  const masks = results.map((_, at) => {
    const index = outputs.findIndex(({ name }) => name === `outputMask${at}`);
    return index < 0 ? undefined : index;
  });
  return { graph, inputs, outputs, masks, request };
}

const cache = new Map<string, TracedLayer>();
let last = 0;

/** Traces a layer for such inputs; cached by configuration. Errors: incompatible inputs. */
export function traceLayer(request: LayerGraphRequest): TracedLayer {
  const key = JSON.stringify(request);
  let found = cache.get(key);
  if (found === undefined) {
    found = { ...traceUncached(request), id: ++last };
    if (cache.size >= maxCached) cache.delete(cache.keys().next().value!);
    cache.set(key, found);
  } else if (!found.graph.alive) {
    found.graph = traceUncached(request).graph;
  }
  return found;
}

/** Inlines a traced layer into a trace; returns its outputs. */
export function inlineLayer(
  traced: TracedLayer,
  trace: Trace,
  operands: TracedTensor[],
): TracedTensor[] {
  if (!traced.graph.alive) traced.graph = traceUncached(traced.request).graph;
  return trace.inline(traced.graph, operands, traced.outputs.length);
}
