// Makes of js/dist what npm publishes, in build/package: few files for pages; the same for bundlers, which leave out what is not
// used, and for Node, which prints the lines of uncaught errors, so that they must be short; for `require`; and all in one file.
// What the entries are, js/package.json says.
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

const root = fileURLToPath(new URL('../../', import.meta.url));
const source = join(root, 'js/dist');
const target = join(root, 'build/package');
const dist = join(target, 'dist');
const manifest = JSON.parse(readFileSync(join(root, 'js/package.json'), 'utf8'));

/** Entries in files of their own, which share nothing with the others. */
const alone = ['./bundle', './training-module'];
const fileOf = (each) => each.import.default.replace(/^\.\/dist\/|\.js$/g, '');
/** The exports that are modules of js/dist: what they are called, and their file in dist without its ending. */
const entries = Object.entries(manifest.exports)
  .flatMap(([name, each]) => [[name, each], ...(each.node ? [[name, each.node]] : [])])
  .filter(([name, each]) => each.import && !alone.includes(name))
  .map(([name, each]) => [name, fileOf(each)]);

/** The modules, by their absolute paths, whose code is in the package. */
const bundled = new Set();

/** The path of a module of js/dist in the package. */
const inModules = (path) => path.replace('./dist/', './dist/modules/');

rmSync(target, { recursive: true, force: true });
const isCode = (path) => path.endsWith('.js') && !/inlined_\w+\.js$/.test(path);
cpSync(source, join(dist, 'modules'), { recursive: true, filter: (path) => !isCode(path) });
await writeFew();
await writeBundles();
writeNotices();
writeTypes();
writeManifests();
for (const name of ['LICENSE', 'CHANGELOG.md', 'js/README.md']) {
  copyFileSync(join(root, name), join(target, name.replace('js/', '')));
}

/**
 * Entries that only name what they export, one file with all that they load at once, and files that are loaded on demand.
 * Some bundlers make a file of everything that two others share, so they too get what belongs together in one.
 */
async function writeFew() {
  // Files lie beside what they find by its address.
  const kinds = [
    { format: 'esm', dir: dist, chunks: 'modules/core/[name].min', ending: 'js' },
    { format: 'cjs', dir: dist, chunks: 'modules/core/[name].min', ending: 'cjs' },
    { format: 'esm', dir: join(dist, 'modules'), chunks: 'core/[name]', ending: 'js' },
  ];
  /** Sets of modules, once the first bundle knows what imports what. */
  let sets;
  for (const { format, dir, chunks, ending } of kinds) {
    const isForPages = format === 'esm' && dir === dist;
    // Pages never get what the package is in Node.
    const files = entries.map(([, file]) => file);
    const used = files.filter((file) => !isForPages || file !== 'complete');
    const input = Object.fromEntries(used.map((file) => [file, join(source, `${file}.js`)]));
    const bundle = await rolldown({
      input,
      external: Object.keys(manifest.peerDependencies),
      plugins: [
        { name: 'inlined', resolveId: findInlined },
        { name: 'bundled', generateBundle: (_, files) => noteModules(files) },
        { name: 'runtime', generateBundle: (_, files) => format === 'esm' && holdRuntime(files) },
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
      codeSplitting: {
        // Pages make few requests; bundlers leave out what a program does not use.
        groups: (dir === dist
          ? ['main', 'extras', 'onnx']
          : ['onnx', 'begin', 'core', 'tensors', 'main', 'ways', 'routers', 'files']
        ).map((name) => ({
          debugName: name,
          includeDependenciesRecursively:
            dir === dist || !['onnx', 'begin', 'ways', 'files'].includes(name),
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

/** The modules that hold what is inlined stay what they are: both kinds import them. */
function findInlined(id) {
  const [, name] = /[/](inlined_\w+[.]js)$/.exec(id) ?? [];
  if (name === undefined) return null;
  return { id: `${name.includes('worker') ? '../runtime' : '.'}/${name}`, external: 'absolute' };
}

/** What the bundler adds to name what a namespace exports is three lines: files hold them instead of fetching one more. */
function holdRuntime(files) {
  const runtime = Object.values(files).find(({ name }) => name === 'rolldown-runtime');
  if (runtime === undefined) return;
  const [exports, names] = /export\s*\{([^}]*)\};?/.exec(runtime.code);
  const pairs = (list, pair) => list.replace(/(\w+) as (\w+)/g, pair);
  const held = `(() => {${runtime.code.replace(exports, '')} return {${pairs(names, '$2: $1')}};})()`;
  const imported = /import\s*\{([^}]*)\}\s*from\s*"[^"]*rolldown-runtime[^"]*"/g;
  for (const file of Object.values(files)) {
    file.code = file.code?.replace(
      imported,
      (_, list) => `const {${pairs(list, '$1: $2')}} = ${held}`,
    );
  }
  delete files[runtime.fileName];
}

/** What tells bundlers that calls have no effects is of no use to pages. */
function dropMarks(files) {
  for (const file of Object.values(files)) file.code = file.code?.replaceAll('/* @__PURE__ */', '');
}

/** What pages that import the package load at once, what of it tensors need, and what is fetched with the first layer. */
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
    // It lies beside the module that it finds by its address.
    onnx: new Set([fileOfModule('core/core_onnx_module')]),
    // Only who imports the package itself begins to load the compiler, by what is in `core`, before all else.
    begin: new Set([fileOfModule('begin')]),
    core: without(reached('begin'), ['begin']),
    tensors: reached(
      'model/ready',
      'layers/extras',
      'ops/index',
      'trace/compile',
      'eager/open_plan',
    ),
    main: without(reached('index'), ['index', 'begin']),
    // esbuild keeps what a file that is used imports, where a program may fetch it, too.
    ways: new Set([fileOfModule('tfjs/layers'), fileOfModule('tfjs/random_width')]),
    // Both programs with tensors and what they fetch to save import it: it brings nothing else along.
    routers: new Set([fileOfModule('io/routers')]),
    // Where one of them is imported others mostly are.
    files: new Set(
      ['core/formats', 'io/artifacts', 'io/handlers', 'io/load_artifacts', 'io/weight_data'].map(
        fileOfModule,
      ),
    ),
    extras: without(reached('model/fetched_extras'), [
      'model/fetched_extras',
      ...entries.map(([, file]) => file),
    ]),
  };
}

/** All in one file: a module, and a script whose one global is `tl`. The worker of the few files, the driver of modules. */
async function writeBundles() {
  const bundle = async (given) => {
    const { metafile } = await build(given);
    for (const path of Object.keys(metafile.inputs)) bundled.add(resolve(path));
  };
  const options = {
    entryPoints: [join(source, 'complete.js')],
    bundle: true,
    metafile: true,
    minify: true,
    target: 'es2022',
    external: ['node:*'],
    // There is nothing beside them.
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

/** Licenses of what others wrote, before the manifest: what lacks one is no package. */
function writeNotices() {
  const linked = readdirSync(join(source, 'core')).filter((file) => file.endsWith('.wasm'));
  const folder = join(root, 'build/wasm32');
  const node_modules = join(root, 'node_modules');
  try {
    const text = noticesOf({ folder, linked, bundled, own: source, node_modules });
    writeFileSync(join(target, 'THIRD_PARTY_NOTICES'), text);
  } catch (error) {
    fail(error.message);
  }
}

/** The types a second time: TypeScript tells modules of the two kinds apart by the folder. */
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
    (each) => !/^\.\/dist\/(begin|layered)\.js$/.test(each),
  );
  published.module = inModules(published.module);
  published.types = inModules(published.types);
  for (const [name, each] of Object.entries(published.exports)) {
    if (name.endsWith('.wasm')) published.exports[name] = inModules(each);
    const isShared = each.import && !alone.includes(name);
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

/** What Node imports is what bundlers do: lines that people read. */
function forNode(conditions) {
  const given = structuredClone(conditions);
  const file = inModules(given.import.default);
  const types = inModules(given.import.types);
  return { ...given, module: file, 'module-sync': file, import: { types, default: file } };
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
