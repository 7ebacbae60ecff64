// Changes of the network: every one is checked against the data at once, and can be undone. Knows no panel.
import type { DataSet } from './data/data_set';
import { check, isRow, type Network } from './network';
import type { Kept } from './session';
import { firstLoss, firstNetwork, fittedSettings } from './presets';
import { state, update } from './store';

const history: Network[] = [];
const most = 100;
let replaced: () => void = () => {};
let checkedAnew: () => void = () => {};

/** Calls back after the network was replaced as a whole, and after an option of a layer was changed. */
export function onEdit(callbacks: { replaced: () => void; checked: () => void }): void {
  ({ replaced, checked: checkedAnew } = callbacks);
}

function take(network: Network): void {
  const { data } = state;
  update({ network, checked: data === undefined ? undefined : check(network, data) });
}

function remember(): void {
  if (isRow(state.network) && state.network.layers.length === 0) return;
  history.push(state.network);
  if (history.length > most) history.shift();
}

/** Replaces the network. */
export function change(network: Network): void {
  remember();
  take(network);
  replaced();
}

/** Replaces the network where the page already shows it: a control has changed an option. */
export function replaceQuietly(network: Network): void {
  remember();
  take(network);
  checkedAnew();
}

export const canUndo = () => history.length > 0;

/** Brings the network of before the last change back. */
export function undo(): void {
  const before = history.pop();
  if (before === undefined) return;
  take(before);
  replaced();
}

/** The network and settings that were kept for the data which the page opens with. */
export function resume({ network, settings }: Kept): void {
  update({ settings });
  if (network !== undefined) change(network);
}

/** Whether a network for the data at hand suits these, too. */
export function isOfSameKind(data: DataSet): boolean {
  const before = state.data;
  return (
    before !== undefined &&
    String(before.shape) === String(data.shape) &&
    (before.classes?.length ?? 0) === (data.classes?.length ?? 0)
  );
}

/** Takes other data. Where the examples or classes are of another kind, a network that suits them is begun. */
export function takeData(data: DataSet): void {
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
