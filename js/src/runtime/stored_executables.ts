/**
 * Executables of models of layers and of functions, stored on the device: what an earlier visit compiled need not be compiled again.
 * Loaded with the compiler where storage is allowed. Independent of what they compute.
 */
import { openRecords, type RecordStorage } from '../base/record_storage.js';
import { TextDecoder, TextEncoder } from '../base/text.js';
import {
  type BufferInfo,
  byteLength,
  type CompileRequest,
  type ContractionInfo,
  type Dump,
  type GraphRequest,
  type ModelConfig,
  type ModuleMetadata,
  type Schedule,
} from '../core/abi.js';
import {
  CoreExecutable,
  type CoreGraph,
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

type Source = CoreModel | CoreGraph;
type Request = CompileRequest | GraphRequest;

let records: Promise<RecordStorage | undefined> | undefined;

/** Uses the executables of this device from now on. Without storage, or if it fails, everything is compiled as always. */
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

  find(source: Source, request: Request): CoreExecutable | undefined {
    const key = keyOf(source, request);
    if (key === undefined) return undefined;
    try {
      const bytes = this.storage.get(key);
      return bytes && executableOf(source, request, decode(bytes));
    } catch {
      this.storage.delete(key).catch(() => {});
      return undefined;
    }
  }

  add(source: Source, request: Request, executable: CoreExecutable): void {
    const key = keyOf(source, request);
    if (key === undefined) return;
    const bytes = encode(executable.metadata(), executable.parts());
    // Storage that is full or forbidden stores nothing.
    if (bytes.length <= maxRecordBytes) this.storage.set(key, bytes).catch(() => {});
  }
}

/** What determines the code: compiler, layers or graph, and the request, which names the features of the engine. */
function keyOf(source: Source, request: Request): string | undefined {
  const { dumps, origins } = request;
  if (dumps !== undefined || origins || !env().get('EXECUTABLE_CACHE')) return undefined;
  const options = JSON.stringify(request);
  if (isHosted.test(options)) return undefined;
  const content = contentOf(source);
  if (content === undefined) return undefined;
  const kind = source instanceof CoreModel ? 'model' : 'graph';
  const text = `${version} ${compilerHash} ${kind} ${options}`;
  return hashOf(joined([new TextEncoder().encode(text), ...content]));
}

/** Undefined if it cannot be stored. */
function contentOf(source: Source): Uint8Array[] | undefined {
  if (source instanceof CoreModel) {
    const { json } = source;
    if (isHosted.test(json)) return undefined;
    const config = JSON.parse(json) as ModelConfig;
    const what = isRandom.test(json) ? json : JSON.stringify({ ...config, seed: undefined });
    return [new TextEncoder().encode(what)];
  }
  const { from, bytes, size, constants } = source.bytes();
  const parts = [[bytes, size] as const, ...constants];
  const lengths = Uint32Array.from(parts, ([, length]) => length);
  if (lengths.reduce((sum, each) => sum + each, 0) > maxRecordBytes) return undefined;
  return [new Uint8Array(lengths.buffer), ...parts.map(([at, length]) => from.view(at, length))];
}

function executableOf(source: Source, request: Request, stored: Stored): CoreExecutable {
  if (!(source instanceof CoreModel)) {
    const compile = () => source.compileNow(request as GraphRequest);
    return new StoredExecutable(source.core, 0, stored, compile);
  }
  const options = request as CompileRequest;
  const config = JSON.parse(source.json) as ModelConfig;
  const states = source.request('compile', { ...options, onlyStates: true });
  return new StoredExecutable(source.core, states, stored, () => {
    // Of a model of its own, as the first may be freed.
    const model = new CoreModel(config);
    const compiled = new CoreExecutable(model.core, model.request('compile', options));
    model.free();
    return compiled;
  });
}

/** An executable that is not compiled in this visit, unless more than its module is asked for. */
class StoredExecutable extends CoreExecutable {
  #compiled: CoreExecutable | undefined;

  /** `states`: an executable that knows their initial values; 0 if there is none. */
  constructor(
    core: CoreExecutable['core'],
    states: CoreExecutable['handle'],
    private readonly stored: Stored,
    private readonly compile: () => CoreExecutable,
  ) {
    super(core, states);
  }

  override metadata(): ModuleMetadata {
    return JSON.parse(this.stored.metadata) as ModuleMetadata;
  }

  override parts(): ModuleParts {
    const { code, segments } = this.stored;
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
    return this.#whole().contractions();
  }

  override kernel(key: string, schedule: Schedule): CoreExecutable {
    return this.#whole().kernel(key, schedule);
  }

  override bytes(): Uint8Array<ArrayBuffer> {
    return this.#whole().bytes();
  }

  override withStates(states: Uint8Array): CoreExecutable {
    return this.#whole().withStates(states);
  }

  override free(): void {
    super.free();
    this.#compiled?.free();
  }

  #whole(): CoreExecutable {
    if (this.#compiled?.alive !== true) this.#compiled = this.compile();
    return this.#compiled;
  }
}

interface Stored extends ModuleParts {
  metadata: string;
}

interface Header {
  metadata: string;
  codeBytes: number;
  segments: [offset: number, bytes: number][];
}

const hashBytes = 16;
const wordBytes = Uint32Array.BYTES_PER_ELEMENT;

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
  const length = new Uint8Array(Uint32Array.of(text.length).buffer);
  const content = joined([length, text, code, ...segments.map(({ data }) => data)]);
  return joined([new TextEncoder().encode(hashOf(content)), content]);
}

/** Error: the bytes are damaged. */
function decode(bytes: Uint8Array<ArrayBuffer>): Stored {
  const hash = new TextDecoder().decode(bytes.subarray(0, hashBytes));
  const content = bytes.subarray(hashBytes);
  if (hashOf(content) !== hash) throw new Error('the record is damaged');
  const [headerBytes] = new Uint32Array(content.slice(0, wordBytes).buffer);
  let at = wordBytes;
  const next = (count: number) => content.subarray(at, (at += count));
  const header = JSON.parse(new TextDecoder().decode(next(headerBytes!))) as Header;
  const code = next(header.codeBytes);
  const segments = header.segments.map(([offset, count]) => ({ offset, data: next(count) }));
  return { metadata: header.metadata, code, segments };
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, each) => sum + each.length, 0));
  let at = 0;
  for (const each of parts) {
    bytes.set(each, at);
    at += each.length;
  }
  return bytes;
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
