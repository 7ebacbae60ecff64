/** Models on a web server: loaded by fetch, saved as one upload. */
import { LatheError } from '../base/errors.js';
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
export function http(address: string | URL, options: LoadOptions = {}): IOHandler {
  checkLoadOptions('http', options);
  const { requestInit, fetchFunc = web.fetch, onProgress } = options;
  const { weightPathPrefix, weightUrlConverter } = options;
  const url = String(address);
  const get = async (each: string): Promise<ArrayBuffer> => {
    let reason: string;
    try {
      const response = await fetchFunc(each, requestInit);
      if (response.ok) return await response.arrayBuffer();
      reason = `HTTP status ${response.status}`;
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    throw new LatheError(`cannot read ${each}: ${reason}`);
  };
  return {
    async load() {
      const json = parseModelJson(new TextDecoder().decode(await get(url)), url);
      const [, folder, query = ''] = /^([^?#]*\/)?[^?#]*(\?[^#]*)?/.exec(url)!;
      const prefix = weightPathPrefix ?? folder ?? '';
      const total = groupsOf(json).reduce((count, { paths }) => count + paths.length, 0);
      let arrived = 0;
      const groups = await Promise.all(
        groupsOf(json).map(({ paths }) =>
          Promise.all(
            paths.map(async (path) => {
              const place =
                (await weightUrlConverter?.(path)) ?? addressBelow(prefix, `${path}${query}`);
              if (place === undefined) {
                throw new LatheError(`${url}: there is no ${JSON.stringify(path)} below ${prefix}`);
              }
              const data = new Uint8Array(await get(place));
              onProgress?.(++arrived / total);
              return { path, data };
            }),
          ),
        ),
      );
      return assemble(json, groups, url);
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
