/** Models on a web server: loaded by fetch, saved as one upload. */
import { LatheError } from '../base/errors.js';
import { addressOf, nameOf, openSource, type FileSource, unreadable } from '../base/source.js';
import { TextDecoder } from '../base/text.js';
import { web } from '../base/web.js';
import { addressBelow } from './address.js';
import {
  checkLoadOptions,
  groupsOf,
  type IOHandler,
  type LoadOptions,
  modelJson,
  parseModelJson,
  weightBytes,
} from './artifacts.js';
import { assemble } from './assemble.js';
import { savedAs } from './handlers.js';

/** As `tl.io.http`. */
export function http(address: FileSource, options: LoadOptions = {}): IOHandler {
  checkLoadOptions('http', options);
  const { requestInit, fetchFunc = web.fetch, onProgress } = options;
  const { weightPathPrefix, weightUrlConverter } = options;
  const url = addressOf(address);
  const name = nameOf(address, 'the model');
  const get = async (each: FileSource): Promise<ArrayBuffer> => {
    try {
      const opened = await openSource(each, (place) => fetchFunc(place, requestInit));
      return await opened.arrayBuffer();
    } catch (error) {
      throw unreadable(nameOf(each, name), error);
    }
  };
  return {
    async load() {
      const json = parseModelJson(new TextDecoder().decode(await get(address)), name);
      const [, folder, query = ''] = /^([^?#]*\/)?[^?#]*(\?[^#]*)?/.exec(url)!;
      const isAlone = url === '' || /^(blob|data):/.test(url);
      const prefix = weightPathPrefix ?? (isAlone ? undefined : (folder ?? ''));
      const total = groupsOf(json).reduce((count, { paths }) => count + paths.length, 0);
      let arrived = 0;
      const groups = await Promise.all(
        groupsOf(json).map(({ paths }) =>
          Promise.all(
            paths.map(async (path) => {
              const below =
                prefix === undefined ? undefined : addressBelow(prefix, `${path}${query}`);
              const place = (await weightUrlConverter?.(path)) ?? below;
              if (place === undefined) {
                const where =
                  prefix === undefined
                    ? 'beside it; weightUrlConverter says where'
                    : `below ${prefix}`;
                throw new LatheError(`${name}: there is no ${JSON.stringify(path)} ${where}`);
              }
              const data = new Uint8Array(await get(place));
              onProgress?.(++arrived / total);
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
        throw new LatheError(`cannot save to ${url}: HTTP status ${response.status}`);
      }
      return { ...savedAs(artifacts), responses: [response] };
    },
  };
}
