/** Lists, removes, copies and moves saved models: the model management of `tl.io`. */
import { LatheError } from '../base/errors.js';
import type { ModelArtifacts, ModelArtifactsInfo, SaveResult, ModelStore } from './artifacts.js';
import { openHandler, splitAddress, storeSchemes } from './handlers.js';

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

export async function removeModel(address: string): Promise<ModelArtifactsInfo> {
  const [store, name] = await storeOf(address, 'removeModel');
  return (await store.remove(name))!;
}

export async function copyModel(from: string, to: string): Promise<ModelArtifactsInfo> {
  return (await copy(from, to, 'copyModel')).info;
}

async function copy(
  from: string,
  to: string,
  where: string,
): Promise<{ artifacts: ModelArtifacts; info: ModelArtifactsInfo }> {
  if (from === to) throw new LatheError(`${where}: both addresses are ${from}`);
  const source = await openHandler(from, {}, where);
  const target = await openHandler(to, {}, where, 'save');
  if (source.load === undefined) throw new LatheError(`${where}: nothing loads from ${from}`);
  if (target.save === undefined) throw new LatheError(`${where}: nothing is saved to ${to}`);
  const artifacts = await source.load();
  const { modelArtifactsInfo: info } = (await target.save(artifacts)) as SaveResult;
  return { artifacts, info };
}

export async function moveModel(from: string, to: string): Promise<ModelArtifactsInfo> {
  const [store, name] = await storeOf(from, 'moveModel');
  for (;;) {
    const { artifacts, info } = await copy(from, to, 'moveModel');
    if ((await store.remove(name, artifacts)) !== undefined) return info;
  }
}

async function storeOf(address: string, where: string): Promise<[ModelStore, string]> {
  const [scheme, name] = splitAddress(address, Object.keys(storeSchemes), where);
  return [await storeSchemes[scheme]!(), name];
}
