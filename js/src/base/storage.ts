/** Persistent storage of a string: a file in Node, IndexedDB in browsers. Errors are left to the caller. */
import { nodeModule, nodeProcess } from './node.js';

/** Storage of one string. */
export interface Storage {
  /** The stored string or undefined; synchronous in Node. */
  read(): string | undefined | Promise<string | undefined>;
  /** Replaces it; readers see the old or the new content, never a part. */
  write(content: string): Promise<void>;
}

/** The storage of this machine under a name, or undefined where there is none or it is disabled. */
export function openStorage(name: string): Storage | undefined {
  const folder = cacheFolder();
  if (folder !== undefined) return new File(`${folder}/${name}.json`);
  return nodeProcess !== undefined || typeof indexedDB === 'undefined'
    ? undefined
    : new Database(name);
}

/**
 * In Node the folder of what is stored on this machine: `TENSORLATHE_CACHE`, undefined if that is `off`. Default: that of the XDG
 * specification.
 */
export function cacheFolder(): string | undefined {
  if (nodeProcess === undefined) return undefined;
  const { TENSORLATHE_CACHE: folder, XDG_CACHE_HOME: caches, HOME, USERPROFILE } = nodeProcess.env;
  if (folder) return folder === 'off' ? undefined : folder;
  const home = HOME ?? USERPROFILE;
  const base = caches ?? (home === undefined ? undefined : `${home}/.cache`);
  return base === undefined ? undefined : `${base}/tensorlathe`;
}

class File implements Storage {
  constructor(private readonly path: string) {}

  read(): string | undefined {
    try {
      return nodeModule('node:fs').readFileSync(this.path, 'utf8');
    } catch (error) {
      if ((error as { code?: string }).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async write(content: string): Promise<void> {
    const { mkdir, rename, rm, writeFile } = nodeModule('node:fs/promises');
    const { dirname } = nodeModule('node:path');
    await mkdir(dirname(this.path), { recursive: true });
    const draft = `${this.path}.${nodeProcess!.pid}.${Math.random().toString(36).slice(2)}`;
    try {
      await writeFile(draft, content);
      await rename(draft, this.path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }
}

const databaseName = 'tensorlathe';
const storeName = 'texts';

class Database implements Storage {
  constructor(private readonly key: string) {}

  async read(): Promise<string | undefined> {
    // Opening a missing database would create it, which costs milliseconds on a first visit.
    const all = await indexedDB.databases?.();
    if (all?.every(({ name }) => name !== databaseName)) return undefined;
    const content = await this.#request('readonly', (store) => store.get(this.key));
    return typeof content === 'string' ? content : undefined;
  }

  async write(content: string): Promise<void> {
    await this.#request('readwrite', (store) => store.put(content, this.key));
  }

  #request(
    mode: IDBTransactionMode,
    makeRequest: (store: IDBObjectStore) => IDBRequest,
  ): Promise<unknown> {
    return requestStore({ database: databaseName, store: storeName }, mode, makeRequest);
  }
}

/** A request to the only object store of a database, which the first request creates. Rejects with its error. */
export async function requestStore(
  names: { database: string; store: string; options?: IDBObjectStoreParameters },
  mode: IDBTransactionMode,
  makeRequest: (store: IDBObjectStore) => IDBRequest,
): Promise<unknown> {
  const opening = indexedDB.open(names.database, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(names.store, names.options);
  const database = (await settled(opening)) as IDBDatabase;
  try {
    const transaction = database.transaction(names.store, mode);
    return await settled(makeRequest(transaction.objectStore(names.store)));
  } finally {
    database.close();
  }
}

/** The result of a request. */
function settled(request: IDBRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('IndexedDB failed'));
  });
}
