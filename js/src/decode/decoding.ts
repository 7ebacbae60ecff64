/** Runs a model that may be a decoder: finds out which of its inputs are states, and then leaves calls to the decoder. */
import type { Stop } from '../base/stop.js';
import { Decoder, isNumeric, type Value } from './decoder.js';
import type { DecodableModel, TensorValue } from './model.js';
import { Tensor } from '../tensor/tensor.js';
import { mayContinue } from './candidates.js';
import { deviceOf, DeviceTensor } from './device_tensor.js';
import { LazyTensorValue } from './lazy_value.js';
import { type DecoderPlan, decoderPlan } from './plan.js';
import type { MakeStateMemory } from './state_memory.js';

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
    private readonly makeMemory: MakeStateMemory,
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
    const lazy = values.filter((each) => each instanceof LazyTensorValue);
    for (const each of lazy) each.retain();
    try {
      if (this.#isExamining) stop.within(() => this.#examine(values));
      if (this.#decoder === undefined) return this.#lazyResults(await exactly(values, false));
      const inputs = values.map(copied);
      const results = await this.#decoder.call(inputs, stop, () => exactly(inputs, true));
      return results ?? this.#lazyResults(await exactly(inputs, false));
    } finally {
      for (const each of lazy) each.release();
    }
  }

  /** Whether an input may be a state. */
  mayBeState(input: number): boolean {
    const { inputs, outputs } = this.#model;
    return outputs.some((each) => mayContinue(inputs[input]!, each));
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
    this.#decoder = new Decoder(this.#model, this.#plan, this.makeMemory);
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
      const { type, shape, tensor } = each;
      const made = tensor ?? new Tensor(each.data, shape, this.#model.dtypeOf(type));
      return new LazyTensorValue(type, shape, made, {
        output: at,
        device: tensor && deviceOf(tensor),
      });
    });
  }
}

/** A copy of an input on the host, as calls wait for previous ones. */
function copied(value: Value): Value {
  if (!isNumeric(value) || value instanceof DeviceTensor) return value;
  if (value instanceof LazyTensorValue && !value.isRead) return value;
  const { kind, type, shape, data } = value;
  return { kind, type, shape, data: data.slice() };
}
