import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Files that this build itself writes beside those of tsc. */
const isOwn = (file) => /(^|\/)(inlined_\w+\.js|lathe-[\w-]+\.wasm)$/.test(file);

/**
 * Removes from the folder `dist` what belongs to no TypeScript file of `sources` anymore.
 * @returns whether the JavaScript or types of a source are missing, or anything was removed
 */
export function removeStale(sources, dist) {
  if (!existsSync(dist)) return true;
  const list = (folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => join(each.parentPath, each.name).slice(folder.length + 1));
  const expected = new Set(
    list(sources)
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
      .flatMap((file) =>
        ['.js', '.js.map', '.d.ts'].map((ending) => file.replace(/\.ts$/, ending)),
      ),
  );
  const present = list(dist);
  const stale = present.filter((file) => !expected.has(file) && !isOwn(file));
  for (const file of stale) rmSync(join(dist, file));
  const found = new Set(present);
  return stale.length > 0 || [...expected].some((file) => !found.has(file));
}
