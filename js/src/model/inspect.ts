/** How Node prints layers, models and symbolic tensors. */
import { Layer, SymbolicTensor } from '../layers/layer.js';
import { LayersModel } from './model.js';

type Inspect = (value: unknown, options: object) => string;

const shapeOf = (shape: readonly unknown[] | undefined) =>
  shape === undefined ? '' : ` [${shape.map((size) => size ?? 'null').join(', ')}]`;
const named = (layer: Layer) => {
  const { assignedName } = layer;
  return `${layer.getClassName()}${assignedName === undefined ? '' : ` "${assignedName}"`}`;
};

function printedModel(model: LayersModel): string {
  const lines = model.layers.map(
    (layer) => `  ${named(layer)}${shapeOf(layer.inboundNodes[0]?.outputs[0]?.shape)}`,
  );
  const { loss, optimizer } = model;
  const training = [
    typeof loss === 'string' && `loss ${loss}`,
    optimizer && `optimizer ${optimizer.name}`,
  ].filter(Boolean);
  return `${named(model)} {\n${lines.join('\n')}\n}${training.length > 0 ? ` ${training.join(', ')}` : ''}`;
}

const printed: [
  { prototype: object },
  (value: never, print: (value: unknown) => string) => string,
][] = [
  [Layer, (layer: Layer, print) => `${named(layer)} ${print(layer.options)}`],
  [LayersModel, printedModel],
  [
    SymbolicTensor,
    ({ name, dtype, shape }: SymbolicTensor) =>
      `SymbolicTensor "${name}" ${dtype}${shapeOf(shape)}`,
  ],
];

/** Adds the methods that Node prints objects with. */
export function installInspection(): void {
  for (const [{ prototype }, format] of printed) {
    Object.defineProperty(prototype, Symbol.for('nodejs.util.inspect.custom'), {
      value(this: never, depth: number, options: object, inspect: Inspect) {
        return format(this, (value) => inspect(value, { ...options, depth: Math.max(depth, 0) }));
      },
      writable: true,
      configurable: true,
    });
  }
}
