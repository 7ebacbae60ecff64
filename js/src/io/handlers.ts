/** Where models can be, by the scheme of an address. */
import { LatheError } from '../base/errors.js';
import { nodeProcess } from '../base/node.js';
import { isSource, pathOf, type FileSource } from '../base/source.js';
import { isAddress } from '../base/kinds.js';
import { web } from '../base/web.js';
import { pageAddress } from './address.js';
import {
  infoOf,
  type IOHandler,
  isObject,
  type LoadOptions,
  type ModelArtifacts,
  type ModelArtifactsInfo,
  type SaveResult,
} from './artifacts.js';
import { isKeras, routers } from './routers.js';

/** A place that keeps models by name and can list and remove them. */
export interface ModelStore {
  handler(name: string, options: LoadOptions): IOHandler;
  list(): Promise<Record<string, ModelArtifactsInfo>>;
  /** With `only`, another model stays: then it gives nothing. Error: there is no model of this name. */
  remove(name: string, only?: ModelArtifacts): Promise<ModelArtifactsInfo | undefined>;
}

/** The stores of models, by scheme. */
export const storeSchemes: Record<string, () => Promise<ModelStore>> = {
  'indexeddb://': async () => (await import('./indexed_db.js')).indexedDb,
  'localstorage://': async () => (await import('./local_storage.js')).localModels,
};

type Open = (rest: string, whole: string, options: LoadOptions) => Promise<IOHandler>;

const schemes: Record<string, Open> = {
  'file://': async (path, _, options) => (await import('./file.js')).fileHandler(path, options),
  'http://': async (_, url, options) => (await import('./http.js')).http(url, options),
  'https://': async (_, url, options) => (await import('./http.js')).http(url, options),
  'downloads://': async (name) => (await import('./browser_files.js')).downloads(name),
  ...Object.fromEntries(
    Object.entries(storeSchemes).map(([scheme, open]): [string, Open] => [
      scheme,
      async (name, _, options) => (await open()).handler(name, options),
    ]),
  ),
};

/** Splits an address into scheme and rest. Error: no scheme that is known. */
export function splitAddress(
  address: string,
  known: readonly string[],
  where: string,
): [scheme: string, rest: string] {
  const scheme = known.find((each) => address.startsWith(each));
  if (scheme === undefined || address.length === scheme.length) {
    throw new LatheError(
      `${where}: ${JSON.stringify(address)} is no place for models; they begin with ${known.join(', ')}`,
    );
  }
  return [scheme, address.slice(scheme.length)];
}

/**
 * What an address or a handler means; an address without scheme is relative to the page, in Node a path. Schemes that are not
 * known here are those of routers; what is loaded of others, fetch may know.
 */
export async function openHandler(
  target: FileSource | IOHandler,
  options: LoadOptions,
  where: string,
  use: 'save' | 'load' = 'load',
): Promise<IOHandler> {
  const http = async (source: FileSource) => (await import('./http.js')).http(source, options);
  if (isObject(target) && !isSource(target)) return target;
  if (isSource(target) && !isAddress(target) && use === 'load') return http(target);
  let address = String(target);
  if (isObject(target) && address.startsWith('file:')) {
    const { filePath } = await import('./file.js');
    address = `file://${await filePath(target as unknown as URL)}`;
  }
  const known = Object.keys(schemes);
  const isKnown = known.some((each) => address.startsWith(each));
  const [routed] = (!isKnown && routers[use]?.(address, options)) || [];
  if (routed !== undefined) return routed;
  const base = pageAddress();
  const hasScheme = /^[a-z][a-z0-9+.-]+:/i.test(address);
  if (!hasScheme && base !== undefined && address !== '') address = new URL(address, base).href;
  if (isKeras(address)) {
    if (routers.keras !== undefined) return routers.keras(address);
    throw new LatheError(
      `${where}: for ${address} import fromKeras of the module tensorlathe/keras`,
    );
  }
  if (use === 'load' && !isKnown && isAddress(target) && address !== '') {
    const hasFetch =
      nodeProcess === undefined || options.fetchFunc !== undefined || web.isReplaced();
    if (hasFetch || /^(blob:|data:|[a-z][a-z0-9+.-]+:\/\/)/i.test(address)) return http(address);
    if (typeof pathOf(address) === 'string')
      return (await import('./file.js')).fileHandler(address, options);
  }
  const [scheme, rest] = splitAddress(address, known, where);
  return schemes[scheme]!(rest, address, options);
}

/** What saving gives. */
export function savedAs(artifacts: ModelArtifacts): SaveResult {
  return { modelArtifactsInfo: infoOf(artifacts) };
}
