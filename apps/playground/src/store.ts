// The state of the page in one place, and who wants to know when a part of it changes. Knows no panel.
import type * as tl from 'tensorlathe';
import type { DataSet } from './data/data_set';
import type { Checked, Network } from './network';

/** How to train. */
export interface Settings {
  loss: string;
  optimizer: string;
  learningRate: number;
  batchSize: number;
  epochs: number;
  /** Batches that the module finds in its memory at once. */
  batchesInMemory: number;
  /** Rows of a call of `evaluate` and of `predict`. */
  testSize: number;
  predictSize: number;
  /** Whether modules may use SIMD instructions, where the engine has them. */
  simd: boolean;
}

/** Settings by their names. */
export type SettingName = keyof Settings;

/** A model with weights, and what it was made of. */
export interface Trained {
  model: tl.LayersModel;
  network: Network;
  loss: string;
  optimizer: string;
  /** Whether its weights come from a saved model. */
  isLoaded?: boolean;
}

/** What the page does now. */
export type Phase = 'opening' | 'idle' | 'training' | 'paused' | 'busy';

export interface State {
  phase: Phase;
  /** What the page says of what it does. */
  status: string;
  data: DataSet | undefined;
  network: Network;
  /** What building the network gave. */
  checked: Checked | undefined;
  settings: Settings;
  /** What is wrong with settings that were not taken, for people. */
  settingProblems: Partial<Record<SettingName, string>>;
  /** The last model that was trained or loaded; it stays while the network is edited. */
  trained: Trained | undefined;
  /** Counts up whenever the weights of the model may have changed and are worth showing. */
  weightsRevision: number;
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
  confusion: undefined,
};

type Key = keyof State;
const watchers: { keys: readonly Key[]; callback: () => void }[] = [];

/** Calls back after any of these parts has changed. */
export function watch(keys: readonly Key[], callback: () => void): void {
  watchers.push({ keys, callback });
}

/** Changes parts of the state and tells who watches them, once each. */
export function update(changes: Partial<State>): void {
  const changed = (Object.keys(changes) as Key[]).filter((key) => state[key] !== changes[key]);
  Object.assign(state, changes);
  for (const { keys, callback } of watchers) {
    if (keys.some((key) => changed.includes(key))) callback();
  }
}

/** Whether the model at hand is the network that the page shows. */
export const isCurrent = () =>
  state.trained !== undefined && state.trained.network === state.network;

/** Whether a training is under way. */
export const isTraining = () => state.phase === 'training' || state.phase === 'paused';
