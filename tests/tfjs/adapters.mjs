// What the modules of tfjs-core that its specs import are here: by their path in its dist, without ending, the names they
// export, made of a subject.
import { jasmineUtil } from './jasmine_util.mjs';
import * as randomChecks from './random_checks.mjs';

const all = (tf) => tf;
const backendUtil = (tf) => tf.backend_util;
const io = (tf) => tf.io;
const util = (tf) => tf.util;

/** The initial state of specs: pages with empty storage. */
function purgeLocalStorageArtifacts() {
  if (typeof localStorage === 'undefined') return [];
  const paths = Object.keys(localStorage).filter((key) => key.startsWith('tensorflowjs_models/'));
  for (const path of paths) localStorage.removeItem(path);
  return paths;
}
const deleteDatabase = () =>
  new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase('tensorflowjs');
    Object.assign(request, { onsuccess: resolve, onblocked: reject, onerror: reject });
  });

/** The public interface, split as tfjs-core splits it. */
export const adapters = {
  index: (tf) => tf,
  jasmine_util: jasmineUtil,
  test_util: (tf) => tf.test_util,
  engine: (tf) => ({ ENGINE: tf.engine?.(), add: tf.add }),
  environment: (tf) => tf,
  tensor: all,
  types: all,
  util,
  hash_util: util,
  device_util: (tf) => tf.device_util,
  tensor_util: (tf) => tf.tensor_util,
  serialization: (tf) => tf.serialization,
  'backends/backend': () => ({ EPSILON_FLOAT32: 1e-7, EPSILON_FLOAT16: 1e-4 }),
  'backends/complex_util': backendUtil,
  'backends/non_max_suppression_util': (tf) => tf.kernel_impls,
  'io/browser_files': io,
  'io/composite_array_buffer': io,
  'io/http': io,
  'io/indexed_db': (tf) => ({ ...tf.io, deleteDatabase }),
  'io/io_utils': io,
  'io/local_storage': (tf) => ({ ...tf.io, purgeLocalStorageArtifacts }),
  'io/router_registry': io,
  'ops/axis_util': backendUtil,
  'ops/bitwise_and': all,
  'ops/broadcast_util': backendUtil,
  'ops/concat_util': backendUtil,
  'ops/conv_util': backendUtil,
  'ops/ensure_shape': all,
  'ops/gather_nd': all,
  'ops/operation': all,
  'ops/ops': all,
  'ops/rand_util': () => randomChecks,
  'ops/reduce_util': backendUtil,
  'ops/scalar': all,
  'ops/selu_util': backendUtil,
  'ops/slice_util': (tf) => tf.slice_util,
  'ops/tensor1d': all,
  'ops/tensor2d': all,
  'ops/tensor3d': all,
  'optimizers/optimizer': all,
  'optimizers/sgd_optimizer': all,
  'public/chained_ops/register_all_chained_ops': () => ({}),
};

/** The modules of the package, by the internal modules of tfjs-core that they replace. */
export const packageModules = {
  'backends/non_max_suppression_util': 'util/search',
  environment: 'platform/environment',
  'io/http': 'io/http',
  'io/io_utils': 'io/bytes',
  'io/progress': 'io/weights_loader',
  'io/router_registry': 'io/handlers',
  tensor_util_env: 'util/infer_shape',
};

/** Placeholder of a name that a subject does not export. */
function missing(path, name) {
  return function absent() {
    throw new Error(`the subject has no ${name} (${path})`);
  };
}

/**
 * What a subject has for each module that specs import, with a placeholder for every missing name: its exports `tf`,
 * and its internal modules, `parts`.
 */
export function partsOf({ tf, parts, requiredNames, settings }) {
  const made = Object.entries(adapters).map(([path, make]) => [path, make(tf, settings)]);
  const found = { ...Object.fromEntries(made.filter(([, part]) => part)), ...parts };
  const paths = [...new Set([...Object.keys(found), ...Object.keys(requiredNames)])];
  const completed = (path) => {
    const part = found[path] ?? {};
    const absent = (requiredNames[path] ?? []).filter((name) => !(name in part));
    return { ...part, ...Object.fromEntries(absent.map((name) => [name, missing(path, name)])) };
  };
  return Object.fromEntries(paths.map((path) => [path, completed(path)]));
}

/** Source of a module that exports the replacement of the module at this path. */
export function adapterOf(path, part) {
  const names = Object.keys(part).filter((each) => each !== 'default');
  return `const part = globalThis[Symbol.for('tensorlathe.specs')]['${path}'];
export const { ${names.join(', ')} } = part;`;
}
