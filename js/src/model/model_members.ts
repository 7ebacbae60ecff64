/** Members of models that few pages need; `extras.ts` has what they do. */
import type { Layer } from '../layers/layer.js';
import type { ModelData } from '../train/rows.js';
import type { Tensor } from '../tensor/tensor.js';

/** What few pages need of models. */
export interface ModelMembers {
  /** @internal What `predict` gives while a gradient is taken. */
  applyRows(x: ModelData): Tensor | Tensor[];
  /** @internal The variable of a weight. */
  variable(name: string): Tensor;
  /** What layers of these names give for these inputs. Error: there is no such layer. */
  execute(inputs: Tensor | Tensor[] | Record<string, Tensor>, outputs: string): Tensor;
  execute(inputs: Tensor | Tensor[] | Record<string, Tensor>, outputs: string[]): Tensor[];
  /** Keeps an object of JSON values with the model, also in files. Error: it is none. */
  setUserDefinedMetadata(metadata: object): void;
  getUserDefinedMetadata(): object | undefined;
  /** Copies of the weights by name. */
  getNamedWeights(): { name: string; tensor: Tensor }[];
  /** The layers of inputs and outputs, and which call and tensor of them; empty for rows of layers. */
  readonly inputLayers: Layer[];
  readonly outputLayers: Layer[];
  readonly inputLayersNodeIndices: number[];
  readonly outputLayersNodeIndices: number[];
  readonly inputLayersTensorIndices: number[];
  readonly outputLayersTensorIndices: number[];
}

/** Their names, for `addMembers`. */
export const modelMembers =
  'applyRows variable execute getNamedWeights setUserDefinedMetadata getUserDefinedMetadata .inputLayers .outputLayers ' +
  '.inputLayersNodeIndices .outputLayersNodeIndices .inputLayersTensorIndices .outputLayersTensorIndices';
