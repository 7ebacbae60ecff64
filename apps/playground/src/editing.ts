// Edits of the network: each is checked against the data immediately, and can be undone.
import type { DataSet } from './data/data_set';
import { check, isRow, type Network } from './network';
import type { SavedSession } from './session';
import { firstLoss, firstNetwork, fittedSettings } from './presets';
import { state, update } from './store';

const history: Network[] = [];
const maxHistory = 100;
let replaced: () => void = () => {};
let checkedAnew: () => void = () => {};

/** Calls back after the network was replaced, and after an option of a layer was changed. */
export function onEdit(callbacks: { replaced: () => void; checked: () => void }): void {
  ({ replaced, checked: checkedAnew } = callbacks);
}

function setNetwork(network: Network): void {
  const { data } = state;
  update({ network, checked: data === undefined ? undefined : check(network, data) });
}

function remember(): void {
  if (isRow(state.network) && state.network.layers.length === 0) return;
  history.push(state.network);
  if (history.length > maxHistory) history.shift();
}

/** Replaces the network. */
export function change(network: Network): void {
  remember();
  setNetwork(network);
  replaced();
}

/** Replaces the network by one that the page already displays: a control changed an option. */
export function replaceQuietly(network: Network): void {
  remember();
  setNetwork(network);
  checkedAnew();
}

export const canUndo = () => history.length > 0;

/** Undoes the last change of the network. */
export function undo(): void {
  const before = history.pop();
  if (before === undefined) return;
  setNetwork(before);
  replaced();
}

/** Restores the network and settings that were saved for the initial data. */
export function resume({ network, settings }: SavedSession): void {
  update({ settings });
  if (network !== undefined) change(network);
}

/** Whether a network for the current data also fits these. */
export function isOfSameKind(data: DataSet): boolean {
  const before = state.data;
  return (
    before !== undefined &&
    String(before.shape) === String(data.shape) &&
    (before.classes?.length ?? 0) === (data.classes?.length ?? 0)
  );
}

/** Replaces the data. If the examples or classes are of another kind, the network is replaced by a preset. */
export function useData(data: DataSet): void {
  const before = state.data;
  const isSame = isOfSameKind(data);
  update({ data });
  if (isSame) return;
  const isOther =
    before === undefined || (before.classes === undefined) !== (data.classes === undefined);
  const settings = { ...state.settings, ...fittedSettings(data) };
  if (isOther) settings.loss = firstLoss(data);
  update({ settings, settingProblems: {} });
  change(firstNetwork(data));
}
