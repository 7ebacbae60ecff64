/** ONNX models within functions and models of this package, where their weights may train. */
import { LatheError } from '../base/errors.js';
import { type Tensor, tensor } from '../tensor/tensor.js';
import { type CallArgs, CustomLayer, type LayerVariable } from '../layers/custom_layer.js';
import type { LayerArgs, SymbolicShape } from '../layers/layer.js';
import type { Trace, TracedTensor } from '../trace/trace.js';
import type { OnnxFile, Port, TraceOptions } from './file.js';
import type { OnnxSession } from './session.js';

/** Options of `OnnxModel.layer`. */
export interface OnnxLayerArgs extends Pick<LayerArgs, 'name' | 'trainable'> {
  /** Names of values of the model that the layer gives. Default: its outputs. */
  outputs?: readonly string[];
}

/** The model for tensors of these types. Errors: whatever it refuses; data decides how it goes on. */
function traced(
  file: OnnxFile,
  ports: readonly Port[],
  options: TraceOptions,
  look?: (weights: readonly Uint8Array[]) => void,
) {
  const trace = file.trace(ports, [], new Uint8Array(), options, false, look);
  if (trace.whole) return trace;
  trace.graph.free();
  throw new LatheError(
    'the model decides by its data how it goes on, so it cannot be part of another graph',
  );
}

function portsOf(file: OnnxFile, shapes: readonly (readonly number[])[]): Port[] {
  const { inputs } = file.description;
  if (shapes.length !== inputs.length) {
    throw new LatheError(`the model has ${inputs.length} inputs, got ${shapes.length}`);
  }
  return inputs.map(({ type = 'float32' }, at) => ({ kind: 'tensor', type, shape: shapes[at]! }));
}

/** The results of the model for tensors of a function; `weights` stand for those that training changes. */
export function inlined(
  file: OnnxFile,
  g: Trace,
  given: readonly Tensor[],
  options: TraceOptions,
  weights: readonly Tensor[] = [],
): TracedTensor[] {
  const ports = portsOf(
    file,
    given.map(({ shape }) => shape),
  );
  const inputs = given.map((each, at) => {
    const { type = 'float32' } = file.description.inputs[at]!;
    return each.dtype === type ? each : each.cast(type as 'float32');
  });
  const { graph, results } = traced(file, ports, options);
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
    const { graph, weights } = traced(file, portsOf(file, shapes), this.#options, (given) => {
      contents = given.map((each) => new Float32Array(each.slice().buffer));
    });
    graph.free();
    this.#weights = weights.map(({ name, shape }) => this.addWeight(name, shape, null, 'zeros'));
    this.initialWeights = weights.map(({ shape }, at) => tensor(contents[at]!, shape));
  }

  override call(inputs: TracedTensor | TracedTensor[], { g }: CallArgs) {
    const given = Array.isArray(inputs) ? inputs : [inputs];
    const weights = this.#weights.map((each) => each.read());
    const results = inlined(this.#session.file, g, given, this.#options, weights);
    return results.length === 1 ? results[0]! : results;
  }

  get #options(): TraceOptions {
    const { outputs } = this.#session.description;
    const results = this.#outputs ?? outputs.map(({ name }) => name);
    return { weightInputs: 'trained', results };
  }
}
