// Builds the modules of the package into js/dist: the TypeScript sources, and the minimized compiler core from build/wasm32,
// as files and inlined. `pack.mjs` packs them for npm. With --quick the core is not minimized; with --draft neither, and only the
// parts that train in Node are built.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { namedByResemblance } from './order_functions.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dist = join(root, 'js/dist');
const isDraft = process.argv.includes('--draft');
const isMinimized = !isDraft && !process.argv.includes('--quick');
/** The longest first. */
const modules = isDraft
  ? ['core']
  : ['core-onnx', 'core', 'onnx', 'onnx-export', 'formats', 'text'];

// Proposals by name: with all of them, wasm-opt emits code that Node 20 rejects.
const FEATURES = ['bulk-memory', 'mutable-globals', 'nontrapping-float-to-int', 'sign-ext'];

// The linker puts the end of the stack at address 0, so nothing points into the first KiB.
const SMALL = [
  '-Oz',
  '--low-memory-unused',
  '--always-inline-max-function-size=4',
  '--one-caller-inline-max-function-size=0',
];
/** Passes of the first run, which reconstruct control flow from branches. */
const ANEW = ['--flatten', '--rereloop'];
const BARE = ['--strip-debug', '--strip-producers', '--strip-target-features'];

rmSync(dist, { recursive: true, force: true });
await run('typescript', 'tsc', '-p', join(root, 'js/tsconfig.json'));

// In parallel, as each runs on one processor.
const left = [...modules];
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) await writeCore(name);
  }),
);
writeInlined('runtime/inlined_worker.js', await scriptOf('runtime/worker.js'));

/** Writes a module of the core as a file and inlined in JavaScript. */
async function writeCore(name) {
  const built = join(root, `build/wasm32/lathe-${name}.wasm`);
  if (!existsSync(built)) {
    console.error(`js: build/wasm32/lathe-${name}.wasm is missing; \`./dev build\` makes it`);
    process.exit(1);
  }
  const chosen = isMinimized ? await smallOf(built) : built;
  copyFileSync(chosen, join(dist, `core/lathe-${name}.wasm`));
  const packed = gzipSync(readFileSync(chosen), { level: 9 }).toString('base64');
  writeInlined(`core/inlined_${name.replaceAll('-', '_')}.js`, packed);
}

/** The minimized module, rebuilt if it is older than the linked one. */
async function smallOf(built) {
  const small = built.replace(/wasm$/, 'min.wasm');
  if (!existsSync(small) || statSync(small).mtimeMs < statSync(built).mtimeMs)
    await shrink(built, small);
  return small;
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

/** Runs wasm-opt three times, then orders the functions for the best compression. */
async function shrink(built, small) {
  const features = FEATURES.map((feature) => `--enable-${feature}`);
  const left = `${small}.part`;
  const optimize = (from, ...how) =>
    run('binaryen', 'wasm-opt', from, ...how, ...BARE, ...features, '-o', left);
  await optimize(built, ...ANEW, ...SMALL);
  await optimize(left, ...SMALL);
  await optimize(left, ...SMALL);
  writeFileSync(left, namedByResemblance(readFileSync(left)));
  await optimize(left, '--reorder-functions-by-name');
  renameSync(left, small);
}

/** Runs a program of an npm package; exits if it fails. */
async function run(name, program, ...args) {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  const script = join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin[program]);
  const [status] = await once(
    spawn(process.execPath, [script, ...args], { stdio: 'inherit' }),
    'exit',
  );
  if (status !== 0) process.exit(status ?? 1);
}
