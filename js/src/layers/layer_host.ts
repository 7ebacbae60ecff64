/** Answers what the core asks of layers that are written in JavaScript; src/api/lathe.h describes it. Knows no layer. */
import { encodeJson } from '../base/json.js';
import { TextDecoder, TextEncoder } from '../base/text.js';
import type { Pointer, ValueId } from '../core/abi.js';
import { type Core, prepareCores } from '../core/core.js';
import { CoreGraph } from '../core/handles.js';

/** A weight as the core reads it. */
export interface WeightConfig {
  name: string;
  shape: readonly number[];
  initializer: unknown;
  regularizer: unknown;
  constraint: unknown;
  trainable: boolean;
}

/** Numbers of the values that a call has; 0 where an input has no mask. */
export interface CallValues {
  inputs: readonly ValueId[];
  weights: readonly ValueId[];
  masks: readonly ValueId[];
  training: boolean;
}

/** What the core asks of a layer. */
export interface HostedLayer {
  /** Its weights for examples of these shapes. */
  hostWeights(shapes: number[][]): WeightConfig[];
  /** Adds its operations to the graph. */
  hostCall(graph: CoreGraph, values: CallValues): { outputs: ValueId[]; updates: number[][] };
}

type Question = { layer: number } & (
  { shapes: number[][] } | ({ graph: number; shapes?: undefined } & CallValues)
);

const layers = new Map<number, WeakRef<HostedLayer>>();
const forgotten = /* @__PURE__ */ new FinalizationRegistry<number>((id) => layers.delete(id));
let last = 0;

/** The number by which the core calls the layer. */
export function addHosted(layer: HostedLayer): number {
  if (last === 0) prepareCores(listen);
  layers.set(++last, new WeakRef(layer));
  forgotten.register(layer, last);
  return last;
}

function answer(core: Core, question: Question): object {
  const layer = layers.get(question.layer)!.deref()!;
  if (question.shapes !== undefined) return { weights: layer.hostWeights(question.shapes) };
  return layer.hostCall(new CoreGraph({ core, handle: question.graph }), question);
}

/** (module (func (import "a" "a") (export "a") (param i32 i32) (result i32))): what a table of functions can hold. */
const bridge = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 2, 7, 1, 1, 97, 1, 97, 0, 0, 7, 5,
  1, 1, 97, 0, 0,
];

function listen(core: Core): void {
  const reply = (at: Pointer, length: number): Pointer => {
    let result: object;
    try {
      const question = new TextDecoder().decode(core.bytes(at >>> 0, length));
      result = answer(core, JSON.parse(question) as Question);
    } catch (error) {
      core.cause = error;
      result = { error: (error as Partial<Error> | null)?.message || String(error) };
    }
    const text = new TextEncoder().encode(`${encodeJson(result)}\0`);
    const place = core.call('layer', (exports) => exports.lathe_alloc(text.length));
    new Uint8Array(core.exports.memory.buffer).set(text, place);
    return place;
  };
  const module = new WebAssembly.Module(new Uint8Array(bridge));
  const { exports } = new WebAssembly.Instance(module, { a: { a: reply } });
  const { __indirect_function_table: table, lathe_use_layer_host: use } = core.exports;
  const index = table.grow(1);
  table.set(index, exports.a);
  use(index);
}
