// Builds the npm package into js/dist: the TypeScript sources, and the compiler core from build/wasm32.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dist = join(root, 'js/dist');
const core = join(root, 'build/wasm32/lathe-core.wasm');

const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
const tsc = join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin.tsc);
rmSync(dist, { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'js/tsconfig.json')], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

if (!existsSync(core)) {
  console.error('js: build/wasm32/lathe-core.wasm is missing; `./dev build` makes it');
  process.exit(1);
}
mkdirSync(dist, { recursive: true });
copyFileSync(core, join(dist, 'lathe-core.wasm'));
