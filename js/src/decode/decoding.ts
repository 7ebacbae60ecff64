/** Runs a model that may be a decoder: finds out which of its inputs are states, and then leaves calls to the decoder. */
import type { Stop } from '../base/stop.js';
import type { InternalOptions } from '../trace/compiled_function.js';
import { Decoder, isNumeric, type Value } from './decoder.js';
import type { DecodableModel, TensorValue } from './model.js';
import { mayContinue } from './candidates.js';
import { LazyTensorValue } from './lazy_value.js';
import { type DecoderPlan, decoderPlan } from './plan.js';

/** Upper bound on calls that are examined. */
const maxExamined = 3;

/** Runs a call without states. `isOnce`: its program is not needed again. */
type Exactly<Result> = (values: readonly Value[], isOnce: boolean) => Promise<Result[]>;

export class Decoding {
  #decoder: Decoder | undefined;
  #plan: DecoderPlan | undefined;
  /** Shapes of the examined calls. */
  readonly #examined = new Set<string>();
  readonly #model: DecodableModel;

  /** `found` is called with the plan, before the call that shows it runs. */
  constructor(
    model: DecodableModel,
    private readonly options: InternalOptions,
    private readonly found: (plan: DecoderPlan) => void,
  ) {
    this.#model = model;
  }

  get isDecoder(): boolean {
    return this.#decoder !== undefined;
  }

  async call<Result extends Value>(
    values: readonly Value[],
    stop: Stop,
    exactly: Exactly<Result>,
  ): Promise<(Result | TensorValue)[]> {
    if (this.#plan === undefined) stop.within(() => this.#examine(values));
    if (this.#decoder === undefined) return this.#lazyResults(await exactly(values, false));
    const inputs = values.map(copied);
    const results = await this.#decoder.call(inputs, stop, () => exactly(inputs, true));
    return results ?? this.#lazyResults(await exactly(inputs, false));
  }

  dispose(): void {
    this.#decoder?.dispose();
  }

  #examine(values: readonly Value[]): void {
    const tensors = values.filter(isNumeric);
    const shapes = JSON.stringify(tensors.map(({ shape }) => shape));
    if (tensors.length !== values.length || this.#examined.has(shapes)) return;
    if (this.#examined.size >= maxExamined) return;
    this.#examined.add(shapes);
    const origins = new Map<number, number>();
    for (const [at, each] of values.entries())
      if (each instanceof LazyTensorValue && each.output !== undefined)
        origins.set(at, each.output);
    this.#plan = decoderPlan(this.#model, { values: tensors, origins });
    if (this.#plan === undefined) return;
    this.#decoder = new Decoder(this.#model, this.#plan, this.options);
    this.found(this.#plan);
  }

  /** Results that may be passed back as inputs become lazy values, which are recognized: as long as no call shows more, all. */
  #lazyResults<Result extends Value>(results: readonly Result[]): (Result | TensorValue)[] {
    const isExamining = this.#examined.size < maxExamined;
    if (this.#plan === undefined && !isExamining) return [...results];
    const { inputs, outputs } = this.#model;
    const isLazy = (at: number) =>
      this.#plan?.repeated.has(at) ?? inputs.some((each) => mayContinue(each, outputs[at]!));
    return results.map((each, at) => {
      if (!isNumeric(each) || !isLazy(at)) return each;
      return new LazyTensorValue(each.type, each.shape, () => each.data, { output: at });
    });
  }
}

/** A copy of an input, as calls wait for previous ones. */
function copied(value: Value): Value {
  if (!isNumeric(value) || (value instanceof LazyTensorValue && !value.isRead)) return value;
  const { kind, type, shape, data } = value;
  return { kind, type, shape, data: data.slice() };
}
