/**
 * The graph of a layer alone, for inputs of given shapes. The core makes it as the beginning of a model, and lends it to
 * a layer that stands behind; what leads there is copied, and the model given up. Knows no weights, only their names.
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

/** What the graph gives: the results of the layer, then the masks of some of them. */
interface Results {
  types: { dtype: DType; shape: readonly number[] }[];
  /** Where the mask of each result is among them, if it has one. */
  masks: (number | undefined)[];
}

/** A layer written down. */
export interface WrittenLayer extends Results {
  readonly id: number;
  /** "x0" and so on, and of what the layer keeps "@LAYER/WEIGHT". */
  readonly inputs: readonly { name: string; shape: readonly number[] }[];
  /** Lives as long as the core does. */
  graph: CoreGraph;
}

/** A layer with what it is written down for. */
export interface Recipe {
  layer: LayerConfig;
  /** With the rows in front. */
  shapes: readonly (readonly number[])[];
  /** For each input whether it has a mask, whose shape is that of the input without its last axis. */
  masked: readonly boolean[];
  training: boolean;
}

/** What the layers of the model are called. */
export const layerName = 'layer';
const [maskName, onlookerName, kept] = ['mask', 'onlooker', 500];

/** Ends the making of the model. */
class Seen extends Error {}

/** The layer behind: it sees what the model has become up to there. */
class Onlooker implements HostedLayer {
  readonly host = addHosted(this);
  found: (Results & { graph: CoreGraph }) | undefined;
  #recipe: Recipe | undefined;

  /** What it is to look at from now on; before, the core only asks for shapes. */
  expect(recipe: Recipe): void {
    this.#recipe = recipe;
  }

  hostWeights(): [] {
    return [];
  }

  hostCall(
    lent: CoreGraph,
    { inputs, masks }: CallValues,
  ): never | { outputs: ValueId[]; updates: [] } {
    if (this.#recipe === undefined) return { outputs: [inputs[0]!], updates: [] };
    this.found = copied(lent, inputs, masks, this.#recipe);
    throw new Seen();
  }
}

/** Gives an input the mask that another one has. */
class Masked implements HostedLayer {
  readonly host = addHosted(this);

  hostWeights(): [] {
    return [];
  }

  hostCall(_graph: CoreGraph, { inputs }: CallValues): { outputs: ValueId[]; updates: [] } {
    return { outputs: [inputs[1]!], updates: [] };
  }
}

/** The lent graph as one of its own: values of it come in the same order behind its inputs. */
function copied(
  lent: CoreGraph,
  results: readonly ValueId[],
  masks: readonly ValueId[],
  recipe: Recipe,
): Results & { graph: CoreGraph } {
  const whole = new CoreGraph();
  try {
    whole.beginEntry(entryName);
    const trace = new Trace(whole);
    const shapes = inputShapes(recipe);
    const given = shapes.map((shape, at) => trace.input(`x${at}`, shape));
    if (recipe.training) {
      const { shape } = lent.values([results[0]!])[0]!;
      given.push(trace.input('y', shape), trace.constant(shape[0]!, [], 'int32'));
    }
    const moved = given.at(-1)!.id - given.length;
    trace.inline(lent, given, 0);
    const places = masks.filter((each) => each !== 0);
    const wanted = [...results, ...places];
    const [types, found] = [lent.values(wanted), whole.values(wanted.map((each) => each + moved))];
    if (JSON.stringify(types.map(typeOf)) !== JSON.stringify(found.map(typeOf))) {
      throw new LatheError('apply: the core has moved its values');
    }
    found.forEach(({ id }, at) => whole.output(`y${at}`, id));
    return {
      graph: whole.segment(0, [], []),
      types: found.map(({ dtype, shape }) => ({ dtype: hostDTypes[dtype], shape })),
      masks: masks.map((each) => (each === 0 ? undefined : results.length + places.indexOf(each))),
    };
  } finally {
    whole.free();
  }
}

const typeOf = ({ dtype, shape }: { dtype: unknown; shape: unknown }) => [dtype, shape];

/** Those of the layer, then those of masks. */
const inputShapes = ({ shapes, masked }: Recipe): (readonly number[])[] => [
  ...shapes,
  ...shapes.filter((_, at) => masked[at]).map((shape) => [...shape.slice(0, 2), 1]),
];

/** The model: inputs, what gives them masks, the layer, and the one that looks on. */
function modelOf(recipe: Recipe, masked: Masked, onlooker: Onlooker, results: number) {
  const shapes = inputShapes(recipe);
  const withMask = recipe.shapes.flatMap((_, at) => (recipe.masked[at] ? [at] : []));
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
      inputs: [[[`x${recipe.shapes.length + index}`] as const]],
    },
    host(`masked${at}`, masked.host, [[`${maskName}${at}`], [`x${at}`]]),
  ]);
  const reads = recipe.shapes.map(
    (_, at) => [recipe.masked[at] ? `masked${at}` : `x${at}`] as const,
  );
  const own = Array.from({ length: results }, (_, at) => [layerName, 0, at] as const);
  return {
    seed: 0,
    inputs: shapes.map((shape, at) => ({ name: `x${at}`, shape: shape.slice(1) })),
    layers: [
      ...masks,
      { ...recipe.layer, inputs: [reads] },
      host(onlookerName, onlooker.host, own),
    ],
    outputs: [[onlookerName] as const],
  };
}

function write(recipe: Recipe): Omit<WrittenLayer, 'id'> {
  const [masked, onlooker] = [new Masked(), new Onlooker()];
  const rows = recipe.shapes[0]![0]!;
  const first = new CoreModel(modelOf(recipe, masked, onlooker, 1));
  const results = first.summary.layers.at(-2)!.outputShapes.length;
  const model = results === 1 ? first : new CoreModel(modelOf(recipe, masked, onlooker, results));
  onlooker.expect(recipe);
  const learning = { loss: 'meanSquaredError', optimizer: 'sgd' };
  try {
    model
      .compile({
        ...target(),
        ...(recipe.training ? learning : {}),
        rowWeights: false,
        labels: ['dense'],
        batch: { train: rows, evaluate: rows, predict: rows },
      })
      .free();
  } catch (error) {
    if (onlooker.found === undefined) throw error;
  } finally {
    first.free();
    model.free();
  }
  const { graph, ...found } = onlooker.found!;
  const executable = graph.compile({ ...target(), features: { ...features(), threads: false } });
  const { inputs } = executable.metadata().entries[0]!;
  executable.free();
  return { ...found, graph, inputs };
}

const known = new Map<string, WrittenLayer>();
let last = 0;

/** The layer for such inputs, found again by its configuration. Errors: it does not take them. */
export function writtenLayer(recipe: Recipe): WrittenLayer {
  const key = JSON.stringify(recipe);
  let found = known.get(key);
  if (found === undefined) {
    found = { ...write(recipe), id: ++last };
    if (known.size >= kept) known.delete(known.keys().next().value!);
    known.set(key, found);
  } else if (!found.graph.alive) {
    found.graph = write(recipe).graph;
  }
  return found;
}

/** What the layer gives for these, as part of a function. */
export function inlined(
  written: WrittenLayer,
  recipe: Recipe,
  trace: Trace,
  operands: TracedTensor[],
): TracedTensor[] {
  if (!written.graph.alive) written.graph = write(recipe).graph;
  return trace.inline(written.graph, operands, written.types.length);
}
