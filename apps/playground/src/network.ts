// An editable network: a list of layers, or code that builds a model. Builds its model and locates the layer of an error.
import * as tl from 'tensorlathe';
import { runCode } from './code';
import { type DataSet, sizeOf, outputWidth } from './data/data_set';
import { messageOf } from './dom';

export interface LayerSpec {
  class: string;
  config: Record<string, unknown>;
}

/** A sequential network, with the user's code for it, if any. */
export interface RowNetwork {
  layers: LayerSpec[];
  code?: string;
}

/** A graph of layers: the code of the user, and code generated from the model it builds, which the page runs instead. */
export interface CodeNetwork {
  code: string;
  built?: string;
}

/** Immutable: a change creates a new object. */
export type Network = RowNetwork | CodeNetwork;

export const isRow = (network: Network): network is RowNetwork => 'layers' in network;

/** Facts about one layer of the built network, or its error. */
export interface CheckedLayer {
  name: string;
  class: string;
  shape?: number[];
  params?: number;
  problem?: string;
  /** The option that the problem is about. */
  option?: string;
}

export interface Checked {
  /** One for each layer of the list, or of the model that the code builds. */
  layers: CheckedLayer[];
  params: number;
  /** Error of the entire network. */
  problem?: string;
}

export const isSound = (checked: Checked | undefined): checked is Checked =>
  checked !== undefined &&
  checked.problem === undefined &&
  checked.layers.every(({ problem }) => problem === undefined);

/** The layers, with the input shape of the data unless the first layer specifies one. */
export function withInputShape(layers: readonly LayerSpec[], data: DataSet): LayerSpec[] {
  return layers.map((layer, at) => {
    const config = at === 0 ? { inputShape: data.shape, ...layer.config } : { ...layer.config };
    return { class: layer.class, config };
  });
}

/** A model with initial weights. Error: an incompatible layer; the code throws. */
export function build(network: Network, data: DataSet, seed: number): tl.LayersModel {
  if (!isRow(network)) return runCode(network.built ?? network.code, data);
  return tl.sequential({ seed, layers: withInputShape(network.layers, data) as tl.LayerConfig[] });
}

/** Builds the network layer by layer, to find output shapes and the layer of an error. */
export function check(network: Network, data: DataSet): Checked {
  if (!isRow(network)) return checkCode(network.built ?? network.code, data);
  const { layers } = network;
  if (layers.length === 0) return { layers: [], params: 0, problem: 'Add a layer to begin with.' };
  const model = tl.sequential({ seed: 1 });
  const checked: CheckedLayer[] = layers.map((layer) => ({ name: '', class: layer.class }));
  let params = 0;
  try {
    for (const [at, layer] of withInputShape(layers, data).entries()) {
      const found = checked[at]!;
      try {
        model.add(layer as tl.LayerConfig);
      } catch (error) {
        Object.assign(found, problemOf(messageOf(error)));
        return { layers: checked, params };
      }
      const total = model.countParams();
      const made = model.layers[at]!;
      found.name = made.name;
      found.shape = (made.outputShape as (number | null)[]).slice(1) as number[];
      found.params = total - params;
      params = total;
    }
    const [first] = model.inputs;
    const problem = misfit(first!.shape.slice(1) as number[], data);
    if (problem !== undefined) Object.assign(checked[0]!, { problem, option: 'inputShape' });
    const last = checked.at(-1)!;
    const wrong = wrongOutput(last.shape!, data);
    if (wrong !== undefined) last.problem ??= wrong;
  } finally {
    model.dispose();
  }
  return { layers: checked, params };
}

function checkCode(code: string, data: DataSet): Checked {
  let model: tl.LayersModel | undefined;
  try {
    model = runCode(code, data);
    if (model.inputs.length !== 1 || model.outputs.length !== 1) {
      throw new Error('The page trains networks with one input and one output.');
    }
    const layers = model.layers.map((layer): CheckedLayer => {
      const { name, outputShape } = layer;
      const shape = (outputShape as (number | null)[]).slice(1) as number[];
      return { name, class: layer.getClassName(), shape };
    });
    const input = model.inputs[0]!.shape.slice(1) as number[];
    const output = (model.outputShape as (number | null)[]).slice(1) as number[];
    const problem = misfit(input, data) ?? wrongOutput(output, data);
    return { layers, params: model.countParams(), ...(problem === undefined ? {} : { problem }) };
  } catch (error) {
    return { layers: [], params: 0, problem: messageOf(error) };
  } finally {
    model?.dispose();
  }
}

/** The part of a message to display at the layer, and the option that it names. */
function problemOf(message: string): { problem: string; option?: string } {
  const named = /^layers\[\d+\]\.config\.(\w+)[^:]*: (.*)$/s.exec(message);
  if (named !== null) return { problem: `${named[1]} ${named[2]}`, option: named[1]! };
  return { problem: message.replace(/^model "[^"]*": (layer "[^"]*" \(\w+\): )?/, '') };
}

function misfit(shape: number[], data: DataSet): string | undefined {
  if (sizeOf(shape) === sizeOf(data.shape)) return undefined;
  return `expects examples of shape [${shape}], but those of the data are [${data.shape}]`;
}

function wrongOutput(shape: readonly number[], data: DataSet): string | undefined {
  const classCount = outputWidth(data);
  const width = shape.length === 1 ? shape[0]! : 0;
  if (width === classCount || (classCount === 2 && width === 1)) return undefined;
  const what =
    data.classes === undefined
      ? `${data.target} is one number, so the last layer must output [1]`
      : `the data have ${classCount} classes, so the last layer must output [${classCount}]`;
  return `outputs [${shape}], but ${what}`;
}
