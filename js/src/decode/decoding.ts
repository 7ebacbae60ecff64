/** Runs a model that may be a decoder: finds out which of its inputs are states, and then leaves calls to the decoder. */
import type { Stop } from '../base/stop.js';
import type { InternalOptions } from '../trace/module_function.js';
import { Decoder, isNumeric, type Value } from './decoder.js';
import type { DecodableModel, TensorValue } from './model.js';
import { mayContinue } from './candidates.js';
import { LazyTensorValue } from './lazy_value.js';
import { type DecoderPlan, decoderPlan } from './plan.js';

/** Upper bounds on examined calls: with past rows, which show whether a model decodes, and without. */
const maxFull = 2;
const maxEmpty = 3;

/** Runs a call without states. `isOnce`: its program is not needed again. */
type Exactly<Result> = (values: readonly Value[], isOnce: boolean) => Promise<Result[]>;

export class Decoding {
  #decoder: Decoder | undefined;
  #plan: DecoderPlan | undefined;
  #fullCalls = 0;
  /** Shapes of the examined calls without past rows. */
  readonly #emptyCalls = new Set<string>();
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

  /** Whether it is a decoder, or may turn out to be one. */
  get isPossible(): boolean {
    return this.#plan !== undefined || this.#isExamining;
  }

  async call<Result extends Value>(
    values: readonly Value[],
    stop: Stop,
    exactly: Exactly<Result>,
  ): Promise<(Result | TensorValue)[]> {
    if (this.#isExamining) stop.within(() => this.#examine(values));
    if (this.#decoder === undefined) return this.#lazyResults(await exactly(values, false));
    const inputs = values.map(copied);
    const results = await this.#decoder.call(inputs, stop, () => exactly(inputs, true));
    return results ?? this.#lazyResults(await exactly(inputs, false));
  }

  dispose(): void {
    this.#decoder?.dispose();
  }

  get #isExamining(): boolean {
    return this.#plan === undefined && this.#fullCalls < maxFull;
  }

  #examine(values: readonly Value[]): void {
    const tensors = values.filter(isNumeric);
    if (tensors.length !== values.length) return;
    if (tensors.some(({ shape }) => shape.includes(0))) {
      const shapes = JSON.stringify(tensors.map(({ shape }) => shape));
      if (this.#emptyCalls.has(shapes) || this.#emptyCalls.size === maxEmpty) return;
      this.#emptyCalls.add(shapes);
    } else {
      this.#fullCalls++;
    }
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
    if (this.#plan === undefined && !this.#isExamining) return [...results];
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
