/** Files in the folder of a model, in Node. */
import { LatheError } from './errors.js';
import { staysInFolder } from './file_name.js';
import { nodeModule } from './node.js';
import { unreadable } from './source.js';

/**
 * The path, without links, of a named file in the folder of a model. Links may lead to files of that folder, and of the
 * folder that a link to the model resolves to, as in download caches. Errors: the name or a link leaves them; no
 * regular file.
 */
export async function fileInFolder(
  model: string | URL,
  name: unknown,
  where: string,
  fix: string,
): Promise<string> {
  const { realpath, stat } = nodeModule('node:fs').promises;
  const { dirname, join } = nodeModule('node:path');
  const path: string =
    typeof model === 'string' ? model : nodeModule('node:url').fileURLToPath(model);
  const fail = (what: string): never => {
    throw new LatheError(`${where}: ${what}; ${fix}`);
  };
  if (!staysInFolder(name)) return fail(`there is no ${JSON.stringify(name)} in its folder`);
  // Not path.join, which would drop a link before "..".
  const file = `${dirname(path)}/${name}`;
  try {
    const real: string = await realpath(file);
    const target: string = await realpath(path).catch(() => path);
    const folders: string[] = [await realpath(dirname(path)), dirname(target)];
    if (!folders.some((folder) => real.startsWith(join(folder, '/')))) {
      return fail(`${JSON.stringify(name)} is a link that leaves the folder of the model`);
    }
    if (!(await stat(real)).isFile()) return fail(`${JSON.stringify(name)} is no regular file`);
    return real;
  } catch (error) {
    throw error instanceof LatheError ? error : unreadable(join(file), error);
  }
}

/** The error of a path that is a folder instead of an ONNX model, with the models in it. */
export function isFolder(name: string, folder: string | URL): LatheError {
  const { readdirSync } = nodeModule('node:fs');
  const path = typeof folder === 'string' ? folder : nodeModule('node:url').fileURLToPath(folder);
  const files = (below: string): string[] => {
    try {
      const all: string[] = readdirSync(`${path}${below}`).sort();
      return all.map((file) => `${name.replace(/\/$/, '')}${below}/${file}`);
    } catch {
      return [];
    }
  };
  // Hugging Face has them in a folder onnx.
  const models = [...files(''), ...files('/onnx')].filter((file) => file.endsWith('.onnx'));
  const found = models.slice(0, 3).join(', ') + (models.length > 3 ? ', …' : '');
  const hint = files('').some((file) => file.endsWith('/model.json'))
    ? 'tl.loadLayersModel reads its model.json'
    : models.length > 0
      ? `load one of its files: ${found}`
      : 'no file in it is an ONNX model';
  return new LatheError(`${name} is a folder; ${hint}`);
}
