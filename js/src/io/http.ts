/** Models on a web server: loaded by fetch, saved as one upload. */
import { LatheError } from '../base/errors.js';
import {
  addressOf,
  nameOf,
  openSource,
  trustedAddress,
  type FileSource,
  unreadable,
} from '../base/source.js';
import { TextDecoder } from '../base/text.js';
import { addressBelow, folderOf } from '../base/file_name.js';
import type { Fetch } from '../base/headers.js';
import { fetchOf, web } from '../base/web.js';
import {
  checkLoadOptions,
  groupsOf,
  type IOHandler,
  type LoadOptions,
  modelJson,
  locationFix,
  parseModelJson,
  weightBytes,
  savedAs,
} from './artifacts.js';
import { assemble } from './assemble.js';

/** As `tl.io.http`. */
export function http(address: FileSource, options: LoadOptions = {}): IOHandler {
  checkLoadOptions('http', options);
  const { requestInit, fetchFunc = web.fetch, onProgress } = options;
  const { weightPathPrefix, weightUrlConverter } = options;
  const url = addressOf(address);
  const model = trustedAddress(address);
  const name = nameOf(address, 'the model');
  const get = async (each: FileSource, opens?: () => void): Promise<ArrayBuffer> => {
    try {
      const opened = await openSource(each, (one) =>
        fetchOf(model, one, requestInit, fetchFunc as Fetch),
      );
      opens?.();
      return await opened.arrayBuffer();
    } catch (error) {
      throw unreadable(nameOf(each, name), error);
    }
  };
  return {
    async load() {
      const json = await parseModelJson(
        new TextDecoder().decode(await get(address)),
        name,
        weightUrlConverter !== undefined,
      );
      const [, query = ''] = /^[^?#]*(\?[^#]*)?/.exec(url)!;
      const hasNoFolder = url === '' || /^(blob|data):/.test(url);
      const prefix = weightPathPrefix ?? (hasNoFolder ? undefined : folderOf(url));
      const total = groupsOf(json).reduce((count, { paths }) => count + paths.length, 0);
      // Progress counts a file when it responds, and when it is complete.
      let arrived = 0;
      const progress = () => onProgress?.(++arrived / (2 * total));
      const groups = await Promise.all(
        groupsOf(json).map(({ paths }) =>
          Promise.all(
            paths.map(async (path) => {
              const chosen = await weightUrlConverter?.(path);
              if (chosen === undefined && prefix === undefined) {
                throw new LatheError(
                  `${name}: there is no ${JSON.stringify(path)} next to it; ${locationFix}`,
                );
              }
              const fileUrl = chosen ?? addressBelow(prefix!, path, name, locationFix) + query;
              const data = new Uint8Array(await get(fileUrl, progress));
              progress();
              return { path, data };
            }),
          ),
        ),
      );
      return assemble(json, groups, name);
    },
    async save(artifacts) {
      const form = new FormData();
      const file = (content: BlobPart, type: string) => new Blob([content], { type });
      const weights = 'model.weights.bin';
      const text = modelJson(artifacts, [`./${weights}`]);
      form.append('model.json', file(text, 'application/json'), 'model.json');
      form.append(weights, file(weightBytes(artifacts), 'application/octet-stream'), weights);
      const response = await fetchFunc(url, { method: 'POST', ...requestInit, body: form });
      if (!response.ok) {
        // What servers answer that take no POST.
        const isRejected = /^(404|405|501)$/.test(String(response.status));
        const hint = isRejected ? '; indexeddb://NAME and downloads://NAME need no server' : '';
        throw new LatheError(`cannot save to ${url}: HTTP status ${response.status}${hint}`);
      }
      return { ...savedAs(artifacts), responses: [response] };
    },
  };
}
