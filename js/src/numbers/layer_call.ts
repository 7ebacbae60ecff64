/** A layer called on tensors, as a formula with several results. */
import {
  depthOver,
  haveGradient,
  Held,
  type Source,
  type Written,
  writtenOnce,
} from '../eager/formulas.js';
import { shown } from '../eager/apply.js';
import { HeapValue } from '../runtime/heap_value.js';
import type { Tensor } from '../tensor/tensor.js';
import { type Trace, TracedTensor } from '../trace/trace.js';
import { inlined, type Recipe, type WrittenLayer } from './written_layer.js';

/** What all results share. */
class LayerCall {
  constructor(
    readonly recipe: Recipe,
    readonly written: WrittenLayer,
    readonly sources: readonly Source[],
  ) {}
}

class LayerResult extends Held {
  constructor(
    readonly call: LayerCall,
    readonly item: number,
  ) {
    super(depthOver(call.sources), haveGradient(call.sources));
    for (const each of this.sources) if (typeof each !== 'number') each.hold();
  }

  get sources(): readonly Source[] {
    return this.call.sources;
  }

  get key(): string {
    return `l${this.call.written.id}/${this.item}`;
  }

  override again(sources: readonly Source[], known: Map<object, object>): Held {
    const { recipe, written } = this.call;
    const found = known.get(this.call) ?? new LayerCall(recipe, written, sources);
    known.set(this.call, found);
    return new LayerResult(found as LayerCall, this.item);
  }

  write(trace: Trace, operands: TracedTensor[], written: Written): TracedTensor {
    const { call, item } = this;
    return writtenOnce(written, call, () => inlined(call.written, call.recipe, trace, operands))[
      item
    ]!;
  }
}

/** Whether it is a value of a function that is being traced. */
export const isTraced = (x: Tensor): x is TracedTensor => x instanceof TracedTensor;

/** What a layer gives for these, in the order of its inputs: results, then masks. Of a function being traced it becomes part. */
export function callLayer(
  recipe: Recipe,
  written: WrittenLayer,
  given: readonly Tensor[],
): Tensor[] {
  const trace = given.find(isTraced)?.trace;
  if (trace !== undefined) {
    const operands = given.map((each) => (isTraced(each) ? each : trace.constant(each)));
    return inlined(written, recipe, trace, operands);
  }
  const call = new LayerCall(recipe, written, given.map(HeapValue.of));
  return written.types.map(({ dtype, shape }, at) =>
    shown(new HeapValue(dtype, shape, new LayerResult(call, at))),
  );
}
