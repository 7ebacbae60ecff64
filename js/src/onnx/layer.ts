/** ONNX models within traced functions and as layers, whose weights may be trained. */
import { LatheError } from '../base/errors.js';
import { type Tensor, tensor } from '../tensor/tensor.js';
import { type CallArgs, CustomLayer, type LayerVariable } from '../layers/custom_layer.js';
import type { LayerArgs } from '../layers/base_args.js';
import type { SymbolicShape } from '../layers/layer.js';
import type { Trace, TracedTensor } from '../trace/trace.js';
import type { OnnxFile, Port, TraceOptions } from './file.js';
import type { OnnxSession } from './session.js';

/** Options of `OnnxModel.layer`. */
export interface OnnxLayerArgs extends Pick<LayerArgs, 'name' | 'trainable'> {
  /** Names of the model's values that are the outputs of the layer. Default: its outputs. */
  outputs?: readonly string[];
}

/** Traces the model for inputs of these types. Errors: unsupported operators; data-dependent control flow. */
function traceModel(
  file: OnnxFile,
  ports: readonly Port[],
  options: TraceOptions,
  look?: (weights: readonly Uint8Array[]) => void,
) {
  const trace = file.trace(ports, [], new Uint8Array(), options, false, look);
  if (trace.isComplete) return trace;
  trace.graph.free();
  throw new LatheError(
    'the model has data-dependent control flow, so it cannot be part of another graph',
  );
}

function portsOf(file: OnnxFile, shapes: readonly (readonly number[])[]): Port[] {
  const { inputs } = file.description;
  if (shapes.length !== inputs.length) {
    throw new LatheError(`the model has ${inputs.length} inputs, got ${shapes.length}`);
  }
  return inputs.map(({ type = 'float32' }, at) => ({ kind: 'tensor', type, shape: shapes[at]! }));
}

/** Inlines the model into a trace: the outputs for inputs; `weights` replace the trainable ones. */
export function inlineModel(
  file: OnnxFile,
  g: Trace,
  inputTensors: readonly Tensor[],
  options: TraceOptions,
  weights: readonly Tensor[] = [],
): TracedTensor[] {
  const ports = portsOf(
    file,
    inputTensors.map(({ shape }) => shape),
  );
  const inputs = inputTensors.map((each, at) => {
    const { type = 'float32' } = file.description.inputs[at]!;
    return each.dtype === type ? each : each.cast(type as 'float32');
  });
  const { graph, results } = traceModel(file, ports, options);
  try {
    return g.inline(graph, [...weights, ...inputs], results.length);
  } finally {
    graph.free();
  }
}

/** An ONNX model as a layer. Made by `OnnxModel.layer`. */
export class OnnxLayer extends CustomLayer {
  static override className = 'OnnxModel';
  readonly #session: OnnxSession;
  readonly #outputs: readonly string[] | undefined;
  #weights: LayerVariable[] = [];

  /** @internal */
  constructor(session: OnnxSession, { outputs, ...args }: OnnxLayerArgs) {
    super(args);
    this.#session = session;
    this.#outputs = outputs;
  }

  override build(inputShape: SymbolicShape | SymbolicShape[]): void {
    const all = (Array.isArray(inputShape[0]) ? inputShape : [inputShape]) as SymbolicShape[];
    const shapes = all.map((shape) => shape.map((size) => size ?? 1));
    const { file } = this.#session;
    let contents: Float32Array[] = [];
    const { graph, weights } = traceModel(
      file,
      portsOf(file, shapes),
      this.#options,
      (inputTensors) => {
        contents = inputTensors.map((each) => new Float32Array(each.slice().buffer));
      },
    );
    graph.free();
    this.#weights = weights.map(({ name, shape }) => this.addWeight(name, shape, null, 'zeros'));
    this.initialWeights = weights.map(({ shape }, at) => tensor(contents[at]!, shape));
  }

  override call(inputs: TracedTensor | TracedTensor[], { g }: CallArgs) {
    const inputTensors = Array.isArray(inputs) ? inputs : [inputs];
    const weights = this.#weights.map((each) => each.read());
    const results = inlineModel(this.#session.file, g, inputTensors, this.#options, weights);
    return results.length === 1 ? results[0]! : results;
  }

  get #options(): TraceOptions {
    const { outputs } = this.#session.description;
    const results = this.#outputs ?? outputs.map(({ name }) => name);
    return { weightInputs: 'trained', results };
  }
}
