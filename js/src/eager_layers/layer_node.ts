/** A layer called on tensors, as a lazy node with several results. */
import {
  depthOver,
  haveGradient,
  LazyNode,
  type NodeInput,
  type TraceMemo,
  traceOnce,
} from '../eager/graph/lazy_nodes.js';
import { tensorOf } from '../eager/apply.js';
import { engine, valueOf } from '../eager/engine.js';
import type { Tensor } from '../tensor/tensor.js';
import { type Trace, TracedTensor } from '../trace/trace.js';
import { inlineLayer, type TracedLayer } from './traced_layer.js';

/** The call that its results share. */
class EagerCall {
  constructor(
    readonly traced: TracedLayer,
    readonly sources: readonly NodeInput[],
  ) {}
}

class LayerResult extends LazyNode {
  constructor(
    readonly call: EagerCall,
    readonly item: number,
  ) {
    super(depthOver(call.sources), haveGradient(call.sources));
    for (const each of this.sources) if (typeof each !== 'number') each.retain();
  }

  get sources(): readonly NodeInput[] {
    return this.call.sources;
  }

  get key(): string {
    return `l${this.call.traced.id}/${this.item}`;
  }

  override withSources(sources: readonly NodeInput[], memo: Map<object, object>): LazyNode {
    const found = memo.get(this.call) ?? new EagerCall(this.call.traced, sources);
    memo.set(this.call, found);
    return new LayerResult(found as EagerCall, this.item);
  }

  write(trace: Trace, operands: TracedTensor[], memo: TraceMemo): TracedTensor {
    const { call, item } = this;
    return traceOnce(memo, call, () => inlineLayer(call.traced, trace, operands))[item]!;
  }
}

/** Whether it is a value of a function being traced. */
export const isTraced = (x: Tensor): x is TracedTensor => x instanceof TracedTensor;

/** The outputs of a layer for operands in the order of its inputs: results, then masks. Within a trace the layer is inlined. */
export function callLayer(traced: TracedLayer, inputs: readonly Tensor[]): Tensor[] {
  const trace = inputs.find(isTraced)?.trace;
  if (trace !== undefined) {
    const operands = inputs.map((each) => (isTraced(each) ? each : trace.constant(each)));
    return inlineLayer(traced, trace, operands);
  }
  const call = new EagerCall(traced, inputs.map(valueOf));
  return traced.outputs.map((each, at) =>
    tensorOf(engine.lazyValue(each, new LayerResult(call, at))),
  );
}
