// Packs js/dist into build/package for npm: a few files for pages; the same with tree shaking for bundlers, and with short lines
// for Node, which prints those of uncaught errors; for `require`; and all in one file. js/package.json lists the entries.
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { rolldown } from 'rolldown';
import { lazy } from './lazy.mjs';
import { noticesOf } from './notices.mjs';
import { mapped, relocate, replaceIn } from './source_maps.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const source = join(root, 'js/dist');
const target = join(root, 'build/package');
const dist = join(target, 'dist');
const manifest = JSON.parse(readFileSync(join(root, 'js/package.json'), 'utf8'));

/** Entries in separate files, which share no chunks with the others. */
const separate = ['./bundle', './training-module'];
const fileOf = (each) => each.import.default.replace(/^\.\/dist\/|\.js$/g, '');
/** The exports that are modules of js/dist: their names, and their files in dist without extension. */
const entries = Object.entries(manifest.exports)
  .flatMap(([name, each]) => [[name, each], ...(each.node ? [[name, each.node]] : [])])
  .filter(([name, each]) => each.import && !separate.includes(name))
  .map(([name, each]) => [name, fileOf(each)]);

/** The modules, by their absolute paths, whose code is in the package. */
const bundled = new Set();

/** The path of a module of js/dist in the package. */
const inModules = (path) => path.replace('./dist/', './dist/modules/');

rmSync(target, { recursive: true, force: true });
const isCode = (path) => /\.js(\.map)?$/.test(path) && !/inlined_\w+\.js$/.test(path);
cpSync(source, join(dist, 'modules'), { recursive: true, filter: (path) => !isCode(path) });
await writeFew();
await writeBundles();
writeSources();
writeNotices();
writeTypes();
writeManifests();
cpSync(join(root, 'js/bin'), join(target, 'bin'), { recursive: true });
for (const name of ['LICENSE', 'CHANGELOG.md', 'js/README.md']) {
  copyFileSync(join(root, name), join(target, name.replace('js/', '')));
}

/**
 * Entries that only re-export, one chunk with everything that is loaded initially, and chunks that are loaded on demand. Some
 * bundlers create a chunk for each set of shared modules, so modules that belong together are in one file for them, too.
 */
async function writeFew() {
  // Chunks are in the folder of the files that they locate by URL.
  const kinds = [
    { format: 'esm', dir: dist, chunks: 'modules/core/[name].min', ending: 'js' },
    { format: 'cjs', dir: dist, chunks: 'modules/core/[name].min', ending: 'cjs' },
    { format: 'esm', dir: join(dist, 'modules'), chunks: 'core/[name]', ending: 'js' },
  ];
  /** Sets of modules, once the first bundle knows what imports what. */
  let sets;
  for (const { format, dir, chunks, ending } of kinds) {
    const isForPages = format === 'esm' && dir === dist;
    // Pages never load the entry for Node.
    const files = entries.map(([, file]) => file);
    const used = files.filter((file) => !isForPages || file !== 'index_full');
    const input = Object.fromEntries(used.map((file) => [file, join(source, `${file}.js`)]));
    const bundle = await rolldown({
      input,
      external: Object.keys(manifest.peerDependencies),
      plugins: [
        { name: 'inlined', resolveId: findInlined },
        mapped,
        { name: 'bundled', generateBundle: (_, files) => noteModules(files) },
        { name: 'runtime', generateBundle: (_, files) => format === 'esm' && inlineRuntime(files) },
        { name: 'pure', generateBundle: (_, files) => dir === dist && dropMarks(files) },
      ],
      platform: format === 'cjs' ? 'node' : 'neutral',
      preserveEntrySignatures: dir === dist ? 'exports-only' : 'allow-extension',
      onwarn: (warning) => fail(warning.message),
    });
    await bundle.write({
      dir,
      format,
      exports: 'named',
      entryFileNames: `[name].${ending}`,
      chunkFileNames: `${chunks}.${ending}`,
      minify: isForPages,
      // Others are as readable as the sources.
      sourcemap: isForPages,
      codeSplitting: {
        // Few requests for pages; tree shaking for bundlers.
        groups: (dir === dist
          ? ['main', 'deferred', 'onnx']
          : ['onnx', 'preload', 'core', 'tensors', 'main', 'tfjs_layers', 'routers', 'files']
        ).map((name) => ({
          debugName: name,
          includeDependenciesRecursively:
            dir === dist || !['onnx', 'preload', 'tfjs_layers', 'files'].includes(name),
          name(id, context) {
            sets ??= setsOf(context);
            return sets[name].has(id) ? name : null;
          },
        })),
      },
    });
  }
}

function noteModules(files) {
  for (const id of Object.values(files).flatMap(({ moduleIds = [] }) => moduleIds)) bundled.add(id);
}

/** Modules with inlined content are external: both kinds of bundles import them. */
function findInlined(id) {
  const [, name] = /[/](inlined_\w+[.]js)$/.exec(id) ?? [];
  if (name === undefined) return null;
  return { id: `${name.includes('worker') ? '../runtime' : '.'}/${name}`, external: 'absolute' };
}

/** The bundler's runtime for namespaces is three lines: inlined into every file to save a request. */
function inlineRuntime(files) {
  const runtime = Object.values(files).find(({ name }) => name === 'rolldown-runtime');
  if (runtime === undefined) return;
  const [exports, names] = /export\s*\{([^}]*)\};?/.exec(runtime.code);
  const pairs = (list, pair) => list.replace(/(\w+) as (\w+)/g, pair);
  const runtimeExpression = `(() => {${runtime.code.replace(exports, '')} return {${pairs(names, '$2: $1')}};})()`;
  const imported = /import\s*\{([^}]*)\}\s*from\s*"[^"]*rolldown-runtime[^"]*"/g;
  for (const file of Object.values(files)) {
    replaceIn(
      files,
      file,
      imported,
      (_, list) => `const {${pairs(list, '$1: $2')}} = ${runtimeExpression}`,
    );
  }
  delete files[runtime.fileName];
  delete files[`${runtime.fileName}.map`];
}

/** Removes `@__PURE__` marks, which are of no use to pages. */
function dropMarks(files) {
  for (const file of Object.values(files)) replaceIn(files, file, /\/\* @__PURE__ \*\//g, '');
}

/** Sets of modules: loaded at import, required by tensors, and fetched with the first layer. */
function setsOf(context) {
  const fileOfModule = (name) => join(source, `${name}.js`);
  const reached = (...names) => {
    const found = new Set(names.map(fileOfModule));
    for (const id of found) {
      for (const each of context.getModuleInfo(id)?.importedIds ?? []) found.add(each);
    }
    return found;
  };
  const without = (set, names) => {
    for (const each of names) set.delete(fileOfModule(each));
    return set;
  };
  return {
    // In the folder of the module that it locates by URL.
    onnx: new Set([fileOfModule('core/core_onnx_module')]),
    // Only importing the package itself preloads the compiler, before all other modules.
    preload: new Set([fileOfModule('preload_core')]),
    core: without(reached('preload_core'), ['preload_core']),
    tensors: reached(
      'model/ready',
      'layers/deferred',
      'ops/index',
      'trace/compile',
      'eager/plan/parametrize_slices',
      'eager/set_device',
    ),
    main: without(reached('index'), ['index', 'preload_core']),
    // esbuild includes all imports of a used file, even if they are also imported dynamically.
    tfjs_layers: new Set([fileOfModule('tfjs/layers'), fileOfModule('tfjs/layers/random_width')]),
    // Imported by programs with tensors and by the chunk for saving: it has no imports.
    routers: new Set([fileOfModule('io/routers')]),
    // Usually imported together.
    files: new Set(
      ['core/formats', 'io/artifacts', 'io/handlers', 'io/load_artifacts', 'io/weight_data'].map(
        fileOfModule,
      ),
    ),
    deferred: without(reached('deferred/entry'), [
      'deferred/entry',
      ...entries.map(([, file]) => file),
    ]),
  };
}

/** All in one file: a module, and a script whose one global is `tl`. The worker of the few files, the driver of modules. */
async function writeBundles() {
  const bundle = async (bundleOptions) => {
    const { metafile } = await build(bundleOptions);
    for (const path of Object.keys(metafile.inputs)) bundled.add(resolve(path));
  };
  const options = {
    entryPoints: [join(source, 'index_full.js')],
    bundle: true,
    metafile: true,
    minify: true,
    sourcemap: 'linked',
    sourcesContent: false,
    target: 'es2022',
    external: ['node:*'],
    // The bundles have no files next to them.
    define: { 'import.meta.url': 'undefined' },
    logLevel: 'warning',
  };
  await bundle({ ...options, format: 'esm', outfile: join(dist, 'bundle.js') });
  const worker = { entryPoints: [join(source, 'runtime/worker.js')], format: 'esm' };
  await bundle({ ...options, ...worker, outfile: join(dist, 'modules/core/worker.js') });
  await bundle({
    ...options,
    format: 'iife',
    globalName: 'tl',
    outfile: join(dist, 'bundle.global.js'),
  });
  const driver = fileOf(manifest.exports['./training-module']);
  for (const [format, ending] of [
    ['esm', 'js'],
    ['cjs', 'cjs'],
  ]) {
    const outfile = join(dist, `${driver}.${ending}`);
    const entryPoints = [join(source, `${driver}.js`)];
    await bundle({ ...options, plugins: [lazy], entryPoints, format, outfile, lineLimit: 200 });
  }
  writeFileSync(join(dist, 'bundle.cjs'), `module.exports = require('./index.cjs');\n`);
}

/** The TypeScript sources, to which the source maps of minified files refer. */
function writeSources() {
  cpSync(join(root, 'js/src'), join(target, 'src'), { recursive: true });
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
  for (const file of files) if (file.endsWith('.map')) relocate(join(dist, file), target);
}

/** Writes third-party notices before the manifest: without them there is no package. */
function writeNotices() {
  const linked = readdirSync(join(source, 'core')).filter((file) => file.endsWith('.wasm'));
  const folder = join(root, 'build/wasm32');
  const node_modules = join(root, 'node_modules');
  try {
    const text = noticesOf({ folder, linked, bundled, sources: source, node_modules });
    writeFileSync(join(target, 'THIRD_PARTY_NOTICES'), text);
  } catch (error) {
    fail(error.message);
  }
}

/** Copies the types for CommonJS: TypeScript distinguishes module kinds by folder. */
function writeTypes() {
  const isTypes = (path) => !/\.[a-z]+$/.test(path) || path.endsWith('.d.ts');
  cpSync(source, join(dist, 'commonjs'), { recursive: true, filter: isTypes });
  for (const folder of ['modules', 'commonjs']) {
    const text = `export * from './index.js';\nexport as namespace tl;\n`;
    writeFileSync(join(dist, folder, 'bundle.d.ts'), text);
  }
  writeFileSync(join(dist, 'commonjs/package.json'), '{ "type": "commonjs" }\n');
}

/** The manifest, and one in a folder for each further entry: tools that know no exports look there. */
function writeManifests() {
  const { scripts: _, ...published } = structuredClone(manifest);
  published.sideEffects = manifest.sideEffects.filter(
    (each) => !/^\.\/dist\/(preload_core|register_deferred)\.js$/.test(each),
  );
  published.module = inModules(published.module);
  published.types = inModules(published.types);
  for (const [name, each] of Object.entries(published.exports)) {
    if (name.endsWith('.wasm')) published.exports[name] = inModules(each);
    const isShared = each.import && !separate.includes(name);
    if (isShared) {
      const { node = each, ...others } = each;
      each.module = others.module = inModules(each.module);
      published.exports[name] = { node: forNode(node), ...others };
    }
    if (name === './bundle')
      published.exports[name] = { node: published.exports['.'].node, ...each };
    if (each.import) each.import.types = inModules(each.import.types);
    if (name === '.' || !each.import) continue;
    published.files.push(name.replace('./', ''));
    writeStub(name, each, published);
  }
  writeJson(join(target, 'package.json'), published);
}

/** Node imports the files for bundlers, which have readable lines. */
function forNode(conditions) {
  const copy = structuredClone(conditions);
  const file = inModules(copy.import.default);
  const types = inModules(copy.import.types);
  return { ...copy, module: file, 'module-sync': file, import: { types, default: file } };
}

function writeStub(name, { module, require, import: { types } }, published) {
  const at = (path) => path.replace('./', '../');
  writeJson(join(target, name, 'package.json'), {
    main: at(require.default),
    module: at(module),
    types: at(types),
    sideEffects: published.sideEffects.map(at),
  });
}

function writeJson(file, value) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

function fail(message) {
  console.error(`js: ${message}`);
  process.exit(1);
}
