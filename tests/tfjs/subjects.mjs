// Subjects of specs: the module, its backend, and replacements of the internals of tfjs-core that specs import.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { adapterOf, packageModules, partsOf } from './adapters.mjs';

const require = createRequire(import.meta.url);
const folderOf = (name) =>
  new URL('./dist/', pathToFileURL(require.resolve(`${name}/package.json`)));
const dist = folderOf('@tensorflow/tfjs-core');

/** The folder of the spec files of tfjs-core. */
export const specFolder = dist;

/** Helpers of specs, which are in the same folder. */
export const isSpec = (path) => /_test$|^image_test_util$/.test(path);
const real = (url) => ({ url, shortCircuit: true, format: 'module' });

/** The path in dist of what a module there imports, or undefined. */
export function inDist(name, parent) {
  if (!parent?.startsWith(dist.href) || !name.startsWith('.')) return undefined;
  const path = new URL(name, parent).href.slice(dist.href.length).replace(/\.js$/, '');
  return path === '' ? 'index' : path;
}

/** The names that specs import of each module. */
export function importedNames() {
  const names = {};
  const files = readdirSync(dist, { recursive: true }).filter((file) => file.endsWith('_test.js'));
  for (const file of files) {
    const home = new URL(file, dist).href;
    const text = readFileSync(new URL(home), 'utf8');
    for (const [, list, module] of text.matchAll(/import \{([^}]*)\} from '([^']*)'/g)) {
      const path = inDist(module, home);
      const found = list.split(',').map((each) => each.trim().split(' ')[0]);
      names[path] = [...new Set([...(names[path] ?? []), ...found])].filter((each) => each !== '');
    }
  }
  return names;
}

/** The adapters of the modules which specs import; their exports are those of `parts[path]`. */
function hookSpecs(parts) {
  globalThis[Symbol.for('tensorlathe.specs')] = parts;
  registerHooks({
    resolve(name, context, next) {
      const path = inDist(name, context.parentURL);
      const parent = inDist('.', context.parentURL) && context.parentURL.slice(dist.href.length);
      if (path === undefined || !isSpec(parent.replace(/\.js(\?.*)?$/, '')))
        return next(name, context);
      if (isSpec(path)) return real(`${dist.href}${path}.js`);
      if (!parts[path]) throw new Error(`there is no counterpart of ${path}`);
      return { url: `spec-part:${path}`, shortCircuit: true };
    },
    load(url, context, next) {
      if (!url.startsWith('spec-part:')) {
        const isModule = url.startsWith(dist.href);
        return next(url, isModule ? { ...context, format: 'module' } : context);
      }
      const path = url.slice('spec-part:'.length);
      return { source: adapterOf(path, parts[path]), format: 'module', shortCircuit: true };
    },
  });
}

/** TensorFlow.js by its single modules, not by the bundle, so that its internals belong to the same instance. */
function hookTensorFlow() {
  globalThis.require = require;
  const packages = ['tfjs-core', 'tfjs-backend-cpu'].map((name) => {
    return [`@tensorflow/${name}`, folderOf(`@tensorflow/${name}`).href];
  });
  const homes = packages.map(([, home]) => home);
  const within = (url) => homes.some((home) => url?.startsWith(home));
  registerHooks({
    resolve(name, context, next) {
      const [packageName, home] =
        packages.find(([each]) => name === each || name.startsWith(`${each}/dist/`)) ?? [];
      if (packageName)
        return real(
          name === packageName
            ? `${home}index.js`
            : fileOf(`${home}${name.slice(packageName.length + 6)}`),
        );
      if (!within(context.parentURL)) return next(name, context);
      if (name.startsWith('.')) return real(fileOf(new URL(name, context.parentURL).href));
      return { url: `commonjs:${name}`, shortCircuit: true };
    },
    load(url, context, next) {
      if (!url.startsWith('commonjs:'))
        return next(url, within(url) ? { ...context, format: 'module' } : context);
      const name = url.slice('commonjs:'.length);
      const names = Object.keys(require(name)).filter((each) => each !== 'default');
      const list = names.length > 0 ? `export const { ${names.join(', ')} } = bundle;` : '';
      const source = `const bundle = require('${name}'); export default bundle; ${list}`;
      return { source, format: 'module', shortCircuit: true };
    },
  });
}

function fileOf(address) {
  const candidates = [address, `${address}.js`, `${address}/index.js`];
  return candidates.find((each) => each.endsWith('.js') && existsSync(new URL(each))) ?? address;
}

/** Internal modules of TensorFlow.js that specs import. */
const internals = [
  'backends/backend',
  'backends/non_max_suppression_util',
  'environment',
  'io/browser_files',
  'io/http',
  'io/indexed_db',
  'io/io_utils',
  'io/local_storage',
  'io/progress',
  'io/router_registry',
  'ops/dropout_util',
  'ops/rand_util',
  'platforms/platform_browser',
  'profiler',
  'tape',
  'tensor_util_env',
];

async function tensorFlow() {
  hookTensorFlow();
  const tf = await import('@tensorflow/tfjs-core');
  const chained = 'public/chained_ops/register_all_chained_ops';
  for (const path of [chained, 'register_all_gradients']) await import(`${dist.href}${path}.js`);
  await import('@tensorflow/tfjs-backend-cpu');
  const parts = {};
  for (const path of internals) parts[path] = await import(`${dist.href}${path}.js`);
  return { tf, parts };
}

/** The modules of the package that replace internals; they are in the folder named as the module. */
async function packageParts(name) {
  const home = import.meta.resolve(name).replace(/\.js$/, '/');
  const load = async ([path, file]) => [path, await import(`${home}${file}.js`)];
  return Object.fromEntries(await Promise.all(Object.entries(packageModules).map(load)));
}

async function otherSubject(name) {
  const tf = await import(name);
  return { tf, parts: name === 'tensorlathe/tfjs' ? await packageParts(name) : {} };
}

/** A subject, and what it has for each module that specs import. */
export async function loadSubject(name, { backend, first }) {
  const isReal = name === '@tensorflow/tfjs';
  const { tf, parts } = isReal ? await tensorFlow() : await otherSubject(name);
  if (first) await import(first);
  const settings = { backend: backend ?? (isReal ? 'cpu' : 'lathe') };
  return partsOf({ tf, parts, requiredNames: importedNames(), settings });
}

/** Loads a subject and sends the imports of specs there. */
export async function hookSubject(name, settings) {
  hookSpecs(await loadSubject(name, settings));
}
