// Models of Keras (.h5, .keras): their layers are the graph.
import * as tl from 'tensorlathe';
import { fromKeras } from 'tensorlathe/keras';
import { type Description, descriptionOf } from '../code';
import { formatInteger } from '../dom';
import {
  fixedShape,
  type GraphNode,
  type ModelGraph,
  type Port,
  repeat,
  shapeText,
} from './model_graph';

type Shape = (number | null)[];

const portOf = ({ name, shape }: { name: string; shape: readonly (number | null)[] }): Port => ({
  name,
  type: 'float32',
  shape: shape.map((size, at) => size ?? (at === 0 ? 'batch' : '?')),
});

/** Names of what a layer reads; in a sequential model the layer before. */
const inputsOf = ({ inputs, layers }: Description, at: number) =>
  inputs === undefined
    ? [at === 0 ? 'input' : String(layers[at - 1]!.config.name)]
    : (layers[at]!.inputs ?? []).flat().map(([name]) => name);

function nodesOf(model: tl.LayersModel): GraphNode[] {
  const description = descriptionOf(model);
  return description.layers.map(({ class: operator, config }, at) => {
    const name = String(config.name);
    const layer = model.getLayer(name);
    const details = Object.entries(config)
      .filter(([key, value]) => key !== 'name' && typeof value !== 'object')
      .map(([key, value]): [string, string] => [key, String(value)]);
    const weights = layer.getWeights();
    for (const { shape } of weights) details.push(['weights', shapeText(shape)]);
    const shape = layer.outputShape as Shape;
    return {
      name,
      operator,
      inputs: inputsOf(description, at),
      outputs: [name],
      weights: weights.reduce((sum, { size }) => sum + size, 0),
      details,
      ...(Array.isArray(shape) ? { shape: shapeText(shape.slice(1)) } : {}),
    };
  });
}

export async function openKeras(file: File): Promise<ModelGraph> {
  const model = await tl.loadLayersModel(fromKeras(file));
  const inputs = model.inputs.map(portOf);
  return {
    name: file.name,
    facts: [
      ['Format', /\.keras$/i.test(file.name) ? 'Keras 3 archive' : 'Keras, HDF5'],
      ['Layers', String(model.layers.length)],
      ['Weights', formatInteger(model.countParams())],
    ],
    inputs,
    outputs: model.outputs.map(portOf),
    nodes: nodesOf(model),
    async run(values, shape) {
      const result = model.predict(tl.tensor(values, [...shape])) as tl.Tensor | tl.Tensor[];
      return [result].flat()[0]!.dataSync() as Float32Array;
    },
    async time() {
      model.compile({ loss: 'meanSquaredError', optimizer: 'sgd', timing: true });
      const zeros = inputs.map((port) => tl.zeros(fixedShape(port)));
      const call = () =>
        model.predict((zeros.length === 1 ? zeros[0]! : zeros) as tl.Tensor, { batchSize: 1 });
      call();
      tl.layerTimes(model, { reset: true });
      await repeat(call);
      const { calls, layers } = tl.layerTimes(model).predict_1!;
      return layers.map(({ name, forward }) => ({ name, ms: forward / calls }));
    },
    dispose: () => model.dispose(),
  };
}
