/** Models as folders of files, in Node. A folder holds a whole model at every moment, whenever saving ends. */
import { LatheError } from '../errors.js';
import { nodeModule, nodeProcess } from '../storage.js';
import {
  assemble,
  type IOHandler,
  type ModelArtifacts,
  modelJson,
  parseModelJson,
  weightBytes,
} from './artifacts.js';
import { savedAs } from './handlers.js';

/** The most bytes of one weight file. */
const shardBytes = 4 * 2 ** 20;
/** Names of weight files: the digest tells the files of one saving from those of the next. */
const shardName = /^group1-shard\d+of\d+-[0-9a-f]{16}\.bin$/;
const draftName = /\.[0-9a-f]{12}\.draft$/;

/** The path of a file address; as text it may be relative: file://./model. */
export async function filePath(address: string | URL): Promise<string> {
  if (typeof address === 'string') return address.replace(/^file:\/\//, '');
  return (await nodeModule('node:url')).fileURLToPath(address);
}

/** A model in a folder, or one by the path of its model.json. */
export function fileHandler(path: string): IOHandler {
  if (nodeProcess === undefined) {
    throw new LatheError(
      'file:// is for Node; pages have indexeddb://, downloads:// and browserFiles',
    );
  }
  return { save: (artifacts) => save(path, artifacts), load: () => load(path) };
}

async function load(path: string): Promise<ModelArtifacts> {
  const { readFile, stat } = await nodeModule('node:fs/promises');
  const { dirname, join } = await nodeModule('node:path');
  const read = (file: string): Promise<Uint8Array> =>
    readFile(file).catch((error: Error) => {
      throw new LatheError(`cannot read ${file}: ${error.message}`, { cause: error });
    });
  const isFolder: boolean = await stat(path).then(
    (found: { isDirectory(): boolean }) => found.isDirectory(),
    () => false,
  );
  const file: string = isFolder ? join(path, 'model.json') : path;
  const json = parseModelJson(new TextDecoder().decode(await read(file)), file);
  const groups = await Promise.all(
    json.weightsManifest.map(({ paths }) =>
      Promise.all(
        paths.map(async (name) => ({ path: name, data: await read(join(dirname(file), name)) })),
      ),
    ),
  );
  return assemble(json, groups, file);
}

/**
 * Weight files get names that no model in the folder uses; model.json, the only file that is
 * replaced, comes last and by renaming. Then the files of the model before go.
 */
async function save(path: string, artifacts: ModelArtifacts): Promise<object> {
  const { mkdir, readdir, rm } = await nodeModule('node:fs/promises');
  const { join } = await nodeModule('node:path');
  const folder = path.endsWith('model.json') ? join(path, '..') : path;
  const data = new Uint8Array(weightBytes(artifacts));
  const digest = await digestOf(data);
  const count = Math.ceil(data.length / shardBytes);
  const names = Array.from(
    { length: count },
    (_, at) => `group1-shard${at + 1}of${count}-${digest}.bin`,
  );
  try {
    await mkdir(folder, { recursive: true });
    for (const [at, name] of names.entries()) {
      const shard = data.subarray(at * shardBytes, (at + 1) * shardBytes);
      await replaceFile(join(folder, name), shard);
    }
    await syncFolder(folder);
    await replaceFile(join(folder, 'model.json'), modelJson(artifacts, names));
    await syncFolder(folder);
    for (const name of (await readdir(folder)) as string[]) {
      const isOld = draftName.test(name) || (shardName.test(name) && !names.includes(name));
      if (isOld) await rm(join(folder, name), { force: true });
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LatheError(`cannot save to ${folder}: ${reason}`, { cause: error });
  }
  return savedAs(artifacts);
}

async function digestOf(data: Uint8Array): Promise<string> {
  const { createHash } = await nodeModule('node:crypto');
  return createHash('sha256').update(data).digest('hex').slice(0, 16);
}

/** Writes a file that has its old content or all of the new one, also after a crash. */
export async function replaceFile(path: string, content: Uint8Array | string): Promise<void> {
  const { open, rename, rm } = await nodeModule('node:fs/promises');
  const { randomBytes } = await nodeModule('node:crypto');
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  try {
    const file = await open(draft, 'wx');
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Makes new names in a folder last; where the system has no such call, nothing. */
async function syncFolder(path: string): Promise<void> {
  const { open } = await nodeModule('node:fs/promises');
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}
