/** Lists, removes, copies and moves saved models. */
import { LatheError } from '../errors.js';
import type { ModelArtifactsInfo, SaveResult } from './artifacts.js';
import { type ModelStore, openHandler, splitAddress, storeSchemes } from './handlers.js';

/** The models in IndexedDB and localStorage, by address. */
export async function listModels(): Promise<Record<string, ModelArtifactsInfo>> {
  const result: Record<string, ModelArtifactsInfo> = {};
  const isThere: Record<string, boolean> = {
    'indexeddb://': typeof indexedDB !== 'undefined',
    'localstorage://': typeof localStorage !== 'undefined',
  };
  for (const [scheme, open] of Object.entries(storeSchemes)) {
    if (!isThere[scheme]) continue;
    const models = await (await open()).list();
    for (const [name, info] of Object.entries(models)) result[scheme + name] = info;
  }
  return result;
}

/** Removes a model from IndexedDB or localStorage. Error: it is not there. */
export async function removeModel(address: string): Promise<ModelArtifactsInfo> {
  const [store, name] = await storeOf(address, 'removeModel');
  return store.remove(name);
}

/** Copies a model from one address to another. Error: there is none. */
export async function copyModel(from: string, to: string): Promise<SaveResult> {
  if (from === to) throw new LatheError(`copyModel: both addresses are ${from}`);
  const source = await openHandler(from, {}, 'copyModel');
  const target = await openHandler(to, {}, 'copyModel');
  if (source.load === undefined) throw new LatheError(`copyModel: nothing loads from ${from}`);
  if (target.save === undefined) throw new LatheError(`copyModel: nothing is saved to ${to}`);
  return (await target.save(await source.load())) as SaveResult;
}

/** As `copyModel`, and then removes the first, which must be in IndexedDB or localStorage. */
export async function moveModel(from: string, to: string): Promise<SaveResult> {
  const [store, name] = await storeOf(from, 'moveModel');
  const result = await copyModel(from, to);
  await store.remove(name);
  return result;
}

async function storeOf(address: string, where: string): Promise<[ModelStore, string]> {
  const [scheme, name] = splitAddress(address, Object.keys(storeSchemes), where);
  return [await storeSchemes[scheme]!(), name];
}
