/** Models of layers in a row. */
import { LatheError } from '../base/errors.js';
import type { LayerConfig } from '../core/abi.js';
import { input, Layer, type SymbolicShape } from '../layers/layer.js';
import { nameLayers } from './layer_graph.js';
import { LayersModel } from './model.js';

/** Arguments of `sequential`. */
export interface SequentialArgs {
  layers?: (Layer | LayerConfig)[];
  /** Default: sequential. */
  name?: string;
  /** Decides first weights and shuffling. Default: another one every time. */
  seed?: number;
}

/** Layers in a row, each with one input and one output; the first one needs an inputShape. */
export class Sequential extends LayersModel {
  /** As `sequential(args)`. */
  constructor({ layers = [], ...args }: SequentialArgs = {}) {
    super(args, 'Sequential');
    if (layers.length > 0) this.#append(layers);
  }

  /** Appends a layer. Errors: it does not fit the layers before it, or one of its options is wrong. */
  add(layer: Layer | LayerConfig): void {
    this.checkChange('add');
    this.#append([layer]);
  }

  #append(added: readonly (Layer | LayerConfig)[]): void {
    const layers = [...this.layers, ...added.map(asLayer)];
    const named = nameLayers(layers);
    const structure = {
      layers: named,
      inputs: this.inputs,
      outputs: this.outputs,
      describe: (frozen: boolean) => ({
        ...(layers[0]!.batchSize === undefined ? {} : { batchSize: layers[0]!.batchSize }),
        layers: named.map(({ name, layer }) => layer.describe(name, frozen)),
      }),
    };
    this.setStructure(structure);
    const summary = this.coreSummary!;
    if (structure.inputs.length === 0) {
      structure.inputs = [input({ shape: summary.inputs[0]!.shape })];
      structure.outputs = structure.inputs;
    }
    for (let at = layers.length - added.length; at < layers.length; ++at) {
      const shape: SymbolicShape = [...summary.layers[at]!.outputShape];
      structure.outputs = layers[at]!.addCall(structure.outputs, [shape]);
    }
  }
}

function asLayer(layer: Layer | LayerConfig): Layer {
  if (layer instanceof Layer) return layer;
  if (typeof layer?.class === 'string') return new Layer(layer.class, layer.config);
  throw new LatheError('add: a layer is needed, as tl.layers makes them');
}

/** A model of layers in a row. Errors: layers that do not fit. */
export function sequential(args: SequentialArgs = {}): Sequential {
  return new Sequential(args);
}
