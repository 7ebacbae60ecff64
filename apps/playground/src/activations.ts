// What every layer of a network computes for one example.
import * as tl from 'tensorlathe';

export interface Activation {
  layer: tl.Layer;
  className: string;
  /** Of one example. */
  shape: number[];
  values: Float32Array;
}

let of: tl.LayersModel | undefined;
/** Shares the weights of the model, so that it always computes with the current ones. */
let probe: tl.LayersModel | undefined;

/** Frees the model that was probed last. */
export function releaseProbe(): void {
  probe?.dispose();
  of = probe = undefined;
}

/** The outputs of all layers, first to last. Error: the example does not fit; a layer is used more than once. */
export function activationsOf(model: tl.LayersModel, example: Float32Array): Activation[] {
  const { layers } = model;
  if (of !== model || probe === undefined) {
    releaseProbe();
    probe = tl.model({
      inputs: model.inputs,
      outputs: layers.map(({ output }) => output),
    } as never);
    of = model;
  }
  const shape = model.inputs[0]!.shape.slice(1) as number[];
  const found = probe.predict(tl.tensor(example, [1, ...shape])) as tl.Tensor | tl.Tensor[];
  return [found].flat().map((tensor, at) => ({
    layer: layers[at]!,
    className: layers[at]!.getClassName(),
    shape: tensor.shape.slice(1) as number[],
    values: tensor.dataSync() as Float32Array,
  }));
}
