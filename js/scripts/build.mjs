// Builds the modules of the package into js/dist: the TypeScript sources, and the WebAssembly modules of build/wasm32, as files and
// inlined. `pack.mjs` packs them for npm. With --minimize these modules are minimized; with --draft only the parts that train in
// Node are built. Outputs newer than what they are made of stay.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { minimize, moduleFile, modules } from './minimize.mjs';
import { runProgram } from './run_program.mjs';
import { removeStale } from './stale.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dist = join(root, 'js/dist');
const isMinimized = process.argv.includes('--minimize');
const built = process.argv.includes('--draft') ? ['core'] : modules;
/** What tsc keeps of the last build, as js/tsconfig.json says. */
const buildInfo = join(root, 'build/js.tsbuildinfo');

const missing = built.map((name) => moduleFile(name)).find((file) => !existsSync(file));
if (missing !== undefined) {
  console.error(`js: ${relative(root, missing)} is missing; \`./dev build\` makes it`);
  process.exit(1);
}

// tsc does not write again what is missing or modified.
if (removeStale(join(root, 'js/src'), dist)) rmSync(buildInfo, { force: true });
await runProgram('typescript', 'tsc', '-p', join(root, 'js/tsconfig.json'));
if (isMinimized) await minimize();
for (const name of built) writeCore(name);
writeHash();
writeInlined('runtime/inlined_worker.js', await scriptOf('runtime/worker.js'));

/** The hash of the compiler, by which stored executables are found: another one compiles differently. */
function writeHash() {
  const file = join(dist, 'core/inlined_core_hash.js');
  const bytes = readFileSync(join(dist, 'core/lathe-core.wasm'));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const text = `export default '${hash}';\n`;
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
}

/** Writes a module of the core as a file and inlined in JavaScript. */
function writeCore(name) {
  const chosen = moduleFile(name, isMinimized ? '.min' : '');
  const inlined = `core/inlined_${name.replaceAll('-', '_')}.js`;
  const copy = join(dist, `core/lathe-${name}.wasm`);
  const bytes = readFileSync(chosen);
  const isSame =
    existsSync(copy) &&
    existsSync(join(dist, inlined)) &&
    statSync(join(dist, inlined)).mtimeMs >= statSync(copy).mtimeMs &&
    readFileSync(copy).equals(bytes);
  if (isSame) return;
  copyFileSync(chosen, copy);
  writeInlined(inlined, gzipSync(bytes, { level: 9 }).toString('base64'));
}

function writeInlined(file, text) {
  writeFileSync(join(dist, file), `export default ${JSON.stringify(text)};\n`);
}

/** Bundles a module with its imports into a classic script. */
async function scriptOf(module) {
  const entryPoints = [join(dist, module)];
  const { outputFiles } = await build({
    entryPoints,
    bundle: true,
    minify: true,
    format: 'iife',
    write: false,
  });
  return outputFiles[0].text;
}
