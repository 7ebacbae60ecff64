// Builds the npm package into js/dist: the TypeScript sources, and the compiler core from build/wasm32 made small.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dist = join(root, 'js/dist');
const core = join(root, 'build/wasm32/lathe-core.wasm');
const small = join(root, 'build/wasm32/lathe-core.min.wasm');

// Proposals by name: with all of them, wasm-opt writes what Node 20 refuses.
const FEATURES = ['bulk-memory', 'mutable-globals', 'nontrapping-float-to-int', 'sign-ext'];

rmSync(dist, { recursive: true, force: true });
run('typescript', 'tsc', '-p', join(root, 'js/tsconfig.json'));

if (!existsSync(core)) {
  console.error('js: build/wasm32/lathe-core.wasm is missing; `./dev build` makes it');
  process.exit(1);
}
if (!existsSync(small) || statSync(small).mtimeMs < statSync(core).mtimeMs) {
  const features = FEATURES.map((name) => `--enable-${name}`);
  const strip = ['--strip-debug', '--strip-producers', '--strip-target-features'];
  run('binaryen', 'wasm-opt', core, '-Os', ...features, ...strip, '-o', small);
}
mkdirSync(dist, { recursive: true });
copyFileSync(small, join(dist, 'lathe-core.wasm'));

/** Runs a program of an npm package; this process ends where that one fails. */
function run(name, program, ...args) {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  const script = join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin[program]);
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
