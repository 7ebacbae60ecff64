/** Handlers of model addresses, by scheme. */
import { LatheError } from '../base/errors.js';
import { nodeProcess } from '../base/node.js';
import { isSource, pathOf, type FileSource } from '../base/source.js';
import { isAddress } from '../base/kinds.js';
import { web } from '../base/web.js';
import { pageAddress } from './address.js';
import { type IOHandler, isObject, type LoadOptions, type ModelStore } from './artifacts.js';
import { isKeras, routers } from './routers.js';

/** The stores of models, by scheme. */
export const storeSchemes: Record<string, () => Promise<ModelStore>> = {
  'indexeddb://': async () => (await import('./indexed_db.js')).indexedDb,
  'localstorage://': async () => (await import('./local_storage.js')).localModels,
};

type Open = (rest: string, fullAddress: string, options: LoadOptions) => Promise<IOHandler>;

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

/** Splits an address into scheme and rest. Error: an unsupported scheme. */
export function splitAddress(
  address: string,
  supported: readonly string[],
  where: string,
): [scheme: string, rest: string] {
  const scheme = supported.find((each) => address.startsWith(each));
  if (scheme === undefined || address.length === scheme.length) {
    const fix =
      nodeProcess !== undefined && !/^(\w+:|(null|undefined)?$)/.test(address)
        ? `did you mean ${JSON.stringify(`file://${address}`)}?`
        : `supported schemes: ${supported.join(', ')}`;
    throw new LatheError(`${where}: ${JSON.stringify(address)} is not a model address; ${fix}`);
  }
  return [scheme, address.slice(scheme.length)];
}

/**
 * Resolves an address or a handler; an address without scheme is relative to the page, in Node a path. Schemes that are not
 * built in belong to routers; loading from any other is left to fetch.
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
  const supported = Object.keys(schemes);
  const isSupported = supported.some((each) => address.startsWith(each));
  const [routed] = (!isSupported && routers[use]?.(address, options)) || [];
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
  if (use === 'load' && !isSupported && isAddress(target) && address !== '') {
    const hasFetch =
      nodeProcess === undefined || options.fetchFunc !== undefined || web.isReplaced();
    if (hasFetch || /^(blob:|data:|[a-z][a-z0-9+.-]+:\/\/)/i.test(address)) return http(address);
    if (typeof pathOf(address) === 'string')
      return (await import('./file.js')).fileHandler(address, options);
  }
  const [scheme, rest] = splitAddress(address, supported, where);
  return schemes[scheme]!(rest, address, options);
}
