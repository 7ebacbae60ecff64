/**
 * What recurrent layers keep from one batch to the next, also from one call on tensors to the next: those of models in the
 * module, others as variables.
 */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import { type Variable, variable } from '../eager/variable.js';
import type { Layer } from '../layers/layer.js';
import { aliveCopies, type WeightAccess } from '../layers/shared_weights.js';
import { tidy } from '../tensor/scopes.js';
import { Tensor } from '../tensor/tensor.js';

const zeros = (shape: readonly number[]): Tensor =>
  new Tensor(new Float32Array(elementCount(shape)), [...shape], 'float32');

const kept = new WeakMap<Layer, Variable[]>();

/** One of the states, wherever it is. */
interface KeptState {
  readonly shape: readonly number[];
  read(): Tensor;
  /** Left out: zeros. */
  write(value?: Tensor): void;
}

/** Whether the layer itself goes on where the last call ended. */
export const keepsStates = (layer: Layer): boolean =>
  (layer.options as { stateful?: boolean }).stateful === true;

const aliveStates = (layer: Layer): Variable[] | undefined =>
  kept.get(layer)?.some(({ isDisposed }) => isDisposed) === false ? kept.get(layer) : undefined;

/** Error: it keeps none. */
function statesOf(layer: Layer, what: string): KeptState[] {
  if (!layer.stateful) {
    throw new LatheError(`${what}: layer "${layer.label}" keeps no states`);
  }
  const own = layer.inboundNodes.length > 0 ? undefined : aliveStates(layer);
  if (own === undefined) return placesOf(layer, what).map(inModule);
  return own.map((each) => ({
    shape: each.shape,
    read: () => each.clone(),
    write: (value = zeros(each.shape)) => each.follow(value),
  }));
}

/** Of the model that keeps some: variables are copies of weights alone. */
const placesOf = (layer: Layer, what: string): Place[] =>
  aliveCopies(layer.shared)
    .map(({ access }) => access.kept())
    .find(({ length }) => length > 0) ?? layer.access(what).kept();

type Place = ReturnType<WeightAccess['kept']>[number];

const inModule = ({ shape, bytes }: Place): KeptState => ({
  shape,
  read: () => new Tensor(new Float32Array(bytes.slice().buffer), [...shape], 'float32'),
  write: (value) => {
    if (value === undefined) bytes.fill(0);
    else bytes.set(new Uint8Array(Float32Array.from(value.dataSync() as Float32Array).buffer));
  },
});

/**
 * What a call on tensors goes on with, and is to change; before the first zeros of these shapes. Error: another number of rows
 * than in the last call.
 */
export function keptStates(
  layer: Layer,
  rows: number,
  shapes: () => (readonly number[])[],
): KeptState[] {
  if (layer.inboundNodes.length === 0 && aliveStates(layer) === undefined) {
    const begin = shapes().map((shape) => variable(zeros(shape), false));
    kept.set(layer, begin);
  }
  const found = statesOf(layer, 'apply');
  const due = found[0]!.shape[0];
  if (due === rows) return found;
  throw new LatheError(
    `apply: layer "${layer.label}" keeps states of ${due} rows, got ${rows} rows`,
  );
}

export function resetStates(layer: Layer, states?: Tensor | Tensor[]): void {
  const all = statesOf(layer, 'resetStates');
  const given = states == null ? undefined : [states].flat();
  const fits = given?.every((each, at) => each.shape.join() === all[at]?.shape.join());
  if (given !== undefined && (given.length !== all.length || !fits)) {
    const shapes = all.map(({ shape }) => `[${shape.join(',')}]`).join(', ');
    throw new LatheError(`resetStates: layer "${layer.label}" keeps states of shapes ${shapes}`);
  }
  tidy(() => all.forEach((each, at) => each.write(given?.[at])));
}

const recurrent = ['SimpleRNN', 'GRU', 'RNN', 'LSTM', 'ConvLSTM2D'];

export function states(layer: Layer): (Tensor | null)[] | undefined {
  const at = recurrent.indexOf(layer.getClassName());
  if (at < 0) return undefined;
  const isNew = layer.inboundNodes.length === 0 && layer.shared.copies.size === 0;
  if (!layer.stateful || isNew) return Array<null>(at < 3 ? 1 : 2).fill(null);
  return statesOf(layer, 'states').map((each) => each.read());
}
