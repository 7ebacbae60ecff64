// What the modules of tfjs-core that its specs import are here: by their path in its dist, without ending, the names they
// export, made of a subject.
import { jasmineUtil } from './jasmine_util.mjs';
import * as randomChecks from './random_checks.mjs';

const all = (tf) => tf;
const backendUtil = (tf) => tf.backend_util;
const io = (tf) => tf.io;
const util = (tf) => tf.util;

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
  'io/indexed_db': io,
  'io/io_utils': io,
  'io/local_storage': io,
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
