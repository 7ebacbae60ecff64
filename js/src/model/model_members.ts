/** Types of the deferred members of models; `deferred/members.ts` implements them. */
import type { Layer } from '../layers/layer.js';
import type { ModelData } from '../train/examples.js';
import type { Tensor } from '../tensor/tensor.js';

/** Deferred members of models. */
export interface ModelMembers {
  /** @internal `predict` while a gradient is recorded. */
  applyRows(x: ModelData): Tensor | Tensor[];
  /** @internal The variable of a weight. */
  variable(name: string): Tensor;
  /** The outputs of the layers with these names for inputs. Error: there is no such layer. */
  execute(inputs: Tensor | Tensor[] | Record<string, Tensor>, outputs: string): Tensor;
  execute(inputs: Tensor | Tensor[] | Record<string, Tensor>, outputs: string[]): Tensor[];
  /** Stores an object of JSON values with the model, also in saved files. Error: something else. */
  setUserDefinedMetadata(metadata: object): void;
  getUserDefinedMetadata(): object | undefined;
  /** Copies of the weights by name. */
  getNamedWeights(): { name: string; tensor: Tensor }[];
  /** The input and output layers, with node and tensor indices; empty for sequential models. */
  readonly inputLayers: Layer[];
  readonly outputLayers: Layer[];
  readonly inputLayersNodeIndices: number[];
  readonly outputLayersNodeIndices: number[];
  readonly inputLayersTensorIndices: number[];
  readonly outputLayersTensorIndices: number[];
}

/** Their names, for `addDeferred`. */
export const modelMembers =
  'applyRows variable execute getNamedWeights setUserDefinedMetadata getUserDefinedMetadata .inputLayers .outputLayers ' +
  '.inputLayersNodeIndices .outputLayersNodeIndices .inputLayersTensorIndices .outputLayersTensorIndices';
