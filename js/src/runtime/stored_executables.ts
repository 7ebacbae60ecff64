/**
 * Executables of models of layers, stored on the device: what an earlier visit compiled need not be compiled again. Loaded with the
 * compiler where storage is allowed. Independent of what models compute.
 */
import { openRecords, type RecordStorage } from '../base/record_storage.js';
import { TextDecoder, TextEncoder } from '../base/text.js';
import {
  type BufferInfo,
  byteLength,
  type CompileRequest,
  type Dump,
  type ContractionInfo,
  type ModelConfig,
  type ModuleMetadata,
  type Schedule,
} from '../core/abi.js';
import {
  CoreExecutable,
  CoreModel,
  type ExecutableStore,
  useExecutables,
} from '../core/handles.js';
import compilerHash from '../core/inlined_core_hash.js';
import type { ModuleParts } from '../core/parts.js';
import { env } from './env.js';

/** Changes with the encoding of records. */
const version = 1;
const limits = { records: 64, bytes: 2 ** 22 };
const maxRecordBytes = 2 ** 20;
const name = 'executables';

/** Custom layers and losses are functions of the page, of which nothing is known. */
const isHosted = /"host":/;
/** What depends on the seed of the model. */
const isRandom = /dropout|noise|random/i;

let records: Promise<RecordStorage | undefined> | undefined;

/** Uses the executables of this device from now on. Without storage, or if it fails, models are compiled as always. */
export async function openExecutables(): Promise<void> {
  try {
    const storage = await (records ??= openRecords(name, limits));
    if (storage !== undefined) useExecutables(new StoredExecutables(storage));
  } catch {
    // Storage is forbidden or damaged.
  }
}

/** Removes the stored executables. Error: that of the storage. */
export async function clearExecutables(): Promise<void> {
  await (await (records ??= openRecords(name, limits)))?.clear();
}

class StoredExecutables implements ExecutableStore {
  constructor(private readonly storage: RecordStorage) {}

  find(model: CoreModel, request: CompileRequest): CoreExecutable | undefined {
    const key = keyOf(model, request);
    if (key === undefined) return undefined;
    try {
      const bytes = this.storage.get(key);
      return bytes && new StoredExecutable(model, request, decode(bytes));
    } catch {
      this.storage.delete(key).catch(() => {});
      return undefined;
    }
  }

  add(model: CoreModel, request: CompileRequest, executable: CoreExecutable): void {
    const key = keyOf(model, request);
    if (key === undefined) return;
    const bytes = encode(executable.metadata(), executable.parts());
    // Storage that is full or forbidden stores nothing.
    if (bytes.length <= maxRecordBytes) this.storage.set(key, bytes).catch(() => {});
  }
}

/** What determines the code: compiler, layers, and the request, which names the features of the engine. */
function keyOf({ json }: CoreModel, request: CompileRequest): string | undefined {
  const { dumps, origins } = request;
  if (dumps !== undefined || origins || !env().get('EXECUTABLE_CACHE')) return undefined;
  const config = JSON.parse(json) as ModelConfig;
  const what = JSON.stringify([
    isRandom.test(json) ? config : { ...config, seed: undefined },
    request,
  ]);
  if (isHosted.test(what)) return undefined;
  return hashOf(new TextEncoder().encode(`${version} ${compilerHash} ${what}`));
}

/** An executable that is not compiled in this visit, unless more than its module is asked for. */
class StoredExecutable extends CoreExecutable {
  readonly #config: ModelConfig;
  readonly #request: CompileRequest;
  readonly #stored: Stored;
  #compiled: CoreExecutable | undefined;

  constructor(model: CoreModel, request: CompileRequest, stored: Stored) {
    super(model.core, model.request('compile', { ...request, onlyStates: true }));
    this.#config = JSON.parse(model.json) as ModelConfig;
    this.#request = request;
    this.#stored = stored;
  }

  override metadata(): ModuleMetadata {
    return JSON.parse(this.#stored.metadata) as ModuleMetadata;
  }

  override parts(): ModuleParts {
    const { code, segments } = this.#stored;
    return { code, segments };
  }

  override initial(_: ModuleMetadata, states: readonly BufferInfo[]): Uint8Array[] {
    const known = super.metadata();
    const byName = new Map(known.states.map((each) => [each.name, each]));
    const sampled = states.flatMap((each) => byName.get(each.name) ?? []);
    const contents = super.initial(known, sampled);
    return states.map((each) => {
      const info = byName.get(each.name);
      return info === undefined
        ? new Uint8Array(byteLength(each))
        : contents[sampled.indexOf(info)]!;
    });
  }

  override dumps(): Dump[] {
    return [];
  }

  override contractions(): ContractionInfo[] {
    return this.#compile().contractions();
  }

  override kernel(key: string, schedule: Schedule): CoreExecutable {
    return this.#compile().kernel(key, schedule);
  }

  override bytes(): Uint8Array<ArrayBuffer> {
    return this.#compile().bytes();
  }

  override withStates(states: Uint8Array): CoreExecutable {
    return this.#compile().withStates(states);
  }

  override free(): void {
    super.free();
    this.#compiled?.free();
  }

  /** Of a model of its own, as the first may be freed. */
  #compile(): CoreExecutable {
    if (this.#compiled?.alive !== true) {
      const model = new CoreModel(this.#config);
      this.#compiled = new CoreExecutable(model.core, model.request('compile', this.#request));
      model.free();
    }
    return this.#compiled;
  }
}

interface Stored extends ModuleParts {
  metadata: string;
}

interface Header {
  metadata: string;
  /** Of the code, and of each segment with its offset in memory. */
  codeBytes: number;
  segments: [offset: number, bytes: number][];
}

const hashBytes = 16;

/** Hash, length of the header, header, code, segments. */
function encode(
  metadata: ModuleMetadata,
  { code, segments }: ModuleParts,
): Uint8Array<ArrayBuffer> {
  const header: Header = {
    metadata: JSON.stringify(metadata),
    codeBytes: code.length,
    segments: segments.map(({ offset, data }) => [offset, data.length]),
  };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const parts = [text, code, ...segments.map(({ data }) => data)];
  const first = hashBytes + Uint32Array.BYTES_PER_ELEMENT;
  const bytes = new Uint8Array(parts.reduce((sum, each) => sum + each.length, first));
  new DataView(bytes.buffer).setUint32(hashBytes, text.length);
  let at = first;
  for (const each of parts) {
    bytes.set(each, at);
    at += each.length;
  }
  bytes.set(new TextEncoder().encode(hashOf(bytes.subarray(hashBytes))));
  return bytes;
}

/** Error: the bytes are damaged. */
function decode(bytes: Uint8Array<ArrayBuffer>): Stored {
  const hash = new TextDecoder().decode(bytes.subarray(0, hashBytes));
  if (hashOf(bytes.subarray(hashBytes)) !== hash) throw new Error('the record is damaged');
  let at = hashBytes + Uint32Array.BYTES_PER_ELEMENT;
  const next = (count: number) => bytes.subarray(at, (at += count));
  const headerBytes = new DataView(bytes.buffer, bytes.byteOffset).getUint32(hashBytes);
  const header = JSON.parse(new TextDecoder().decode(next(headerBytes))) as Header;
  const code = next(header.codeBytes);
  const segments = header.segments.map(([offset, count]) => ({ offset, data: next(count) }));
  return { metadata: header.metadata, code, segments };
}

/** 64 bits in hexadecimal, of two chains of multiplications as in MurmurHash (A. Appleby, 2008). */
function hashOf(bytes: Uint8Array): string {
  let [a, b] = [0xdeadbeef ^ bytes.length, 0x41c6ce57];
  for (const each of bytes) {
    a = Math.imul(a ^ each, 0x9e3779b1);
    b = Math.imul(b ^ each, 0x5bd1e995) ^ (b >>> 15);
    a ^= a >>> 16;
  }
  const hex = (word: number) => (word >>> 0).toString(16).padStart(8, '0');
  return hex(Math.imul(a ^ (b >>> 13), 0x85ebca6b) ^ a) + hex(b ^ (b >>> 16));
}
