/** Models of one layer, for layers that are part of none: they hold its weights. */
import { input, type Layer, type SymbolicShape, type SymbolicTensor } from '../layers/layer.js';
import { LayersModel } from './model.js';

export const alone = new WeakMap<Layer, LayersModel>();

/** Makes the weights of a layer for examples of these shapes, batch in front. */
export function hold(layer: Layer, shapes: readonly SymbolicShape[]): void {
  const inputs = shapes.map((shape) => input({ shape: shape.slice(1) }));
  const before = layer.inboundNodes.length;
  const outputs = layer.apply<SymbolicTensor[]>(inputs);
  const held = new LayersModel({ inputs, outputs });
  layer.inboundNodes.length = before;
  layer.uses -= 1;
  alone.set(layer, held);
}
