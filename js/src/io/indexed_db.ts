/** Models in IndexedDB, in the database of TensorFlow.js, so that both share saved models. */
import { LatheError } from '../base/errors.js';
import {
  areSame,
  type ModelArtifacts,
  type ModelArtifactsInfo,
  weightBytes,
  savedAs,
  type ModelStore,
} from './artifacts.js';

const databaseName = 'tensorflowjs';
const modelStore = 'models_store';
const infoStore = 'model_info_store';

interface Stored {
  modelPath: string;
  modelArtifacts: ModelArtifacts;
  modelArtifactsInfo: ModelArtifactsInfo;
}

export const indexedDb: ModelStore = {
  handler: (name) => ({
    async save(artifacts) {
      const result = savedAs(artifacts);
      const { modelArtifactsInfo } = result;
      const modelArtifacts = { ...artifacts, weightData: weightBytes(artifacts) };
      await transact('readwrite', (models, infos) => {
        infos.put({ modelPath: name, modelArtifactsInfo });
        return models.put({ modelPath: name, modelArtifacts, modelArtifactsInfo });
      });
      return result;
    },
    async load() {
      const found = (await transact('readonly', (models) => models.get(name))) as
        Stored | undefined;
      if (found === undefined) throw new LatheError(`there is no model indexeddb://${name}`);
      return found.modelArtifacts;
    },
  }),
  async list() {
    const infos = (await transact('readonly', (_, each) => each.getAll())) as Stored[];
    return Object.fromEntries(infos.map((each) => [each.modelPath, each.modelArtifactsInfo]));
  },
  async remove(name, only) {
    let isOther = false;
    const found = (await transact('readwrite', (models, infos) => {
      const reading = (only === undefined ? infos : models).get(name) as IDBRequest<Stored>;
      reading.onsuccess = () => {
        const { result } = reading;
        isOther =
          only !== undefined && result !== undefined && !areSame(result.modelArtifacts, only);
        if (isOther) return;
        infos.delete(name);
        models.delete(name);
      };
      return reading;
    })) as Stored | undefined;
    if (found === undefined) throw new LatheError(`there is no model indexeddb://${name}`);
    return isOther ? undefined : found.modelArtifactsInfo;
  },
};

/** Runs an atomic transaction over both stores. */
async function transact(
  mode: IDBTransactionMode,
  run: (models: IDBObjectStore, infos: IDBObjectStore) => IDBRequest,
): Promise<unknown> {
  if (typeof indexedDB === 'undefined') throw new LatheError('there is no IndexedDB here');
  const opening = indexedDB.open(databaseName, 1);
  opening.onupgradeneeded = () => {
    for (const store of [modelStore, infoStore]) {
      opening.result.createObjectStore(store, { keyPath: 'modelPath' });
    }
  };
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(refusal(opening.error));
  });
  try {
    const transaction = database.transaction([modelStore, infoStore], mode);
    const [models, infos] = [modelStore, infoStore].map((name) => transaction.objectStore(name));
    return await new Promise((resolve, reject) => {
      const request = run(models!, infos!);
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(refusal(transaction.error));
    });
  } catch (error) {
    throw error instanceof DOMException ? refusal(error) : error;
  } finally {
    database.close();
  }
}

function refusal(error: DOMException | null): LatheError {
  return new LatheError(`IndexedDB failed: ${error?.message ?? 'no reason reported'}`, {
    cause: error,
  });
}
