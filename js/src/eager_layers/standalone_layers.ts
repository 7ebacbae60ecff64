/** Models of one layer, for layers that are part of none: they contain its weights. */
import { input } from '../layers/input.js';
import type { Layer, SymbolicShape, SymbolicTensor } from '../layers/layer.js';
import { LayersModel } from '../model/model.js';

export const standaloneModels = new WeakMap<Layer, LayersModel>();

/** Creates the weights of a layer for inputs of these shapes, batch first. */
export function buildStandalone(layer: Layer, shapes: readonly SymbolicShape[]): void {
  const inputs = shapes.map((shape) => input({ shape: shape.slice(1) }));
  const before = layer.inboundNodes.length;
  const outputs = layer.apply<SymbolicTensor[]>(inputs);
  const model = new LayersModel({ inputs, outputs });
  layer.inboundNodes.length = before;
  layer.uses -= 1;
  standaloneModels.set(layer, model);
}
