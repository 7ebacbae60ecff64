// Keeps the network, the settings and code not used yet over a reload of the page, in localStorage. Runs no code.
import { type DataSet, wantedWidth } from './data/data_set';
import { isRow, type RowNetwork } from './network';
import { firstSettings, type Settings, state, watch } from './store';

/** What was kept, for data of one kind. */
export interface Kept {
  /** Absent where the network was code only, which is then the draft. */
  network?: RowNetwork;
  settings: Settings;
  draft?: string;
}

const key = 'tensorlathe-playground';

const kindOf = (data: DataSet) => `${data.shape.join('×')} → ${wantedWidth(data)}`;

/** Writes it down whenever something changes; where nothing can be kept the page works all the same. */
export function keepSession(draftOf: () => string | undefined): void {
  const keep = () => {
    const { data, network, settings } = state;
    if (data === undefined) return;
    const draft = isRow(network) ? draftOf() : (draftOf() ?? network.code);
    const kept: Kept = { settings, ...(isRow(network) ? { network } : {}) };
    if (draft !== undefined) kept.draft = draft;
    try {
      localStorage.setItem(key, JSON.stringify({ ...kept, kind: kindOf(data) }));
    } catch {
      // A full or forbidden store keeps nothing.
    }
  };
  watch(['network', 'settings'], keep);
  addEventListener('pagehide', keep);
}

/** What was kept for data of this kind. */
export function keptFor(data: DataSet): Kept | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? '{}') as Kept & { kind?: string };
    if (kept.kind !== kindOf(data)) return undefined;
    return { ...kept, settings: { ...firstSettings, ...kept.settings } };
  } catch {
    return undefined;
  }
}
