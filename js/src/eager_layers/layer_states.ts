/**
 * Recurrent states that persist between batches, or between eager calls: those of models are in their module, others are
 * variables.
 */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import { type Variable, variable } from '../eager/variable.js';
import type { Layer } from '../layers/layer.js';
import { recurrentCells } from '../layers/layer_classes.js';
import { layerRow } from '../layers/layer_row.js';
import { aliveCopies, type StateBuffer } from '../layers/shared_weights.js';
import { tidy } from '../tensor/scopes.js';
import { Tensor } from '../tensor/tensor.js';

const zeros = (shape: readonly number[]): Tensor =>
  new Tensor(new Float32Array(elementCount(shape)), [...shape], 'float32');

const variablesOf = new WeakMap<Layer, Variable[]>();

/** A recurrent state, in a module or a variable. */
interface LayerState {
  readonly shape: readonly number[];
  read(): Tensor;
  /** Without a value: fills it with zeros. */
  write(value?: Tensor): void;
}

/** Whether the layer itself is stateful. */
export const hasStatefulOption = (layer: Layer): boolean =>
  (layer.options as { stateful?: boolean }).stateful === true;

const aliveStates = (layer: Layer): Variable[] | undefined =>
  variablesOf.get(layer)?.some(({ isDisposed }) => isDisposed) === false
    ? variablesOf.get(layer)
    : undefined;

/** Error: the layer is not stateful. */
function statesOf(layer: Layer, what: string): LayerState[] {
  if (!layer.stateful) {
    throw new LatheError(`${what}: layer "${layer.label}" is not stateful`);
  }
  const eagerStates = layer.inboundNodes.length > 0 ? undefined : aliveStates(layer);
  if (eagerStates === undefined) return stateBuffers(layer, what).map(inModule);
  return eagerStates.map((each) => ({
    shape: each.shape,
    read: () => each.clone(),
    write: (value = zeros(each.shape)) => each.follow(value),
  }));
}

/** The buffers of the model that has states; eager variables are copies of weights only. */
const stateBuffers = (layer: Layer, what: string): StateBuffer[] =>
  aliveCopies(layer.shared)
    .map(({ access }) => access.states())
    .find(({ length }) => length > 0) ?? layer.access(what).states();

const inModule = ({ shape, read, write }: StateBuffer): LayerState => ({
  shape,
  read,
  write: (value) =>
    write(
      value === undefined
        ? new Float32Array(elementCount(shape))
        : Float32Array.from(value.dataSync() as Float32Array),
    ),
});

/**
 * The states that an eager call reads and updates; zeros of these shapes before the first call. Error: the batch size differs
 * from the last call's.
 */
export function statesForCall(
  layer: Layer,
  rows: number,
  shapes: () => (readonly number[])[],
): LayerState[] {
  if (layer.inboundNodes.length === 0 && aliveStates(layer) === undefined) {
    const initial = shapes().map((shape) => variable(zeros(shape), false));
    variablesOf.set(layer, initial);
  }
  const found = statesOf(layer, 'apply');
  const batch = found[0]!.shape[0];
  if (batch === rows) return found;
  throw new LatheError(
    `apply: layer "${layer.label}" has states for a batch of ${batch}, got ${rows} rows`,
  );
}

export function resetStates(layer: Layer, states?: Tensor | Tensor[]): void {
  const layerStates = statesOf(layer, 'resetStates');
  const values = states == null ? undefined : [states].flat();
  const fits = values?.every((each, at) => each.shape.join() === layerStates[at]?.shape.join());
  if (values !== undefined && (values.length !== layerStates.length || !fits)) {
    const shapes = layerStates.map(({ shape }) => `[${shape.join(',')}]`).join(', ');
    throw new LatheError(`resetStates: layer "${layer.label}" has states of shapes ${shapes}`);
  }
  tidy(() => layerStates.forEach((each, at) => each.write(values?.[at])));
}

/** The states of a recurrent layer, null before the first call; undefined for a cell and other layers. */
export function states(layer: Layer): (Tensor | null)[] | undefined {
  const className = layer.getClassName();
  const { states: count = 0 } = layerRow(className);
  if (count === 0 || recurrentCells[className] === className) return undefined;
  const isNew = layer.inboundNodes.length === 0 && layer.shared.copies.size === 0;
  if (!layer.stateful || isNew) return Array<null>(count).fill(null);
  return statesOf(layer, 'states').map((each) => each.read());
}
