/** The version of TensorFlow.js whose interface this is. */
export const version_core = '4.22.0';
export const version_layers = version_core;
export const version_converter = version_core;
export const version_data = version_core;
export const version_cpu = version_core;
export const version_wasm = version_core;
export const version_webgl = version_core;

/** Versions by package name. */
export const version = {
  'tfjs-core': version_core,
  'tfjs-backend-cpu': version_cpu,
  'tfjs-data': version_data,
  'tfjs-layers': version_layers,
  'tfjs-converter': version_converter,
  tfjs: version_core,
};
