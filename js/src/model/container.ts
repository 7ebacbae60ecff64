/** The description of a model: its layers, names, shapes. */
import { LatheError } from '../base/errors.js';
import type { ModelSummary } from '../core/abi.js';
import { Layer, type LayerCall, type SymbolicShape, type SymbolicTensor } from '../layers/layer.js';
import { frozenPaths, type NamedLayer } from './layer_graph.js';
import { shapesOf, type ModelStructure } from './model_args.js';
import { printSummary } from './summary.js';

/** A graph of layers that is itself a layer. */
export abstract class Container extends Layer {
  /** The layers and their calls, once there are some. */
  protected structure: ModelStructure | undefined;

  /** The compiled model. Errors: there are no layers; the model has been disposed. */
  protected abstract requireCompiled(what: string): { readonly summary: ModelSummary };

  /** Its layers; of a graph also those that `input` made. */
  get layers(): Layer[] {
    return (this.structure?.layers ?? []).map(({ layer }) => layer);
  }

  /** @internal The calls that are part of it. */
  get calls(): readonly LayerCall[] {
    return this.structure?.calls ?? [];
  }

  /** The layer with this name, or this index in `layers`. Error: there is none. */
  getLayer(name: string | number | null, index?: number): Layer {
    const nameOrIndex = name ?? index;
    const layers = this.structure?.layers ?? [];
    const found =
      typeof nameOrIndex === 'number'
        ? layers[nameOrIndex]
        : layers.find(({ name }) => name === nameOrIndex);
    if (found !== undefined) return found.layer;
    const names = layers.map(({ name }) => name).join(', ');
    throw new LatheError(
      `getLayer: no layer ${JSON.stringify(nameOrIndex)}; the layers are ${names}`,
    );
  }

  get inputs(): SymbolicTensor[] {
    return [...(this.structure?.inputs ?? [])];
  }

  get outputs(): SymbolicTensor[] {
    return [...(this.structure?.outputs ?? [])];
  }

  /** Names for x as an object. */
  get inputNames(): string[] {
    return this.requireCompiled('inputNames').summary.inputs.map(({ name }) => name);
  }

  /** Names of the outputs, for y as an object: those of the output layers. */
  get outputNames(): string[] {
    return this.requireCompiled('outputNames').summary.outputs.map(({ name }) => name);
  }

  override get input(): SymbolicTensor | SymbolicTensor[] {
    const { inputs } = this;
    return inputs.length === 1 ? inputs[0]! : inputs;
  }

  override get output(): SymbolicTensor | SymbolicTensor[] {
    const { outputs } = this;
    return outputs.length === 1 ? outputs[0]! : outputs;
  }

  /** [rows of every batch or null, …shape of one example]; for several inputs an array of such shapes. */
  override get inputShape(): SymbolicShape | SymbolicShape[] {
    return shapesOf(this.requireCompiled('inputShape').summary.inputs, this.inputs);
  }

  /** [rows of every batch or null, …shape of one result]; for several outputs an array of such shapes. */
  override get outputShape(): SymbolicShape | SymbolicShape[] {
    return shapesOf(this.requireCompiled('outputShape').summary.outputs, this.outputs);
  }

  /** @internal */
  override get parts(): readonly NamedLayer[] {
    return this.structure?.layers ?? [];
  }

  /** Number of weights, biases included. */
  override countParams(): number {
    return this.requireCompiled('countParams').summary.totalParams;
  }

  /**
   * Prints layers, shapes and numbers of weights line by line, as TensorFlow.js does. Default: 90 characters
   * a line, 115 where layers are no row; to the console.
   */
  summary(
    lineLength?: number,
    positions?: readonly number[],
    printFn?: (line: string) => void,
  ): void {
    const { summary } = this.requireCompiled('summary');
    printSummary(this.structure!, summary, frozenPaths(this), lineLength, positions, printFn);
  }
}
