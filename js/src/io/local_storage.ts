/** Small models in localStorage: one entry each, so that replacing one is atomic. */
import { fromBase64, toBase64 } from '../base/arrays.js';
import { LatheError } from '../base/errors.js';
import {
  areSame,
  type ModelArtifacts,
  type ModelArtifactsInfo,
  weightBytes,
  type WeightSpec,
  savedAs,
  type ModelStore,
} from './artifacts.js';

const prefix = 'tensorlathe_models/';

interface Stored extends Omit<ModelArtifacts, 'weightData'> {
  weightSpecs?: WeightSpec[];
  weightBase64: string;
  info: ModelArtifactsInfo;
}

export const localModels: ModelStore = {
  handler: (name) => ({
    async save(artifacts) {
      const result = savedAs(artifacts);
      const { weightData: _, ...rest } = artifacts;
      const weightBase64 = toBase64(new Uint8Array(weightBytes(artifacts)));
      const stored: Stored = { ...rest, weightBase64, info: result.modelArtifactsInfo };
      try {
        storage().setItem(prefix + name, JSON.stringify(stored));
      } catch (error) {
        if (error instanceof LatheError) throw error;
        const kilobytes = Math.ceil(weightBase64.length / 1024);
        throw new LatheError(
          `localStorage cannot store localstorage://${name}, ${kilobytes} KiB: ${String(error)}; ` +
            'use indexeddb://, which has a larger quota',
          { cause: error },
        );
      }
      return result;
    },
    load: async () => artifactsOf(name),
  }),
  async list() {
    const keys = Object.keys(storage()).filter((key) => key.startsWith(prefix));
    const models = keys.flatMap((key) => {
      const name = key.slice(prefix.length);
      const info = infoOf(name);
      return info === undefined ? [] : [[name, info] as const];
    });
    return Object.fromEntries(models);
  },
  async remove(name, only) {
    if (storage().getItem(prefix + name) === null) throw missing(name);
    if (only !== undefined && !areSame(artifactsOf(name), only)) return undefined;
    const info = infoOf(name);
    storage().removeItem(prefix + name);
    return info ?? emptyInfo;
  },
};

/** The summary of a model that is too damaged to read. */
const emptyInfo: ModelArtifactsInfo = {
  dateSaved: new Date(NaN),
  modelTopologyType: 'JSON',
  modelTopologyBytes: 0,
  weightSpecsBytes: 0,
  weightDataBytes: 0,
};

function storage(): Storage {
  if (typeof localStorage === 'undefined') throw new LatheError('there is no localStorage here');
  return localStorage;
}

/** Applies a function to an entry. Error: missing or damaged. */
function read<T>(name: string, make: (stored: Stored) => T): T {
  const text = storage().getItem(prefix + name);
  if (text === null) throw missing(name);
  try {
    const stored = JSON.parse(text) as Stored;
    if (typeof stored.weightBase64 !== 'string') throw new Error('it has no weights');
    return make(stored);
  } catch (error) {
    const reason = (error as Error).message;
    throw new LatheError(`localstorage://${name} is damaged: ${reason}`, { cause: error });
  }
}

function artifactsOf(name: string): ModelArtifacts {
  return read(name, ({ weightBase64, info: _, ...rest }) => {
    return { ...rest, weightData: fromBase64(weightBase64).buffer };
  });
}

function missing(name: string): LatheError {
  return new LatheError(`there is no model localstorage://${name}`);
}

/** Undefined if it is damaged. */
function infoOf(name: string): ModelArtifactsInfo | undefined {
  try {
    return read(name, ({ info }) => ({ ...info, dateSaved: new Date(info.dateSaved) }));
  } catch {
    return undefined;
  }
}
