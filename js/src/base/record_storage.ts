/** Persistent storage of small binary records: files in Node, IndexedDB in browsers. Errors are left to the caller. */
import { nodeModule, nodeProcess } from './node.js';
import { cacheFolder, requestStore } from './storage.js';

/** Storage that is bounded: the least recently used records are removed. */
export interface RecordStorage {
  /** The bytes of a record; it is then the most recently used one. */
  get(name: string): Uint8Array<ArrayBuffer> | undefined;
  set(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  delete(name: string): Promise<void>;
  clear(): Promise<void>;
}

export interface RecordLimits {
  records: number;
  bytes: number;
}

/** The storage of this machine under a name; undefined where there is none or it is disabled. */
export async function openRecords(
  name: string,
  limits: RecordLimits,
): Promise<RecordStorage | undefined> {
  const folder = cacheFolder();
  if (folder !== undefined) return new Files(`${folder}/${name}`, limits);
  if (nodeProcess !== undefined || typeof indexedDB === 'undefined') return undefined;
  const records = new Database(`tensorlathe-${name}`, limits);
  await records.load();
  return records;
}

/** What exceeds the limits, of records in the order of their last use. */
function excess<Each extends { bytes: number }>(
  newestFirst: readonly Each[],
  { records, bytes }: RecordLimits,
): Each[] {
  let total = 0;
  return newestFirst.filter((each, at) => (total += each.bytes) > bytes || at >= records);
}

class Files implements RecordStorage {
  readonly #fs = nodeModule('node:fs');
  readonly #files = nodeModule('node:fs/promises');
  #last: Promise<void> = Promise.resolve();

  constructor(
    private readonly folder: string,
    private readonly limits: RecordLimits,
  ) {}

  get(name: string): Uint8Array<ArrayBuffer> | undefined {
    const path = `${this.folder}/${name}`;
    if (!this.#fs.existsSync(path)) return undefined;
    const now = Date.now() / 1000;
    this.#files.utimes(path, now, now).catch(() => {});
    return new Uint8Array(this.#fs.readFileSync(path));
  }

  /** One after the other, as each looks at all files. */
  set(name: string, bytes: Uint8Array): Promise<void> {
    const write = this.#last.then(() => this.#write(name, bytes));
    this.#last = write.catch(() => {});
    return write;
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    await this.#files.mkdir(this.folder, { recursive: true });
    const draft = `${this.folder}/${name}.${Math.random().toString(36).slice(2)}`;
    await this.#files.writeFile(draft, bytes);
    await this.#files.rename(draft, `${this.folder}/${name}`);
    const names: string[] = await this.#files.readdir(this.folder);
    const stats = names.map(async (each) => {
      const { size, mtimeMs } = await this.#files.stat(`${this.folder}/${each}`);
      return { name: each, bytes: size as number, used: mtimeMs as number };
    });
    // Other processes may have removed some since.
    const found = (await Promise.allSettled(stats)).flatMap((each) =>
      each.status === 'fulfilled' ? each.value : [],
    );
    const newestFirst = found.sort((a, b) => b.used - a.used);
    for (const each of excess(newestFirst, this.limits)) await this.delete(each.name);
  }

  async delete(name: string): Promise<void> {
    await this.#files.rm(`${this.folder}/${name}`, { force: true });
  }

  async clear(): Promise<void> {
    await this.#files.rm(this.folder, { recursive: true, force: true });
  }
}

interface Stored {
  name: string;
  used: number;
  content: Uint8Array<ArrayBuffer>;
}

const storeName = 'records';

/** All records are in memory, as programs cannot wait for one. */
class Database implements RecordStorage {
  #all = new Map<string, Stored>();

  constructor(
    private readonly database: string,
    private readonly limits: RecordLimits,
  ) {}

  async load(): Promise<void> {
    // Opening a missing database would create it, which costs milliseconds on a first visit.
    const all = await indexedDB.databases?.();
    if (all?.every(({ name }) => name !== this.database)) return;
    const records = await this.#request('readonly', (store) => store.getAll());
    this.#all = new Map((records as Stored[]).map((each) => [each.name, each]));
  }

  get(name: string): Uint8Array<ArrayBuffer> | undefined {
    const found = this.#all.get(name);
    if (found === undefined) return undefined;
    // Later than what the page is waiting for.
    setTimeout(() => void this.set(name, found.content).catch(() => {}), 1000);
    return found.content;
  }

  async set(name: string, content: Uint8Array<ArrayBuffer>): Promise<void> {
    const record = { name, used: Date.now(), content };
    this.#all.set(name, record);
    await this.#request('readwrite', (store) => store.put(record));
    const newestFirst = [...this.#all.values()].sort((a, b) => b.used - a.used);
    const sizes = newestFirst.map((each) => ({ name: each.name, bytes: each.content.length }));
    for (const each of excess(sizes, this.limits)) await this.delete(each.name);
  }

  async delete(name: string): Promise<void> {
    this.#all.delete(name);
    await this.#request('readwrite', (store) => store.delete(name));
  }

  async clear(): Promise<void> {
    this.#all.clear();
    await this.#request('readwrite', (store) => store.clear());
  }

  #request(
    mode: IDBTransactionMode,
    makeRequest: (store: IDBObjectStore) => IDBRequest,
  ): Promise<unknown> {
    const { database } = this;
    const options = { keyPath: 'name' };
    return requestStore({ database, store: storeName, options }, mode, makeRequest);
  }
}
