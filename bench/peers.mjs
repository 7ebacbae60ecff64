/** Who is measured: titles, packages, and the modules that drive them, loaded by the process or page of each. */
import { readFileSync } from 'node:fs';

export const peers = {
  tensorlathe: { title: 'Tensorlathe', package: 'tensorlathe', isOurs: true },
  solo: { title: 'Tensorlathe, 1 thread', package: 'tensorlathe', isOurs: true },
  before: { title: 'Tensorlathe, before', isOurs: true },
  precompiled: { title: 'Tensorlathe, precompiled', package: 'tensorlathe', isOurs: true },
  wide: { title: 'Tensorlathe, 256 bits', package: 'tensorlathe', isOurs: true },
  adapter: { title: 'TensorFlow.js on ours', package: 'tensorlathe', isOurs: true },
  litert: { title: 'LiteRT.js', package: '@litertjs/core' },
  tfjs: { title: 'TensorFlow.js', package: '@tensorflow/tfjs' },
  onnxruntime: { title: 'ONNX Runtime Web', package: 'onnxruntime-web' },
  jax: { title: 'jax-js', package: '@jax-js/jax' },
  convnetjs: { title: 'ConvNetJS', package: 'convnetjs' },
  openblas: { title: 'OpenBLAS, native', native: true },
};

/** Peers to compete with: neither ours nor native. */
export const isRival = (name) => !peers[name].isOurs && !peers[name].native;

export function versionOf(name) {
  if (!peers[name].package) return '';
  const manifest = new URL(`../node_modules/${peers[name].package}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(manifest, 'utf8')).version;
}
