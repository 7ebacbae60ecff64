// Makes of js/dist what npm publishes, in build/package: modules joined to few files, for `import` and for `require`, with
// their types; and all of the package in one file. What each entry is called, js/package.json says.
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../../', import.meta.url));
const source = join(root, 'js/dist');
const target = join(root, 'build/package');
const dist = join(target, 'dist');
const manifest = JSON.parse(readFileSync(join(root, 'js/package.json'), 'utf8'));

/** The exports that are modules of js/dist: what they are called, and their file in dist without its ending. */
const entries = Object.entries(manifest.exports)
  .filter(([name, each]) => each.import && name !== './bundle')
  .map(([name, each]) => [name, each.import.default.replace(/^\.\/dist\/|\.js$/g, '')]);

rmSync(target, { recursive: true, force: true });
mkdirSync(join(dist, 'core'), { recursive: true });
await writeModules();
await writeBundles();
writeTypes();
for (const name of ['lathe-core', 'lathe-text']) copyFile(`core/${name}.wasm`, `core/${name}.wasm`);
await buildWorker();
writeManifests();
for (const name of ['LICENSE', 'CHANGELOG.md', 'js/README.md']) {
  copyFileSync(join(root, name), join(target, name.replace('js/', '')));
}

function copyFile(from, to) {
  copyFileSync(join(source, from), join(dist, to));
}

/** Entries that only name what they export, one file with all that they load at once, and files that are loaded on demand. */
async function writeModules() {
  const input = Object.fromEntries(entries.map(([, file]) => [file, join(source, `${file}.js`)]));
  const kinds = [
    { format: 'esm', ending: 'js', platform: 'neutral' },
    { format: 'cjs', ending: 'cjs', platform: 'node' },
  ];
  let atOnce;
  for (const { format, ending, platform } of kinds) {
    const bundle = await rolldown({
      input,
      external: ['jsfive'],
      platform,
      onwarn: (warning) => fail(warning.message),
    });
    await bundle.write({
      dir: dist,
      format,
      entryFileNames: `[name].${ending}`,
      chunkFileNames: `core/[name].${ending}`,
      minify: true,
      // Tools that shake trees need them.
      comments: { annotation: true, legal: false, jsdoc: false },
      codeSplitting: {
        groups: [
          {
            debugName: 'main',
            name(id, context) {
              atOnce ??= reached(join(source, 'index.js'), context);
              return atOnce.has(id) ? 'main' : null;
            },
          },
        ],
      },
    });
  }
}

/** The modules that the entry imports at once, without itself. */
function reached(entry, context) {
  const found = new Set([entry]);
  for (const id of found) {
    for (const each of context.getModuleInfo(id)?.importedIds ?? []) found.add(each);
  }
  found.delete(entry);
  return found;
}

/** All in one file: a module, and a script whose one global is `tl`. */
async function writeBundles() {
  const options = {
    entryPoints: [join(source, 'index.js')],
    bundle: true,
    minify: true,
    target: 'es2022',
    external: ['node:*'],
    // There is nothing beside them.
    define: { 'import.meta.url': 'undefined' },
    logLevel: 'warning',
  };
  await build({ ...options, format: 'esm', outfile: join(dist, 'bundle.js') });
  await build({
    ...options,
    format: 'iife',
    globalName: 'tl',
    outfile: join(dist, 'bundle.global.js'),
  });
  writeFileSync(join(dist, 'bundle.cjs'), `module.exports = require('./index.cjs');\n`);
  writeFileSync(
    join(dist, 'bundle.d.ts'),
    `export * from './index.js';\nexport as namespace tl;\n`,
  );
}

/** The types twice: TypeScript tells modules of the two kinds apart by the folder. */
function writeTypes() {
  const isTypes = (path) => !/\.[a-z]+$/.test(path) || path.endsWith('.d.ts');
  cpSync(source, dist, { recursive: true, filter: isTypes });
  mkdirSync(join(dist, 'commonjs'));
  cpSync(source, join(dist, 'commonjs'), { recursive: true, filter: isTypes });
  copyFileSync(join(dist, 'bundle.d.ts'), join(dist, 'commonjs/bundle.d.ts'));
  writeFileSync(join(dist, 'commonjs/package.json'), '{ "type": "commonjs" }\n');
}

async function buildWorker() {
  await build({
    entryPoints: [join(source, 'runtime/worker.js')],
    bundle: true,
    minify: true,
    format: 'esm',
    outfile: join(dist, 'core/worker.js'),
  });
}

/** The manifest, and one in a folder for each further entry: tools that know no exports look there. */
function writeManifests() {
  const { scripts: _, ...published } = manifest;
  const folders = Object.entries(manifest.exports).filter(
    ([name, { require }]) => name !== '.' && require,
  );
  for (const [name, { import: module, require }] of folders) {
    const at = (file) => file.replace('./', '../');
    writeJson(join(target, name, 'package.json'), {
      main: at(require.default),
      module: at(module.default),
      types: at(require.types),
      sideEffects: manifest.sideEffects.map(at),
    });
  }
  const files = [...manifest.files, ...folders.map(([name]) => name.replace('./', ''))];
  writeJson(join(target, 'package.json'), { ...published, files });
}

function writeJson(file, value) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

function fail(message) {
  console.error(`js: ${message}`);
  process.exit(1);
}
