/** Models downloaded and uploaded by the user of a page. */
import { LatheError } from '../base/errors.js';
import {
  groupsOf,
  type IOHandler,
  modelJson,
  parseModelJson,
  weightBytes,
  savedAs,
} from './artifacts.js';
import { assemble, type WeightFile } from './assemble.js';

/** Saving downloads NAME.json and NAME.weights.bin. */
export function downloads(name: string): IOHandler {
  if (typeof document === 'undefined') throw new LatheError('downloads:// is for pages');
  return {
    async save(artifacts) {
      const weights = `${name}.weights.bin`;
      const json = modelJson(artifacts, [`./${weights}`]);
      await download(`${name}.json`, new Blob([json], { type: 'application/json' }));
      const type = 'application/octet-stream';
      await download(weights, new Blob([weightBytes(artifacts)], { type }));
      return savedAs(artifacts);
    },
  };
}

/** Downloads a file in the page. */
export async function download(name: string, content: Blob): Promise<void> {
  const anchor = document.createElement('a');
  anchor.download = name;
  anchor.href = URL.createObjectURL(content);
  anchor.click();
  // The download begins in a later task and needs the address until then.
  await new Promise((done) => setTimeout(done, 100));
  setTimeout(() => URL.revokeObjectURL(anchor.href), 60000);
}

/** As `tl.io.browserFiles`. */
export function chosen(all: readonly File[]): IOHandler {
  return {
    async load() {
      const jsons = all.filter(({ name }) => name.endsWith('.json'));
      if (jsons.length !== 1) {
        throw new LatheError(`browserFiles: one .json file is needed, there are ${jsons.length}`);
      }
      const [file] = jsons;
      const json = await parseModelJson(await file!.text(), file!.name);
      const read = async (path: string): Promise<WeightFile> => {
        const base = path.replace(/^.*[/\\]/, '');
        const found = all.find(({ name }) => name === base);
        if (found === undefined) {
          throw new LatheError(`browserFiles: ${file!.name} names ${base}, which is not there`);
        }
        return { path: base, data: new Uint8Array(await found.arrayBuffer()) };
      };
      const groups = await Promise.all(
        groupsOf(json).map(({ paths }) => Promise.all(paths.map(read))),
      );
      return assemble(json, groups, file!.name);
    },
  };
}
