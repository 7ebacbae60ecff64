/** Loads ONNX models and their external data. */
import { LatheError } from '../base/errors.js';
import {
  addressOf,
  isSource,
  nameOf,
  openSource,
  pathOf,
  trustedAddress,
  unreadable,
} from '../base/source.js';
import { bytesOf, describeKind } from '../base/kinds.js';
import { checkCount } from '../base/options.js';
import { Stop } from '../base/stop.js';
import { nodeModule } from '../base/node.js';
import { addressBelow, folderOf } from '../base/file_name.js';
import { fetchOf } from '../base/web.js';
import { mayDecode } from '../decode/candidates.js';
import type { decodingOf } from './decodable.js';
import { type FileBytes, OnnxFile } from './file.js';
import type { LoadModelOptions, ModelSource } from './options.js';
import { OnnxSession } from './session.js';

/** Options of `openSession`. */
export interface OpenOptions extends Omit<LoadModelOptions, 'sizes' | 'device' | 'strict'> {
  /** Default: on Wasm, with inputs on the host. */
  makeSession?: MakeSession;
}

/** Makes the session of a file. */
type MakeSession = (
  file: OnnxFile,
  threads: number | undefined,
  makeDecoding: typeof decodingOf | undefined,
) => OnnxSession;

const onWasm: MakeSession = (...args) => new OnnxSession(...args);

/** A model as a session whose inputs and outputs are arrays in the order of the model. */
export async function openSession(
  source: ModelSource,
  { onProgress, externalData, requestInit, threads, signal, makeSession = onWasm }: OpenOptions,
): Promise<OnnxSession> {
  if (threads !== undefined) checkCount('loadModel: threads', threads);
  const stop = new Stop('loadModel', { signal });
  const request = signal === undefined ? requestInit : { ...requestInit, signal };
  const model = trustedAddress(source);
  const readFile = (each: ModelSource, name: string) =>
    bytesAt(each, model, stop, request, onProgress && ((part) => onProgress(part, name)));
  const read = await readFile(source, nameOf(source, 'the model'));
  const file = await OnnxFile.open(read).catch(async (error: unknown) => {
    if (!(error instanceof LatheError)) throw error;
    // Service workers have no import().
    const formats = await import('../base/file_formats.js').catch(() => undefined);
    const found = formats?.describeFormat(read.bytes, 'an ONNX model') ?? '';
    const what = found === '' ? error.message : `this is no ONNX model: ${found}`;
    throw new LatheError(`${nameOf(source, 'loadModel')}: ${what}`);
  });
  try {
    for (const path of file.description.externalFiles) {
      const data = await externalSource(path, source, externalData);
      file.addExternal(path, await readFile(data, path));
    }
    const decodable = mayDecode(file.description) ? await import('./decodable.js') : undefined;
    return makeSession(file, threads, decodable?.decodingOf);
  } catch (error) {
    file.free();
    throw error;
  }
}

/** The source of external data: from the options, else the file in the folder of the model. */
async function externalSource(
  name: string,
  model: ModelSource,
  sources: LoadModelOptions['externalData'],
): Promise<ModelSource> {
  const chosen =
    typeof sources === 'function'
      ? await sources(name)
      : sources && Object.hasOwn(sources, name)
        ? sources[name]
        : undefined;
  if (chosen !== undefined) return chosen;
  const where = 'loadModel: external data must be in the folder of the model';
  const fix = 'give it as externalData';
  const path = pathOf(model);
  if (path !== undefined) {
    return (await import('../base/folder.js')).fileInFolder(path, name, where, fix);
  }
  const address = addressOf(model);
  if (address !== '') return addressBelow(folderOf(address), name, where, fix);
  throw new LatheError(`loadModel: the model has weights in the file '${name}'; ${fix}`);
}

/** Called with the loaded fraction of a file, undefined if its length is unknown. */
type Progress = (fraction: number | undefined) => void;

/** The bytes of a source. Errors: it cannot be read; `stop` is aborted. */
async function bytesAt(
  source: ModelSource,
  model: string,
  stop: Stop,
  requestInit?: RequestInit,
  onProgress?: Progress,
): Promise<FileBytes> {
  stop.check();
  const data = bytesOf(source);
  if (data !== undefined) return { bytes: data };
  if (!isSource(source)) {
    throw new LatheError(`loadModel: expects a URL, a path or bytes, got ${describeKind(source)}`);
  }
  try {
    const path = pathOf(source);
    if (path !== undefined) {
      const file = await fileAt(path);
      onProgress?.(1);
      return file;
    }
    const opened = await openSource(source, (address) => fetchOf(model, address, requestInit));
    return { bytes: await received(opened, onProgress) };
  } catch (error) {
    stop.check();
    const name = nameOf(source, 'the model');
    if ((error as { code?: string }).code === 'EISDIR') {
      throw (await import('../base/folder.js')).isFolder(name, pathOf(source)!);
    }
    throw unreadable(name, error);
  }
}

/** A file in Node, which may be reread unless it has changed. */
async function fileAt(path: string | URL): Promise<FileBytes> {
  const fs = nodeModule('node:fs');
  const stamp = () => {
    const { mtimeMs, size } = fs.statSync(path);
    return `${mtimeMs} ${size}`;
  };
  const before = stamp();
  const bytes: Uint8Array = await fs.promises.readFile(path);
  const reread = () => {
    if (stamp() === before) return fs.readFileSync(path);
    throw new LatheError(`${path} has changed since its model was loaded; reload the model`);
  };
  return { bytes, reread };
}

/** The body of a response, chunk by chunk to report progress. */
async function received(
  response: Blob | Response,
  onProgress: Progress | undefined,
): Promise<Uint8Array> {
  if (onProgress === undefined || !('body' in response) || response.body === null) {
    return new Uint8Array(await response.arrayBuffer());
  }
  const total = Number(response.headers.get('content-length') ?? 0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    size += value.length;
    onProgress(total > 0 ? Math.min(1, size / total) : undefined);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
