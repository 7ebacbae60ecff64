/**
 * What recurrent layers keep from one batch to the next: those of models in the module, others from one call on tensors to
 * the next as variables.
 */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import { type Variable, variable } from '../eager/variable.js';
import type { Layer } from '../layers/layer.js';
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

/**
 * What the last call on tensors left, before the first zeros of these shapes; the caller assigns what this one leaves.
 * Errors: the layer is part of a model; another number of rows than in the last call.
 */
export function keptStates(
  layer: Layer,
  rows: number,
  shapes: () => (readonly number[])[],
): readonly Variable[] {
  const fail = (why: string): never => {
    throw new LatheError(`apply: layer "${layer.label}" ${why}`);
  };
  if (layer.inboundNodes.length > 0) {
    fail("is part of a model, which keeps its states, and only in the model's own calls");
  }
  let found = aliveStates(layer);
  if (found === undefined) {
    found = shapes().map((shape) => variable(zeros(shape), false));
    kept.set(layer, found);
  }
  const due = found[0]!.shape[0];
  if (due !== rows) fail(`keeps states of ${due} rows, got ${rows} rows`);
  return found;
}

/** Error: it keeps none. */
function statesOf(layer: Layer, what: string): KeptState[] {
  if (!layer.stateful) {
    throw new LatheError(`${what}: layer "${layer.label}" keeps no states`);
  }
  const own = layer.inboundNodes.length > 0 ? undefined : aliveStates(layer);
  if (own === undefined) return layer.access(what).kept().map(inModule);
  return own.map((each) => ({
    shape: each.shape,
    read: () => each.clone(),
    write: (value = zeros(each.shape)) => each.assign(value),
  }));
}

const inModule = ({
  shape,
  bytes,
}: {
  shape: readonly number[];
  bytes: Uint8Array;
}): KeptState => ({
  shape,
  read: () => new Tensor(new Float32Array(bytes.slice().buffer), [...shape], 'float32'),
  write: (value) => {
    if (value === undefined) bytes.fill(0);
    else bytes.set(new Uint8Array(Float32Array.from(value.dataSync() as Float32Array).buffer));
  },
});

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
