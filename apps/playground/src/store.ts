// The state of the page, and observers of its parts.
import type * as tl from 'tensorlathe';
import type { DataSet } from './data/data_set';
import type { Checked, Network } from './network';

/** Training settings. */
export interface Settings {
  loss: string;
  optimizer: string;
  learningRate: number;
  batchSize: number;
  epochs: number;
  /** Batches in the module's memory at once. */
  batchesInMemory: number;
  /** Batch sizes of `evaluate` and `predict`. */
  testSize: number;
  predictSize: number;
  /** Whether modules may use SIMD instructions, if the engine supports them. */
  simd: boolean;
}

/** Names of settings. */
export type SettingName = keyof Settings;

/** A model with weights, and its network and settings. */
export interface Trained {
  model: tl.LayersModel;
  network: Network;
  loss: string;
  optimizer: string;
  /** Whether its weights come from a saved model. */
  isLoaded?: boolean;
}

/** Current activity of the page. */
export type Phase = 'opening' | 'idle' | 'training' | 'paused' | 'busy';

export interface State {
  phase: Phase;
  /** Status text. */
  status: string;
  data: DataSet | undefined;
  network: Network;
  /** Result of building the network. */
  checked: Checked | undefined;
  settings: Settings;
  /** Error messages of invalid settings. */
  settingProblems: Partial<Record<SettingName, string>>;
  /** The last model that was trained or loaded; retained while the network is edited. */
  trained: Trained | undefined;
  /** Incremented when changed weights of the model should be displayed. */
  weightsRevision: number;
  /** The example that is drawn, entered or pointed at. */
  example: Float32Array | undefined;
  /** Rows of labels, columns of predictions over the validation data. */
  confusion: number[][] | undefined;
}

export const firstSettings: Settings = {
  loss: '',
  optimizer: 'adam',
  learningRate: 0.001,
  batchSize: 64,
  epochs: 10,
  batchesInMemory: 1,
  testSize: 64,
  predictSize: 32,
  simd: true,
};

export const state: State = {
  phase: 'opening',
  status: 'Starting …',
  data: undefined,
  network: { layers: [] },
  checked: undefined,
  settings: firstSettings,
  settingProblems: {},
  trained: undefined,
  weightsRevision: 0,
  example: undefined,
  confusion: undefined,
};

type Key = keyof State;
const watchers: { keys: readonly Key[]; callback: () => void }[] = [];

/** Calls back after any of these parts has changed. */
export function watch(keys: readonly Key[], callback: () => void): void {
  watchers.push({ keys, callback });
}

/** Updates parts of the state and notifies their observers, once each. */
export function update(changes: Partial<State>): void {
  const changed = (Object.keys(changes) as Key[]).filter((key) => state[key] !== changes[key]);
  Object.assign(state, changes);
  for (const { keys, callback } of watchers) {
    if (keys.some((key) => changed.includes(key))) callback();
  }
}

/** Whether the current model matches the displayed network. */
export const isCurrent = () =>
  state.trained !== undefined && state.trained.network === state.network;

/** Whether a training is in progress. */
export const isTraining = () => state.phase === 'training' || state.phase === 'paused';
