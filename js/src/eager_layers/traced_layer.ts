/**
 * Traces a single layer for inputs of certain shapes. The core builds a model that ends in a custom layer, the probe: when it
 * is called, it copies the graph of its inputs and aborts the compilation. Weights are inputs of the graph, by name.
 */
import { LatheError } from '../base/errors.js';
import type { LayerConfig, ValueId } from '../core/abi.js';
import { CoreGraph, CoreModel } from '../core/handles.js';
import { addHosted, type CallValues, type HostedLayer } from '../layers/layer_host.js';
import type { DType } from '../tensor/dtypes.js';
import { hostDTypes } from '../tensor/dtypes.js';
import { entryName } from '../trace/compiled_function.js';
import { Trace, type TracedTensor } from '../trace/trace.js';
import { features, target } from '../tune/target.js';

/** The outputs of the graph: the results of the layer, then the masks of some of them. */
interface Results {
  types: { dtype: DType; shape: readonly number[] }[];
  /** The index in `types` of each result's mask, if it has one. */
  masks: (number | undefined)[];
}

/** A traced layer. */
export interface TracedLayer extends Results {
  readonly id: number;
  /** "x0", "x1", …, then weights and states, "@LAYER/WEIGHT". */
  readonly inputs: readonly { name: string; shape: readonly number[] }[];
  /** Becomes invalid with its core. */
  graph: CoreGraph;
}

/** A layer with what its trace depends on; the cache key. */
export interface LayerSpecialization {
  layer: LayerConfig;
  /** Batch first. */
  shapes: readonly (readonly number[])[];
  /** For each input whether it has a mask, whose shape is that of the input without its last axis. */
  masked: readonly boolean[];
  training: boolean;
}

/** Names of the layers in the model. */
export const layerName = 'layer';
const [maskName, probeName, maxCached] = ['mask', 'probe', 500];

/** Aborts the compilation of the model. */
class TraceComplete extends Error {}

/** The last layer of the model: copies the graph of its inputs when the core calls it. */
class Probe implements HostedLayer {
  readonly host = addHosted(this);
  found: (Results & { graph: CoreGraph }) | undefined;
  #specialization: LayerSpecialization | undefined;

  /** Copies at the next call; before, the core calls it for shape inference only. */
  arm(specialization: LayerSpecialization): void {
    this.#specialization = specialization;
  }

  hostWeights(): [] {
    return [];
  }

  hostCall(
    source: CoreGraph,
    { inputs, masks }: CallValues,
  ): never | { outputs: ValueId[]; updates: [] } {
    if (this.#specialization === undefined) return { outputs: [inputs[0]!], updates: [] };
    this.found = copyGraph(source, inputs, masks, this.#specialization);
    throw new TraceComplete();
  }
}

/** Attaches the mask of its first input to the second. */
class AttachMask implements HostedLayer {
  readonly host = addHosted(this);

  hostWeights(): [] {
    return [];
  }

  hostCall(_graph: CoreGraph, { inputs }: CallValues): { outputs: ValueId[]; updates: [] } {
    return { outputs: [inputs[1]!], updates: [] };
  }
}

/** Copies the borrowed graph into a new one: the ids of its values are offset by the inputs. */
function copyGraph(
  source: CoreGraph,
  results: readonly ValueId[],
  masks: readonly ValueId[],
  specialization: LayerSpecialization,
): Results & { graph: CoreGraph } {
  const copy = new CoreGraph();
  try {
    copy.beginEntry(entryName);
    const trace = new Trace(copy);
    const shapes = inputShapes(specialization);
    const operands = shapes.map((shape, at) => trace.input(`x${at}`, shape));
    if (specialization.training) {
      const { shape } = source.values([results[0]!])[0]!;
      operands.push(trace.input('y', shape), trace.constant(shape[0]!, [], 'int32'));
    }
    const idOffset = operands.at(-1)!.id - operands.length;
    trace.inline(source, operands, 0);
    const maskIds = masks.filter((each) => each !== 0);
    const outputs = [...results, ...maskIds];
    const [types, found] = [
      source.values(outputs),
      copy.values(outputs.map((each) => each + idOffset)),
    ];
    if (JSON.stringify(types.map(typeOf)) !== JSON.stringify(found.map(typeOf))) {
      throw new LatheError('apply: the core has moved its values');
    }
    found.forEach(({ id }, at) => copy.output(`y${at}`, id));
    return {
      graph: copy.segment(0, [], []),
      types: found.map(({ dtype, shape }) => ({ dtype: hostDTypes[dtype], shape })),
      masks: masks.map((each) => (each === 0 ? undefined : results.length + maskIds.indexOf(each))),
    };
  } finally {
    copy.free();
  }
}

const typeOf = ({ dtype, shape }: { dtype: unknown; shape: unknown }) => [dtype, shape];

/** The input shapes of the layer, then those of the masks. */
const inputShapes = ({ shapes, masked }: LayerSpecialization): (readonly number[])[] => [
  ...shapes,
  ...shapes.filter((_, at) => masked[at]).map((shape) => [...shape.slice(0, 2), 1]),
];

/** The model: inputs, layers that attach masks, the layer, the probe. */
function modelOf(
  specialization: LayerSpecialization,
  masked: AttachMask,
  probe: Probe,
  results: number,
) {
  const shapes = inputShapes(specialization);
  const withMask = specialization.shapes.flatMap((_, at) =>
    specialization.masked[at] ? [at] : [],
  );
  const host = (
    name: string,
    id: number,
    reads: (readonly [string, number, number] | readonly [string])[],
  ) => ({
    class: 'Lambda',
    config: { name },
    host: { id, supportsMasking: true },
    inputs: [reads],
  });
  const masks = withMask.flatMap((at, index) => [
    {
      class: 'Masking',
      config: { maskValue: 0, name: `${maskName}${at}` },
      inputs: [[[`x${specialization.shapes.length + index}`] as const]],
    },
    host(`masked${at}`, masked.host, [[`${maskName}${at}`], [`x${at}`]]),
  ]);
  const reads = specialization.shapes.map(
    (_, at) => [specialization.masked[at] ? `masked${at}` : `x${at}`] as const,
  );
  const layerOutputs = Array.from({ length: results }, (_, at) => [layerName, 0, at] as const);
  return {
    seed: 0,
    inputs: shapes.map((shape, at) => ({ name: `x${at}`, shape: shape.slice(1) })),
    layers: [
      ...masks,
      { ...specialization.layer, inputs: [reads] },
      host(probeName, probe.host, layerOutputs),
    ],
    outputs: [[probeName] as const],
  };
}

function traceUncached(specialization: LayerSpecialization): Omit<TracedLayer, 'id'> {
  const [masked, probe] = [new AttachMask(), new Probe()];
  const rows = specialization.shapes[0]![0]!;
  const first = new CoreModel(modelOf(specialization, masked, probe, 1));
  const results = first.summary.layers.at(-2)!.outputShapes.length;
  const model =
    results === 1 ? first : new CoreModel(modelOf(specialization, masked, probe, results));
  probe.arm(specialization);
  const trainingArgs = { loss: 'meanSquaredError', optimizer: 'sgd' };
  try {
    model
      .compile({
        ...target(),
        ...(specialization.training ? trainingArgs : {}),
        rowWeights: false,
        labels: ['dense'],
        batch: { train: rows, evaluate: rows, predict: rows },
      })
      .free();
  } catch (error) {
    if (probe.found === undefined) throw error;
  } finally {
    first.free();
    model.free();
  }
  const { graph, ...found } = probe.found!;
  const executable = graph.compile({ ...target(), features: { ...features(), threads: false } });
  const { inputs } = executable.metadata().entries[0]!;
  executable.free();
  return { ...found, graph, inputs };
}

const cache = new Map<string, TracedLayer>();
let last = 0;

/** Traces a layer for such inputs; cached by configuration. Errors: incompatible inputs. */
export function traceLayer(specialization: LayerSpecialization): TracedLayer {
  const key = JSON.stringify(specialization);
  let found = cache.get(key);
  if (found === undefined) {
    found = { ...traceUncached(specialization), id: ++last };
    if (cache.size >= maxCached) cache.delete(cache.keys().next().value!);
    cache.set(key, found);
  } else if (!found.graph.alive) {
    found.graph = traceUncached(specialization).graph;
  }
  return found;
}

/** Inlines a traced layer into a trace; returns its outputs. */
export function inlineLayer(
  traced: TracedLayer,
  specialization: LayerSpecialization,
  trace: Trace,
  operands: TracedTensor[],
): TracedTensor[] {
  if (!traced.graph.alive) traced.graph = traceUncached(specialization).graph;
  return trace.inline(traced.graph, operands, traced.types.length);
}
