/** ONNX models as those that a decoder runs. */
import { LatheError } from '../base/errors.js';
import { attempt } from '../base/stop.js';
import type { DataArray } from '../tensor/convert.js';
import { Decoding } from '../decode/decoding.js';
import type { DecoderPlan } from '../decode/plan.js';
import { WasmStateMemory } from '../decode/wasm_state_memory.js';
import type { InternalOptions } from '../trace/module_function.js';
import type {
  DecodableModel,
  DecoderTrace,
  Dependencies,
  TracedInput,
  TracedResult,
  TracedState,
} from '../decode/model.js';
import type { MakeStateMemory } from '../decode/state_memory.js';
import type { OnnxFile, Port } from './file.js';
import { dtypeOf } from './values.js';

type TensorPort = Extract<Port, { kind: 'tensor' }>;

const isTensor = (port: Port): port is TensorPort =>
  port?.kind === 'tensor' && port.strings === undefined;

/** The ports of inputs, and the contents of those that are constant. */
function portsOf(inputs: readonly TracedInput[]): { ports: Port[]; data: Uint8Array } {
  const parts: number[] = [];
  const ports = inputs.map(({ type, shape, content }): Port => {
    if (content === undefined) return { kind: 'tensor', type, shape };
    const bytes = bytesOf(content);
    const data = [parts.length, bytes.length] as const;
    parts.push(...bytes);
    return { kind: 'tensor', type, shape, data };
  });
  return { ports, data: Uint8Array.from(parts) };
}

const bytesOf = ({ buffer, byteOffset, byteLength }: DataArray) =>
  new Uint8Array(buffer, byteOffset, byteLength);

class DecodableOnnx implements DecodableModel {
  readonly inputs: DecodableModel['inputs'];
  readonly outputs: DecodableModel['outputs'];
  readonly dtypeOf = dtypeOf;

  constructor(private readonly file: OnnxFile) {
    ({ inputs: this.inputs, outputs: this.outputs } = file.description);
  }

  trace(
    inputs: readonly TracedInput[],
    states: readonly TracedState[],
    rows: { mask: number } | { newRows: number },
  ): DecoderTrace {
    const { ports, data } = portsOf(inputs);
    const trace = this.file.trace(ports, [], data, { cache: states, ...rows }, true);
    const { isComplete, graph, results } = trace;
    const isExpected = results.every((each) => each === null || isTensor(each));
    if (isComplete && isExpected) return { ...trace, results: results as (TracedResult | null)[] };
    graph.free();
    throw new LatheError('the model has data-dependent control flow');
  }

  dependencies(inputs: readonly TracedInput[]): Dependencies | undefined {
    const { ports, data } = portsOf(inputs);
    const found = attempt(() => this.file.dependencies(ports, data));
    if (found instanceof LatheError) return undefined;
    const { isComplete, requiredContents, results, dependencies } = found;
    if (requiredContents.length > 0) return { required: requiredContents };
    if (!isComplete || !results.every(isTensor)) return undefined;
    return {
      results: results.map(({ type, shape }, at) => ({ type, shape, inputs: dependencies[at]! })),
    };
  }
}

/**
 * Runs a model that may be a decoder; `found` is called once it turns out to be one. `onDevice`: what makes its states on a device; nothing
 * on Wasm.
 */
export function decodingOf(
  file: OnnxFile,
  options: InternalOptions,
  onDevice: () => MakeStateMemory | undefined,
  found: (plan: DecoderPlan) => void,
): Decoding {
  const makeMemory: MakeStateMemory = (specs, assigned) =>
    onDevice()?.(specs, assigned) ?? new WasmStateMemory(specs, assigned, options);
  return new Decoding(new DecodableOnnx(file), makeMemory, found);
}
