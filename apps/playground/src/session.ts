// Saves the network, the settings and unused code in localStorage, across reloads. Runs no code: other pages
// of the same origin may write there, so that code found there is a draft until the user runs it.
import { type DataSet, outputWidth } from './data/data_set';
import { isRow, type RowNetwork } from './network';
import { firstSettings, type Settings, state, watch } from './store';

/** A saved session, for data of one kind. */
export interface SavedSession {
  /** Absent where the network was code only, which is then the draft. */
  network?: RowNetwork;
  settings: Settings;
  draft?: string;
}

const key = 'tensorlathe-playground';

const kindOf = (data: DataSet) => `${data.shape.join('×')} → ${outputWidth(data)}`;

/** Saves the session whenever something changes; failures of the storage are ignored. */
export function saveSessionOnChange(draftOf: () => string | undefined): void {
  const save = () => {
    const { data, network, settings } = state;
    if (data === undefined) return;
    const draft = isRow(network) ? draftOf() : (draftOf() ?? network.code);
    const saved: SavedSession = { settings, ...(isRow(network) ? { network } : {}) };
    if (draft !== undefined) saved.draft = draft;
    try {
      localStorage.setItem(key, JSON.stringify({ ...saved, kind: kindOf(data) }));
    } catch {
      // The storage is full or not permitted.
    }
  };
  watch(['network', 'settings'], save);
  addEventListener('pagehide', save);
}

/** The saved settings that have the type of the defaults; defaults for others. */
function settingsOf(saved: object): Settings {
  const entries = Object.entries(firstSettings).map(([name, first]): [string, unknown] => {
    const value = Object.hasOwn(saved ?? {}, name)
      ? (saved as Record<string, unknown>)[name]
      : first;
    return [name, typeof value === typeof first ? value : first];
  });
  return Object.fromEntries(entries) as unknown as Settings;
}

/** The saved session for data of this kind. */
export function savedSessionFor(data: DataSet): SavedSession | undefined {
  try {
    const saved = JSON.parse(localStorage.getItem(key) ?? '{}') as SavedSession & { kind?: string };
    if (saved.kind !== kindOf(data)) return undefined;
    const { network, draft } = saved as { network?: Partial<RowNetwork>; draft?: unknown };
    const hasLayers = Array.isArray(network?.layers);
    const code = draft ?? (hasLayers ? undefined : network?.code);
    return {
      settings: settingsOf(saved.settings),
      ...(hasLayers ? { network: network as RowNetwork } : {}),
      ...(typeof code === 'string' ? { draft: code } : {}),
    };
  } catch {
    return undefined;
  }
}
