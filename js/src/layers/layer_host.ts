/** Dispatches the core's callbacks to custom layers (`lathe_use_layer_host` in src/api/lathe.h). */
import { encodeJson } from '../base/json.js';
import { TextDecoder, TextEncoder } from '../base/text.js';
import type { Pointer, ValueId } from '../core/abi.js';
import { type Core, prepareCores } from '../core/core.js';
import { CoreGraph } from '../core/handles.js';

/** A weight in the core's configuration format. */
export interface WeightConfig {
  name: string;
  shape: readonly number[];
  initializer: unknown;
  regularizer: unknown;
  constraint: unknown;
  trainable: boolean;
}

/** Value ids of a call; a mask id of 0 means that the input has no mask. */
export interface CallValues {
  inputs: readonly ValueId[];
  weights: readonly ValueId[];
  masks: readonly ValueId[];
  training: boolean;
}

/** A layer that the core calls back. */
export interface HostedLayer {
  /** The weights for inputs of these shapes, without the batch. */
  hostWeights(shapes: number[][]): WeightConfig[];
  /** Adds its operations to the graph. */
  hostCall(graph: CoreGraph, values: CallValues): { outputs: ValueId[]; updates: number[][] };
}

type HostRequest = { layer: number } & (
  { shapes: number[][] } | ({ graph: number; shapes?: undefined } & CallValues)
);

const layers = new Map<number, WeakRef<HostedLayer>>();
const registry = /* @__PURE__ */ new FinalizationRegistry<number>((id) => layers.delete(id));
let lastId = 0;

/** Registers a layer (weakly) and returns the id by which the core calls it. */
export function addHosted(layer: HostedLayer): number {
  if (lastId === 0) prepareCores(installHost);
  layers.set(++lastId, new WeakRef(layer));
  registry.register(layer, lastId);
  return lastId;
}

function handle(core: Core, request: HostRequest): object {
  const layer = layers.get(request.layer)!.deref()!;
  if (request.shapes !== undefined) return { weights: layer.hostWeights(request.shapes) };
  return layer.hostCall(new CoreGraph({ core, handle: request.graph }), request);
}

/** (module (func (import "a" "a") (export "a") (param i32 i32) (result i32))): makes the callback a wasm function. */
const bridge = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 2, 7, 1, 1, 97, 1, 97, 0, 0, 7, 5,
  1, 1, 97, 0, 0,
];

function installHost(core: Core): void {
  const reply = (at: Pointer, length: number): Pointer => {
    let result: object;
    try {
      const request = new TextDecoder().decode(core.bytes(at >>> 0, length));
      result = handle(core, JSON.parse(request) as HostRequest);
    } catch (error) {
      core.cause = error;
      result = { error: (error as Partial<Error> | null)?.message || String(error) };
    }
    const json = new TextEncoder().encode(`${encodeJson(result)}\0`);
    const address = core.call('layer', (exports) => exports.lathe_alloc(json.length));
    new Uint8Array(core.exports.memory.buffer).set(json, address);
    return address;
  };
  const module = new WebAssembly.Module(new Uint8Array(bridge));
  const { exports } = new WebAssembly.Instance(module, { a: { a: reply } });
  const { __indirect_function_table: table, lathe_use_layer_host: use } = core.exports;
  const index = table.grow(1);
  table.set(index, exports.a);
  use(index);
}
