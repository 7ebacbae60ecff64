/** Models as folders of files, in Node. A folder contains a complete model at every moment, whenever a save is interrupted. */
import { LatheError, reasonOf } from '../base/errors.js';
import { fileInFolder } from '../base/folder.js';
import { nodeModule, nodeProcess } from '../base/node.js';
import { readSource } from '../base/source.js';
import { TextDecoder } from '../base/text.js';
import {
  type IOHandler,
  type LoadOptions,
  locationFix,
  type ModelArtifacts,
  modelJson,
  groupsOf,
  parseModelJson,
  weightBytes,
  savedAs,
} from './artifacts.js';
import { assemble } from './assemble.js';

/** The maximum size of one weight file, in bytes. */
const shardBytes = 4 * 2 ** 20;
/** Names of weight files: the tag distinguishes one save from any other. */
const shardName = /^group1-shard\d+of\d+-[0-9a-f]{16}\.bin$/;
/** Names of drafts of model.json, with the process and thread of the save. */
const planName = /^model\.json\.(\d+)-(\d+)-[0-9a-f]{12}\.draft$/;
/** How often a save is retried after other programs removed its draft. */
const maxAttempts = 100;

/** The path of a file address; as a string it may be relative: file://./model. */
export async function filePath(address: string | URL): Promise<string> {
  if (typeof address === 'string') return address.replace(/^file:\/\//, '');
  return (await nodeModule('node:url')).fileURLToPath(address);
}

/** A handler of a model folder, or of the path of its model.json. */
export function fileHandler(path: string, options: LoadOptions = {}): IOHandler {
  if (nodeProcess === undefined) {
    throw new LatheError(
      'file:// is for Node; pages have indexeddb://, downloads:// and browserFiles',
    );
  }
  return { save: (artifacts) => save(path, artifacts), load: () => load(path, options) };
}

async function load(path: string, options: LoadOptions): Promise<ModelArtifacts> {
  const { stat } = await nodeModule('node:fs/promises');
  const { join } = await nodeModule('node:path');
  const isFolder: boolean = await stat(path).then(
    (found: { isDirectory(): boolean }) => found.isDirectory(),
    () => false,
  );
  const file: string = isFolder ? join(path, 'model.json') : path;
  for (let text = await readText(file); ;) {
    try {
      return await assembled(text, file, options);
    } catch (error) {
      // A concurrent save has removed the weight files of this model.
      const now = await readText(file);
      if (now === text) throw error;
      text = now;
    }
  }
}

async function assembled(
  text: string,
  file: string,
  { weightUrlConverter }: LoadOptions = {},
): Promise<ModelArtifacts> {
  const json = await parseModelJson(text, file, weightUrlConverter !== undefined);
  const dataOf = async (name: string) => {
    const chosen = await weightUrlConverter?.(name);
    if (chosen !== undefined) return readSource(chosen, chosen);
    return read(await fileInFolder(file, name, file, locationFix));
  };
  const groups = await Promise.all(
    groupsOf(json).map(({ paths }) =>
      Promise.all(paths.map(async (path) => ({ path, data: await dataOf(path) }))),
    ),
  );
  return assemble(json, groups, file);
}

async function read(file: string): Promise<Uint8Array> {
  const { readFile } = await nodeModule('node:fs/promises');
  return readFile(file).catch((error: Error) => {
    throw new LatheError(`cannot read ${file}: ${error.message}`, { cause: error });
  });
}

async function readText(file: string): Promise<string> {
  return new TextDecoder().decode(await read(file));
}

/** The latest save per folder in this process: the next one waits for it. */
const queues = new Map<string, Promise<unknown>>();

async function save(path: string, artifacts: ModelArtifacts): Promise<object> {
  const { join, resolve } = await nodeModule('node:path');
  const [, format] = /\.(onnx|h5|hdf5|keras|tflite|pb)$/i.exec(path) ?? [];
  if (format !== undefined) {
    const hint = format.toLowerCase() === 'onnx' ? '; tl.toOnnx(model) makes an ONNX model' : '';
    throw new LatheError(
      `save: ${path}: models are saved as a folder with model.json and weights${hint}`,
    );
  }
  const folder: string = resolve(path.endsWith('model.json') ? join(path, '..') : path);
  const before = queues.get(folder) ?? Promise.resolve();
  const ownTurn = before.then(() => saveNext(folder, artifacts));
  const settled = ownTurn.catch(() => undefined);
  queues.set(folder, settled);
  try {
    return await ownTurn;
  } catch (error) {
    const reason = reasonOf(error);
    throw new LatheError(`cannot save to ${folder}: ${reason}`, { cause: error });
  } finally {
    if (queues.get(folder) === settled) queues.delete(folder);
  }
}

async function saveNext(folder: string, artifacts: ModelArtifacts): Promise<object> {
  const data = new Uint8Array(weightBytes(artifacts));
  if (!(await hasContent(folder, artifacts, data))) {
    for (let attempt = 1; !(await replaceModel(folder, artifacts, data)); ++attempt) {
      if (attempt === maxAttempts) throw new Error('other programs save there concurrently');
    }
  }
  await clear(folder);
  return savedAs(artifacts);
}

/** Whether the folder already contains exactly this model. */
async function hasContent(
  folder: string,
  artifacts: ModelArtifacts,
  data: Uint8Array,
): Promise<boolean> {
  const { join } = await nodeModule('node:path');
  const { Buffer } = await nodeModule('node:buffer');
  try {
    const file: string = join(folder, 'model.json');
    const text = await readText(file);
    if (text !== modelJson(artifacts, await pathsIn(text))) return false;
    const found = await assembled(text, file);
    return Buffer.compare(data, new Uint8Array(weightBytes(found))) === 0;
  } catch {
    return false;
  }
}

/** The weight files that a model.json names. */
async function pathsIn(text: string): Promise<string[]> {
  return groupsOf(await parseModelJson(text, 'model.json')).flatMap(({ paths }) => paths);
}

/**
 * Writes the model under fresh names, then replaces model.json atomically. The
 * draft of model.json marks the save: it exists before the weight files that it names. A process that
 * considers a save dead removes its draft, then its weight files; a save that was alive then fails to
 * rename and restarts. So concurrent saves need no lock. Returns false if that has happened.
 */
async function replaceModel(
  folder: string,
  artifacts: ModelArtifacts,
  data: Uint8Array,
): Promise<boolean> {
  const { mkdir, rename, rm } = await nodeModule('node:fs/promises');
  const { join } = await nodeModule('node:path');
  const { randomBytes } = await nodeModule('node:crypto');
  const { threadId } = await nodeModule('node:worker_threads');
  const tag = (bytes: number): string => randomBytes(bytes).toString('hex');
  const count = Math.ceil(data.length / shardBytes);
  const suffix = `of${count}-${tag(8)}.bin`;
  const names = Array.from({ length: count }, (_, at) => `group1-shard${at + 1}${suffix}`);
  const plan: string = join(folder, `model.json.${nodeProcess!.pid}-${threadId}-${tag(6)}.draft`);
  await mkdir(folder, { recursive: true });
  await writeNew(plan, modelJson(artifacts, names));
  try {
    for (const [at, name] of names.entries()) {
      await writeNew(join(folder, name), data.subarray(at * shardBytes, (at + 1) * shardBytes));
    }
    await syncFolder(folder);
    await rename(plan, join(folder, 'model.json'));
  } catch (error) {
    const whyNot = await rm(plan).catch((reason: unknown) => reason);
    if (isMissing(whyNot)) return false;
    for (const name of whyNot === undefined ? names : []) {
      await rm(join(folder, name), { force: true }).catch(() => undefined);
    }
    throw error;
  }
  await syncFolder(folder);
  return true;
}

/** Removes the weight files that neither model.json nor an ongoing save references. */
async function clear(folder: string): Promise<void> {
  const { readdir, rm } = await nodeModule('node:fs/promises');
  const { join } = await nodeModule('node:path');
  const { threadId } = await nodeModule('node:worker_threads');
  // Saves that begin from here on have no files in this list; one that completes by then is in model.json.
  const shards = ((await readdir(folder)) as string[]).filter((name) => shardName.test(name));
  const used = new Set<string>();
  const markUsed = async (file: string) => {
    for (const path of await pathsIn(await readText(join(folder, file)))) used.add(path);
  };
  for (const name of (await readdir(folder)) as string[]) {
    const plan = planName.exec(name);
    if (plan === null) continue;
    if (isAlive(Number(plan[1]), Number(plan[2]), threadId))
      await markUsed(name).catch(() => undefined);
    else await rm(join(folder, name), { force: true });
  }
  const isReadable = await markUsed('model.json').then(
    () => true,
    () => false,
  );
  for (const name of isReadable ? shards : []) {
    if (!used.has(name)) await rm(join(folder, name), { force: true });
  }
}

/** Whether another process or thread may be saving; saves within this thread are queued. */
function isAlive(pid: number, thread: number, currentThread: number): boolean {
  if (pid === nodeProcess!.pid) return thread !== currentThread;
  try {
    nodeProcess!.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}

function isMissing(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code === 'ENOENT';
}

/** Writes a new file. Error: it exists. */
async function writeNew(path: string, content: Uint8Array | string): Promise<void> {
  const { open, rm } = await nodeModule('node:fs/promises');
  const file = await open(path, 'wx');
  try {
    await file.writeFile(content);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true }).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}

/** Replaces a file atomically, also across a crash. */
export async function replaceFile(path: string, content: Uint8Array | string): Promise<void> {
  const { rename, rm } = await nodeModule('node:fs/promises');
  const { randomBytes } = await nodeModule('node:crypto');
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  await writeNew(draft, content);
  try {
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Flushes directory entries to disk, where the system supports it. */
async function syncFolder(path: string): Promise<void> {
  const { open } = await nodeModule('node:fs/promises');
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}
