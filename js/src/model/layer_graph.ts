/** The graph of layer calls between symbolic tensors, in the order and with the names that a model has. */
import { LatheError } from '../base/errors.js';
import type { ModelConfig, Reference } from '../core/abi.js';
import { inputClassName, nameStem } from '../layers/layer_names.js';
import { type Layer, type LayerCall, type SymbolicTensor, innerLayers } from '../layers/layer.js';

/** A layer and its name in the model. */
export interface NamedLayer {
  name: string;
  layer: Layer;
}

/** The layers of a model with their names; a layer without a name is assigned a unique one. */
export function nameLayers(layers: readonly Layer[]): NamedLayer[] {
  const usedNames = new Set(
    layers.filter(({ isNamed }) => isNamed).map(({ assignedName }) => assignedName!),
  );
  return layers.map((layer) => {
    if (layer.isNamed) return { name: layer.assignedName!, layer };
    let name = layer.assignedName;
    const stem = nameStem(layer.getClassName());
    for (let number = 1; name === undefined || usedNames.has(name); ++number)
      name = `${stem}${number}`;
    usedNames.add(name);
    layer.setDefaultName(name);
    return { name, layer };
  });
}

/** The subgraph between inputs and outputs. Layers are in the order of Keras: deepest first. */
export class LayerGraph {
  readonly layers: readonly NamedLayer[];
  readonly calls: readonly LayerCall[];
  readonly #names: ReadonlyMap<Layer, string>;

  /** Error: an output needs an input that is not among the inputs. */
  constructor(
    readonly inputs: readonly SymbolicTensor[],
    readonly outputs: readonly SymbolicTensor[],
  ) {
    const { calls, layers } = inOrder(inputs, outputs);
    this.calls = calls;
    this.layers = nameLayers(layers);
    this.#names = new Map(this.layers.map(({ name, layer }) => [layer, name]));
  }

  /** The model in the core's format. */
  describe(frozen: boolean): ModelConfig {
    const sized = this.inputs.find(({ sourceLayer }) => sourceLayer.batchSize !== undefined);
    const computing = this.layers.filter(({ layer }) => layer.getClassName() !== inputClassName);
    return {
      ...(sized === undefined ? {} : { batchSize: sized.sourceLayer.batchSize! }),
      inputs: this.inputs.map(({ sourceLayer, shape }) => ({
        name: this.#names.get(sourceLayer)!,
        shape: shape.slice(1),
      })),
      layers: computing.map(({ name, layer }) => ({
        ...layer.describeWithoutInputShape(name, frozen),
        inputs: this.#callsOf(layer).map((call) =>
          call.inputs.map((each) => this.#reference(each)),
        ),
      })),
      outputs: this.outputs.map((each) => this.#reference(each)),
    };
  }

  /** The calls of a layer in creation order; calls by a standalone model are not recorded. */
  #callsOf(layer: Layer): LayerCall[] {
    const calls = this.calls.filter((call) => call.layer === layer);
    return calls.sort((a, b) => a.outputs[0]!.nodeIndex - b.outputs[0]!.nodeIndex);
  }

  /** [name, call, output]; the call index is within the model. */
  #reference(tensor: SymbolicTensor): Reference {
    const { sourceLayer, tensorIndex } = tensor;
    const call = this.#callsOf(sourceLayer).findIndex(({ outputs }) => outputs.includes(tensor));
    return [this.#names.get(sourceLayer)!, call, tensorIndex];
  }
}

/** Depth of a call: length of the longest path to the outputs, as in the Container of TensorFlow.js. */
function inOrder(
  inputs: readonly SymbolicTensor[],
  outputs: readonly SymbolicTensor[],
): { calls: LayerCall[]; layers: Layer[] } {
  const found = new Map<Layer, number>();
  const finished = new Set<LayerCall>();
  // An explicit stack for the depth-first search, as chains may have thousands of layers.
  const open: { call: LayerCall; next: number }[] = [];
  const visit = (tensor: SymbolicTensor) => {
    const layer = tensor.sourceLayer;
    if (layer == null) throw new LatheError('model: an input is needed that tl.input has made');
    const call = layer.inboundNodes[tensor.nodeIndex]!;
    if (finished.has(call)) return;
    if (!found.has(layer)) found.set(layer, found.size);
    if (layer.getClassName() === inputClassName && !inputs.includes(tensor)) {
      throw new LatheError(
        `model: the outputs need the input "${layer.name}", which is not among the inputs`,
      );
    }
    open.push({ call, next: 0 });
  };
  for (const tensor of [...outputs, ...inputs]) {
    visit(tensor);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const input = top.call.inputs[top.next++];
      if (input !== undefined) visit(input);
      else finished.add(open.pop()!.call);
    }
  }
  const calls = [...finished];
  const callDepths = new Map<LayerCall, number>();
  const layerDepths = new Map<Layer, number>();
  for (const call of [...calls].reverse()) {
    const depth = Math.max(callDepths.get(call) ?? 0, layerDepths.get(call.layer) ?? 0);
    layerDepths.set(call.layer, depth);
    for (const { sourceLayer, nodeIndex } of call.inputs) {
      const before = sourceLayer.inboundNodes[nodeIndex]!;
      callDepths.set(before, Math.max(depth + 1, callDepths.get(before) ?? 0));
    }
  }
  const layers = [...found.keys()].sort(
    (a, b) => layerDepths.get(b)! - layerDepths.get(a)! || found.get(a)! - found.get(b)!,
  );
  return { calls, layers };
}

/** Prefixes of the names of a model's frozen weights. */
export function frozenPaths(layer: Layer, trainable = layer.trainable, path = ''): string[] {
  if (!trainable) return [path];
  return innerLayers(layer).flatMap(([prefix, each]) =>
    frozenPaths(each, undefined, path + prefix),
  );
}

/** All layers with the prefixes of their weights' names, nested ones included. Error: a layer occurs twice. */
export function weightedLayerPaths(layers: readonly NamedLayer[]): Map<Layer, string> {
  const found = new Map<Layer, string>();
  const visit = (layer: Layer, fullPath: string) => {
    const isModel = layer.parts !== undefined;
    if (!isModel && found.has(layer)) {
      throw new LatheError(
        `model: layer "${layer.name}" is in it twice, as ${found.get(layer)} and as ${fullPath}; ` +
          'call the layer or the model that has it, not both',
      );
    }
    if (!isModel && layer.getClassName() !== inputClassName) found.set(layer, fullPath);
    for (const [path, each] of innerLayers(layer)) visit(each, `${fullPath}/${path}`.slice(0, -1));
  };
  for (const { name, layer } of layers) visit(layer, name);
  return found;
}
