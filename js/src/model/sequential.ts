/** Sequential models. */
import { LatheError } from '../base/errors.js';
import type { LayerConfig } from '../core/abi.js';
import { loadedDeferred } from '../layers/deferred.js';
import { inputClassName } from '../layers/layer_names.js';
import { input } from '../layers/input.js';
import { Layer, type SymbolicShape, type SymbolicTensor } from '../layers/layer.js';
import { nameLayers } from './layer_graph.js';
import { LayersModel } from './model.js';

/** Arguments of `sequential`. */
export interface SequentialArgs {
  layers?: (Layer | LayerConfig)[];
  /** Default: sequential. */
  name?: string;
  /** Seed of initial weights and shuffling. Default: random. */
  seed?: number;
}

/** A stack of layers, each with one input and one output; the first one requires an inputShape. */
export class Sequential extends LayersModel {
  static override className = 'Sequential';
  /** The input, once a layer specifies its shape. */
  #first: SymbolicTensor | undefined;

  /** As `sequential(args)`. */
  constructor(sequentialArgs?: SequentialArgs) {
    const { layers, ...args } = sequentialArgs ?? {};
    super(args, 'Sequential');
    if (layers?.length) this.#append(layers);
  }

  /** Appends a layer. Errors: it does not fit the layers before it, or one of its options is wrong. */
  add(layer: Layer | LayerConfig): void {
    this.checkChange('add');
    this.#append([layer]);
  }

  #append(layersOrConfigs: readonly (Layer | LayerConfig)[]): void {
    const [first, ...rest] = layersOrConfigs.map(asLayer);
    const isInput = this.#first === undefined && first!.getClassName() === inputClassName;
    const added = isInput ? rest : [first!, ...rest];
    if (isInput) this.#first = first!.inboundNodes[0]!.outputs[0]!;
    if (added.length > 0) this.#setLayers([...this.#row, ...added], added.length);
  }

  /** The layers, but for the one that `input` made. */
  get #row(): Layer[] {
    return this.layers.filter((each) => each !== this.#first?.sourceLayer);
  }

  /** Removes the last layer. Error: there is none. */
  pop(): void {
    this.checkChange('pop');
    const layers = this.#row;
    if (layers.length === 0) throw new LatheError('pop: there are no layers in the model');
    if (layers.length === 1) throw new LatheError('pop: the last layer stays; make another model');
    layers.pop()!.inboundNodes.pop();
    const { outputs } = layers.at(-1)!.inboundNodes.at(-1)!;
    this.#setLayers(layers, 0, outputs);
  }

  #setLayers(layers: readonly Layer[], added: number, outputs?: readonly SymbolicTensor[]): void {
    const shaped = this.#first?.shape;
    layers[0]!.beFirst(shaped?.slice(1), shaped?.[0]);
    const begins = this.#first?.sourceLayer;
    const named = nameLayers(begins === undefined ? layers : [begins, ...layers]);
    const computing = named.filter(({ layer }) => layer !== begins);
    const structure = {
      layers: named,
      inputs: this.inputs,
      outputs: outputs ?? this.outputs,
      describe: (frozen: boolean) => ({
        ...(layers[0]!.batchSize === undefined ? {} : { batchSize: layers[0]!.batchSize }),
        ...(begins === undefined ? {} : { input: begins.name }),
        layers: computing.map(({ name, layer }, at) =>
          at > 0 ? layer.describeWithoutInputShape(name, frozen) : layer.describe(name, frozen),
        ),
      }),
    };
    this.setStructure(structure);
    const summary = this.coreSummary!;
    if (structure.inputs.length === 0) {
      const [{ name, shape }] = summary.inputs as [{ name: string; shape: SymbolicShape }];
      const inner = (layers[0] as Partial<LayersModel>).inputs?.[0];
      const batch = layers[0]!.batchSize ?? inner?.shape[0] ?? null;
      structure.inputs = [this.#first ?? input({ name, batchShape: [batch, ...shape] })];
      structure.outputs = structure.inputs;
    }
    for (let at = layers.length - added; at < layers.length; ++at) {
      const [, ...sizes] = summary.layers[at]!.outputShape;
      const shape = [structure.inputs[0]!.shape[0]!, ...sizes];
      structure.outputs = layers[at]!.addCall(structure.outputs, [shape]);
    }
  }
}

function asLayer(layer: Layer | LayerConfig): Layer {
  if (layer instanceof Layer) return layer;
  if (typeof layer?.class === 'string') return new Layer(layer.class, layer.config);
  throw new LatheError('add: a layer is needed, as tl.layers makes them');
}

/** Creates a sequential model. Errors: incompatible layers. */
export function sequential(args?: SequentialArgs): Sequential {
  loadedDeferred()?.checkArguments('sequential', args ?? {});
  return new Sequential(args);
}
