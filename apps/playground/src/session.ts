// Keeps the network, the settings and code not used yet over a reload of the page, in localStorage. Runs no code: other pages
// of the same origin may write there, so that code found there is a draft until a person presses the button that runs it.
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

/** Those that have the type of the first settings, which stand for the others. */
function settingsOf(kept: object): Settings {
  const known = Object.entries(firstSettings).map(([name, first]): [string, unknown] => {
    const value = Object.hasOwn(kept ?? {}, name) ? (kept as Record<string, unknown>)[name] : first;
    return [name, typeof value === typeof first ? value : first];
  });
  return Object.fromEntries(known) as unknown as Settings;
}

/** What was kept for data of this kind. */
export function keptFor(data: DataSet): Kept | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? '{}') as Kept & { kind?: string };
    if (kept.kind !== kindOf(data)) return undefined;
    const { network, draft } = kept as { network?: Partial<RowNetwork>; draft?: unknown };
    const isRowKept = Array.isArray(network?.layers);
    const code = draft ?? (isRowKept ? undefined : network?.code);
    return {
      settings: settingsOf(kept.settings),
      ...(isRowKept ? { network: network as RowNetwork } : {}),
      ...(typeof code === 'string' ? { draft: code } : {}),
    };
  } catch {
    return undefined;
  }
}
